// A partition core on the bench: commands go in by number, what it does is written down.
//
// Records are numbered from 0 and carry their number as value. Every call ends the turn, as the
// partition actor does: the core settles, and nothing is left that its effects would have shown.
//
// Invariants
// 1. A second answer to a record, a batch freed twice, and a timer that is asked for again and
// again
//    without progress are failures of the test.
// 2. Time moves by advance() only, and stops at every timer on the way.
//
// Threads: one.
#pragma once

#include "actors/partition_core.hpp"
#include "actors/record_node.hpp"
#include "wire/record_batch.hpp"
#include "wire/record_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace partita::testing {

using namespace std::chrono_literals;  // NOLINT: a test vocabulary

/// "delivery_timeout", "kafka:45"; "" for success.
inline std::string name_of(std::error_code code) {
  if (!code) return "";
  if (code.category() == broker_category()) return "kafka:" + std::to_string(code.value());
  switch (static_cast<client_errc>(code.value())) {
    case client_errc::delivery_timeout:
      return "delivery_timeout";
    case client_errc::record_too_large:
      return "record_too_large";
    case client_errc::halted:
      return "halted";
    case client_errc::halt_requested:
      return "halt_requested";
    case client_errc::earlier_failed:
      return "earlier_failed";
    case client_errc::aborted:
      return "aborted";
    case client_errc::handed_back:
      return "handed_back";
    case client_errc::closed:
      return "closed";
    case client_errc::cancelled:
      return "cancelled";
    case client_errc::no_acknowledgement:
      return "no_acknowledgement";
    case client_errc::answer_lost:
      return "answer_lost";
    case client_errc::epoch_given_up:
      return "epoch_given_up";
    case client_errc::invariant_broken:
      return "invariant_broken";
    case client_errc::topic_replaced:
      return "topic_replaced";
    case client_errc::log_not_readable:
      return "log_not_readable";
    case client_errc::ticket_expired:
      return "ticket_expired";
    case client_errc::log_trimmed:
      return "log_trimmed";
    case client_errc::log_changed:
      return "log_changed";
    case client_errc::not_fenced:
      return "not_fenced";
    default:
      return "partita:" + std::to_string(code.value());
  }
}

inline std::string name_of(const actors::failure_facts& facts) {
  const std::string fate = facts.fate == fate::unknown ? "unknown " : "not_written ";
  return fate + name_of(facts.code) +
         (facts.cause && facts.cause != facts.code ? " (" + name_of(facts.cause) + ")" : "");
}

/// The numbers that the records of a batch carry as values. The bytes of a sealed one are checked.
inline std::vector<int> numbers_in(const actors::batch& sent) {
  if (sent.bytes().count() > 0) {
    const std::vector<std::byte> flat = sent.bytes().bytes().flatten();
    wire::record_reader reader(flat, wire::decompressed_batch_limit_default,
                               wire::checksum::verify);
    wire::record_view each;
    while (reader.next(each)) {
    }
    EXPECT_FALSE(reader.error());
  }
  std::vector<int> numbers;
  sent.read_records([&](std::size_t, const record& each) {
    numbers.push_back(std::stoi(std::string(*each.value)));
  });
  return numbers;
}

/// recover() and what comes of it.
struct recovery_run final : actors::completion_target {
  void complete(const actors::completion_run&) noexcept override {}
  actors::recover_command command;
  bool done = false;
  std::vector<std::string> resubmitted;  ///< the second answers, by index
};

/// settle() and its verdict: "" while it waits.
struct settle_run final : actors::settle_command {
  std::string verdict;
};

struct flush_run {
  actors::flush_barrier barrier;
  bool done = false;
};

class partition_bench : public actors::partition_effects {
 public:
  explicit partition_bench(actors::partition_settings with = {}) : settings(with) {
    core.emplace(settings, *this);
  }
  virtual ~partition_bench() {
    core.reset();
    EXPECT_TRUE(live_.empty()) << live_.size() << " batches were never freed";
    for (const actors::batch* each : live_) delete each;
  }

