#include "api/testing/simulated_link.hpp"

#include <partita/contract.hpp>

#include <algorithm>

namespace partita::testing {
namespace {

wire::stream_failure failure(client_errc code, std::string text, bool reset = false) {
  return {code, reset ? std::make_error_code(std::errc::connection_reset) : std::error_code{},
          std::move(text)};
}

}  // namespace

void simulated_link::connect(std::string_view host, std::uint16_t port,
                             std::chrono::milliseconds limit) {
  peer_ = std::string{host} + ":" + std::to_string(port);
  broker_ = network_.broker_at(host, port);
  address_ = network_.address_of(broker_);
  auto self = shared_from_this();
  network_.links_[number_] = self;
  if (broker_ < 0) {
    network_.time_.after(network_.latency(), [self] {
      if (self->events_ != nullptr)
        self->events_->on_connect_failed(failure(client_errc::host_not_found, self->peer_));
    });
    return;
  }
  knock(network_.time_.now() + limit, std::chrono::seconds{1});
}

// As TCP does it: a first packet that is lost is sent again after one second, two, four ...
void simulated_link::knock(virtual_time::duration deadline, virtual_time::duration pause) {
  auto self = shared_from_this();
  if (network_.is_cut(broker_, address_)) {
    const auto now = network_.time_.now();
    network_.time_.after(std::min(pause, deadline - now), [self, deadline, pause] {
      if (self->events_ == nullptr) return;
      if (self->network_.time_.now() < deadline) return self->knock(deadline, 2 * pause);
      self->events_->on_connect_failed(failure(client_errc::connection_timeout, self->peer_));
    });
    return;
  }
  network_.time_.after(network_.latency(), [self] {
    if (self->events_ == nullptr) return;
    {
      const std::lock_guard hold{self->network_.core_.lock()};
      const bool refused = self->network_.refused_.contains(self->broker_);
      self->id_ = refused ? 0 : self->network_.core_.open(self->broker_, *self);
    }
    if (self->id_ == 0) {
      self->events_->on_connect_failed(failure(client_errc::connection_refused, self->peer_));
      return;
    }
    self->connected_ = true;
    self->events_->on_connected();
  });
}

std::size_t simulated_link::write(std::span<const std::span<const std::byte>> pieces) {
  if (!connected_ || broken_) return 0;
  const auto limit = network_.options_.send_buffer_bytes;
  auto room = limit > in_flight_up_ ? limit - in_flight_up_ : 0;
  auto* fault = network_.fault_of(broker_);
  if (fault != nullptr && fault->stall_after) room = std::min(room, *fault->stall_after);
  std::vector<std::byte> taken;
  for (const auto piece : pieces) {
    const auto part = piece.first(std::min(piece.size(), room));
    taken.insert(taken.end(), part.begin(), part.end());
    room -= part.size();
  }
  const auto count = taken.size();
  if (count == 0) return 0;
  if (fault != nullptr && fault->stall_after) *fault->stall_after -= count;
  handed_over_ += count;
  in_flight_up_ += count;
  put_split(up_, std::move(taken));
  return count;
}

void simulated_link::want_writable() {
  if (writable_wanted_) return;
  writable_wanted_ = true;
  if (!stalled() && in_flight_up_ < network_.options_.send_buffer_bytes)
    network_.time_.after(virtual_time::duration{0},
                         [self = shared_from_this()] { self->room_again(); });
}

bool simulated_link::stalled() const {
  const auto* fault = network_.fault_of(broker_);
  return fault != nullptr && fault->stall_after == 0U;
}

void simulated_link::room_again() {
  if (!writable_wanted_ || events_ == nullptr || broken_ || stalled()) return;
  writable_wanted_ = false;
  events_->on_writable();
}

void simulated_link::set_reading(bool on) {
  reading_ = on;
  if (on) arm(down_, false);
}

void simulated_link::close(wire::close_how how) {
  if (events_ == nullptr) return;
  events_ = nullptr;
  if (!connected_ || broken_) return;
  const bool reset = how == wire::close_how::reset;
  if (reset && network_.time_.draws().chance(0.5)) up_.items.clear();
  put(up_, reset ? kind::reset : kind::orderly_end, {});
}

void simulated_link::send(std::vector<std::byte> bytes) { put_split(down_, std::move(bytes)); }

void simulated_link::end(bool reset) {
  id_ = 0;
  put(down_, reset ? kind::reset : kind::orderly_end, {});
}

// Pieces of a tenth of a second each.
void simulated_link::put_slowly(direction& way, const std::vector<std::byte>& bytes,
                                std::int64_t per_second) {
  constexpr std::int64_t ns_per_second = 1'000'000'000;
  const auto piece = static_cast<std::size_t>(std::max<std::int64_t>(1, per_second / 10));
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto size = std::min(piece, bytes.size() - at);
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    way.last_due_ns = std::max(way.last_due_ns, network_.time_.now().count()) +
                      static_cast<std::int64_t>(size) * ns_per_second / per_second;
    put(way, kind::bytes, {from, from + static_cast<std::ptrdiff_t>(size)});
  }
}

