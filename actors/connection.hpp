// One connection to one broker: stream and session glued together, with the ApiVersions handshake.
//
// Invariants
// 1. Requests are taken only while ready(). Each ends once: on_answer() or on_ended(), and before
//    on_down() is told every one of them has ended.
// 2. The stream is closed before a request of it ends as lost, so that its bytes are free then
// (L7).
// 3. Each successful set-up has a number of its own, never used again.
// 4. open() is not called from inside an event: the owner opens again later, from a timer or its
// turn.
//
// Threads: its lane's.
#pragma once

#include "actors/connect_patience.hpp"
#include "actors/instant.hpp"
#include "actors/lane.hpp"
#include "wire/messages/api_versions.hpp"
#include "wire/session.hpp"
#include "wire/stream.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace partita::actors {

struct connection_settings {
  std::string client_id;
  std::chrono::milliseconds setup_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds setup_timeout_max = std::chrono::seconds(30);
  std::chrono::milliseconds request_timeout = std::chrono::seconds(30);
};

class connection_events {
 public:
  virtual void on_ready() = 0;
  virtual void on_answer(const wire::session_answer& answer, std::int16_t version) = 0;
  /// The last byte of the request was handed over; its bytes are free.
  virtual void on_sent(std::uint64_t cookie) = 0;
  virtual void on_ended(std::uint64_t cookie, bool handed_over, std::error_code reason) = 0;
  /// The connection is gone, or could not be made.
  virtual void on_down(std::error_code code, const std::string& text) = 0;
  /// It takes unusually long to be made, and is still tried. At most once an attempt.
  virtual void on_slow(std::error_code, const std::string&) {}

 protected:
  ~connection_events() = default;
};

class connection final : private wire::stream_events, private wire::session_events {
 public:
  connection(connection_settings settings, connection_events& events);
  ~connection();

  /// Begins to connect, on this lane from now on. Only while down. The time for it, handshake
  /// included, is that of connect_patience.
  void open(lane& home, const std::string& host, std::uint16_t port, int failures = 0,
            bool others = false);
  /// Ends it; requests end as lost. No on_down(). Later events of the stream are not shown.
  void close(std::error_code reason);

  [[nodiscard]] bool is_down() const noexcept { return phase_ == phase::down; }
  [[nodiscard]] bool ready() const noexcept { return phase_ == phase::ready; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// The version both sides know; absent if there is none, or before ready().
  [[nodiscard]] std::optional<std::int16_t> version_of(wire::api_key key) const noexcept;
  [[nodiscard]] std::size_t in_flight() const noexcept;

  /// Sends an encoded request. What it borrows stays alive until on_sent() or on_ended().
  void send(wire::gather_buffer frame, wire::api_key key, std::int16_t version,
            std::uint64_t cookie, bool expects_answer = true);

  /// The broker is not to get it any more: taken back if the stream has nothing of it; if it has a
  /// part, the connection is closed, so that the rest never follows (TIME-19). It ends by
  /// on_ended(), at once. False: its last byte was handed over, or it has ended.
  bool withdraw(std::uint64_t cookie);

  /// Encodes and sends; false when the broker knows no version of it or the values do not fit one.
  template <class Request>
  bool request(const Request& what, std::uint64_t cookie) {
    const auto version = version_of(Request::key);
    if (!version) return false;
    wire::encoded_frame encoded =
        wire::encode_request(what, *version, 0, std::string_view(settings_.client_id));
    if (encoded.error) return false;
    send(std::move(encoded.frame), Request::key, *version, cookie);
    return true;
  }
  [[nodiscard]] const std::string& client_id() const noexcept { return settings_.client_id; }

  /// Something was wrong with an answer's content: nothing of this connection is trusted any more.
  void distrust(std::error_code code, const std::string& text) { fail(code, about(text)); }

  /// How long to hold back after an answer with this throttle time (KIP-219). A broker that wants
  /// more may say so again; what it can not mean is capped (ODD-06).
  [[nodiscard]] static duration throttle(std::int32_t throttle_ms) noexcept {
    constexpr std::chrono::milliseconds longest = std::chrono::minutes(1);
    return std::clamp(std::chrono::milliseconds(throttle_ms), std::chrono::milliseconds(0),
                      longest);
  }

 private:
  enum class phase : std::uint8_t { down, connecting, handshake, ready };
  static constexpr std::uint64_t handshake_cookie = ~std::uint64_t{0};

  // wire::stream_events
  void on_connected() override;
  void on_connect_failed(const wire::stream_failure& failure) override;
  void on_bytes(std::span<const std::byte> bytes) override;
  void on_writable() override;
  void on_closed(const wire::stream_failure& failure) override;
  // wire::session_events
  void on_answer(const wire::session_answer& answer) override;
  void on_sent(std::uint64_t cookie) override;
  void on_ended(std::uint64_t cookie, wire::request_stage stage, std::error_code reason) override;
  void on_protocol_error(std::error_code code, std::string_view text) override;

  void ask_for_versions(std::int16_t version);
  void take_versions(const wire::session_answer& answer);
  void write_out();
  void watch_deadline();
  void deadline_passed();
  void patience_ended();
  void shut(std::error_code reason);
  void fail(std::error_code code, const std::string& text);
  [[nodiscard]] std::string about(std::string_view text) const;

  connection_settings settings_;
  connection_events& events_;
  lane* home_ = nullptr;
  phase phase_ = phase::down;
  bool in_event_ = false;
  std::uint64_t number_ = 0;
  std::string peer_;
  std::unique_ptr<wire::stream> stream_;
  std::optional<wire::session> session_;
  wire::api_versions_response offered_;
  instant setup_deadline_{};
  std::int16_t handshake_version_ = 0;
  std::vector<std::pair<std::uint64_t, std::int16_t>> versions_in_use_;  // cookie, version
  timer_node deadline_timer_;
  timer_node patience_timer_;
};

}  // namespace partita::actors
