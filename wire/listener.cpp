#include "wire/listener.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace partita::wire {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr int accepts_per_wake = 16;
constexpr std::chrono::milliseconds pause_when_exhausted{100};

}  // namespace

accepted_socket::accepted_socket(asio::io_context& loop, int descriptor, const tcp_options& options)
    : loop_(loop), descriptor_(descriptor), options_(options) {
  PARTITA_EXPECTS(descriptor >= 0, descriptor);
}

accepted_socket::accepted_socket(accepted_socket&& other) noexcept
    : loop_(other.loop_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      options_(other.options_) {}

accepted_socket::~accepted_socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::unique_ptr<stream> accepted_socket::open(stream_events& events) && {
  PARTITA_EXPECTS(descriptor_ >= 0, descriptor_);
  return adopt_tcp_socket(loop_, std::exchange(descriptor_, -1), options_, events);
}

struct listener::shared : std::enable_shared_from_this<listener::shared> {
  shared(asio::io_context& on, listener_events& to)
      : loop(on), events(&to), acceptor(on), pause(on) {}

  asio::io_context& loop;
  listener_events* events;  // null once closed for good
  tcp::acceptor acceptor;
  asio::steady_timer pause;
  listener_options options;
  std::uint16_t port = 0;
  unsigned opened = 0;  // tells a late handler that its acceptor was closed

  stream_failure open();
  void close();
  void wait();
  void accept_some();
};

stream_failure listener::shared::open() {
  error_code code;
  const tcp::endpoint endpoint(asio::ip::make_address(options.address, code), options.port);
  if (!code) acceptor.open(endpoint.protocol(), code);
  if (!code) acceptor.set_option(tcp::acceptor::reuse_address(true), code);
  // Accepted sockets inherit it, and it must be known before the handshake.
  const int receive_bytes = options.stream_options.receive_buffer_bytes;
  if (!code && receive_bytes > 0) {
    acceptor.set_option(asio::socket_base::receive_buffer_size(receive_bytes), code);
  }
  if (!code) acceptor.bind(endpoint, code);
  if (!code) acceptor.listen(options.backlog, code);
  if (!code) acceptor.non_blocking(true, code);
  if (!code) port = acceptor.local_endpoint(code).port();
  if (code) {
    close();
    return {client_errc::invalid_value, code,
            options.address + ":" + std::to_string(options.port) + ": " + code.message()};
  }
  ++opened;
  wait();
  return {};
}

void listener::shared::close() {
  ++opened;
  port = 0;
  pause.cancel();
  error_code ignored;
  acceptor.close(ignored);
}

void listener::shared::wait() {
  acceptor.async_wait(tcp::acceptor::wait_read,
                      [self = shared_from_this(), open = opened](const error_code& code) {
                        if (code || open != self->opened) return;
                        self->accept_some();
                      });
}

void listener::shared::accept_some() {
  const unsigned open_before = opened;
  for (int i = 0; i < accepts_per_wake; ++i) {
    const int descriptor = ::accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor >= 0) {
      events->on_accepted(accepted_socket(loop, descriptor, options.stream_options));
      if (open_before != opened) return;
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // The connection stays in the backlog, so waiting for readiness would return at once.
      pause.expires_after(pause_when_exhausted);
      pause.async_wait([self = shared_from_this(), open_before](const error_code& code) {
        if (code || open_before != self->opened) return;
        self->accept_some();
      });
      return;
    }
    // Anything else concerns the one connection that broke before it was accepted.
  }
  wait();
}

listener::listener(asio::io_context& loop, listener_events& events)
    : shared_(std::make_shared<shared>(loop, events)) {}

listener::~listener() {
  shared_->close();
  shared_->events = nullptr;
}

stream_failure listener::open(const listener_options& options) {
  PARTITA_EXPECTS(!shared_->acceptor.is_open());
  shared_->options = options;
  return shared_->open();
}

void listener::close() { shared_->close(); }

std::uint16_t listener::port() const { return shared_->port; }

}  // namespace partita::wire
