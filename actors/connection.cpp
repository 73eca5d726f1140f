#include "actors/connection.hpp"

#include "wire/peer_name.hpp"

#include <partita/contract.hpp>
#include <partita/version.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace partita::actors {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

connection::connection(connection_settings settings, connection_events& events)
    : settings_(std::move(settings)),
      events_(events),
      deadline_timer_(
          [](timer_node& node) noexcept {
            static_cast<connection*>(node.owner)->deadline_passed();
          },
          this),
      patience_timer_(
          [](timer_node& node) noexcept { static_cast<connection*>(node.owner)->patience_ended(); },
          this) {}

connection::~connection() { close(client_errc::closed); }

void connection::open(lane& home, const std::string& host, std::uint16_t port, int failures,
                      bool others) {
  PARTITA_EXPECTS(phase_ == phase::down && !in_event_);
  home_ = &home;
  number_ = next_number();
  peer_ = wire::peer_name(host, port);
  session_.emplace(static_cast<wire::session_events&>(*this));
  versions_in_use_.clear();
  offered_ = {};
  stream_ = home.transport()->make_stream(*this);
  phase_ = phase::connecting;
  const connect_patience patience{settings_.setup_timeout, settings_.setup_timeout_max};
  const std::chrono::milliseconds limit = patience.limit(failures, others);
  setup_deadline_ = home.now() + limit;
  if (patience.word_after() < limit) home.arm(patience_timer_, home.now() + patience.word_after());
  stream_->connect(host, port, limit);
}

void connection::close(std::error_code reason) {
  if (phase_ == phase::down) return;
  shut(reason);
}

std::optional<std::int16_t> connection::version_of(wire::api_key key) const noexcept {
  const auto ours = wire::spoken_versions(key);
  const auto theirs = offered_.range_of(key);
  if (!ours || !theirs) return std::nullopt;
  return wire::highest_common(*ours, *theirs);
}

std::size_t connection::in_flight() const noexcept {
  return session_ ? session_->queued() + session_->in_flight() : 0;
}

void connection::send(wire::gather_buffer frame, wire::api_key key, std::int16_t version,
                      std::uint64_t cookie, bool expects_answer) {
  PARTITA_EXPECTS(phase_ == phase::ready || cookie == handshake_cookie);
  wire::request_terms terms;
  terms.cookie = cookie;
  terms.api = key;
  terms.expects_answer = expects_answer;
  terms.deadline =
      cookie == handshake_cookie ? setup_deadline_ : home_->now() + settings_.request_timeout;
  terms.answer_bytes_max = wire::answer_limit(key);
  if (expects_answer) versions_in_use_.emplace_back(cookie, version);
  session_->submit(wire::outgoing_frame(std::move(frame)), terms);
  write_out();
  watch_deadline();
}

bool connection::withdraw(std::uint64_t cookie) {
  if (phase_ != phase::ready) return false;
  if (session_->withdraw(cookie)) {
    std::erase_if(versions_in_use_, [&](const auto& each) { return each.first == cookie; });
    return true;
  }
  const auto stage = session_->stage_of(cookie);
  if (!stage || !wire::provably_not_sent(*stage)) return false;
  fail(client_errc::request_timeout,
       about("time is up for a request that could be written in part only, connection closed"));
  return true;
}

// The stream

void connection::on_connected() {
  home_->refresh_now();
  phase_ = phase::handshake;
  ask_for_versions(wire::spoken_versions(wire::api_key::api_versions)->last);
}

void connection::on_connect_failed(const wire::stream_failure& failure) {
  home_->refresh_now();
  fail(failure.code, about(failure.text));
}

void connection::on_bytes(std::span<const std::byte> bytes) {
  home_->refresh_now();
  in_event_ = true;
  session_->handed_over(stream_->handed_over(), home_->now());
  if (phase_ != phase::down) session_->received(bytes, home_->now());
  in_event_ = false;
}

void connection::on_writable() {
  home_->refresh_now();
  in_event_ = true;
  write_out();
  in_event_ = false;
}

void connection::on_closed(const wire::stream_failure& failure) {
  home_->refresh_now();
  std::string text = about(failure.text);
  if (phase_ == phase::handshake)
    text += ", during the handshake (not a Kafka broker, or it wants TLS?)";
  fail(failure.code, text);
}

void connection::write_out() {
  if (phase_ == phase::down) return;
  std::array<std::span<const std::byte>, 64> pieces;
  while (session_->has_unsent()) {
    const std::size_t count = session_->unsent(pieces);
    std::size_t offered = 0;
    for (std::size_t i = 0; i < count; ++i) offered += pieces[i].size();
    const std::size_t taken = stream_->write(std::span(pieces).first(count));
    session_->accepted(taken);
    session_->handed_over(stream_->handed_over(), home_->now());
    if (phase_ == phase::down) return;
    if (taken < offered) {
      stream_->want_writable();
      return;
    }
  }
}