  /// Everything small and quick, and the whole partition halts.
  static actors::partition_settings quick() {
    actors::partition_settings with;
    with.on_failure = failure_policy::halt_partition;
    with.batch_records_max = 2;
    with.delivery_timeout = 10s;
    return with;
  }
  /// With a leader and a producer id.
  partition_bench& started() {
    leader(1);
    produce(1);
    grant(4242);
    drop_records();
    return *this;
  }

  // Commands

  /// Appends records now; returns the number of the first.
  int produce(int count = 1) {
    const int first = next_number_;
    for (int i = 0; i < count; ++i) produce_at(now);
    return first;
  }
  /// One record that was admitted then; with a timestamp that lies `age` behind the wall clock.
  int produce_at(actors::instant admitted, std::chrono::milliseconds age = 0ms) {
    return append("", admitted, age, {});
  }
  /// One with a key of that size.
  int produce_large(std::size_t size) { return append(std::string(size, 'k'), now, 0ms, {}); }
  /// A record that failed before it could be buffered.
  int produce_failed(client_errc code) { return append("", now, 0ms, code); }
  int produce_failed(client_errc code, const std::string& key) {
    return append(key, now, 0ms, code);
  }
  int produce_keyed(const std::string& key) { return append(key, now, 0ms, {}); }
  int produce_that_waited() {
    call_ = actors::record_node::waited_bit;
    const int number = append("", now, 0ms, {});
    call_ = 0;
    return number;
  }
  /// One that lay unread since then.
  int produce_that_came(actors::instant then) {
    came_ = then;
    const int number = append("", now, 0ms, {});
    came_.reset();
    return number;
  }
  int produce_unkeyed() { return append(std::nullopt, now, 0ms, {}); }

  /// One that can be cancelled, with a delivery timeout of its own (0: the partition's).
  int produce_own(std::chrono::milliseconds timeout = 0ms) {
    call_ = actors::record_node::tracked_bit | static_cast<std::uint32_t>(timeout.count());
    const int number = append("", now, 0ms, {});
    call_ = 0;
    return number;
  }

  void leader(int id, int epoch = 1) {
    core->set_leader(id, epoch, now);
    if (id != leader_) ++connection;
    leader_ = id;
    turn();
  }
  void grant(std::int64_t id, std::int16_t epoch = 0) {
    ids_asked = 0;
    core->producer_id_arrived(id, epoch, now);
    turn();
  }
  void pause(pause_mode mode = pause_mode::hold) { core->pause(mode, now), turn(); }
  void resume() { core->resume(now), turn(); }
  /// It was produced by produce_own() and buffered.
  [[nodiscard]] bool is_tracked(int number) const { return ordinals_.contains(number); }
  /// Cancels produced records as at the end of a turn. Only for those of produce_own().
  void cancel(const std::vector<int>& which) {
    std::vector<actors::cancel_request> asked;
    for (const int number : which)
      if (is_tracked(number)) asked.push_back({nullptr, ordinals_.at(number)});
    core->cancel_unsent(asked);
    core->cancel_sent(asked);
    not_cancelled = asked.size();
    turn();
  }
  recovery_run& recover(recovery how, bool allow_duplicates = false,
                        std::optional<std::string> key = {}) {
    recovery_run& run = *recoveries_.emplace_back(std::make_unique<recovery_run>());
    run.command.how = how;
    run.command.key = std::move(key);
    run.command.options.allow_duplicates = allow_duplicates;
    run.command.resubmitted_target = &run;
    core->recover(run.command, now);
    turn();
    return run;
  }
  recovery_run& recover_key(const std::string& key, recovery how, bool allow_duplicates = false) {
    return recover(how, allow_duplicates, key);
  }
  bool halt(std::optional<std::string> key = {}) {
    const bool changed = core->halt_on_request(key);
    turn();
    return changed;
  }
  flush_run& flush() {
    flush_run& run = *flushes_.emplace_back(std::make_unique<flush_run>());
    run.done = core->flush(run.barrier, now);
    turn();
    return run;
  }
  settle_run& settle(std::uint64_t ticket) {
    settle_run& run = *settles_.emplace_back(std::make_unique<settle_run>());
    run.ticket = ticket;
    core->settle_ticket(run, now);
    turn();
    return run;
  }

