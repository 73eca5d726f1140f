#include <partita/testing/cluster.hpp>

#include "api/testing/cluster_core.hpp"
#include "wire/listener.hpp"
#include "wire/listener_loop.hpp"

#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <thread>

namespace partita::testing {
namespace {

constexpr std::size_t unread_bytes_max = 4 * 1024 * 1024;
constexpr std::size_t write_pieces_max = 64;

moment machine_time() {
  using namespace std::chrono;
  return {duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count(),
          duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count()};
}

}  // namespace

// Sockets on one thread, the model behind a lock. Members marked (lock) are guarded by the model's
// lock: a control call on another thread may queue bytes there; everything else belongs to the
// loop's thread.
struct loopback_cluster::server {
  struct client;

  struct door final : wire::listener_events {
    door(server& owner, std::int32_t broker)
        : owner_(owner), broker_(broker), listener_(owner.loop_.context(), *this) {}
    void on_accepted(wire::accepted_socket socket) override {
      owner_.accept(broker_, std::move(socket));
    }
    server& owner_;
    std::int32_t broker_;
    wire::listener listener_;
    std::uint16_t port_ = 0;
    bool open_ = false;
  };

  explicit server(cluster_core& core) : core_(core) {}

  std::error_code open(std::uint16_t port);
  void accept(std::int32_t broker, wire::accepted_socket socket);
  void received(client& from, byte_view bytes);
  void flush();
  void resume_stalled();
  void write(client& to);
  void follow_brokers();
  void arm();
  void remove(client& gone);

  cluster_core& core_;
  wire::listener_loop loop_;
  std::vector<std::unique_ptr<door>> doors_;
  std::map<client*, std::unique_ptr<client>> clients_;
  std::vector<client*> stalled_;  // not read from, their requests wait
  std::vector<client*> dirty_;    // (lock)
  std::error_code listening_;
  std::thread thread_;
};

struct loopback_cluster::server::client final : wire::stream_events, connection_sink {
  explicit client(server& owner) : owner_(owner) {}

  // From the stream, on the loop's thread.
  void on_connected() override {}
  void on_connect_failed(const wire::stream_failure&) override {}
  void on_bytes(byte_view bytes) override { owner_.received(*this, bytes); }
  void on_writable() override { owner_.write(*this); }
  void on_end_of_bytes() override {
    {
      const std::lock_guard hold{owner_.core_.lock()};
      owner_.core_.input_ended(id_);
    }
    owner_.flush();
  }
  void on_closed(const wire::stream_failure& failure) override {
    {
      const std::lock_guard hold{owner_.core_.lock()};
      if (id_ != 0) owner_.core_.lost(id_, static_cast<bool>(failure.cause));
      id_ = 0;
      std::erase(owner_.dirty_, this);
    }
    owner_.flush();
    owner_.remove(*this);
  }

  // From the model, under its lock, on any thread.
  void send(std::vector<std::byte> bytes) override {
    queued_.push_back(std::move(bytes));
    owner_.dirty_.push_back(this);
  }
  void end(bool reset) override {
    ended_ = true;
    reset_ = reset;
    id_ = 0;
    owner_.dirty_.push_back(this);
  }

