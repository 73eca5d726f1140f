#include "chaos/chaos_load.hpp"

#include <partita/error.hpp>

#include <algorithm>
#include <utility>

namespace partita::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::uint64_t open_max = 3000;
constexpr std::size_t recent_max = 200;
constexpr int seal_rounds_max = 10;
constexpr std::chrono::minutes settling_max{2};

producer_config config_of(const load_options& options) {
  producer_config config;
  config.bootstrap_servers = options.bootstrap;
  config.client_id = options.name;
  config.on_failure = options.policy;
  config.delivery_timeout = options.delivery_timeout;
  config.request_timeout = options.delivery_timeout / 4;
  config.max_block = options.delivery_timeout;
  config.linger = 2ms;
  config.retry_backoff = 20ms;
  config.retry_backoff_max = 200ms;
  config.reconnect_backoff = 20ms;
  config.reconnect_backoff_max = 200ms;
  config.metadata_max_age = 2s;
  config.batch_size_bytes = 4000;
  return config;
}

}  // namespace

chaos_load::chaos_load(const load_options& options, chaos_history& history)
    : options_(options),
      history_(history),
      random_(options.seed),
      tickets_(history),
      producer_(config_of(options)),
      thread_([this] { run(); }) {}

chaos_load::~chaos_load() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

void chaos_load::run() {
  while (!ends_) {
    produce_some();
    cancel_some();
    if (random_() % 4 == 0) tickets_.ask_one(producer_, random_());
    pause_some();
    resume_due();
    recover_due();
    std::this_thread::sleep_for(milliseconds(1 + random_() % 6));
  }
}

void chaos_load::produce_some() {
  if (history_.open() > open_max) return;
  const std::size_t count = 1 + random_() % 12;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& topic = options_.topics[random_() % options_.topics.size()];
    const bool keyed = random_() % 20 != 0;
    std::string key;
    if (keyed)
      key = options_.name + "-k" + std::to_string(random_() % static_cast<unsigned>(options_.keys));
    const chaos_history::index at = begin(topic, key);
    const std::string value = history_.value(at);
    record what{.topic = topic, .key = {}, .value = value};
    if (keyed) what.key = key;
    produce_options options;
    options.handle = recent_.emplace_back(record_handle::make());
    if (recent_.size() > recent_max) recent_.pop_front();
    producer_.produce(what, options, [this, at](const outcome& answer) { answered(at, answer); });
  }
}

chaos_history::index chaos_load::begin(const std::string& topic, const std::string& key) {
  return history_.begin(topic, key, options_.name + "." + std::to_string(produced_++));
}

void chaos_load::answered(chaos_history::index at, const outcome& answer) {
  history_.answered(at, answer);
  if (answer.is_delivered()) {
    ++delivered_;
    return;
  }
  if (answer.failure()->fate == fate::unknown) tickets_.take(answer.failure()->ticket);
  if (options_.policy != failure_policy::skip) failed_there(at, *answer.failure());
}

void chaos_load::failed_there(chaos_history::index at, const failed& failure) {
  if (!failure.partition.known()) return;
  const place where{failure.topic, failure.partition};
  const auto notice = milliseconds(20 + (at * 2654435761U) % 400);
  std::lock_guard lock(mutex_);
  troubles_.try_emplace(where, steady::now() + notice);
  if (failure.number != record_number{}) failed_[{where, failure.number}] = at;
}

void chaos_load::cancel_some() {
  if (random_() % 5 != 0 || recent_.empty()) return;
  const std::size_t back = random_() % std::min<std::size_t>(recent_.size(), 30);
  producer_.cancel(recent_[recent_.size() - 1 - back]);
  ++cancels_;
}

void chaos_load::pause_some() {
  if (random_() % 100 != 0) return;
  const place where{options_.topics[random_() % options_.topics.size()],
                    partition_id(static_cast<std::int32_t>(
                        random_() % static_cast<unsigned>(options_.partitions)))};
  const pause_mode mode = random_() % 4 == 0 ? pause_mode::abort_buffered : pause_mode::hold;
  producer_.pause(where.topic, where.partition, mode);
  paused_.emplace_back(steady::now() + milliseconds(20 + random_() % 500), where);
  ++pauses_;
}

