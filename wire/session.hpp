// One connection's requests: bytes in, events out. Correlation, the FIFO of requests in flight, how
// far each frame got, deadlines, and the assembly of answers. Pure: no socket, clock or thread.
//
// A request goes queued -> partly_written -> sent -> answered. Kafka answers in the order of the
// requests, so the oldest sent request owns the next answer and the correlation id is a check.
//
// Invariants
// 1. Every submitted request ends exactly once: by on_answer(), or by on_ended().
// 2. A request that ends as queued or partly_written was never complete at the broker, so it was
// not
//    executed. From the moment its last byte was handed over it ends as sent: in doubt.
// 3. A request that expects no answer (acks=0) never enters the FIFO: it would shift every later
//    match by one. It ends with its last byte.
// 4. The bytes of a frame are read until on_sent() or on_ended(), whichever comes first, and not
//    after it (L7). closed() must therefore come after the stream was closed.
// 5. Memory for an answer grows with the bytes received, never by a length the peer claims.
// 6. After a protocol error nothing is trusted: no byte is written or read any more; the owner
//    closes the stream, then calls closed().
//
// Threads: one. Events may call back into the session (submit, abandon, withdraw, closed), but must
// not destroy it.
#pragma once

#include "wire/api_key.hpp"
#include "wire/outgoing_frame.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

namespace partita::wire {

enum class request_stage : std::uint8_t {
  queued,          ///< not a byte was handed over
  partly_written,  ///< some bytes were, the last one was not
  sent,            ///< the last byte was handed over; the broker may execute it
  answered,
};

/// True when the broker can not have executed the request.
[[nodiscard]] constexpr bool provably_not_sent(request_stage stage) noexcept {
  return stage == request_stage::queued || stage == request_stage::partly_written;
}

struct session_limits {
  std::size_t requests_max = 1024;  ///< queued and in flight together
  std::int32_t first_correlation_id = 0;
};

/// What submit() needs to know about a request besides its bytes.
struct request_terms {
  std::uint64_t cookie = 0;  ///< the owner's name for it in all events; unique among the pending
  api_key api{};
  bool expects_answer = true;  ///< false for Produce with acks=0
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::size_t answer_bytes_max =
      0;  ///< the answer's length field may say at most this; 0: answer_limit(api)
};

/// A complete answer. The bytes live for the length of the event.
struct session_answer {
  std::uint64_t cookie = 0;
  api_key api{};
  std::int32_t correlation_id = 0;
  /// From the correlation id on, without the length prefix.
  std::span<const std::byte> frame;
  std::chrono::steady_clock::time_point sent_at;      ///< when the last byte was handed over
  std::chrono::steady_clock::time_point received_at;  ///< when the last byte came

  /// What follows the correlation id; starts with the tagged fields of response header v1 where the
  /// version has one.
  [[nodiscard]] std::span<const std::byte> body() const noexcept { return frame.subspan(4); }
};

class session_events {
 public:
  virtual void on_answer(const session_answer& answer) = 0;
  /// The last byte was handed over: the frame's bytes are free, and the request is in doubt (L3).
  virtual void on_sent(std::uint64_t cookie) = 0;
  /// Ended without an answer to show. No error: it expected none (stage sent), it was withdrawn
  /// (queued), or its answer came after it was abandoned (answered).
  virtual void on_ended(std::uint64_t cookie, request_stage stage, std::error_code reason) = 0;
  /// Close the stream, then call closed(). The text names the numbers and lives for the call.
  virtual void on_protocol_error(std::error_code code, std::string_view text) = 0;

 protected:
  session_events() = default;
  session_events(const session_events&) = default;
  session_events& operator=(const session_events&) = default;
  ~session_events() = default;
};

class session {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit session(session_events& events, session_limits limits = {});
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// False when full, after a protocol error and after closed().
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] bool is_open() const noexcept { return state_ == state::open; }

