#include <partita/testing/mock_producer.hpp>

#include "api/event_queue.hpp"
#include "api/testing/mock_state.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace partita::testing {
/// Between the record and the coroutine that waits, either of which may be gone first.
class mock_waiter {
 public:
  mock_waiter(std::coroutine_handle<> handle, resume_executor* executor)
      : handle_(handle), executor_(executor) {}

  /// An answer that comes inside start() must not resume the coroutine from within it.
  void answer(const outcome& told) {
    {
      const std::lock_guard held{lock_};
      answer_.emplace(told);
      if (starting_ || left_) return;
    }
    if (executor_ != nullptr)
      executor_->resume({&handle_, 1});
    else
      handle_.resume();
  }
  [[nodiscard]] bool suspends() {
    const std::lock_guard held{lock_};
    starting_ = false;
    return !answer_;
  }
  void leave() {
    const std::lock_guard held{lock_};
    left_ = true;
  }
  [[nodiscard]] outcome take() noexcept { return std::move(*answer_); }

 private:
  const std::coroutine_handle<> handle_;
  resume_executor* const executor_;
  std::mutex lock_;
  std::optional<outcome> answer_;
  bool starting_ = true;
  bool left_ = false;
};

mock_operation::~mock_operation() {
  if (waiter_ != nullptr) waiter_->leave();
}

mock_operation::awaiter mock_operation::operator co_await() && {
  PARTITA_EXPECTS_OR_SAY(owner_ != nullptr,
                         "an operation of produce() was started a second time: it sends its record "
                         "once, call produce() again");
  return {*this};
}

bool mock_operation::start(std::coroutine_handle<> handle) {
  const auto waiter = std::make_shared<mock_waiter>(handle, executor_);
  waiter_ = waiter;
  std::exchange(owner_, nullptr)
      ->take(sent_, options_, without_room::time_out,
             [waiter](const outcome& told) { waiter->answer(told); });
  return waiter->suspends();
}

outcome mock_operation::take() noexcept { return waiter_->take(); }

mock_producer::mock_producer(const mock_options& options)
    : state_(std::make_unique<mock_state>(options)) {
  PARTITA_EXPECTS_OR_SAY(options.partitions > 0, "a mock needs at least one partition",
                         options.partitions);
}

mock_producer::~mock_producer() {
  {
    const std::lock_guard held{state_->lock};
    PARTITA_EXPECTS_OR_SAY(!state_->tells_here(),
                           "a mock was destroyed in a callback that it called (or in a coroutine "
                           "that continued there): destroy it after that");
  }
  static_cast<void>(close(std::chrono::milliseconds{0}));
  for (const auto& each : state_->streams) each->end();
}

void mock_producer::take(const record& record, const produce_options& options, callback answered) {
  take(record, options, without_room::refuse, std::move(answered));
}

void mock_producer::take(const record& record, const produce_options& options,
                         without_room otherwise, callback answered) {
  std::unique_lock held{state_->lock};
  const auto index = state_->admit(record, options, otherwise, std::move(answered));
  if (index) watch(*index, options, held);
  state_->tell_owed(held);
}

admission mock_producer::try_take(const record& record, const produce_options& options,
                                  callback answered) {
  std::unique_lock held{state_->lock};
  if (state_->closed) return admission::closed;
  if (state_->check(record, options) == client_errc{} && !state_->has_room())
    return admission::full;
  const auto index = state_->admit(record, options, without_room::take, std::move(answered));
  if (index) watch(*index, options, held);
  state_->tell_owed(held);
  return admission::accepted;
}

/// Registers where the record can be cancelled. A source that was stopped before calls at once, so
/// not under the lock.
void mock_producer::watch(std::size_t index, const produce_options& options,
                          std::unique_lock<std::mutex>& held) {
  if (state_->records[index].noted.answer) return;
  held.unlock();
  std::vector<std::unique_ptr<mock_state::stop_registration>> made;
  for (const std::stop_token& each : {options.cancellation, options.handle.token()})
    if (each.stop_possible())
      made.push_back(std::make_unique<mock_state::stop_registration>(each, [this, index] {
        std::unique_lock again{state_->lock};
        if (!state_->records[index].noted.answer) state_->end(index, client_errc::cancelled);
        state_->tell_owed(again);
      }));
  held.lock();
  if (state_->records[index].noted.answer) {
    held.unlock();
    made.clear();
    held.lock();
    return;
  }
  state_->records[index].cancellations = std::move(made);
}

