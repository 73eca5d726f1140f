#include "tests/sim/stage.hpp"

#include "tests/sim/stage_script.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace partita::testing {

void PrintTo(const batch_tuple& tuple, std::ostream* out) {
  *out << "(id " << tuple.id << ", epoch " << tuple.epoch << ", sequence " << tuple.sequence << ")";
}

stage::stage(std::uint64_t seed, stage_place place)
    : place_(place), seed_(seed), draws_(seed * 31 + 7) {
  config_.request_timeout = 2s;
  config_.delivery_timeout = 10s;
  config_.max_block = 10s;
  config_.linger = 0ms;
  config_.batch_records_max = 1;
  config_.on_failure = failure_policy::halt_partition;
  cluster_options_.seed = seed + 1;
  topic_options& topic = cluster_options_.topics["t"];
  topic.partitions = 3;
  topic.replicas = {{1, 2, 3}, {2, 3, 1}, {3, 1, 2}};
  topic.settings["min.insync.replicas"] = "2";
}

stage::~stage() {
  producer_.reset();
  if (world_ != nullptr) world_->cluster().follow(nullptr);
}

producer_config& stage::set() {
  EXPECT_FALSE(started_) << "settings come before the first word";
  return config_;
}
cluster_options& stage::set_cluster() {
  EXPECT_FALSE(started_) << "settings come before the first word";
  return cluster_options_;
}
link_options& stage::set_links() {
  EXPECT_FALSE(started_) << "settings come before the first word";
  return links_;
}

void stage::batches_of(int records) {
  set().batch_records_max = records;
  set().linger = 20ms;
}

void stage::start() {
  if (started_) return;
  started_ = true;
  world_ = simulated() ? stage_world::in_virtual_time(cluster_options_, links_, seed_ + 1)
                       : stage_world::on_loopback(cluster_options_);
  cluster().follow(this);
  producer_ = world_->make(config_);
  if (warm_) {
    produce("w0@p0 w1@p1 w2@p2");
    await_all();
  }
  for (std::int32_t i = 0; i < 3; ++i)
    if (const auto view = cluster().view("t", i)) warm_end_[{"t", i}] = view->log_end.value;
  started_at_ = now();
  note("--");
}

testing::cluster& stage::cluster() {
  start();
  return world_->cluster();
}
partita::producer& stage::producer() {
  start();
  return *producer_;
}
simulation& stage::world() {
  start();
  return *world_->simulated();
}
std::chrono::nanoseconds stage::now() {
  start();
  return world_->now();
}

void stage::note(const std::string& text) {
  const std::lock_guard hold(lock_);
  const auto ms = std::chrono::duration_cast<std::chrono::microseconds>(now() - started_at_);
  if (story_.size() < 4000)
    story_.push_back(std::to_string(static_cast<double>(ms.count()) / 1000.0) + " ms  " + text);
}

// --- c:
// -------------------------------------------------------------------------------------------

staged_record& stage::admit(std::string_view word, const produce_how& how, partita::record& view) {
  const record_word parsed = parse_record(word);
  staged_record& made = records_.emplace_back();
  made.name = parsed.name;
  made.then = how.then;
  EXPECT_TRUE(by_name_.emplace(made.name, &made).second) << "a second record " << made.name;
  produced_record& noted = made.noted;
  noted.order = ++order_;
  noted.client_timestamp = how.stamp.has_value();
  noted.record.topic = how.topic;
  if (how.assigned) noted.record.partition = parsed.partition;
  noted.record.key = parsed.key.empty() ? how.key : parsed.key;
  std::string value = made.name + "@" + how.topic + "-" + std::to_string(parsed.partition);
  value.resize(std::max<std::size_t>(value.size(), 16), '.');
  noted.record.value = how.value ? *how.value : value + std::string(how.padding, '.');
  for (const header& each : how.headers)
    noted.record.headers.push_back(
        {std::string(each.key),
         each.value ? std::optional<std::string>(std::string(*each.value)) : std::nullopt});
  if (how.stamp) noted.record.timestamp = *how.stamp;
  view.topic = noted.record.topic;
  view.key = noted.record.key;
  view.value = noted.record.value;
  view.headers = how.headers;
  view.timestamp = how.stamp;
  if (how.assigned) view.partition = parsed.partition;
  made.produced_at = now();
  made.limit = config_.delivery_timeout;
  ++unanswered_;
  return made;
}