  /// Queues a complete frame (length prefix included) and writes the correlation id into it, which
  /// it returns. The first 12 bytes of the frame are owned ones. Requires has_room().
  std::int32_t submit(outgoing_frame frame, const request_terms& terms);

  /// The next bytes to write, in order, into at most pieces.size() pieces; returns how many.
  [[nodiscard]] std::size_t unsent(std::span<std::span<const std::byte>> pieces) const;
  [[nodiscard]] bool has_unsent() const noexcept { return is_open() && accepted_ != submitted_; }
  /// The stream took this many of the bytes that unsent() showed.
  void accepted(std::size_t bytes);
  /// The stream's watermark: bytes handed over since its start, at most those accepted. To be
  /// told before the bytes that came after it.
  void handed_over(std::uint64_t total, time_point now);

  /// Bytes from the peer.
  void received(std::span<const std::byte> bytes, time_point now);

  /// The earliest deadline of all requests, queued, abandoned or in flight; none: nothing pends.
  [[nodiscard]] std::optional<time_point> next_deadline() const;
  /// True once that deadline has been reached: close the stream, then closed() with
  /// request_timeout. One late answer blocks all behind it, so there is nothing to save.
  [[nodiscard]] bool expired(time_point now) const;

  /// Takes a request back of which the stream accepted nothing: it ends as queued, at once, by
  /// on_ended() without error. False: too late (or unknown), nothing changed.
  bool withdraw(std::uint64_t cookie);
  /// How far a pending request got; none if unknown.
  [[nodiscard]] std::optional<request_stage> stage_of(std::uint64_t cookie) const noexcept;
  /// Nobody waits any more. The request stays in its place (its answer still comes, CONN-12) and
  /// ends by on_ended() instead of on_answer(). Returns how far it got; none if unknown.
  std::optional<request_stage> abandon(std::uint64_t cookie);

  /// The stream is closed and this is its final watermark, which decides what is in doubt. Ends
  /// every request, oldest first, with its stage and this reason. Later calls do nothing.
  void closed(std::error_code reason, std::uint64_t handed_over_total);

  [[nodiscard]] std::size_t queued() const noexcept { return queue_.size(); }
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_.size(); }
  [[nodiscard]] std::uint64_t answers() const noexcept { return answers_; }
  [[nodiscard]] std::uint64_t unsent_bytes() const noexcept { return submitted_ - accepted_; }

 private:
  enum class state : std::uint8_t { open, failed, closed };

  struct request {
    request_terms terms;
    std::int32_t correlation_id = 0;
    bool abandoned = false;
    std::uint64_t begin = 0;  // position of its first byte in the stream
    std::uint64_t end = 0;
    time_point sent_at;
    outgoing_frame frame;
  };

  [[nodiscard]] request_stage stage_of_queued(const request& pending) const noexcept;
  void finish_sent(time_point now);
  std::size_t take(std::span<const std::byte> bytes, time_point now);
  [[nodiscard]] bool check_prefix(std::span<const std::byte> bytes);
  void answer(std::span<const std::byte> frame, time_point now);
  void fail(std::error_code code, std::string_view text);
  void forget_deadline(time_point deadline) noexcept;

  session_events& events_;
  session_limits limits_;
  state state_ = state::open;
  std::int32_t next_correlation_id_;

  std::deque<request> queue_;      // not wholly handed over, in order
  std::deque<request> in_flight_;  // wholly handed over and expecting an answer, in order
  std::uint64_t submitted_ = 0;    // bytes since the start of the stream; accepted_ and
  std::uint64_t accepted_ = 0;     // handed_over_ count the same way and never exceed it
  std::uint64_t handed_over_ = 0;

  std::vector<std::byte> partial_;  // an answer of which a part has come
  bool frame_begun_ = false;        // a byte of the next answer has come, and
  bool frame_awaited_ = false;      // whether a request was in flight at that moment
  bool receiving_ = false;
  std::uint64_t answers_ = 0;

  mutable std::optional<time_point> earliest_;  // cache, empty: to be found again
};

}  // namespace partita::wire
