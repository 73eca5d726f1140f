#include "wire/session.hpp"

#include "wire/peer_sniff.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace partita::wire {
namespace {

constexpr std::size_t length_bytes = 4;
constexpr std::size_t correlation_bytes = 4;
constexpr std::size_t correlation_at = 8;  // behind length, api key and api version
constexpr std::size_t frame_bytes_min = correlation_at + correlation_bytes;
constexpr std::size_t partial_bytes_kept = 256 * 1024;  // capacity kept for the next answer

std::int32_t read_int32(std::span<const std::byte> bytes) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return static_cast<std::int32_t>(value);
}

void write_int32(std::span<std::byte> bytes, std::int32_t number) noexcept {
  const auto value = static_cast<std::uint32_t>(number);
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

}  // namespace

session::session(session_events& events, session_limits limits)
    : events_(events), limits_(limits), next_correlation_id_(limits.first_correlation_id) {
  PARTITA_EXPECTS(limits_.first_correlation_id >= 0, limits_.first_correlation_id);
  PARTITA_EXPECTS(limits_.requests_max > 0, limits_.requests_max);
}

bool session::has_room() const noexcept {
  return is_open() && queue_.size() + in_flight_.size() < limits_.requests_max;
}

std::int32_t session::submit(outgoing_frame frame, const request_terms& terms) {
  PARTITA_EXPECTS(has_room(), queue_.size(), in_flight_.size());
  const std::span<std::byte> front = frame.front();
  PARTITA_EXPECTS(front.size() >= frame_bytes_min, front.size());
  // A wrong length would make the broker take the next request for a part of this one.
  PARTITA_EXPECTS(read_int32(front) >= 0, read_int32(front));
  PARTITA_EXPECTS(static_cast<std::size_t>(read_int32(front)) + length_bytes == frame.size(),
                  read_int32(front), frame.size());

  const std::int32_t correlation_id = next_correlation_id_;
  const bool last = correlation_id == std::numeric_limits<std::int32_t>::max();
  next_correlation_id_ = last ? 0 : correlation_id + 1;
  write_int32(front.subspan(correlation_at), correlation_id);

  request added;
  added.terms = terms;
  if (terms.answer_bytes_max == 0) added.terms.answer_bytes_max = answer_limit(terms.api);
  added.correlation_id = correlation_id;
  added.begin = submitted_;
  added.end = submitted_ + frame.size();
  added.frame = std::move(frame);
  submitted_ = added.end;
  queue_.push_back(std::move(added));
  if (earliest_ && terms.deadline < *earliest_) earliest_ = terms.deadline;
  return correlation_id;
}

std::size_t session::unsent(std::span<std::span<const std::byte>> pieces) const {
  if (!is_open()) return 0;
  std::size_t filled = 0;
  for (const request& pending : queue_) {
    if (pending.end <= accepted_) continue;
    std::uint64_t skip = accepted_ > pending.begin ? accepted_ - pending.begin : 0;
    for (std::size_t i = 0; i < pending.frame.pieces(); ++i) {
      if (filled == pieces.size()) return filled;
      const std::span<const std::byte> piece = pending.frame.piece(i);
      if (skip >= piece.size()) {
        skip -= piece.size();
        continue;
      }
      pieces[filled++] = piece.subspan(static_cast<std::size_t>(skip));
      skip = 0;
    }
  }
  return filled;
}

void session::accepted(std::size_t bytes) {
  if (state_ == state::closed) return;
  PARTITA_EXPECTS(bytes <= submitted_ - accepted_, bytes, submitted_, accepted_);
  accepted_ += bytes;
}

// Counts after a protocol error too: what a TLS engine still flushes then is in doubt like the
// rest.
void session::handed_over(std::uint64_t total, time_point now) {
  if (state_ == state::closed) return;
  PARTITA_EXPECTS(total >= handed_over_, total, handed_over_);
  PARTITA_EXPECTS(total <= accepted_, total, accepted_);
  handed_over_ = total;
  finish_sent(now);
}

