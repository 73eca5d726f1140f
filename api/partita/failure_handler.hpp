// The application's word on a failure, before anything behind it moves.
//
//     config.failure_handler = [](const partita::failure_view& failed) {
//       return failed.failure().code == partita::broker_errc::message_too_large
//                  ? partita::failure_verdict::skip
//                  : partita::failure_verdict::use_policy;
//     };
//
// Order: the handler runs in the partition's turn, before the halt, before the records' own
// callbacks, and before any later command of the partition. What it does to its own partition
// (produce, pause, halt, recover) comes before everything that is already queued there.
// Thread: the partition's lane; it must not block. Partitions on several lanes may call it at once.
// Errors: a handler that throws, or asks for what can not be done, is counted in status() and
// logged, and the configured policy acts in its place.
#pragma once

#include <partita/outcome.hpp>
#include <partita/record.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>

namespace partita {

enum class failure_verdict : std::uint8_t {
  use_policy,  ///< what on_failure says for the topic
  skip,
  halt_key,
  halt_partition,
  fail_following,
  retry,  ///< only where the fate is not_written: back to the front, with a new deadline,
          ///< unanswered
};

/// Records that failed together, and what lies behind them. Valid during the call only.
class failure_view {
 public:
  /// Of each of the records. It has no ticket yet.
  [[nodiscard]] virtual const failed& failure() const noexcept = 0;
  [[nodiscard]] virtual std::size_t count() const noexcept = 0;
  /// The failed records in order. One that was refused because of its size has no value and no
  /// headers here.
  virtual void for_each(const std::function<void(const record&)>& visit) const = 0;
  /// Records of the partition that were accepted after the failed ones and have no answer yet.
  [[nodiscard]] virtual std::size_t behind_count() const noexcept = 0;
  /// These, in order. Reading them costs a copy of their bytes.
  virtual void for_each_behind(const std::function<void(const record&)>& visit) const = 0;

 protected:
  ~failure_view() = default;
};

using failure_handler = std::function<failure_verdict(const failure_view&)>;

}  // namespace partita
