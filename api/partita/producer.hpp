// The producer.
//
// Order: per partition all calls (produce, pause, resume, recover, flush, close) act in one total
// order that is consistent with real time: if one call returned before another began, it acts
// first. Threads: every member may be called from any thread, also from inside a callback. Errors:
// after construction nothing is thrown; what goes wrong with a record is in its outcome.
#pragma once

#include <partita/completion.hpp>
#include <partita/config.hpp>
#include <partita/duration.hpp>
#include <partita/events.hpp>
#include <partita/operation.hpp>
#include <partita/outcome.hpp>
#include <partita/produce_operation.hpp>
#include <partita/produce_options.hpp>
#include <partita/record.hpp>
#include <partita/recovery.hpp>
#include <partita/settlement.hpp>
#include <partita/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// Whether try_produce took the record.
enum class [[nodiscard]] admission : std::uint8_t{
    accepted,  ///< the callback will be called exactly once
    full,      ///< no room in buffer.memory, or others wait for it; the callback will not be called
    closed,    ///< the producer is closing; the callback will not be called
};

struct [[nodiscard]] close_report {
  /// The answers of the records that had none when close() was called.
  tally answered{};
  /// Those among them that ended not_written, code closed. Per partition in order, then what waited
  /// for its topic, then what waited for room.
  std::vector<owned_record> unsent{};
};

namespace detail {
class producer_body;
struct environment_choice;
}  // namespace detail

class producer {
 public:
  /// Starts a producer. Throws std::system_error with the message of validate() when the
  /// configuration is wrong, and nothing else: an unreachable cluster shows in outcomes and in
  /// status().
  explicit producer(const producer_config& config);
  /// For <partita/asio.hpp> and <partita/testing/...>: runs on what the environment brings.
  producer(const producer_config& config, detail::environment_choice& environment);

  /// Answers everything that is unanswered, truthfully, and returns without waiting for the
  /// network. From any thread but one of its own lanes: not inside its callbacks, nor in a
  /// coroutine that continued on a lane (a contract). On an io_context of the application's
  /// (make_producer_on) only its callbacks are excluded.
  ~producer();
  producer(const producer&) = delete;
  producer& operator=(const producer&) = delete;

  /// Produces one record; `co_await` the result, or call it with a completion token. Waits for room
  /// in buffer.memory without blocking, first come first served, at most max.block.ms.
  [[nodiscard]] produce_operation produce(const record& record) noexcept { return {*this, record}; }

  /// Produces one record and calls `callback(const outcome&)` exactly once: in the partition's turn
  /// on its lane, before any later command of that partition; or, when the record is refused before
  /// a partition takes it, inside this call (where that is nested in such a callback: on a lane).
  /// The callback must not block. An exception that leaves it is counted and dropped. Without room
  /// the record ends not_written/buffer_full; where that must not be, use try_produce or co_await.
  template <outcome_callback Callback>
  void produce(const record& record, Callback&& callback) {
    submit(record, detail::make_callback(std::forward<Callback>(callback)));
  }

  /// The same forms with limits of the record's own, and ways to cancel it.
  [[nodiscard]] produce_operation produce(const record& record,
                                          const produce_options& options) noexcept {
    return {*this, record, options};
  }
  template <outcome_callback Callback>
  void produce(const record& record, const produce_options& options, Callback&& callback) {
    submit(record, options, detail::make_callback(std::forward<Callback>(callback)));
  }
  template <outcome_callback Callback>
  admission try_produce(const record& record, const produce_options& options, Callback&& callback) {
    return try_submit(record, options, detail::make_callback(std::forward<Callback>(callback)));
  }

  /// Cancels the records that were or will be produced with this handle. Nothing happens to one
  /// that has its answer. False if that was asked before.
  bool cancel(record_handle handle) noexcept;

  /// The same without failing when there is no room.
  template <outcome_callback Callback>
  admission try_produce(const record& record, Callback&& callback) {
    return try_submit(record, detail::make_callback(std::forward<Callback>(callback)));
  }