// The session

void connection::on_answer(const wire::session_answer& answer) {
  if (answer.cookie == handshake_cookie) return take_versions(answer);
  const auto found = std::find_if(versions_in_use_.begin(), versions_in_use_.end(),
                                  [&](const auto& each) { return each.first == answer.cookie; });
  PARTITA_ASSERT(found != versions_in_use_.end());
  const std::int16_t version = found->second;
  versions_in_use_.erase(found);
  events_.on_answer(answer, version);
}

void connection::on_sent(std::uint64_t cookie) {
  if (cookie != handshake_cookie) events_.on_sent(cookie);
}

void connection::on_ended(std::uint64_t cookie, wire::request_stage stage, std::error_code reason) {
  if (cookie != handshake_cookie) events_.on_ended(cookie, !wire::provably_not_sent(stage), reason);
}

void connection::on_protocol_error(std::error_code code, std::string_view text) {
  fail(code, about(text));
}

// The handshake

void connection::ask_for_versions(std::int16_t version) {
  handshake_version_ = version;
  wire::api_versions_request ask;
  ask.client_software_name = software_name;
  ask.client_software_version = software_version;
  wire::encoded_frame encoded =
      wire::encode_request(ask, version, 0, std::string_view(settings_.client_id));
  PARTITA_ASSERT(!encoded.error);
  send(std::move(encoded.frame), wire::api_key::api_versions, version, handshake_cookie);
}

void connection::take_versions(const wire::session_answer& answer) {
  versions_in_use_.clear();
  auto decoded = wire::decode_api_versions_answer(handshake_version_, answer.body());
  if (!decoded.ok()) {
    return fail(client_errc::malformed_answer,
                about(decoded.failure.describe("ApiVersions", handshake_version_)));
  }
  if (decoded.value.error_code == broker_errc::unsupported_version) {
    // Strictly downwards, so that it ends (KIP-511). Brokers before 2.4 name no range: version 0.
    const auto offered = decoded.value.range_of(wire::api_key::api_versions);
    std::int16_t next = offered ? std::min<std::int16_t>(offered->last, handshake_version_) : 0;
    if (next >= handshake_version_) next = static_cast<std::int16_t>(handshake_version_ - 1);
    if (handshake_version_ == 0)
      return fail(client_errc::unsupported_version, about("no version of ApiVersions in common"));
    return ask_for_versions(std::max<std::int16_t>(next, 0));
  }
  if (decoded.value.error_code != broker_errc::none)
    return fail(decoded.value.error_code, about("ApiVersions was refused"));
  offered_ = std::move(decoded.value);
  for (const wire::api_key needed : {wire::api_key::produce, wire::api_key::metadata}) {
    if (version_of(needed)) continue;
    return fail(client_errc::unsupported_version,
                about(std::string("no version of ") + wire::name_of(needed) + " in common"));
  }
  phase_ = phase::ready;
  home_->cancel(patience_timer_);
  events_.on_ready();
}

// Deadlines and the end

void connection::watch_deadline() {
  if (phase_ == phase::down) return;
  const auto next = session_->next_deadline();
  if (!next || (deadline_timer_.armed() && deadline_timer_.deadline() <= *next)) return;
  home_->arm(deadline_timer_, *next);
}

void connection::deadline_passed() {
  if (phase_ == phase::down) return;
  if (session_->expired(home_->now())) {
    if (phase_ != phase::ready)
      return fail(
          client_errc::connection_timeout,
          about("connected, but silent during the handshake (not a Kafka broker, or it wants "
                "TLS?)"));
    return fail(client_errc::request_timeout,
                about("no answer within request.timeout.ms, connection closed"));
  }
  watch_deadline();
}

void connection::patience_ended() {
  if (phase_ != phase::connecting && phase_ != phase::handshake) return;
  events_.on_slow(
      client_errc::connection_timeout,
      about(phase_ == phase::connecting
                ? "does not answer, still connecting"
                : "connected, but silent so far (not a Kafka broker, or it wants TLS?)"));
}

/// The stream first: while it lives, bytes that end as "not sent" could still leave.
void connection::shut(std::error_code reason) {
  phase_ = phase::down;
  home_->cancel(deadline_timer_);
  home_->cancel(patience_timer_);
  stream_->close();
  session_->closed(reason, stream_->handed_over());
  versions_in_use_.clear();
}

/// With the address in front, once: what a stream says often begins with it.
std::string connection::about(std::string_view text) const {
  if (text.empty()) return peer_;
  if (text.starts_with(peer_)) return std::string(text);
  return peer_ + ": " + std::string(text);
}

void connection::fail(std::error_code code, const std::string& text) {
  if (phase_ == phase::down) return;
  shut(code);
  events_.on_down(code, text);
}

}  // namespace partita::actors
