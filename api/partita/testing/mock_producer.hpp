// A producer without brokers for tests of applications: records are remembered, and the test says
// what becomes of each.
//
// It has the producer's own calls for records and for control, so that code which is written
// against "something with the producer's interface" (a template parameter, or an interface of the
// application's) runs with either. What the brokers would decide, the test decides: deliver_next(),
// fail_next(), doubt_next(), settle_as_written(); or everything is delivered at once
// (auto-complete, the default). What the producer refuses at the call is refused here in the same
// words: a bad topic name, partition, timestamp or header, a record that is too large, a delivery
// timeout that is over. Deadlines pass for nobody but those that wait for room, for whom
// max.block.ms passes at once; completion tokens are not known here.
//
// Invariants
// 1. Every record that was accepted is answered exactly once, at the latest by the destructor.
// 2. Answers of one partition come in the order of its records, and so do offsets: each record
//    that is delivered or in doubt takes the next one of its partition. Where a record in doubt
//    was not written offsets have a gap; settled as written it lies before all that came later.
// 3. A failure takes effect (halt, failed records kept for recover) before its callback is called,
//    and before any later record is taken.
// 4. No callback is called inside another one: what a callback produces is answered after it.
// 5. No wait is endless: get() in a callback, or a coroutine that continued there, is a broken
//    contract at once, as on a lane; elsewhere one is when get_wait_max passes without an answer.
//
// Threads: any; callbacks and coroutines run on the thread that made the answer, under no lock.
#pragma once

#include <partita/error.hpp>
#include <partita/events.hpp>
#include <partita/failure_policy.hpp>
#include <partita/operation.hpp>
#include <partita/outcome.hpp>
#include <partita/produce_operation.hpp>
#include <partita/produce_options.hpp>
#include <partita/producer.hpp>
#include <partita/record.hpp>
#include <partita/recovery.hpp>
#include <partita/settlement.hpp>
#include <partita/status.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::testing {

struct mock_options {
  bool auto_complete = true;    ///< every record is delivered as soon as it is taken
  std::int32_t partitions = 1;  ///< of every topic; records without partition go by a hash of key
  failure_policy on_failure = failure_policy::halt_key;  ///< as the producer's
  std::size_t records_max = 10'000;                      ///< unanswered ones; beyond: no room
  std::size_t max_request_size_bytes = 1'048'576;        ///< as the producer's
  /// How long get() waits for what another thread of the test decides.
  std::chrono::milliseconds get_wait_max{10'000};
};

/// A record that the mock took, and its answer once there is one.
struct mock_record {
  owned_record record{};  ///< with the partition it went to
  std::optional<outcome> answer{};
};

class mock_producer;
class mock_state;
enum class without_room : std::uint8_t;
class mock_waiter;

/// What mock_producer::produce(record) returns.
class [[nodiscard]] mock_operation {
 public:
  struct awaiter {
    mock_operation& self;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> handle) { return self.start(handle); }
    outcome await_resume() noexcept { return self.take(); }
  };
  mock_operation(mock_producer& owner, const record& sent, produce_options options = {}) noexcept
      : owner_(&owner), sent_(sent), options_(std::move(options)) {}
  mock_operation(const mock_operation&) = delete;
  mock_operation& operator=(const mock_operation&) = delete;
  ~mock_operation();

  /// The coroutine continues through `executor`, which must outlive the operation.
  mock_operation&& resume_on(resume_executor& executor) && noexcept {
    executor_ = &executor;
    return std::move(*this);
  }
  /// Once, as in produce_operation.
  awaiter operator co_await() &&;
  awaiter operator co_await() & = delete;  // sent once: co_await std::move(operation)

 private:
  bool start(std::coroutine_handle<> handle);
  [[nodiscard]] outcome take() noexcept;

  mock_producer* owner_;  // null: it was started
  record sent_;
  produce_options options_;
  resume_executor* executor_ = nullptr;
  std::shared_ptr<mock_waiter> waiter_;
};

class mock_producer {
 public:
  explicit mock_producer(const mock_options& options = {});
  /// Answers what is left: not_written, code closed.
  ~mock_producer();
  mock_producer(const mock_producer&) = delete;
  mock_producer& operator=(const mock_producer&) = delete;