bool simulated_link::cut_off(item& arrived, bool to_broker) {
  auto* fault = network_.fault_of(broker_);
  if (fault == nullptr || arrived.what != kind::bytes) return false;
  auto& left = to_broker ? fault->cut_after : fault->cut_answers_after;
  if (!left) return false;
  const auto through = std::min(*left, arrived.bytes.size());
  *left -= through;
  if (*left > 0) return false;
  arrived.bytes.resize(through);
  left.reset();
  return true;
}

void simulated_link::put_split(direction& way, std::vector<std::byte> bytes) {
  const auto* fault = network_.fault_of(broker_);
  if (fault != nullptr && fault->bytes_per_second > 0) {
    put_slowly(way, bytes, fault->bytes_per_second);
    return;
  }
  auto& draws = network_.time_.draws();
  if (bytes.size() > 1 && draws.chance(network_.options_.split)) {
    const auto cut = static_cast<std::ptrdiff_t>(1 + draws.below(bytes.size() - 1));
    std::vector<std::byte> rest(bytes.begin() + cut, bytes.end());
    bytes.resize(static_cast<std::size_t>(cut));
    put(way, kind::bytes, std::move(bytes));
    bytes = std::move(rest);
  }
  put(way, kind::bytes, std::move(bytes));
}

void simulated_link::put(direction& way, kind what, std::vector<std::byte> bytes) {
  // Strictly after what was put before: the order within a connection is not the seed's to choose.
  const auto due =
      std::max((network_.time_.now() + network_.latency()).count(), way.last_due_ns + 1);
  way.last_due_ns = due;
  way.items.push_back({due, what, std::move(bytes)});
  arm(way, &way == &up_);
}

void simulated_link::arm(direction& way, bool to_broker) {
  if (way.armed || way.items.empty()) return;
  if (network_.is_cut(broker_, address_)) return network_.keep(number_, shared_from_this());
  if (!to_broker && !reading_) return;
  way.armed = true;
  network_.time_.at(virtual_time::duration{way.items.front().due_ns},
                    [self = shared_from_this(), to_broker] {
                      self->deliver(to_broker ? self->up_ : self->down_, to_broker);
                    });
}

void simulated_link::deliver(direction& way, bool to_broker) {
  way.armed = false;
  if (way.items.empty() || broken_ || (!to_broker && !reading_)) return;
  if (network_.is_cut(broker_, address_)) return network_.keep(number_, shared_from_this());
  auto& draws = network_.time_.draws();
  if (draws.chance(network_.options_.disconnect)) {
    break_both();
    return;
  }
  auto arrived = std::move(way.items.front());
  way.items.pop_front();
  network_.time_.note(number_ << 1 | static_cast<std::uint64_t>(to_broker));
  network_.time_.note(arrived.bytes.size());
  const bool ends = cut_off(arrived, to_broker);
  if (to_broker) {
    deliver_to_broker(arrived);
  } else if (!ends || !arrived.bytes.empty()) {
    deliver_to_client(arrived);
  }
  if (ends && !broken_) {
    break_both();
    return;
  }
  arm(way, to_broker);
}

void simulated_link::deliver_to_broker(item& arrived) {
  in_flight_up_ -= std::min(in_flight_up_, arrived.bytes.size());
  if (id_ != 0) {
    const std::lock_guard hold{network_.core_.lock()};
    if (arrived.what == kind::bytes) {
      network_.core_.received(id_, arrived.bytes);
    } else {
      network_.core_.lost(std::exchange(id_, 0), arrived.what == kind::reset);
      broken_ = true;
    }
  }
  network_.changed_();
  room_again();
}

void simulated_link::deliver_to_client(item& arrived) {
  if (events_ == nullptr) return;
  if (arrived.what == kind::bytes) {
    events_->on_bytes(arrived.bytes);
  } else {
    tell_closed(arrived.what == kind::reset);
  }
}

void simulated_link::tell_closed(bool reset) {
  broken_ = true;
  if (auto* events = std::exchange(events_, nullptr))
    events->on_closed(failure(client_errc::connection_closed, peer_, reset));
}

// The connection dies under both: what was in flight is lost in both directions.
void simulated_link::break_both() {
  if (id_ != 0) {
    const std::lock_guard hold{network_.core_.lock()};
    network_.core_.lost(std::exchange(id_, 0), true);
  }
  up_.items.clear();
  down_.items.clear();
  tell_closed(true);
  network_.changed_();
}

void simulated_link::resume() {
  if (writable_wanted_)
    network_.time_.after(virtual_time::duration{0},
                         [self = shared_from_this()] { self->room_again(); });
  arm(up_, true);
  arm(down_, false);
}

}  // namespace partita::testing
