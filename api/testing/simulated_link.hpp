// One simulated connection: two directions of bytes in flight, a client's end and a broker's end.
//
// Invariants
// 1. It lives until both ends are done with it: events in flight own it.
// 2. What a direction carries arrives in order, the end of the connection last.
//
// Threads: that of the virtual time.
#pragma once

#include "api/testing/simulated_network.hpp"

#include <deque>

namespace partita::testing {

class simulated_link final : public connection_sink,
                             public std::enable_shared_from_this<simulated_link> {
 public:
  simulated_link(simulated_network& network, wire::stream_events& events)
      : network_(network), events_(&events), number_(++network.last_link_) {}

  // The client's end.
  void connect(std::string_view host, std::uint16_t port, std::chrono::milliseconds limit);
  std::size_t write(std::span<const std::span<const std::byte>> pieces);
  void want_writable();
  void set_reading(bool on);
  void close(wire::close_how how);
  [[nodiscard]] std::uint64_t handed_over() const noexcept { return handed_over_; }
  [[nodiscard]] const std::string& peer() const noexcept { return peer_; }

  // The broker's end.
  void send(std::vector<std::byte> bytes) override;
  void end(bool reset) override;

  [[nodiscard]] std::int32_t broker() const noexcept { return broker_; }
  /// Goes on with what waited for a cut link.
  void resume();

 private:
  enum class kind : std::uint8_t { bytes, orderly_end, reset };
  struct item {
    std::int64_t due_ns;
    kind what;
    std::vector<std::byte> bytes;
  };
  struct direction {
    std::deque<item> items;
    std::int64_t last_due_ns = 0;
    bool armed = false;
  };

  void put(direction& way, kind what, std::vector<std::byte> bytes);
  void knock(virtual_time::duration deadline, virtual_time::duration pause);
  void put_split(direction& way, std::vector<std::byte> bytes);
  void put_slowly(direction& way, const std::vector<std::byte>& bytes, std::int64_t per_second);
  /// Shortens what arrives to what a link fault lets through; true: the connection ends then.
  bool cut_off(item& arrived, bool to_broker);
  void arm(direction& way, bool to_broker);
  void deliver(direction& way, bool to_broker);
  void deliver_to_broker(item& arrived);
  void deliver_to_client(item& arrived);
  void break_both();
  void tell_closed(bool reset);
  void room_again();
  [[nodiscard]] bool stalled() const;

  simulated_network& network_;
  wire::stream_events* events_;  // null: the client closed
  std::uint64_t number_;
  std::int32_t broker_ = -1;
  std::uint32_t address_ = 0;  // of the broker, that its name led to
  std::string peer_;
  cluster_core::connection_id id_ = 0;
  direction up_;
  direction down_;
  std::uint64_t handed_over_ = 0;
  std::size_t in_flight_up_ = 0;
  bool connected_ = false;
  bool broken_ = false;
  bool reading_ = true;
  bool writable_wanted_ = false;
};

}  // namespace partita::testing