  // What a producer does.
  [[nodiscard]] mock_operation produce(const record& record) noexcept { return {*this, record}; }
  [[nodiscard]] mock_operation produce(const record& record,
                                       const produce_options& options) noexcept {
    return {*this, record, options};
  }
  template <outcome_callback Callback>
  void produce(const record& record, Callback&& callback) {
    take(record, {}, keep(std::forward<Callback>(callback)));
  }
  template <outcome_callback Callback>
  void produce(const record& record, const produce_options& options, Callback&& callback) {
    take(record, options, keep(std::forward<Callback>(callback)));
  }
  template <outcome_callback Callback>
  admission try_produce(const record& record, Callback&& callback) {
    return try_take(record, {}, keep(std::forward<Callback>(callback)));
  }
  template <outcome_callback Callback>
  admission try_produce(const record& record, const produce_options& options, Callback&& callback) {
    return try_take(record, options, keep(std::forward<Callback>(callback)));
  }
  /// A record that waits for its answer ends not_written, code cancelled. Stop tokens do the same.
  bool cancel(record_handle handle) noexcept { return handle.cancel(); }
  /// All or none: without room for all of them all end not_written.
  [[nodiscard]] operation<std::vector<outcome>> produce_batch(std::span<const record> records,
                                                              const produce_options& options = {});
  /// The same; each outcome is told when it is known.
  template <indexed_outcome_callback Callback>
  void produce_batch(std::span<const record> records, Callback&& told) {
    take_all(records, {}, shared(detail::make_indexed_callback(std::forward<Callback>(told))));
  }
  template <indexed_outcome_callback Callback>
  void produce_batch(std::span<const record> records, const produce_options& options,
                     Callback&& told) {
    take_all(records, options, shared(detail::make_indexed_callback(std::forward<Callback>(told))));
  }
  [[nodiscard]] operation<tally> flush();
  [[nodiscard]] operation<tally> flush(std::string_view topic);
  [[nodiscard]] operation<tally> flush(std::string_view topic, partition_id partition);
  /// What is unanswered ends not_written at once: there is nothing to wait for.
  [[nodiscard]] operation<close_report> close(std::chrono::milliseconds deadline);
  /// A paused partition is passed over by auto-complete and by deliver_next(), fail_next() and
  /// doubt_next().
  operation<bool> pause(std::string_view topic, partition_id partition,
                        pause_mode mode = pause_mode::hold);
  operation<bool> resume(std::string_view topic, partition_id partition);
  /// What is resubmitted waits like what is newly produced, before what was held: the report comes
  /// when all of it has its second answer.
  [[nodiscard]] operation<recovery_report> recover(std::string_view topic, partition_id partition,
                                                   recovery how, recover_options options = {});
  [[nodiscard]] operation<recovery_report> recover(std::string_view topic, partition_id partition,
                                                   std::string_view key, recovery how,
                                                   recover_options options = {});
  operation<bool> halt(std::string_view topic, partition_id partition);
  operation<bool> halt(std::string_view topic, partition_id partition, std::string_view key);
  /// Done when the test has decided by settle_as_...(), or the mock is closed.
  [[nodiscard]] operation<settlement> settle(ticket which);
  /// Of the partitions that something was done to.
  [[nodiscard]] operation<producer_status> status();
  /// Halted and resumed partitions and keys.
  [[nodiscard]] event_stream events(std::size_t capacity = 1024);

  // What the test decides. False: nothing waits for an answer.
  bool deliver_next();
  bool fail_next(std::error_code code);   ///< not_written
  bool doubt_next(std::error_code code);  ///< unknown
  /// Delivers all that waits, also what callbacks produce meanwhile; returns how many.
  std::size_t deliver_all();
  void set_auto_complete(bool on);
  /// As if a record of the partition had failed: new records are refused until recover().
  void halt(std::string_view topic, partition_id partition, std::error_code cause);
  /// What became of a record of unknown fate, at the offset that was kept for it. False: no such
  /// ticket, or decided before.
  bool settle_as_written(ticket which);
  bool settle_as_never_written(ticket which);
  bool settle_as_undecidable(ticket which, std::error_code reason);

  // What the test looks at.
  [[nodiscard]] std::size_t pending() const;
  [[nodiscard]] bool halted(std::string_view topic, partition_id partition) const;
  /// Everything that was taken, in order.
  [[nodiscard]] std::vector<mock_record> history() const;
  /// What a partition's log would hold, in the order of offsets.
  [[nodiscard]] std::vector<owned_record> log(std::string_view topic, partition_id partition) const;

 private:
  friend class mock_operation;
  using callback = std::function<void(const outcome&)>;

  /// A std::function wants a copy of what it calls, the producer does not.
  template <class Callback>
  static callback keep(Callback&& given) {
    detail::expect_not_empty(given);
    auto kept = std::make_shared<std::decay_t<Callback>>(std::forward<Callback>(given));
    return [kept = std::move(kept)](const outcome& answer) { (*kept)(answer); };
  }
  void take(const record& record, const produce_options& options, callback answered);
  void take(const record& record, const produce_options& options, without_room otherwise,
            callback answered);
  static std::shared_ptr<detail::indexed_callback> shared(detail::indexed_callback* owned) {
    return std::shared_ptr<detail::indexed_callback>(owned);
  }
  void take_all(std::span<const record> records, const produce_options& options,
                std::shared_ptr<detail::indexed_callback> told);
  void take_all(std::span<const record> records, const produce_options& options,
                const std::function<callback(std::size_t index)>& part);
  admission try_take(const record& record, const produce_options& options, callback answered);
  void watch(std::size_t index, const produce_options& options, std::unique_lock<std::mutex>& held);
  bool answer_next(const std::function<void(std::size_t)>& how);
  operation<bool> halt_for(std::string_view topic, partition_id partition,
                           const std::optional<std::string>& key);
  operation<recovery_report> recover_for(std::string_view topic, partition_id partition,
                                         const std::optional<std::string>& key, recovery how,
                                         recover_options options);

  std::unique_ptr<mock_state> state_;
};

}  // namespace partita::testing