  // The log, once something is looked for: offsets of what is found, in the order of the targets.

  void log_holds(std::vector<std::optional<std::int64_t>> offsets,
                 actors::search_end end = actors::search_end::decided,
                 std::error_code reason = {}) {
    ASSERT_TRUE(look) << "nothing is looked for";
    actors::log_findings findings{look->token, end, {}, reason, {}, log_shows_epoch};
    ASSERT_EQ(offsets.size(), look->targets.size());
    for (const auto& each : offsets) {
      auto& found = findings.found.emplace_back();
      if (each) found = actors::found_batch{*each, -1};
    }
    look.reset();
    core->looked(findings, now);
    turn();
  }
  /// Nothing of it is there.
  void log_is_silent(actors::search_end end = actors::search_end::decided,
                     std::error_code reason = {}) {
    ASSERT_TRUE(look) << "nothing is looked for";
    log_holds(std::vector<std::optional<std::int64_t>>(look->targets.size()), end, reason);
  }
  /// "epoch.sequence from" of each target, then the fence.
  [[nodiscard]] std::string looked_for() const {
    if (!look) return "";
    std::string text;
    for (const actors::log_target& each : look->targets)
      text += std::to_string(each.stamp.epoch.value) + "." + std::to_string(each.stamp.base.value) +
              " ";
    text += "from " + std::to_string(look->from.value);
    if (look->fence)
      text += " to " + std::to_string(look->fence->stamp.epoch.value) + "." +
              std::to_string(look->fence->stamp.base.value) + "@" +
              std::to_string(look->fence->at.value);
    return text;
  }
  void close(actors::close_command* command = nullptr) { core->close(command), turn(); }
  /// Closes, and loses what is in flight; everything must be answered and paid back then.
  void end() {
    close();
    while (!in_flight_.empty()) lose(in_flight_.front());
    EXPECT_EQ(answered(), static_cast<std::size_t>(next_number_));
    EXPECT_EQ(released_bytes, accepted_bytes);
    EXPECT_EQ(timer, std::nullopt);
  }

  // The connection

  /// The next batch, its frame handed to the kernel; null when nothing may be sent.
  actors::batch* send() {
    actors::batch* next = core->next_to_send(connection, now);
    if (next != nullptr) {
      next->attempts.frame_may_have_left();
      in_flight_.push_back(next);
      note("sent " + std::to_string(first_of(*next)) + " " + tuple_of(*next));
    }
    turn();
    return next;
  }
  /// The next batch, of whose frame the connection took a part at most.
  actors::batch* send_in_part() {
    actors::batch* next = core->next_to_send(connection, now);
    if (next != nullptr) in_flight_.push_back(next);
    turn();
    return next;
  }
  /// Everything that may be sent now.
  std::vector<actors::batch*> send_all() {
    std::vector<actors::batch*> sent;
    while (actors::batch* next = send()) sent.push_back(next);
    return sent;
  }
  void answer(actors::batch* sent, broker_errc code, std::int64_t base_offset = -1) {
    ASSERT_NE(sent, nullptr);
    std::erase(in_flight_, sent);
    core->answered(*sent, {code, base_offset, -1}, now);
    turn();
  }
  void answer(actors::batch* sent, int code) { answer(sent, static_cast<broker_errc>(code)); }
  void deliver(actors::batch* sent, std::int64_t base_offset) {
    answer(sent, broker_errc::none, base_offset);
  }
  /// The connection ended; `handed_over`: the broker may have the whole frame.
  void lose(actors::batch* sent, bool handed_over = true) {
    ASSERT_NE(sent, nullptr);
    std::erase(in_flight_, sent);
    const client_errc cause =
        handed_over ? client_errc::answer_lost : client_errc::connection_closed;
    core->attempt_lost(*sent, handed_over, cause, now);
    turn();
  }
  /// The first batch goes alone: sends one record and has it acknowledged.
  void establish(std::int64_t at = 0) {
    produce(1);
    deliver(send(), at);
  }
  /// All that is in flight is lost and the next connection is there.
  void reconnect() { ++connection; }