operation<std::vector<outcome>> mock_producer::produce_batch(std::span<const record> records,
                                                             const produce_options& options) {
  struct gathered {
    explicit gathered(std::size_t count) : answers(count), left(count) {}
    std::mutex lock;
    std::vector<std::optional<outcome>> answers;
    std::size_t left;
  };
  auto* state = detail::begun_operation<std::vector<outcome>>(state_->reporter.get());
  operation<std::vector<outcome>> made{*state};
  if (records.empty()) {
    state->result.emplace();
    state->open();
    return made;
  }
  auto all = std::make_shared<gathered>(records.size());
  state->retain();
  const auto part = [all, state](std::size_t index) -> callback {
    return [all, index, state](const outcome& answer) {
      {
        const std::lock_guard guard{all->lock};
        all->answers[index].emplace(answer);
        if (--all->left > 0) return;
      }
      auto& result = state->result.emplace();
      for (auto& one : all->answers) result.push_back(std::move(*one));
      state->open();
      state->release();
    };
  };
  take_all(records, options, part);
  return made;
}

void mock_producer::take_all(std::span<const record> records, const produce_options& options,
                             std::shared_ptr<detail::indexed_callback> told) {
  take_all(records, options, [told = std::move(told)](std::size_t index) -> callback {
    return [told, index](const outcome& answer) { told->call(index, answer); };
  });
}

void mock_producer::take_all(std::span<const record> records, const produce_options& options,
                             const std::function<callback(std::size_t index)>& part) {
  std::unique_lock held{state_->lock};
  const auto sound = static_cast<std::size_t>(std::count_if(
      records.begin(), records.end(),
      [&](const record& each) { return state_->check(each, options) == client_errc{}; }));
  if (!state_->closed && !state_->has_room(sound)) {
    // More than there ever is room for need not wait.
    state_->refuse_all(records,
                       sound > state_->options.records_max ? client_errc::buffer_full
                                                           : client_errc::admission_timeout,
                       part);
  } else {
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < records.size(); ++i)
      if (const auto index = state_->admit(records[i], options, without_room::take, part(i)))
        taken.push_back(*index);
    for (const std::size_t index : taken) watch(index, options, held);
  }
  state_->tell_owed(held);
}

operation<tally> mock_producer::flush() {
  return state_->flush([](const owned_record&) { return true; });
}

operation<tally> mock_producer::flush(std::string_view topic) {
  return state_->flush([&](const owned_record& record) { return record.topic == topic; });
}

operation<tally> mock_producer::flush(std::string_view topic, partition_id partition) {
  return state_->flush([&](const owned_record& record) {
    return record.topic == topic && record.partition == partition;
  });
}

operation<close_report> mock_producer::close(std::chrono::milliseconds) {
  close_report made;
  std::unique_lock held{state_->lock};
  state_->closed = true;
  for (const auto index :
       std::vector<std::size_t>(state_->waiting.begin(), state_->waiting.end())) {
    made.unsent.push_back(state_->records[index].noted.record);
    ++made.answered.not_written;
    state_->end(index, client_errc::closed);
  }
  state_->end_settlements();
  state_->tell_owed(held);
  return state_->finished(std::move(made));
}

operation<bool> mock_producer::pause(std::string_view topic, partition_id partition,
                                     pause_mode mode) {
  std::unique_lock held{state_->lock};
  if (!state_->known(partition)) return state_->finished(false);
  state_->partitions[{std::string{topic}, partition.value}].paused = true;
  if (mode == pause_mode::abort_buffered)
    for (const auto index :
         std::vector<std::size_t>(state_->waiting.begin(), state_->waiting.end())) {
      const auto& record = state_->records[index].noted.record;
      if (record.topic == topic && record.partition == partition)
        state_->end(index, client_errc::aborted);
    }
  state_->tell_owed(held);
  return state_->finished(true);
}

operation<bool> mock_producer::resume(std::string_view topic, partition_id partition) {
  std::unique_lock held{state_->lock};
  if (!state_->known(partition)) return state_->finished(false);
  const mock_state::place where{topic, partition.value};
  state_->partitions[where].paused = false;
  state_->tell(partition_change::resumed, where, {}, {});
  state_->go_on();
  state_->tell_owed(held);
  return state_->finished(true);
}

operation<recovery_report> mock_producer::recover_for(std::string_view topic,
                                                      partition_id partition,
                                                      const std::optional<std::string>& key,
                                                      recovery how, recover_options options) {
  std::unique_lock held{state_->lock};
  auto made = state_->recover({std::string{topic}, partition.value}, key, how, options);
  state_->go_on();
  state_->tell_owed(held);
  return made;
}

operation<recovery_report> mock_producer::recover(std::string_view topic, partition_id partition,
                                                  recovery how, recover_options options) {
  return recover_for(topic, partition, std::nullopt, how, options);
}

operation<recovery_report> mock_producer::recover(std::string_view topic, partition_id partition,
                                                  std::string_view key, recovery how,
                                                  recover_options options) {
  return recover_for(topic, partition, std::string{key}, how, options);
}

