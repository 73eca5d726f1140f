#include "wire/tcp_stream.hpp"

#include "wire/handler_memory.hpp"
#include "wire/tcp_connector.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

namespace partita::wire {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// What goes to one system call. Asio would copy the list into one of its own, and clear both.
struct buffer_run {
  std::array<iovec, 64> buffers;  // the first `count`
  std::size_t count = 0;
  std::size_t bytes = 0;

  buffer_run() noexcept {}  // NOLINT: the list stays as it is

  [[nodiscard]] bool full() const noexcept { return count == buffers.size(); }
  void add(std::span<const std::byte> piece) noexcept {
    buffers[count++] = {const_cast<std::byte*>(piece.data()), piece.size()};  // it is only read
    bytes += piece.size();
  }
  /// As much of it as the socket takes at once; 0 with an error.
  [[nodiscard]] std::size_t send_to(int socket, error_code& code) noexcept {
    const ssize_t sent =
        count == 1 ? ::send(socket, buffers[0].iov_base, bytes, MSG_NOSIGNAL) : send_all_to(socket);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    code = error_code(errno, boost::system::system_category());
    return 0;
  }

 private:
  [[nodiscard]] ssize_t send_all_to(int socket) noexcept {
    msghdr message{};
    message.msg_iov = buffers.data();
    message.msg_iovlen = count;
    return ::sendmsg(socket, &message, MSG_NOSIGNAL);
  }
};

bool is_temporary(const error_code& code) {
  return code == asio::error::would_block || code == asio::error::try_again ||
         code == asio::error::interrupted;
}

class tcp_connection;

/// Connections that read again when the loop's owner says so.
using waiting_readers = std::vector<std::shared_ptr<tcp_connection>>;

// What a stream's asynchronous operations share. Every handler holds it, and returns at once when
// the phase has moved on.
class tcp_connection : public std::enable_shared_from_this<tcp_connection> {
 public:
  /// `later` null: reads again at once.
  tcp_connection(asio::io_context& loop, const tcp_options& options, stream_events& events,
                 std::shared_ptr<waiting_readers> later = {})
      : loop_(loop), options_(options), events_(&events), later_(std::move(later)), socket_(loop) {
    PARTITA_EXPECTS(options_.read_bytes_max > 0, options_.read_bytes_max);
  }

  void adopt(int descriptor);
  void connect(const std::shared_ptr<address_book>& book, std::string_view host, std::uint16_t port,
               std::chrono::milliseconds limit);
  std::size_t write(std::span<const std::span<const std::byte>> pieces);
  void want_writable();
  void set_reading(bool on);
  void close(close_how how);
  /// The loop's owner: now.
  void read_now() {
    if (phase_ != phase::ended) read();
  }
  std::uint64_t handed_over() const { return handed_over_; }
  std::string peer_address() const;

 private:
  enum class phase : std::uint8_t {
    idle,
    connecting,
    open,
    broken,  // a write failed; what the peer sent before is still read
    ended,   // no events any more
  };

  void become_open();
  struct read_handler {
    using allocator_type = handler_allocator<std::byte>;

    [[nodiscard]] allocator_type get_allocator() const noexcept {
      return allocator_type(self->read_memory_);
    }
    void operator()(const error_code& code, std::size_t bytes) const {
      self->was_read(code, bytes);
    }

    std::shared_ptr<tcp_connection> self;
  };

  void read();
  void was_read(const error_code& code, std::size_t bytes);
  void read_later();
  void on_read(const error_code& code, std::size_t bytes);
  void on_read_ended(const error_code& code);
  void show_held();
  void break_off(const error_code& code);
  void end(const stream_failure& failure);
  void release();
  stream_failure failure_of(const error_code& code, std::string_view step) const;

  asio::io_context& loop_;
  const tcp_options options_;
  stream_events* events_;  // null once ended
  const std::shared_ptr<waiting_readers> later_;
  phase phase_ = phase::idle;
  std::shared_ptr<tcp_connector> connector_;  // while connecting
  tcp::socket socket_;
  std::string peer_;