void chaos_load::resume_due() {
  for (std::size_t i = 0; i < paused_.size();) {
    if (steady::now() < paused_[i].first) {
      ++i;
      continue;
    }
    producer_.resume(paused_[i].second.topic, paused_[i].second.partition);
    paused_.erase(paused_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void chaos_load::recover_due() {
  std::vector<place> due;
  {
    // What fails after this needs another recovery.
    std::lock_guard lock(mutex_);
    std::erase_if(troubles_, [&](const auto& each) {
      if (steady::now() < each.second) return false;
      due.push_back(each.first);
      return true;
    });
  }
  for (const place& where : due) recover(where);
}

void chaos_load::recover(const place& where) {
  constexpr recovery ways[] = {recovery::discard, recovery::take, recovery::resubmit};
  const recovery how = ways[random_() % 3];
  producer_.recover(where.topic, where.partition, how)
      .then([this, where](const recovery_report& report) {
        recoveries_ += report.was_halted ? 1 : 0;
        resubmitted(report, where);
      });
}

void chaos_load::resubmitted(const recovery_report& report, const place& where) {
  resubmissions_ += report.resubmitted.size();
  for (const auto& [number, answer] : report.resubmitted) {
    chaos_history::index at = 0;
    {
      std::lock_guard lock(mutex_);
      const auto known = failed_.find({where, number});
      if (known == failed_.end()) {
        ++strangers_;
        continue;
      }
      at = known->second;
    }
    history_.resubmit(at);
    history_.answered(at, answer);
    if (answer.is_delivered()) continue;
    if (answer.failure()->fate == fate::unknown) tickets_.take(answer.failure()->ticket);
    failed_there(at, *answer.failure());
  }
}

void chaos_load::finish() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  for (const auto& [due, where] : paused_) producer_.resume(where.topic, where.partition);
  const bool sealed = seal();
  all_settled_ = tickets_.ask_all(producer_, settling_max) && sealed;
  contradictions_ = producer_.status().get().contradictions;
  static_cast<void>(producer_.close(options_.delivery_timeout).get());
}

/// Halts that fall while it ends are ended too, so that nothing waits for its deadline.
bool chaos_load::seal() {
  for (const std::string& topic : options_.topics)
    for (int index = 0; index < options_.partitions; ++index) unsealed_.insert({topic, index});
  std::set<place> left = unsealed_;
  for (int round = 0; round < seal_rounds_max && !left.empty(); ++round) {
    for (const place& where : left)
      producer_.recover(where.topic, where.partition, recovery::discard)
          .then([](const recovery_report&) {});
    static_cast<void>(producer_.flush().get());
    for (const place& where : left) produce_last(where);
    static_cast<void>(producer_.flush().get());
    std::lock_guard lock(mutex_);
    left = unsealed_;
  }
  return left.empty();
}

void chaos_load::produce_last(const place& where) {
  const chaos_history::index at = begin(where.topic, "");
  const std::string value = history_.value(at);
  const record what{
      .topic = where.topic, .key = {}, .value = value, .headers = {}, .partition = where.partition};
  producer_.produce(what, [this, at, where](const outcome& answer) {
    answered(at, answer);
    if (!answer.is_delivered()) return;
    std::lock_guard lock(mutex_);
    unsealed_.erase(where);
  });
}

std::string chaos_load::activity() const {
  return std::to_string(recoveries_.load()) + " recoveries, " +
         std::to_string(resubmissions_.load()) + " records submitted again, " +
         std::to_string(pauses_) + " pauses, " + std::to_string(cancels_) + " cancels, " +
         std::to_string(tickets_.given()) + " tickets, " + std::to_string(tickets_.asked_early()) +
         " of them asked for in the midst";
}

}  // namespace partita::chaos
