#include "wire/tcp_connector.hpp"

#include "wire/peer_name.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace partita::wire {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t names_remembered_max = 256;
constexpr std::size_t failure_text_max = 1024;
constexpr std::chrono::hours limit_max{24};  // keeps the sum of now and the limit in range

}  // namespace

void address_book::remember(const std::string& name, const std::string& address) {
  std::erase_if(answered_, [&](const entry& known) { return known.name == name; });
  answered_.push_back({name, address});
  if (answered_.size() > names_remembered_max) answered_.pop_front();
}

void address_book::put_best_first(const std::string& name,
                                  std::vector<std::string>& addresses) const {
  for (const entry& known : answered_) {
    if (known.name != name) continue;
    const auto best = std::find(addresses.begin(), addresses.end(), known.address);
    if (best != addresses.end()) std::rotate(addresses.begin(), best, best + 1);
  }
}

std::string text_of(const asio::ip::tcp::endpoint& endpoint) {
  return peer_name(endpoint.address().to_string(), endpoint.port());
}

void set_buffer_sizes(asio::ip::tcp::socket& socket, const tcp_options& options) {
  using base = asio::socket_base;
  error_code ignored;  // these tune, they do not decide
  if (const int bytes = options.send_buffer_bytes; bytes > 0) {
    socket.set_option(base::send_buffer_size(bytes), ignored);
  }
  if (const int bytes = options.receive_buffer_bytes; bytes > 0) {
    socket.set_option(base::receive_buffer_size(bytes), ignored);
  }
}

tcp_connector::tcp_connector(asio::io_context& loop, const tcp_options& options,
                             std::shared_ptr<address_book> book)
    : loop_(loop), options_(options), book_(std::move(book)), socket_(loop), timer_(loop) {
  PARTITA_EXPECTS(book_ != nullptr);
}

void tcp_connector::start(std::string_view host, std::uint16_t port,
                          std::chrono::milliseconds limit, callback done) {
  PARTITA_EXPECTS(done_ == nullptr && done != nullptr);
  PARTITA_EXPECTS(limit.count() > 0, limit.count());
  done_ = std::move(done);
  port_ = port;
  name_ = peer_name(host, port);
  deadline_ = clock::now() + std::min<std::chrono::milliseconds>(limit, limit_max);
  // The handle is a member, so nothing is called back after this object ended.
  look_up_ = book_->names().look_up(std::string(host), [this](const look_up_result& result) {
    const auto self = shared_from_this();
    look_up_.reset();
    on_looked_up(result);
  });
  failure_ = {client_errc::connection_timeout, {}, name_ + ": the look-up took too long"};
  arm_timer();
}

void tcp_connector::cancel() {
  done_ = nullptr;
  look_up_.reset();
  timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

void tcp_connector::on_looked_up(const look_up_result& result) {
  if (!done_) return;
  if (result.addresses.empty()) return finish(tcp::socket(loop_), result.failure);
  failure_ = {};
  addresses_ = result.addresses;
  book_->put_best_first(name_, addresses_);
  std::reverse(addresses_.begin(), addresses_.end());
  try_next_address();
}

// Waits for the current step's share of the time that is left.
void tcp_connector::arm_timer() {
  const auto shares = static_cast<clock::rep>(addresses_.size() + 1);
  const clock::duration left = std::max(deadline_ - clock::now(), clock::duration::zero());
  timer_.expires_after(left / shares);
  timer_.async_wait([self = shared_from_this(), attempt = attempt_](const error_code& code) {
    if (code || !self->done_ || attempt != self->attempt_) return;
    if (self->look_up_ != nullptr) return self->finish(tcp::socket(self->loop_), self->failure_);
    self->on_attempt_failed(asio::error::timed_out);
  });
}

void tcp_connector::try_next_address() {
  PARTITA_ASSERT(done_ != nullptr);
  PARTITA_ASSERT(!addresses_.empty());
  ++attempt_;
  address_ = std::move(addresses_.back());
  addresses_.pop_back();
  error_code code;
  const tcp::endpoint endpoint(asio::ip::make_address(address_, code), port_);
  if (!code) socket_.open(endpoint.protocol(), code);
  arm_timer();
  if (code) {
    // Not from inside: a run of bad addresses must not recurse.
    asio::post(loop_, [self = shared_from_this(), attempt = attempt_, code] {
      if (!self->done_ || attempt != self->attempt_) return;
      self->on_attempt_failed(code);
    });
    return;
  }
  set_buffer_sizes(socket_, options_);
  socket_.async_connect(
      endpoint, [self = shared_from_this(), attempt = attempt_, endpoint](const error_code& done) {
        if (!self->done_ || attempt != self->attempt_) return;
        self->on_attempt_done(endpoint, done);
      });
}

void tcp_connector::on_attempt_done(const tcp::endpoint& endpoint, const error_code& code) {
  if (code) return on_attempt_failed(code);
  // A port of the ephemeral range where nobody listens can connect to itself.
  error_code local_error;
  if (socket_.local_endpoint(local_error) == endpoint && !local_error) {
    return on_attempt_failed(asio::error::connection_refused);
  }
  book_->remember(name_, endpoint.address().to_string());
  finish(std::move(socket_), {});
}

void tcp_connector::on_attempt_failed(const error_code& code) {
  ++attempt_;
  error_code ignored;
  socket_.close(ignored);
  const bool silent = code == asio::error::timed_out;
  failure_.code = silent ? client_errc::connection_timeout : client_errc::connection_refused;
  failure_.cause = code;
  if (failure_.text.size() < failure_text_max) {
    failure_.text += failure_.text.empty() ? name_ + ": " : "; ";
    failure_.text += address_ + ": " + code.message();
  }
  if (addresses_.empty() || clock::now() >= deadline_) {
    return finish(tcp::socket(loop_), failure_);
  }
  try_next_address();
}

void tcp_connector::finish(tcp::socket socket, const stream_failure& failure) {
  const stream_failure copy = failure;  // it may be a member
  const callback done = std::exchange(done_, nullptr);
  cancel();
  done(std::move(socket), copy);
}

}  // namespace partita::wire