  handler_memory read_memory_;
  std::unique_ptr<std::byte[]> read_buffer_;
  bool reading_ = true;  // what the owner wants
  bool read_outstanding_ = false;
  bool showing_ = false;        // the owner looks at read_buffer_
  bool peer_finished_ = false;  // nothing comes any more
  std::size_t held_bytes_ = 0;  // read but not shown, as reading was stopped meanwhile
  error_code held_error_;
  bool write_wait_outstanding_ = false;
  std::uint64_t handed_over_ = 0;
  stream_failure write_failure_;
};

stream_failure tcp_connection::failure_of(const error_code& code, std::string_view step) const {
  stream_failure failure{client_errc::connection_closed, code, peer_};
  failure.text.append(": ").append(step).append(": ").append(code.message());
  return failure;
}

// ---- opening

void tcp_connection::connect(const std::shared_ptr<address_book>& book, std::string_view host,
                             std::uint16_t port, std::chrono::milliseconds limit) {
  PARTITA_EXPECTS(phase_ == phase::idle, static_cast<int>(phase_));
  phase_ = phase::connecting;
  connector_ = std::make_shared<tcp_connector>(loop_, options_, book);
  // Weak: the connector waits in the loop, which must not keep alive what nobody wants any more.
  connector_->start(host, port, limit,
                    [weak = weak_from_this()](tcp::socket socket, const stream_failure& failure) {
                      const auto self = weak.lock();
                      if (self == nullptr || self->phase_ != phase::connecting) return;
                      if (failure.code) {
                        stream_events* const events = self->events_;
                        self->release();
                        events->on_connect_failed(failure);
                        return;
                      }
                      self->connector_.reset();
                      self->socket_ = std::move(socket);
                      self->become_open();
                      self->events_->on_connected();
                      if (self->phase_ == phase::open) self->read();
                    });
}

void tcp_connection::adopt(int descriptor) {
  PARTITA_EXPECTS(phase_ == phase::idle, static_cast<int>(phase_));
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&local), &size);
  error_code code;
  socket_.assign(local.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), descriptor, code);
  if (code) {
    ::close(descriptor);
    break_off(code);
    return;
  }
  set_buffer_sizes(socket_, options_);
  become_open();
  asio::post(loop_, [self = shared_from_this()] {
    if (self->phase_ == phase::open) self->read();
  });
}

void tcp_connection::become_open() {
  phase_ = phase::open;
  error_code ignored;
  peer_ = text_of(socket_.remote_endpoint(ignored));
  if (options_.no_delay) socket_.set_option(tcp::no_delay(true), ignored);
  if (options_.keep_alive) socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  error_code code;
  socket_.non_blocking(true, code);
  PARTITA_ASSERT(!code, code.value());
  read_buffer_ = std::make_unique_for_overwrite<std::byte[]>(options_.read_bytes_max);
}

// ---- reading

void tcp_connection::read() {
  if (read_outstanding_ || peer_finished_ || showing_ || !reading_) return;
  read_outstanding_ = true;
  socket_.async_read_some(asio::buffer(read_buffer_.get(), options_.read_bytes_max),
                          read_handler{shared_from_this()});
}

void tcp_connection::was_read(const error_code& code, std::size_t bytes) {
  read_outstanding_ = false;
  if (phase_ == phase::ended) return;
  held_bytes_ = bytes;
  held_error_ = code;
  if (reading_) return show_held();
  if (phase_ == phase::broken) end(write_failure_);
}

void tcp_connection::show_held() {
  if (held_bytes_ == 0 && !held_error_) return;
  on_read(std::exchange(held_error_, {}), std::exchange(held_bytes_, 0));
}

void tcp_connection::on_read(const error_code& code, std::size_t bytes) {
  if (bytes > 0) {
    showing_ = true;
    events_->on_bytes({read_buffer_.get(), bytes});
    showing_ = false;
  }
  if (phase_ == phase::ended) return;
  if (code) return on_read_ended(code);
  if (phase_ == phase::broken && !reading_) return end(write_failure_);
  read_later();
}

// Asio looks at the socket before it waits, mostly in vain. What the bytes brought about, such as
// the next request, goes first where the loop's owner takes part.
void tcp_connection::read_later() {
  if (later_ == nullptr) return read();
  later_->push_back(shared_from_this());
}

void tcp_connection::on_read_ended(const error_code& code) {
  peer_finished_ = true;
  if (phase_ == phase::broken) return end(write_failure_);
  if (code != asio::error::eof) return end(failure_of(code, "read"));
  if (options_.keep_half_open) return events_->on_end_of_bytes();
  end({client_errc::connection_closed, {}, peer_ + ": the peer closed the connection"});
}

void tcp_connection::set_reading(bool on) {
  reading_ = on;
  if (!on || phase_ != phase::open) return;
  if (held_bytes_ == 0 && !held_error_) return read();
  asio::post(loop_, [self = shared_from_this()] {
    if (self->phase_ != phase::ended && self->reading_) self->show_held();
  });
}

// ---- writing