// Events may submit, write and so re-enter handed_over(); nothing here is remembered across them.
void session::finish_sent(time_point now) {
  while (!queue_.empty() && queue_.front().end <= handed_over_) {
    request sent = std::move(queue_.front());
    queue_.pop_front();
    sent.frame = {};
    sent.sent_at = now;
    const std::uint64_t cookie = sent.terms.cookie;
    if (sent.terms.expects_answer) {
      in_flight_.push_back(std::move(sent));
      events_.on_sent(cookie);
    } else {
      forget_deadline(sent.terms.deadline);
      events_.on_sent(cookie);
      events_.on_ended(cookie, request_stage::sent, {});
    }
  }
}

void session::received(std::span<const std::byte> bytes, time_point now) {
  PARTITA_EXPECTS(!receiving_);
  receiving_ = true;
  while (!bytes.empty() && is_open()) bytes = bytes.subspan(take(bytes, now));
  receiving_ = false;
}

// Takes at most one answer from the front of the bytes and returns how many were used. An answer
// that lies wholly in them is shown where it is; only parts are copied.
std::size_t session::take(std::span<const std::byte> bytes, time_point now) {
  PARTITA_ASSERT(!bytes.empty());
  if (!frame_begun_) {
    frame_begun_ = true;
    frame_awaited_ = !in_flight_.empty();
  }
  if (partial_.empty() && bytes.size() >= length_bytes) {
    if (!check_prefix(bytes)) return bytes.size();
    const std::size_t size = length_bytes + static_cast<std::size_t>(read_int32(bytes));
    if (bytes.size() >= size) {
      frame_begun_ = false;
      answer(bytes.first(size).subspan(length_bytes), now);
      return size;
    }
  }
  const std::size_t wanted =
      partial_.size() < length_bytes
          ? (partial_.empty() ? bytes.size() : length_bytes - partial_.size())
          : length_bytes + static_cast<std::size_t>(read_int32(partial_)) - partial_.size();
  const std::size_t taken = std::min(wanted, bytes.size());
  partial_.insert(partial_.end(), bytes.begin(),
                  bytes.begin() + static_cast<std::ptrdiff_t>(taken));
  if (partial_.size() < length_bytes || !check_prefix(partial_)) return taken;
  if (partial_.size() == length_bytes + static_cast<std::size_t>(read_int32(partial_))) {
    frame_begun_ = false;
    answer(std::span<const std::byte>(partial_).subspan(length_bytes), now);
    partial_.clear();
    if (partial_.capacity() > partial_bytes_kept) partial_.shrink_to_fit();
  }
  return taken;
}

// Checks what can be checked of an answer that begins with these bytes, as early as it can be: an
// answer that is wrong from its first bytes is not collected first.
bool session::check_prefix(std::span<const std::byte> bytes) {
  PARTITA_ASSERT(bytes.size() >= length_bytes, bytes.size());
  const std::int32_t size = read_int32(bytes);
  const std::size_t size_max = frame_awaited_ ? in_flight_.front().terms.answer_bytes_max : 0;
  std::error_code code;
  char text[160];
  if (!frame_awaited_) {
    code = client_errc::unexpected_answer;
    std::snprintf(text, sizeof text, "bytes came while no wholly sent request awaited an answer");
  } else if (size < static_cast<std::int32_t>(correlation_bytes)) {
    code = client_errc::malformed_answer;
    std::snprintf(text, sizeof text, "an answer of %d bytes", size);
  } else if (static_cast<std::size_t>(size) > size_max) {
    code = client_errc::answer_too_large;
    std::snprintf(text, sizeof text, "%s answer of %d bytes, at most %zu allowed",
                  name_of(in_flight_.front().terms.api), size, size_max);
  }
  if (code) {
    // Only of a peer that never answered properly: a broker's broken answer is not another
    // protocol.
    const std::error_code other = answers_ == 0 ? sniff_peer(bytes) : std::error_code{};
    fail(other ? other : code, other ? other.message() : text);
    return false;
  }
  if (bytes.size() < length_bytes + correlation_bytes) return true;
  const std::int32_t came = read_int32(bytes.subspan(length_bytes));
  const std::int32_t awaited = in_flight_.front().correlation_id;
  if (came == awaited) return true;
  std::snprintf(text, sizeof text, "correlation id %d came, %d is due (%s)", came, awaited,
                name_of(in_flight_.front().terms.api));
  fail(client_errc::correlation_mismatch, text);
  return false;
}