  void advance(actors::duration by) {
    const actors::instant end = now + by;
    int fruitless = 0;
    while (timer && *timer <= end) {
      const actors::instant fires = *timer;
      fruitless = fires <= now ? fruitless + 1 : 0;
      ASSERT_LT(fruitless, 100) << "a timer that is asked for again and again";
      now = std::max(now, fires);
      core->timer_fired(now);
      for (actors::batch* each : std::exchange(withdrawn, {})) lose(each, false);
      turn();
    }
    now = end;
  }

  // What came of it

  /// What the record was told; "" while it waits.
  [[nodiscard]] std::string told(int number) const {
    const auto found = told_.find(number);
    return found == told_.end() ? "" : found->second;
  }
  [[nodiscard]] std::size_t answered() const { return told_.size(); }
  [[nodiscard]] partition_status status() const {
    partition_status snapshot;
    core->describe(snapshot);
    return snapshot;
  }
  /// "epoch.sequence"
  static std::string tuple_of(const actors::batch& sent) {
    return std::to_string(sent.tuple().epoch.value) + "." + std::to_string(sent.tuple().base.value);
  }
  static int first_of(const actors::batch& sent) { return numbers_in(sent).front(); }

  void note(std::string what) { events.push_back(std::move(what)); }
  /// Where an event is in the order of events; events.size() if it is not.
  [[nodiscard]] std::size_t place_of(const std::string& event) const {
    return static_cast<std::size_t>(std::find(events.begin(), events.end(), event) -
                                    events.begin());
  }

  actors::partition_settings settings;
  std::optional<actors::partition_core> core;
  actors::instant now{1000h};
  std::uint64_t connection = 1;
  std::vector<std::string> events;
  std::optional<actors::instant> timer;
  std::size_t accepted_bytes = 0;
  std::size_t released_bytes = 0;
  int contradictions = 0;
  int halts = 0;
  int impossible_verdicts = 0;
  std::vector<std::string> judged;  ///< what the failure handler was asked about
  std::function<failure_verdict(const actors::failure_case&)> judge =
      [](const actors::failure_case&) { return failure_verdict::use_policy; };
  int ids_asked = 0;  ///< since the last grant
  int refreshes = 0;
  std::optional<actors::log_question> look;  ///< not answered yet
  int looks = 0;
  bool log_shows_epoch = false;  ///< a batch of the present leader's own epoch is committed
  std::vector<std::uint64_t> forgotten_tickets;
  std::map<int, std::uint64_t> tickets;  ///< of the records that ended unknown; the last of each
  bool is_ready = false;
  bool is_lingering = false;
  bool alone = false;  ///< no other partition has anything
  int lingers_ended = 0;
  std::size_t not_cancelled = 0;           ///< of the last cancel()
  std::string last_detail;                 ///< of the last failure
  std::vector<std::string> details;        ///< of all failures
  std::map<int, record_number> failed_as;  ///< by what the application knows those that failed
  double next_draw = 0.5;
  bool frames_can_be_withdrawn = false;  ///< then those that were withdrawn are in `withdrawn`
  std::vector<actors::batch*> withdrawn;

  // partition_effects

