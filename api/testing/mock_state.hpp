// What a mock_producer knows: its records, its partitions, and what it owes to whom.
//
// Invariants
// 1. Everything is done under the lock; what user code has to hear is noted as owed and told by
//    tell_owed(), under no lock.
// 2. A thread that tells what is owed does not begin to tell again from inside a callback.
//
// Threads: any.
#pragma once

#include "api/begun_operation.hpp"
#include "api/callback_reporter.hpp"
#include "api/event_queue.hpp"

#include <partita/failure_policy.hpp>
#include <partita/operation.hpp>
#include <partita/outcome.hpp>
#include <partita/produce_options.hpp>
#include <partita/record.hpp>
#include <partita/recovery.hpp>
#include <partita/settlement.hpp>
#include <partita/status.hpp>
#include <partita/testing/mock_producer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace partita::testing {

/// What becomes of a record for which there is no room.
enum class without_room : std::uint8_t {
  refuse,    ///< produce() with a callback: buffer_full, which halts nothing
  time_out,  ///< who would wait: admission_timeout, a failure
  take,      ///< it has its room
};

class mock_state {
 public:
  using callback = std::function<void(const outcome&)>;
  using stop_registration = std::stop_callback<std::function<void()>>;

  /// A recover(resubmit) that is not over yet.
  struct resubmission {
    recovery_report made{};
    struct one {
      record_number number{};
      std::optional<outcome> answer{};
    };
    std::vector<one> records{};
    std::size_t open = 0;
    detail::operation_state<recovery_report>* state = nullptr;
  };
  struct held_record {
    mock_record noted;
    callback answered;
    record_number number{};  ///< that of its first submission
    std::vector<std::unique_ptr<stop_registration>> cancellations{};
    /// Of a record that was resubmitted: who reports its answer, and where.
    std::shared_ptr<resubmission> reported{};
    std::size_t reported_at = 0;
  };
  struct partition {
    std::int64_t next_offset = 0;
    bool paused = false;
    std::optional<std::error_code> halted{};  ///< all of it
    std::map<std::string, std::error_code> halted_keys{};
    std::vector<std::size_t> failed{};              ///< kept for recover()
    std::map<std::int64_t, std::size_t> written{};  ///< records by offset
    tally answered{};
    std::error_code last_error{};
  };
  /// A record of unknown fate, and who asked for it. It has its place in the log from the start:
  /// nothing that its partition sent later may lie before it.
  struct doubt {
    std::size_t index = 0;
    offset at{};
    std::optional<settlement> verdict{};
    std::vector<detail::operation_state<settlement>*> asked{};
  };

  using place = std::pair<std::string, std::int32_t>;

  explicit mock_state(const mock_options& wanted) : options(wanted) {}

  // Under the lock
  [[nodiscard]] partition& of(const owned_record& record) {
    return partitions[{record.topic, record.partition.value}];
  }
  [[nodiscard]] bool known(partition_id which) const noexcept {
    return which.value >= 0 && which.value < options.partitions;
  }
  /// What is wrong with the record in itself, as the producer sees it.
  [[nodiscard]] client_errc check(const record& what, const produce_options& asked) const noexcept;
  [[nodiscard]] bool has_room(std::size_t count = 1) const noexcept {
    return count <= options.records_max && waiting.size() <= options.records_max - count;
  }
  /// The record's index, if it was taken; otherwise its answer is owed.
  std::optional<std::size_t> admit(const record& from, const produce_options& asked,
                                   without_room otherwise, callback answered);
  /// All of them end not_written because there is no room for them together.
  void refuse_all(std::span<const record> all, client_errc code,
                  const std::function<callback(std::size_t index)>& answered);
  void deliver(std::size_t index);
  void fail(std::size_t index, fate what, std::error_code code);
  /// Ends it not_written without being a failure.
  void end(std::size_t index, std::error_code code);
  /// Unanswered, and neither paused nor halted.
  [[nodiscard]] std::optional<std::size_t> next();
  /// Delivers what a pause or a halt held up.
  void go_on();
  void halt(const place& where, const std::optional<std::string>& key, std::error_code cause);
  operation<recovery_report> recover(const place& where, const std::optional<std::string>& key,
                                     recovery how, recover_options allowed);
  [[nodiscard]] producer_status status() const;
  void tell(partition_change change, const place& where, std::error_code code,
            std::vector<std::string> keys);
  bool decide(ticket which, const std::function<settlement(const doubt& of)>& verdict);
  void end_settlements();

  /// The calling thread is in a callback: what it asks for is done after that, as on a lane.
  [[nodiscard]] bool tells_here() const noexcept;
  /// Calls what is owed; more may be owed by what it calls.
  void tell_owed(std::unique_lock<std::mutex>& held);

  template <class T>
  operation<T> finished(T value) {
    auto* state = detail::begun_operation<T>(reporter.get());
    operation<T> made{*state};
    state->result.emplace(std::move(value));
    if (tells_here())
      owe_opening(*state);
    else
      state->open();
    return made;
  }

  template <class Wanted>
  operation<tally> flush(Wanted&& wanted) {
    auto* state = detail::begun_operation<tally>(reporter.get());
    operation<tally> made{*state};
    std::unique_lock held{lock};
    state->retain();
    barrier& one = barriers.emplace_back();
    one.state = state;
    for (const auto index : waiting)
      if (wanted(records[index].noted.record)) one.waits_for.push_back(index);
    tell_owed(held);
    return made;
  }

  mock_options options;
  mutable std::mutex lock;
  std::deque<held_record> records;  // all of them: indexes stay
  std::deque<std::size_t> waiting;  // unanswered, in order
  std::map<place, partition> partitions;
  std::map<std::uint64_t, doubt> doubts;  // by their tickets
  std::vector<std::shared_ptr<detail::event_queue>> streams;
  bool closed = false;
  std::atomic<std::uint64_t> callback_exceptions{0};
  detail::reporter_owner reporter{[](void* state, std::exception_ptr) noexcept {
                                    ++static_cast<mock_state*>(state)->callback_exceptions;
                                  },
                                  this, options.get_wait_max};

  /// User code that is owed something.
  std::vector<std::function<void()>> owed;

 private:
  /// A flush that is not over yet.
  struct barrier {
    std::vector<std::size_t> waits_for{};
    tally answered{};
    detail::operation_state<tally>* state = nullptr;
  };

  [[nodiscard]] outcome failure(const owned_record& record, fate what, std::error_code code,
                                std::error_code cause = {}, record_number number = {});
  void owe(callback answered, outcome answer);
  template <class T>
  void owe_opening(detail::operation_state<T>& state) {
    state.retain();
    owed.push_back([&state] {
      state.open();
      state.release();
    });
  }
  void answer(std::size_t index, outcome with);
  [[nodiscard]] owned_record placed(const record& from) const;
  [[nodiscard]] std::optional<std::error_code> refusal(const owned_record& record);
  void refuse(const owned_record& copy, const record& from, callback answered, client_errc code,
              std::error_code cause = {});
  void fail_unbuffered(const owned_record& copy, const record& from, callback answered,
                       client_errc code);
  bool halt_by_policy(const owned_record& record, std::error_code code);
  void resubmit(std::span<const std::size_t> indexes, const std::shared_ptr<resubmission>& into);
  void report_answer(held_record& of, const outcome& with);

  std::vector<barrier> barriers;
  std::vector<std::thread::id> telling_;
  std::uint64_t last_ticket_ = 0;
};

}  // namespace partita::testing