  server& owner_;
  std::unique_ptr<wire::stream> stream_;
  cluster_core::connection_id id_ = 0;         // (lock)
  std::deque<std::vector<std::byte>> queued_;  // (lock)
  bool ended_ = false;                         // (lock)
  bool reset_ = false;                         // (lock)
  bool reading_ = true;
  std::deque<std::vector<std::byte>> writing_;
  std::size_t written_ = 0;  // of the first piece
};

std::error_code loopback_cluster::server::open(std::uint16_t port) {
  constexpr std::size_t port_max = 65'535;
  if (port != 0 && port + core_.state().brokers().size() - 1 > port_max)
    return std::make_error_code(std::errc::result_out_of_range);  // the last ports do not exist
  for (const auto& broker : core_.state().brokers()) {
    auto made = std::make_unique<door>(*this, broker.id);
    wire::listener_options options;
    options.port = port == 0 ? port : static_cast<std::uint16_t>(port + broker.id - 1);
    options.stream_options.keep_half_open = true;
    if (const auto failure = made->listener_.open(options); failure.code)
      return failure.cause ? failure.cause : failure.code;
    made->port_ = made->listener_.port();
    made->open_ = true;
    auto* state = core_.state().broker(broker.id);
    state->host = "127.0.0.1";
    state->port = made->port_;
    doors_.push_back(std::move(made));
  }
  return {};
}

void loopback_cluster::server::accept(std::int32_t broker, wire::accepted_socket socket) {
  auto made = std::make_unique<client>(*this);
  bool served = false;  // a control call may end the connection as soon as the lock is free
  {
    const std::lock_guard hold{core_.lock()};
    made->id_ = core_.open(broker, *made);
    served = made->id_ != 0;
  }
  if (!served) return;  // the socket closes itself
  made->stream_ = std::move(socket).open(*made);
  auto* key = made.get();
  clients_.emplace(key, std::move(made));
}

void loopback_cluster::server::received(client& from, byte_view bytes) {
  bool full = false;
  {
    const std::lock_guard hold{core_.lock()};
    core_.received(from.id_, bytes);
    full = core_.unread(from.id_) > unread_bytes_max;
  }
  if (full && from.reading_) {
    from.reading_ = false;
    from.stream_->set_reading(false);
    stalled_.push_back(&from);
  }
  flush();
}

void loopback_cluster::server::flush() {
  std::vector<client*> dirty;
  {
    const std::lock_guard hold{core_.lock()};
    dirty.swap(dirty_);
  }
  for (auto* to : dirty)
    if (clients_.contains(to)) write(*to);
  resume_stalled();
  arm();
}

void loopback_cluster::server::resume_stalled() {
  std::erase_if(stalled_, [this](client* from) {
    {
      const std::lock_guard hold{core_.lock()};
      if (from->id_ != 0 && core_.unread(from->id_) > unread_bytes_max / 2) return false;
    }
    from->reading_ = true;
    from->stream_->set_reading(true);
    return true;
  });
}

void loopback_cluster::server::write(client& to) {
  bool ended = false;
  {
    const std::lock_guard hold{core_.lock()};
    for (auto& bytes : to.queued_)
      if (!bytes.empty())
        to.writing_.push_back(std::move(bytes));  // an answer may be cut to nothing
    to.queued_.clear();
    ended = to.ended_;
  }
  while (!to.writing_.empty()) {
    std::vector<std::span<const std::byte>> pieces;
    std::size_t offered = 0;
    for (const auto& bytes : to.writing_) {
      if (pieces.size() == write_pieces_max) break;
      pieces.emplace_back(byte_view{bytes}.subspan(pieces.empty() ? to.written_ : 0));
      offered += pieces.back().size();
    }
    const auto accepted = to.stream_->write(pieces);
    for (auto left = accepted; left > 0;) {
      const auto rest = to.writing_.front().size() - to.written_;
      if (left < rest) {
        to.written_ += left;
        break;
      }
      left -= rest;
      to.written_ = 0;
      to.writing_.pop_front();
    }
    if (accepted < offered) {
      to.stream_->want_writable();
      return;
    }
  }
  if (!ended) return;
  to.stream_->close(to.reset_ ? wire::close_how::reset : wire::close_how::orderly);
  remove(to);
}

// A client may be removed from inside one of its own events, so its end is left to the loop.
void loopback_cluster::server::remove(client& gone) {
  const auto found = clients_.find(&gone);
  if (found == clients_.end()) return;
  std::erase(stalled_, &gone);
  {
    const std::lock_guard hold{core_.lock()};
    std::erase(dirty_, &gone);
  }
  auto last = std::shared_ptr<client>(std::move(found->second));
  clients_.erase(found);
  loop_.post([last] {});
}

// Brokers that stopped or started since: their ports close and open with them.
void loopback_cluster::server::follow_brokers() {
  for (auto& door : doors_) {
    bool running = false;
    {
      const std::lock_guard hold{core_.lock()};
      running = core_.state().broker(door->broker_)->running;
    }
    if (running == door->open_) continue;
    if (running) {
      wire::listener_options options;
      options.port = door->port_;
      options.stream_options.keep_half_open = true;
      door->open_ = !door->listener_.open(options).code;
    } else {
      door->listener_.close();
      door->open_ = false;
    }
  }
}

void loopback_cluster::server::arm() {
  std::int64_t due = -1;
  {
    const std::lock_guard hold{core_.lock()};
    due = core_.next_deadline_ns();
  }
  if (due < 0) {
    loop_.cancel_alarm();
    return;
  }
  const auto when = std::chrono::steady_clock::time_point{
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(
          std::chrono::nanoseconds{due})};
  loop_.set_alarm(when, [this] {
    {
      const std::lock_guard hold{core_.lock()};
      core_.advance();
    }
    flush();
  });
}

loopback_cluster::loopback_cluster(const cluster_options& options, std::uint16_t port)
    : cluster(std::make_unique<cluster_core>(options, machine_time)),
      server_(std::make_unique<server>(core())) {
  server_->listening_ = server_->open(port);
  server_->thread_ = std::thread([this] { server_->loop_.run(); });
}

loopback_cluster::~loopback_cluster() {
  server_->loop_.stop();
  server_->thread_.join();
  server_->clients_.clear();
  server_->doors_.clear();
}

std::error_code loopback_cluster::listening() const { return server_->listening_; }

std::uint16_t loopback_cluster::port(broker_id broker) const {
  for (const auto& door : server_->doors_)
    if (door->broker_ == broker.value) return door->port_;
  return 0;
}

std::string loopback_cluster::bootstrap() const {
  std::string text;
  for (const auto& door : server_->doors_)
    text += (text.empty() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(door->port_);
  return text;
}

// Waits for the sockets to follow, so that a broker that was started listens when start_broker()
// returns.
void loopback_cluster::changed() {
  const auto done = std::make_shared<std::promise<void>>();
  server_->loop_.post([this, done] {
    server_->follow_brokers();
    server_->flush();
    done->set_value();
  });
  done->get_future().wait();
}

}  // namespace partita::testing