std::size_t tcp_connection::write(std::span<const std::span<const std::byte>> pieces) {
  std::size_t written = 0;
  while (phase_ == phase::open && !pieces.empty()) {
    buffer_run run;
    while (!pieces.empty() && !run.full()) {
      run.add(pieces.front());
      pieces = pieces.subspan(1);
    }
    if (run.bytes == 0) continue;
    error_code code;
    const std::size_t bytes = run.send_to(socket_.native_handle(), code);
    written += bytes;
    if (code && !is_temporary(code)) break_off(code);
    if (bytes < run.bytes) break;
  }
  handed_over_ += written;
  return written;
}

// The socket still gives what it had received: a reset leaves the receive queue alone. Shutting
// down makes sure that reading comes to an end.
void tcp_connection::break_off(const error_code& code) {
  phase_ = phase::broken;
  write_failure_ = failure_of(code, "write");
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  asio::post(loop_, [self = shared_from_this()] {
    if (self->phase_ != phase::broken || self->read_outstanding_) return;
    if (!self->reading_ || self->peer_finished_) return self->end(self->write_failure_);
    if (self->held_bytes_ > 0 || self->held_error_) return self->show_held();
    self->read();
  });
}

void tcp_connection::want_writable() {
  if (phase_ != phase::open || write_wait_outstanding_) return;
  write_wait_outstanding_ = true;
  socket_.async_wait(tcp::socket::wait_write, [self = shared_from_this()](const error_code&) {
    self->write_wait_outstanding_ = false;
    // An error here shows itself in the next write or read.
    if (self->phase_ == phase::open) self->events_->on_writable();
  });
}

std::string tcp_connection::peer_address() const {
  return phase_ == phase::open || phase_ == phase::broken ? peer_ : std::string();
}

// ---- the end

void tcp_connection::end(const stream_failure& failure) {
  PARTITA_ASSERT(events_ != nullptr);
  stream_events* const events = events_;
  release();
  events->on_closed(failure);
}

void tcp_connection::close(close_how how) {
  if (phase_ == phase::ended) return;
  if (how == close_how::reset) {
    error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  }
  release();
}

void tcp_connection::release() {
  phase_ = phase::ended;
  events_ = nullptr;
  if (connector_ != nullptr) std::exchange(connector_, nullptr)->cancel();
  error_code ignored;
  socket_.close(ignored);
}

class tcp_stream final : public stream {
 public:
  tcp_stream(std::shared_ptr<tcp_connection> connection, std::shared_ptr<address_book> book)
      : connection_(std::move(connection)), book_(std::move(book)) {}
  ~tcp_stream() override { connection_->close(close_how::orderly); }

  void connect(std::string_view host, std::uint16_t port,
               std::chrono::milliseconds limit) override {
    connection_->connect(book_, host, port, limit);
  }
  std::size_t write(std::span<const std::span<const std::byte>> pieces) override {
    return connection_->write(pieces);
  }
  std::uint64_t handed_over() const override { return connection_->handed_over(); }
  void want_writable() override { connection_->want_writable(); }
  void set_reading(bool on) override { connection_->set_reading(on); }
  void close(close_how how) override { connection_->close(how); }
  std::string peer_address() const override { return connection_->peer_address(); }

 private:
  std::shared_ptr<tcp_connection> connection_;
  std::shared_ptr<address_book> book_;
};

}  // namespace

struct tcp_transport::shared {
  asio::io_context& loop;
  tcp_options options;
  std::shared_ptr<address_book> book;
  std::shared_ptr<waiting_readers> later{};
};

tcp_transport::tcp_transport(asio::io_context& loop, tcp_options options, name_lookup_options names)
    : shared_(new shared{loop, options, nullptr}) {
  if (options.read_when_told) shared_->later = std::make_shared<waiting_readers>();
  if (names.family == address_family::any) names.family = options.family;
  shared_->book = std::make_shared<address_book>(loop, std::move(names));
}

tcp_transport::~tcp_transport() = default;

std::unique_ptr<stream> tcp_transport::make_stream(stream_events& events) {
  auto connection =
      std::make_shared<tcp_connection>(shared_->loop, shared_->options, events, shared_->later);
  return std::make_unique<tcp_stream>(std::move(connection), shared_->book);
}

void tcp_transport::read_on() {
  if (shared_->later == nullptr) return;
  for (const auto& each : *shared_->later) each->read_now();
  shared_->later->clear();
}

std::unique_ptr<pending_look_up> tcp_transport::look_up(
    std::string host, std::function<void(const look_up_result&)> callback) {
  return shared_->book->names().look_up(std::move(host), std::move(callback));
}

std::unique_ptr<stream> adopt_tcp_socket(asio::io_context& loop, int descriptor,
                                         const tcp_options& options, stream_events& events) {
  auto connection = std::make_shared<tcp_connection>(loop, options, events);
  connection->adopt(descriptor);
  return std::make_unique<tcp_stream>(std::move(connection), nullptr);
}

}  // namespace partita::wire
