// What one attempt to send a batch proves, and what all of them together leave in doubt (L3).
//
// A broker answers an error both before it appends and after (a leader that moves while acks=all
// waits), and a later answer says nothing about an earlier attempt. So each attempt is judged
// alone, and doubt is counted.
//
// Invariants
// 1. not_appended is said only of codes that every known broker raises before the append, and only
//    when the base offset does not say otherwise. Codes 6, 3, 56, 7, 20, -1 and unlisted ones
//    never.
// 2. A doubtful attempt stays doubtful: no later answer clears it, only the log itself.
// 3. At most one attempt of a batch is under way.
//
// Threads: plain values, owned by the batch.
#pragma once

#include <partita/error.hpp>
#include <partita/ids.hpp>

#include <cstdint>
#include <optional>

namespace partita::actors {

/// How far an attempt had come when it ended.
enum class attempt_stage : std::uint8_t {
  not_sent,  ///< the last byte of the frame was never handed to the kernel: no broker executes it
  sent,      ///< the whole frame may have left, and no usable answer came (also: partition missing)
  answered,  ///< the broker answered for this partition
};

/// How an attempt ended. Code and offset are meaningful for `answered` only.
struct attempt_end {
  attempt_stage stage = attempt_stage::sent;
  broker_errc code = broker_errc::unknown_server_error;
  partita::offset base_offset{};

  [[nodiscard]] static constexpr attempt_end not_sent() noexcept {
    return {attempt_stage::not_sent, broker_errc::unknown_server_error, {}};
  }
  [[nodiscard]] static constexpr attempt_end answer_lost() noexcept { return {}; }
  [[nodiscard]] static constexpr attempt_end answered(broker_errc code,
                                                      partita::offset base_offset) noexcept {
    return {attempt_stage::answered, code, base_offset};
  }
};

enum class attempt_verdict : std::uint8_t {
  delivered,     ///< the log holds the batch
  not_appended,  ///< this attempt wrote nothing, and never will
  appended,      ///< written on the leader that was asked; whether it stays is not known
  unknown,       ///< anything else
};

/// True for the verdicts that put the batch in doubt.
[[nodiscard]] constexpr bool doubtful(attempt_verdict verdict) noexcept {
  return verdict == attempt_verdict::appended || verdict == attempt_verdict::unknown;
}

[[nodiscard]] attempt_verdict judge(broker_errc code, partita::offset base_offset) noexcept;
[[nodiscard]] attempt_verdict judge(const attempt_end& end) noexcept;

/// Where a delivered batch begins. Absent when the broker does not say: DUPLICATE_SEQUENCE_NUMBER,
/// or a success without an offset.
[[nodiscard]] std::optional<partita::offset> delivered_offset(broker_errc code,
                                                              partita::offset base_offset) noexcept;

/// The attempts of one batch: how many there were, and whether any may have been appended.
class attempt_tally {
 public:
  /// An attempt was handed to a connection's queue. Not while another is under way.
  void begun();
  /// The last byte of its frame may leave the process from now on: in doubt until it is judged.
  void frame_may_have_left();
  /// The attempt under way ended.
  void ended(attempt_verdict verdict);
  /// The log does not hold it, and nothing of it can still be executed. Not while one is under way.
  void proven_unwritten();

  [[nodiscard]] int attempts() const noexcept { return attempts_; }
  [[nodiscard]] bool under_way() const noexcept { return state_ != state::idle; }
  /// True when an attempt, past or under way, may have been appended.
  [[nodiscard]] bool in_doubt() const noexcept { return doubted_ || state_ == state::left; }
  /// True when an attempt that has ended may have been appended.
  [[nodiscard]] bool doubted() const noexcept { return doubted_; }

 private:
  enum class state : std::uint8_t { idle, queued, left };

  int attempts_ = 0;
  state state_ = state::idle;
  bool doubted_ = false;
};

}  // namespace partita::actors
