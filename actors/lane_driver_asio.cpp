#include "actors/lane_driver_asio.hpp"

#include "actors/lane.hpp"
#include "wire/tcp_stream.hpp"

#include <partita/contract.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace partita::actors {

namespace {

namespace asio = boost::asio;

/// Rounds of a lane on a loop. Shared with the handlers in the loop, which may outlive the driver.
class loop_rounds : public std::enable_shared_from_this<loop_rounds> {
 public:
  explicit loop_rounds(asio::io_context& loop) : loop_(loop), timer_(loop) {}

  void start(lane& driven) noexcept { lane_.store(&driven, std::memory_order_release); }

  void wake() {
    if (runs_on_own_thread()) {
      asked_ = true;  // run_loop() comes to it when the handler of this moment has returned
      return;
    }
    asio::post(loop_, [self = shared_from_this()] { self->round(); });
  }

  /// Runs the loop on a thread of its own, until it is stopped. A round that was asked for on this
  /// thread follows the event that asked at once: going through the loop's queue would cost another
  /// look at all sockets, which a round trip feels.
  void run_loop(wire::tcp_transport& sockets) {
    runner_.store(std::this_thread::get_id(), std::memory_order_release);
    while (loop_.run_one() != 0) {
      while (asked_) {
        asked_ = false;
        round();
        sockets.read_on();
        if (asked_) loop_.poll();  // more to do: I/O gets its chance
      }
      sockets.read_on();
    }
    runner_.store(std::thread::id(), std::memory_order_release);
  }
  [[nodiscard]] bool runs_on_own_thread() const noexcept {
    return runner_.load(std::memory_order_acquire) == std::this_thread::get_id();
  }

  void end() noexcept { lane_.store(nullptr, std::memory_order_release); }
  [[nodiscard]] bool in_round() const noexcept { return in_round_.load(std::memory_order_seq_cst); }
  /// Where the rounds run.
  void drop_timer() { timer_.reset(); }

 private:
  void round() {
    lane* const driven = lane_.load(std::memory_order_acquire);
    if (driven == nullptr) return;
    in_round_.store(true, std::memory_order_seq_cst);
    const instant next = driven->run_once();
    if (next <= driven->now())
      wake();  // behind the events that are ready: I/O gets its chance
    else
      sleep_until(next);
    in_round_.store(false, std::memory_order_seq_cst);
  }

  // The timer only ever moves to an earlier time. A deadline that moved away costs one early round,
  // which is cheaper than setting the timer anew for each cancelled linger or request.
  void sleep_until(instant next) {
    if (next >= armed_ || !timer_) return;
    armed_ = next;
    timer_->expires_at(next);
    timer_->async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (error) return;
      self->armed_ = never;
      self->round();
    });
  }

  asio::io_context& loop_;
  std::optional<asio::steady_timer> timer_;
  std::atomic<lane*> lane_{nullptr};
  std::atomic<bool> in_round_{false};
  std::atomic<std::thread::id> runner_{};
  bool asked_ = false;  // of the own thread only
  instant armed_ = never;
};

/// Lets a thread wait for work that another one does, or take the work back.
class handed_work {
 public:
  handed_work(void (*work)(void*), void* argument) : work_(work), argument_(argument) {}

  /// Once, by whoever comes first.
  void run() {
    {
      const std::lock_guard lock(mutex_);
      if (taken_) return;
      taken_ = true;
      changed_.notify_all();
    }
    work_(argument_);
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  void wait_until_done() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

  /// Waits for somebody to begin it, at most `limit`. False if nobody did.
  bool wait_until_taken(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [this] { return taken_; });
  }

 private:
  void (*work_)(void*);
  void* argument_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = false;
  bool done_ = false;
};

void post_work(asio::io_context& loop, const std::shared_ptr<handed_work>& work) {
  asio::post(loop, [work] { work->run(); });
}

/// What a lane's own thread works on. The thread shares it, so that it can outlive the driver.
struct own_loop {
  explicit own_loop(const wire::tcp_options& sockets)
      : guard(loop.get_executor()),
        rounds(std::make_shared<loop_rounds>(loop)),
        transport(loop, told_when_to_read(sockets)) {}

  static wire::tcp_options told_when_to_read(wire::tcp_options sockets) {
    sockets.read_when_told = true;
    return sockets;
  }

  void run(lane& driven) {
    pthread_setname_np(pthread_self(), "partita-lane");
    lane::bind_thread(&driven);
    rounds->run_loop(transport);
    lane::bind_thread(nullptr);
  }

  std::shared_ptr<void> take_alive() {
    const std::lock_guard lock(mutex);
    return std::move(alive);
  }

  // Sockets and timers are used on the lane's thread only; what is posted comes from any.
  asio::io_context loop{BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO};
  asio::executor_work_guard<asio::io_context::executor_type> guard;
  std::shared_ptr<loop_rounds> rounds;
  wire::tcp_transport transport;
  std::mutex mutex;
  std::shared_ptr<void> alive;  // under the mutex
};

class thread_driver final : public lane_driver {
 public:
  explicit thread_driver(const wire::tcp_options& sockets)
      : own_(std::make_shared<own_loop>(sockets)) {}