  /// Produces several records under one admission: all are accepted, in order, or (when they do not
  /// fit before max.block.ms) all end not_written. A record that can not be produced anyway (too
  /// large, an invalid header) is answered alone. One outcome per record, in their order.
  /// They are told together, when the last one is known. A record of the call that failed may have
  /// been sent again by a recover() until then; where each failure has to be seen first, give a
  /// callback. Options hold for each record; tokens and handles act once it is admitted.
  [[nodiscard]] operation<std::vector<outcome>> produce_batch(std::span<const record> records,
                                                              const produce_options& options = {});

  /// The same, and `callback(std::size_t index, const outcome&)` is called once for each record,
  /// when its outcome is known. Order, threads and errors are those of a callback of produce(): in
  /// the turn of the record's partition, before any later command of it; those of one partition in
  /// their order, those of several in any order and, with several lanes, at the same time. What the
  /// call refuses is told before it returns. The callback is destroyed after its last call. No
  /// records: it is not called.
  template <indexed_outcome_callback Callback>
  void produce_batch(std::span<const record> records, Callback&& callback) {
    submit_batch(records, {}, detail::make_indexed_callback(std::forward<Callback>(callback)));
  }
  template <indexed_outcome_callback Callback>
  void produce_batch(std::span<const record> records, const produce_options& options,
                     Callback&& callback) {
    submit_batch(records, options, detail::make_indexed_callback(std::forward<Callback>(callback)));
  }

  /// Done when every record that was accepted before the call is answered. Cuts lingering short.
  /// Of a partition that the topic does not have, and of a topic that nobody produced to: at once.
  [[nodiscard]] operation<tally> flush();
  [[nodiscard]] operation<tally> flush(std::string_view topic);
  [[nodiscard]] operation<tally> flush(std::string_view topic, partition_id partition);

  /// Refuses new records, flushes, and at the deadline answers the rest truthfully.
  [[nodiscard]] operation<close_report> close(std::chrono::milliseconds deadline);

  /// Stops sending to a partition (true), or says that there is no such partition (false). What is
  /// in flight is answered as usual.
  operation<bool> pause(std::string_view topic, partition_id partition,
                        pause_mode mode = pause_mode::hold);
  operation<bool> resume(std::string_view topic, partition_id partition);

  /// Ends the halt of a partition, and of all keys that are halted in it. After one by
  /// invariant_broken: goes on with the log as it is, also where it lost acknowledged records.
  [[nodiscard]] operation<recovery_report> recover(std::string_view topic, partition_id partition,
                                                   recovery how, recover_options options = {});
  /// Ends the halt of one key. If it is not halted the report says so and nothing changes.
  [[nodiscard]] operation<recovery_report> recover(std::string_view topic, partition_id partition,
                                                   std::string_view key, recovery how,
                                                   recover_options options = {});
  /// Halts a partition as a failure does: what is not yet on its way does not pass until it is
  /// recovered. False: there is no such partition. If it is halted already nothing changes.
  operation<bool> halt(std::string_view topic, partition_id partition);
  /// The same for one key.
  operation<bool> halt(std::string_view topic, partition_id partition, std::string_view key);

  /// What became of a record that was answered unknown; done as soon as that is known, or can not
  /// be known any more. Without a newer record that is acknowledged only "delivered" can be proven.
  [[nodiscard]] operation<settlement> settle(ticket which);

  [[nodiscard]] operation<producer_status> status();

  /// What happens to all partitions from now on. Holds at most `capacity` events that were not
  /// read.
  [[nodiscard]] event_stream events(std::size_t capacity = 1024);

  /// For the library's optional headers.
  [[nodiscard]] detail::producer_body& body() noexcept { return *body_; }

 private:
  friend class produce_operation;
  void submit(const record& record, detail::callback_ref callback);
  void submit(const record& record, const produce_options& options, detail::callback_ref callback);
  admission try_submit(const record& record, detail::callback_ref callback);
  admission try_submit(const record& record, const produce_options& options,
                       detail::callback_ref callback);
  void submit_batch(std::span<const record> records, const produce_options& options,
                    detail::indexed_callback* owned);

  detail::producer_body* body_;
};

}  // namespace partita