operation<bool> mock_producer::halt_for(std::string_view topic, partition_id partition,
                                        const std::optional<std::string>& key) {
  std::unique_lock held{state_->lock};
  if (!state_->known(partition)) return state_->finished(false);
  state_->halt({std::string{topic}, partition.value}, key, client_errc::halt_requested);
  state_->tell_owed(held);
  return state_->finished(true);
}

operation<bool> mock_producer::halt(std::string_view topic, partition_id partition) {
  return halt_for(topic, partition, std::nullopt);
}

operation<bool> mock_producer::halt(std::string_view topic, partition_id partition,
                                    std::string_view key) {
  return halt_for(topic, partition, std::string{key});
}

operation<settlement> mock_producer::settle(ticket which) {
  const std::lock_guard held{state_->lock};
  const auto found = state_->doubts.find(which.value);
  if (found == state_->doubts.end())
    return state_->finished(settlement(undecidable{client_errc::ticket_unknown}));
  if (found->second.verdict) return state_->finished(*found->second.verdict);
  auto* state = detail::begun_operation<settlement>(state_->reporter.get());
  operation<settlement> made{*state};
  state->retain();
  found->second.asked.push_back(state);
  return made;
}

operation<producer_status> mock_producer::status() {
  const std::lock_guard held{state_->lock};
  return state_->finished(state_->status());
}

event_stream mock_producer::events(std::size_t capacity) {
  PARTITA_EXPECTS_OR_SAY(capacity > 0, "events() needs room for at least one event");
  auto queue = std::make_shared<detail::event_queue>(capacity, state_->reporter.get());
  const std::lock_guard held{state_->lock};
  state_->streams.push_back(queue);
  return event_stream(new detail::event_reader{std::move(queue)});
}

// What the test decides

bool mock_producer::answer_next(const std::function<void(std::size_t)>& how) {
  std::unique_lock held{state_->lock};
  const auto next = state_->next();
  if (next) how(*next);
  state_->tell_owed(held);
  return next.has_value();
}

bool mock_producer::deliver_next() {
  return answer_next([this](std::size_t index) { state_->deliver(index); });
}

bool mock_producer::fail_next(std::error_code code) {
  return answer_next([&](std::size_t index) { state_->fail(index, fate::not_written, code); });
}

bool mock_producer::doubt_next(std::error_code code) {
  return answer_next([&](std::size_t index) { state_->fail(index, fate::unknown, code); });
}

bool mock_producer::settle_as_written(ticket which) {
  std::unique_lock held{state_->lock};
  const bool done = state_->decide(which, [this](const mock_state::doubt& of) -> settlement {
    const auto& record = state_->records[of.index].noted.record;
    state_->of(record).written.emplace(of.at.value, of.index);
    return delivered{record.partition, of.at, record.timestamp};
  });
  state_->tell_owed(held);
  return done;
}

bool mock_producer::settle_as_never_written(ticket which) {
  std::unique_lock held{state_->lock};
  const bool done =
      state_->decide(which, [](const auto&) -> settlement { return never_written{}; });
  state_->tell_owed(held);
  return done;
}

bool mock_producer::settle_as_undecidable(ticket which, std::error_code reason) {
  std::unique_lock held{state_->lock};
  const bool done =
      state_->decide(which, [&](const auto&) -> settlement { return undecidable{reason}; });
  state_->tell_owed(held);
  return done;
}

std::size_t mock_producer::deliver_all() {
  std::size_t count = 0;
  while (deliver_next()) ++count;
  return count;
}

void mock_producer::set_auto_complete(bool on) {
  const std::lock_guard held{state_->lock};
  state_->options.auto_complete = on;
}

void mock_producer::halt(std::string_view topic, partition_id partition, std::error_code cause) {
  std::unique_lock held{state_->lock};
  state_->halt({std::string{topic}, partition.value}, std::nullopt, cause);
  state_->tell_owed(held);
}

std::size_t mock_producer::pending() const {
  const std::lock_guard held{state_->lock};
  return state_->waiting.size();
}

bool mock_producer::halted(std::string_view topic, partition_id partition) const {
  const std::lock_guard held{state_->lock};
  const auto found = state_->partitions.find({std::string{topic}, partition.value});
  return found != state_->partitions.end() &&
         (found->second.halted.has_value() || !found->second.halted_keys.empty());
}

std::vector<mock_record> mock_producer::history() const {
  const std::lock_guard held{state_->lock};
  std::vector<mock_record> made;
  for (const auto& one : state_->records) made.push_back(one.noted);
  return made;
}

std::vector<owned_record> mock_producer::log(std::string_view topic, partition_id partition) const {
  const std::lock_guard held{state_->lock};
  std::vector<owned_record> made;
  const auto found = state_->partitions.find({std::string{topic}, partition.value});
  if (found == state_->partitions.end()) return made;
  for (const auto& [at, index] : found->second.written)
    made.push_back(state_->records[index].noted.record);
  return made;
}

}  // namespace partita::testing