  void complete_delivered(actors::batch& done) override {
    const bool known = done.acknowledged_offset.has_value();
    const std::int64_t base = known ? done.acknowledged_offset->value : 0;
    for (const actors::completion_entry& each : done.entries())
      if (!each.answered)
        tell(done, each,
             known ? "delivered@" + std::to_string(base + each.position) : "delivered@?");
  }
  void complete_failed(actors::batch& done, const actors::failure_facts& facts) override {
    if (facts.fate == fate::unknown && done.first_ticket == 0) {
      done.first_ticket = next_ticket_;
      next_ticket_ += done.count();
      std::uint64_t own = done.first_ticket;
      for (const int number : numbers_in(done)) tickets[number] = own++;
    }
    details.push_back(last_detail = facts.detail);
    for (std::size_t i = 0; i < done.count(); ++i) {
      const actors::completion_entry& each = done.entries()[i];
      if (each.answered) continue;
      if (each.target == nullptr) failed_as[static_cast<int>(each.data)] = done.number_of(i);
      tell(done, each, name_of(facts));
    }
  }
  void complete_early(actors::batch& sent, std::span<const actors::completion_entry> told,
                      const actors::failure_facts& facts) override {
    EXPECT_EQ(facts.fate, fate::unknown);
    if (sent.first_ticket == 0) {
      sent.first_ticket = next_ticket_;
      next_ticket_ += sent.count();
      std::uint64_t own = sent.first_ticket;
      for (const int number : numbers_in(sent)) tickets[number] = own++;
    }
    for (const actors::completion_entry& each : told) tell(sent, each, name_of(facts));
  }
  void buffered(const actors::record_node& node, std::uint64_t ordinal) override {
    ordinals_[static_cast<int>(node.data)] = ordinal;
  }
  void complete_refused(const actors::record_node& node,
                        const actors::failure_facts& facts) override {
    EXPECT_EQ(facts.fate, fate::not_written);
    tell_first(static_cast<int>(node.data), name_of(facts));
    released_bytes += node.weight;
  }
  void barrier_done(actors::flush_barrier& barrier) override {
    for (auto& each : flushes_)
      if (&each->barrier == &barrier) {
        EXPECT_FALSE(each->done);
        each->done = true;
        return note("flushed");
      }
    ADD_FAILURE() << "an unknown barrier is done";
  }
  void recovered(actors::recover_command& command) override {
    auto& run = static_cast<recovery_run&>(*command.resubmitted_target);
    EXPECT_FALSE(run.done);
    run.done = true;
    run.resubmitted.resize(command.resubmitted.size());
    note("recovered");
  }
  [[nodiscard]] failed describe_failure(const actors::batch& done,
                                        std::size_t index) const override {
    return {done.failure.fate,
            done.failure.code,
            done.failure.cause,
            done.failure.ended_by,
            "topic",
            0,
            done.failure.attempts,
            done.ticket_of(index),
            {},
            done.number_of(index)};
  }
  void release_budget(std::size_t bytes) override { released_bytes += bytes; }
  actors::batch* new_batch() override {
    auto* made = new actors::batch(&segments_, this);
    live_.insert(made);
    return made;
  }
  void free_batch(actors::batch* finished) override {
    ASSERT_EQ(live_.erase(finished), 1U) << "freed twice";
    EXPECT_FALSE(finished->attempts.under_way()) << "its bytes may still be written (L7)";
    delete finished;
  }
  void ready(std::size_t bytes) override {
    EXPECT_GT(bytes, 0U);
    is_ready = true;
  }
  bool withdraw(actors::batch& queued) override {
    if (frames_can_be_withdrawn) withdrawn.push_back(&queued);
    return frames_can_be_withdrawn;
  }
  void lingers() override { is_lingering = true; }
  void linger_is_over() override { ++lingers_ended; }
  [[nodiscard]] bool is_alone() const override { return alone; }
  void arm_timer(std::optional<actors::instant> at) override { timer = at; }
  void ask_producer_id() override { ++ids_asked; }
  void refresh_metadata() override { ++refreshes; }
  void halted(std::error_code cause, const std::vector<std::string>& keys) override {
    ++halts;
    std::string of;
    for (const std::string& each : keys) of += " '" + each + "'";
    note("halted" + of + " " + name_of(cause));
  }
  [[nodiscard]] failure_verdict judge_failure(const actors::failure_case& what) override {
    judged.push_back(name_of(what.facts));
    return judge(what);
  }
  void verdict_was_impossible() override { ++impossible_verdicts; }
  void contradicted() override { ++contradictions; }
  void look_into_log(const actors::log_question& question) override {
    ++looks;
    look = question;
  }
  void settled(actors::settle_command& command, const actors::ticket_answer& answer) override {
    auto& run = static_cast<settle_run&>(command);
    EXPECT_EQ(run.verdict, "") << "a second verdict";
    switch (answer.state) {
      case actors::ticket_state::delivered:
        run.verdict = "delivered@" + (answer.at.known() ? std::to_string(answer.at.value) : "?");
        break;
      case actors::ticket_state::never_written:
        run.verdict = "never_written";
        break;
      default:
        run.verdict = "undecidable " + name_of(answer.reason);
        break;
    }
  }
  void batch_settled(const actors::unknown_batch& batch) override {
    note("settled " + std::to_string(batch.first_ticket));
  }
  void tickets_forgotten(std::uint64_t first) override { forgotten_tickets.push_back(first); }
  [[nodiscard]] std::chrono::milliseconds wall_clock() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()) + 20000h;
  }
  [[nodiscard]] double draw() override { return next_draw; }

 protected:
  /// Each answer, second ones of resubmitted records too.
  virtual void on_told(int /*number*/, const std::string& /*what*/) {}

  std::vector<actors::batch*> in_flight_;
  std::vector<std::unique_ptr<recovery_run>> recoveries_;
  std::vector<std::unique_ptr<flush_run>> flushes_;
  std::vector<std::unique_ptr<settle_run>> settles_;
  int next_number_ = 0;

 private:
  void turn() {
    is_ready = false;
    is_lingering = false;
    core->settle(now);
  }
  int append(const std::optional<std::string>& key, actors::instant admitted,
             std::chrono::milliseconds age, client_errc failure) {
    const int number = next_number_++;
    const std::string value = std::to_string(number);
    record what{.topic = "topic", .key = {}, .value = value};
    if (key) what.key = *key;
    actors::record_node* node =
        actors::make_record_node(what, static_cast<std::uint32_t>(wire::record_tail_size(what)));
    node->target = nullptr;
    node->data = static_cast<std::uint64_t>(number);
    node->timestamp_ms = (wall_clock() - age).count();
    node->admitted_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(admitted.time_since_epoch()).count();
    node->flags = static_cast<std::uint16_t>(failure);
    node->call = call_;
    accepted_bytes += node->weight;
    core->append(*node, now, came_.value_or(now));
    node->flags = 0;
    actors::release_record_node(*node);
    turn();
    return number;
  }
  /// A batch that was cut has no bytes before it is stamped again.
  static int number_of(actors::batch& done, std::size_t position) {
    std::vector<owned_record> records;
    done.copy_records(records);
    return std::stoi(*records.at(position).value);
  }
  void tell(actors::batch& done, const actors::completion_entry& entry, const std::string& what) {
    if (entry.target == nullptr) return tell_first(static_cast<int>(entry.data), what);
    auto& run = static_cast<recovery_run&>(*entry.target);
    ASSERT_LT(entry.data, run.resubmitted.size());
    EXPECT_EQ(run.resubmitted[entry.data], "") << "a second answer";
    run.resubmitted[entry.data] = what;
    note("again " + std::to_string(entry.data) + " " + what);
    on_told(number_of(done, entry.position), what);
  }
  void tell_first(int number, const std::string& what) {
    EXPECT_TRUE(told_.emplace(number, what).second)
        << "record " << number << " was told " << told_[number] << ", then " << what;
    note(std::to_string(number) + " " + what);
    on_told(number, what);
  }
  /// started() needs a record to make the core ask for an id; the test begins without it.
  void drop_records() {
    core->pause(pause_mode::abort_buffered, now);
    core->resume(now);
    turn();
    told_.clear();
    events.clear();
    details.clear();
    next_number_ = 0;
  }

  wire::segment_pool segments_;
  std::set<actors::batch*> live_;
  std::map<int, std::string> told_;
  std::map<int, std::uint64_t> ordinals_;
  std::uint32_t call_ = 0;
  std::optional<actors::instant> came_;
  int leader_ = 0;
  std::uint64_t next_ticket_ = 1;
};

}  // namespace partita::testing
