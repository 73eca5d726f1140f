// A producer without brokers for tests of applications: records are remembered, and the test says
// what becomes of each.
//
// It has the producer's own calls for records and for control, so that code which is written
// against "something with the producer's interface" (a template parameter, or an interface of the
// application's) runs with either. What the brokers would decide, the test decides: deliver_next(),
// fail_next(), doubt_next(); or everything is delivered at once (auto-complete, the default).
//
// Invariants
// 1. Every record that was accepted is answered exactly once, at the latest by the destructor.
// 2. Answers of one partition come in the order of its records, and offsets are dense: a delivered
//    record lies at the next offset of its partition, one of unknown fate may.
// 3. A failure takes effect (halt, failed records kept for recover) before its callback is called,
//    and before any later record is taken.
//
// Threads: any; callbacks and coroutines run on the thread that made the answer, under no lock.
#pragma once

#include <partita/error.hpp>
#include <partita/failure_policy.hpp>
#include <partita/operation.hpp>
#include <partita/outcome.hpp>
#include <partita/produce_options.hpp>
#include <partita/producer.hpp>
#include <partita/record.hpp>
#include <partita/recovery.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace partita::testing {

struct mock_options {
  bool auto_complete = true;    ///< every record is delivered as soon as it is taken
  std::int32_t partitions = 1;  ///< of every topic; records without partition go by a hash of key
  failure_policy on_failure = failure_policy::halt_partition;
  std::size_t records_max = 10'000;  ///< unanswered ones; beyond: no room
};

/// A record that the mock took, and its answer once there is one.
struct mock_record {
  owned_record record;  ///< with the partition it went to
  std::optional<outcome> answer;
};

class mock_producer;

/// What mock_producer::produce(record) returns.
class [[nodiscard]] mock_operation {
 public:
  struct awaiter {
    mock_producer& owner;
    record sent;
    std::optional<outcome> answer{};
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> handle);
    outcome await_resume() noexcept { return std::move(*answer); }
  };
  mock_operation(mock_producer& owner, const record& sent) noexcept : owner_(&owner), sent_(sent) {}
  awaiter operator co_await() && noexcept { return {*owner_, sent_}; }

 private:
  mock_producer* owner_;
  record sent_;
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
  template <class Callback>
  requires std::is_invocable_v < std::decay_t<Callback>
  &, const outcome& > void produce(const record& record, Callback&& callback) {
    take(record, std::forward<Callback>(callback));
  }
  template <class Callback>
  requires std::is_invocable_v < std::decay_t<Callback>
  &, const outcome& > admission try_produce(const record& record, Callback&& callback) {
    return try_take(record, std::forward<Callback>(callback));
  }
  /// Deadlines and ways to cancel mean nothing here: the test decides what becomes of a record.
  [[nodiscard]] mock_operation produce(const record& record, const produce_options&) noexcept {
    return {*this, record};
  }
  template <class Callback>
  requires std::is_invocable_v < std::decay_t<Callback>
  &, const outcome& >
         void produce(const record& record, const produce_options&, Callback&& callback) {
    take(record, std::forward<Callback>(callback));
  }
  template <class Callback>
  requires std::is_invocable_v < std::decay_t<Callback>
  &, const outcome& >
         admission try_produce(const record& record, const produce_options&, Callback&& callback) {
    return try_take(record, std::forward<Callback>(callback));
  }
  [[nodiscard]] operation<std::vector<outcome>> produce_batch(std::span<const record> records,
                                                              const produce_options& options = {});
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
  [[nodiscard]] operation<recovery_report> recover(std::string_view topic, partition_id partition,
                                                   recovery how, recover_options options = {});

  // What the test decides. False: nothing waits for an answer.
  bool deliver_next();
  bool fail_next(std::error_code code);   ///< not_written
  bool doubt_next(std::error_code code);  ///< unknown
  /// Delivers all that waits, also what callbacks produce meanwhile; returns how many.
  std::size_t deliver_all();
  void set_auto_complete(bool on);
  /// As if a record of the partition had failed: new records are refused until recover().
  void halt(std::string_view topic, partition_id partition, std::error_code cause);

  // What the test looks at.
  [[nodiscard]] std::size_t pending() const;
  [[nodiscard]] bool halted(std::string_view topic, partition_id partition) const;
  /// Everything that was taken, in order.
  [[nodiscard]] std::vector<mock_record> history() const;
  /// What a partition's log would hold, in the order of offsets.
  [[nodiscard]] std::vector<owned_record> log(std::string_view topic, partition_id partition) const;

 private:
  friend struct mock_operation::awaiter;
  using callback = std::function<void(const outcome&)>;
  struct parts;

  void take(const record& record, callback answered);
  admission try_take(const record& record, callback answered);

  std::unique_ptr<parts> parts_;
};

}  // namespace partita::testing