  ~thread_driver() override {
    if (thread_.joinable()) {
      request_end();
      join();
    }
  }

  void start(lane& driven) override {
    PARTITA_EXPECTS(!thread_.joinable());
    own_->rounds->start(driven);
    own_->rounds->wake();
    thread_ = std::thread([own = own_, &driven] {
      own->run(driven);
      // May own everything that this thread has worked for, the driver included.
      const std::shared_ptr<void> last = own->take_alive();
    });
  }

  void wake() noexcept override { own_->rounds->wake(); }
  bool runs_here() const noexcept override { return own_->rounds->runs_on_own_thread(); }
  bool has_thread() const noexcept override { return true; }

  void run_there(void (*work)(void*), void* argument) override {
    if (runs_here()) return work(argument);
    auto handed = std::make_shared<handed_work>(work, argument);
    post_work(own_->loop, handed);
    handed->wait_until_done();
  }

  void request_end() noexcept override {
    own_->rounds->end();
    own_->loop.stop();
  }

  void join() override {
    PARTITA_EXPECTS(!runs_here());
    if (thread_.joinable()) thread_.join();
  }

  void detach(std::shared_ptr<void> alive) override {
    const std::lock_guard lock(own_->mutex);
    own_->alive = std::move(alive);
    thread_.detach();
  }

  wire::transport* transport() noexcept override { return &own_->transport; }

 private:
  std::shared_ptr<own_loop> own_;
  std::thread thread_;
};

/// Learns of the end of a loop that is not ours. When the loop destroys its services it has let go
/// of all handlers, and of producers that lived in one: they may still end while it shuts down.
class loop_watch final : public asio::execution_context::service {
 public:
  using key_type = loop_watch;
  static inline asio::execution_context::id id;

  explicit loop_watch(asio::execution_context& loop) : service(loop) {}
  ~loop_watch() override { ended_->store(true); }
  [[nodiscard]] std::shared_ptr<const std::atomic<bool>> ended() const { return ended_; }

 private:
  void shutdown() noexcept override {}

  const std::shared_ptr<std::atomic<bool>> ended_ = std::make_shared<std::atomic<bool>>(false);
};

class loop_driver final : public lane_driver {
 public:
  loop_driver(asio::io_context& loop, const wire::tcp_options& sockets)
      : loop_(loop),
        loop_ended_(asio::use_service<loop_watch>(loop).ended()),
        rounds_(std::make_shared<loop_rounds>(loop)),
        transport_(std::make_unique<wire::tcp_transport>(loop, sockets)) {}

  void start(lane& driven) override {
    rounds_->start(driven);
    rounds_->wake();
  }

  void wake() noexcept override {
    expect_loop();
    rounds_->wake();
  }
  bool runs_here() const noexcept override {
    expect_loop();
    return loop_.get_executor().running_in_this_thread();
  }

  void run_there(void (*work)(void*), void* argument) override {
    expect_loop();
    if (deserted_ || runs_here()) return work(argument);
    if (loop_.stopped()) {
      // run() has returned, or is about to: no handler begins any more, one may still be ending.
      while (rounds_->in_round()) std::this_thread::yield();
      deserted_ = true;
      return work(argument);
    }
    auto handed = std::make_shared<handed_work>(work, argument);
    post_work(loop_, handed);
    if (!handed->wait_until_taken(patience)) {
      deserted_ = true;
      handed->run();  // unless somebody began it this very moment
    }
    handed->wait_until_done();
  }

  void request_end() noexcept override { rounds_->end(); }

  void join() override {
    // Where the rounds run: so none is under way when this returns, and the timer and what is left
    // of the transport are not taken from under a handler.
    run_there(
        [](void* argument) {
          auto& self = *static_cast<loop_driver*>(argument);
          self.rounds_->drop_timer();
          self.transport_.reset();
        },
        this);
  }

  wire::transport* transport() noexcept override { return transport_.get(); }

 private:
  static constexpr std::chrono::milliseconds patience{1000};

  void expect_loop() const noexcept {
    PARTITA_EXPECTS_OR_SAY(!*loop_ended_,
                           "the io_context of a producer was destroyed before the producer");
  }

  asio::io_context& loop_;
  const std::shared_ptr<const std::atomic<bool>> loop_ended_;
  std::shared_ptr<loop_rounds> rounds_;
  std::unique_ptr<wire::tcp_transport> transport_;
  bool deserted_ = false;  // nobody runs the loop
};

}  // namespace

std::unique_ptr<lane_driver> make_thread_driver() {
  return make_thread_driver(wire::tcp_options{});
}

std::unique_ptr<lane_driver> make_thread_driver(const wire::tcp_options& sockets) {
  return std::make_unique<thread_driver>(sockets);
}

std::unique_ptr<lane_driver> make_loop_driver(boost::asio::io_context& loop) {
  return make_loop_driver(loop, wire::tcp_options{});
}

std::unique_ptr<lane_driver> make_loop_driver(boost::asio::io_context& loop,
                                              const wire::tcp_options& sockets) {
  return std::make_unique<loop_driver>(loop, sockets);
}

}  // namespace partita::actors