void session::answer(std::span<const std::byte> frame, time_point now) {
  PARTITA_ASSERT(!in_flight_.empty());
  PARTITA_ASSERT(frame.size() >= correlation_bytes, frame.size());
  const request answered = std::move(in_flight_.front());
  in_flight_.pop_front();
  ++answers_;
  forget_deadline(answered.terms.deadline);
  if (answered.abandoned) {
    events_.on_ended(answered.terms.cookie, request_stage::answered, {});
    return;
  }
  events_.on_answer({.cookie = answered.terms.cookie,
                     .api = answered.terms.api,
                     .correlation_id = answered.correlation_id,
                     .frame = frame,
                     .sent_at = answered.sent_at,
                     .received_at = now});
}

void session::fail(std::error_code code, std::string_view text) {
  PARTITA_ASSERT(state_ == state::open, static_cast<int>(state_));
  state_ = state::failed;
  events_.on_protocol_error(code, text);
}

std::optional<session::time_point> session::next_deadline() const {
  if (queue_.empty() && in_flight_.empty()) return std::nullopt;
  if (!earliest_) {
    time_point found = time_point::max();
    for (const request& pending : in_flight_) found = std::min(found, pending.terms.deadline);
    for (const request& pending : queue_) found = std::min(found, pending.terms.deadline);
    earliest_ = found;
  }
  return earliest_;
}

bool session::expired(time_point now) const {
  const std::optional<time_point> deadline = next_deadline();
  return deadline && *deadline <= now;
}

void session::forget_deadline(time_point deadline) noexcept {
  if (earliest_ && *earliest_ == deadline) earliest_.reset();
}

request_stage session::stage_of_queued(const request& pending) const noexcept {
  if (pending.end <= handed_over_) return request_stage::sent;
  return pending.begin < handed_over_ ? request_stage::partly_written : request_stage::queued;
}

bool session::withdraw(std::uint64_t cookie) {
  const auto found = std::find_if(queue_.begin(), queue_.end(), [&](const request& pending) {
    return pending.terms.cookie == cookie;
  });
  if (found == queue_.end() || found->begin < accepted_) return false;
  const std::uint64_t size = found->end - found->begin;
  forget_deadline(found->terms.deadline);
  for (auto later = queue_.erase(found); later != queue_.end(); ++later) {
    later->begin -= size;
    later->end -= size;
  }
  submitted_ -= size;
  PARTITA_ASSERT(submitted_ >= accepted_, submitted_, accepted_);
  events_.on_ended(cookie, request_stage::queued, {});
  return true;
}

std::optional<request_stage> session::stage_of(std::uint64_t cookie) const noexcept {
  for (const request& pending : queue_)
    if (pending.terms.cookie == cookie) return stage_of_queued(pending);
  for (const request& pending : in_flight_)
    if (pending.terms.cookie == cookie) return request_stage::sent;
  return std::nullopt;
}

std::optional<request_stage> session::abandon(std::uint64_t cookie) {
  for (request& pending : in_flight_) {
    if (pending.terms.cookie != cookie) continue;
    pending.abandoned = true;
    return request_stage::sent;
  }
  for (request& pending : queue_) {
    if (pending.terms.cookie != cookie) continue;
    pending.abandoned = true;
    return stage_of_queued(pending);
  }
  return std::nullopt;
}

void session::closed(std::error_code reason, std::uint64_t handed_over_total) {
  if (state_ == state::closed) return;
  PARTITA_EXPECTS(handed_over_total >= handed_over_, handed_over_total, handed_over_);
  PARTITA_EXPECTS(handed_over_total <= accepted_, handed_over_total, accepted_);
  state_ = state::closed;
  handed_over_ = handed_over_total;
  const std::deque<request> sent = std::exchange(in_flight_, {});
  const std::deque<request> queued = std::exchange(queue_, {});
  earliest_.reset();
  for (const request& ended : sent) {
    events_.on_ended(ended.terms.cookie, request_stage::sent, reason);
  }
  for (const request& ended : queued) {
    events_.on_ended(ended.terms.cookie, stage_of_queued(ended), reason);
  }
}

}  // namespace partita::wire