void stage::produce(std::string_view names, const produce_how& how) {
  start();
  // Brokers on sockets wait too: none answers the first before the last is produced.
  const std::lock_guard hold(lock_);
  for (const std::string& word : split(names, ' ')) {
    partita::record view;
    staged_record& made = admit(word, how, view);
    note("produce " + word);
    produce_options options = how.options;
    if (how.cancellable) made.handle = options.handle = record_handle::make();
    if (how.waits)
      wait_for_answer(made, view, options);
    else
      producer_->produce(view, options,
                         [this, &made](const outcome& answer) { take_answer(made, answer); });
  }
}

void stage::cancel(std::string_view names) {
  for (const std::string& name : split(names, ' ')) {
    record_handle handle;
    {
      const std::lock_guard hold(lock_);
      note("cancel " + name);
      handle = record(name).handle;
    }
    EXPECT_TRUE(handle) << name << " is not cancellable";
    producer_->cancel(handle);
  }
}

void stage::wait_for_answer(staged_record& made, const partita::record& view,
                            const produce_options& options) {
  [](stage& self, staged_record& target, partita::record what, produce_options asked) -> detached {
    const outcome answer = co_await self.producer_->produce(what, asked).resume_on(self.executor_);
    self.take_answer(target, answer);
  }(*this, made, view, options);
}

void stage::hold_outcomes() { executor_.hold(); }
void stage::release_outcomes() { executor_.release(); }

void stage::take_answer(staged_record& record, const outcome& answer) {
  std::function<void(const outcome&)> then;
  bool first = false;
  {
    const std::lock_guard hold(lock_);
    record.answers.push_back(answer);
    record.noted.answers.push_back(answer);
    record.answered_at = now();
    first = record.answers.size() == 1;
    if (const failed* why = answer.failure(); why != nullptr) {
      note(record.name + (why->fate == fate::unknown ? "=U " : "=N ") + why->code.message() +
           " / " + why->cause.message());
      const bool own = why->code == client_errc::cancelled || why->code == client_errc::aborted ||
                       why->code == client_errc::closed || why->code == client_errc::discarded ||
                       why->code == client_errc::handed_back || why->code == client_errc::halted;
      if (!own && why->partition.known() && config_.on_failure == failure_policy::halt_partition)
        halted_since_.emplace(why->partition.value, halt_note{now(), record.noted.order});
    } else {
      note(record.name + "=D at " +
           (answer.delivery()->offset ? std::to_string(answer.delivery()->offset->value) : "?"));
    }
    then = record.then;
  }
  // Not before what it produces is counted: whoever waits for all answers may end the producer.
  const auto count = [&](const void*) {
    const std::lock_guard hold(lock_);
    if (first) --unanswered_;
    changed_.notify_all();
  };
  const std::unique_ptr<const void, decltype(count)> counted(this, count);  // also when it throws
  if (then) then(answer);
}

void stage::on_answer(const std::string& name, std::function<void(const outcome&)> then) {
  const std::lock_guard hold(lock_);
  record(name).then = std::move(then);
}

bool stage::answered(const std::string& name) {
  const std::lock_guard hold(lock_);
  return !record(name).answers.empty();
}

void stage::await(std::string_view names) {
  for (const std::string& name : split(names, ' '))
    EXPECT_TRUE(until([&] { return answered(name); })) << name << " is not answered";
}

void stage::await_all() {
  EXPECT_TRUE(until([this] { return unanswered_ == 0; })) << "not every record is answered";
}

template <class T>
T stage::get(operation<T> pending) {
  if (simulated()) {
    EXPECT_TRUE(world().time().run_until([&] { return pending.done(); }, 1h))
        << "a control call does not end";
  }
  return std::move(pending).get();
}

recovery_report stage::recover(recovery how, partition_id partition, recover_options options) {
  note("recover p" + std::to_string(partition.value));
  {
    const std::lock_guard hold(lock_);
    halted_since_.erase(partition.value);
  }
  recovery_report report = get(producer().recover("t", partition, how, options));
  replace_answers(report, partition);
  return report;
}

recovery_report stage::recover_key(std::string_view key, recovery how, partition_id partition) {
  note("recover p" + std::to_string(partition.value) + " " + std::string(key));
  recovery_report report = get(producer().recover("t", partition, key, how));
  replace_answers(report, partition);
  return report;
}

// A resubmission is a new submission of the same record: what it was told last counts for the log.
void stage::replace_answers(const recovery_report& report, partition_id partition) {
  const std::lock_guard hold(lock_);
  for (const resubmitted_record& again : report.resubmitted) {
    const auto whose = std::find_if(records_.begin(), records_.end(), [&](const auto& each) {
      const failed* why = each.noted.answers.empty() ? nullptr : each.noted.answers[0].failure();
      return why != nullptr && why->topic == "t" && why->partition == partition &&
             why->number == again.number;
    });
    if (whose == records_.end()) {
      ADD_FAILURE() << "a record was sent again that had not failed";
      continue;
    }
    whose->noted.answers = {again.answer};
    note(whose->name + (again.answer.is_delivered() ? " resubmitted: D" : " resubmitted: failed"));
  }
}

close_report stage::close(std::chrono::milliseconds deadline) {
  note("close");
  return get(producer().close(deadline));
}
tally stage::flush() { return get(producer().flush()); }
void stage::pause(partition_id partition, pause_mode mode) {
  EXPECT_TRUE(get(producer().pause("t", partition, mode)));
}
void stage::resume(partition_id partition) { EXPECT_TRUE(get(producer().resume("t", partition))); }
void stage::destroy() {
  note("destroy");
  producer_.reset();
}

producer_status stage::whole_status() { return get(producer().status()); }
partition_status stage::status(partition_id partition) {
  for (partition_status& each : whole_status().partitions)
    if (each.topic == "t" && each.partition == partition) return each;
  ADD_FAILURE() << "no status of p" << partition.value;
  return {};
}

// --- b: n: k:
// -------------------------------------------------------------------------------------

void stage::broker(std::string_view script) {
  const std::lock_guard hold(lock_);
  for (scripted_attempt& each : parse_attempts(script))
    script_.push_back({each.name, each.attempt, each.fault});
}

void stage::rule() {
  const std::lock_guard hold(lock_);
  script_.clear();
  note("rule");
}

void stage::refuse(broker_id broker) {
  note("refuse b" + std::to_string(broker.value));
  world().refuse_link(broker);
  cluster().drop_connections(broker, true);
  run(2 * links_.latency_max + 2ms);  // what is produced next finds the connection gone
}
void stage::refuse_all() {
  for (int i = 1; i <= cluster().broker_count(); ++i) refuse(i);
}
void stage::silent(broker_id broker) {
  note("silent b" + std::to_string(broker.value));
  world().cut_link(broker);
}
void stage::ok(broker_id broker) {
  note("ok b" + std::to_string(broker.value));
  world().heal_link(broker);
}
void stage::ok_all() {
  for (int i = 1; i <= cluster().broker_count(); ++i) ok(i);
}
void stage::move(partition_id partition, broker_id to, tail kept) {
  note("move p" + std::to_string(partition.value) + ">b" + std::to_string(to.value));
  EXPECT_TRUE(cluster().move_leader("t", partition, to, kept));
}
void stage::isr(bool enough) {
  EXPECT_EQ(cluster().alter_topic("t", "min.insync.replicas", enough ? "2" : "4"),
            broker_errc::none);
}

// --- time and facts
// -------------------------------------------------------------------------------

bool stage::until(const std::function<bool()>& fact, std::chrono::nanoseconds limit) {
  start();
  if (simulated()) return world().time().run_until(fact, limit);
  const auto end =
      std::chrono::steady_clock::now() + std::min<std::chrono::nanoseconds>(limit, 60s);
  std::unique_lock hold(lock_);
  while (!fact()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    changed_.wait_for(hold, 1ms);  // what a test counts itself wakes nobody here
  }
  return true;
}

void stage::run(std::chrono::nanoseconds length) { world().time().run_for(length); }

void stage::after(std::chrono::nanoseconds delay, std::function<void()> action) {
  world().time().after(delay, std::move(action));
}

void stage::when(std::string_view fact) {
  const attempt_fact wanted = parse_fact(fact);
  start();
  const auto holds = [&] {
    const std::lock_guard hold(lock_);
    int seen = 0;
    for (const attempt_note& each : attempts_) {
      if (std::find(each.names.begin(), each.names.end(), wanted.name) == each.names.end())
        continue;
      if (++seen < wanted.attempt) continue;
      if (wanted.fact == "seen") return true;
      if (wanted.fact == "stored") return each.appended;
      return each.answered.has_value();
    }
    return false;
  };
  EXPECT_TRUE(until(holds)) << "never: " << fact;
  // The answer is on its way: no link of the simulation is slower than this.
  if (simulated() && wanted.fact == "answered") run(2 * links_.latency_max + 2ms);
}

}  // namespace partita::testing
