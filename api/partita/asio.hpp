// Optional: partita for programs on Boost.Asio.
//
//     partita::outcome o = co_await producer.produce(record);              // in an asio::awaitable
//     producer.produce(record)([](partita::outcome o) { ... });            // any completion token
//     producer.produce(record)(bind_cancellation_slot(slot, token));       // can be cancelled
//     partita::tally t = co_await partita::async_wait(producer.flush());   // or close, recover
//     auto producer = partita::make_producer_on(loop, config);             // no other thread
//
// Order: handlers with the same executor are called in the order of their partitions' answers. A
// run of answered records costs one post to an execution context, whatever number of handlers it
// has there. Threads: a handler runs on its associated executor. One that has none (a bare lambda)
// is called like a callback: on the lane, or inside the call when the answer is there at once; it
// must not block. Lifetime: when an execution context ends, handlers that wait on it are destroyed
// uncalled. What async_wait() waits for must be done before that.
#pragma once

#include <partita/callable.hpp>
#include <partita/contract.hpp>
#include <partita/handler_sink.hpp>
#include <partita/operation.hpp>
#include <partita/producer.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace partita {

/// Starts a producer whose only lane is `loop`: it makes no thread, and everything happens while
/// the application runs the loop, on at most one thread. Throws what the constructor of producer
/// throws. Its connections keep loop.run() from returning until it is destroyed. It must not be
/// destroyed from inside one of its callbacks (any other handler will do, a coroutine too), nor
/// outlive the loop.
[[nodiscard]] std::unique_ptr<producer> make_producer_on(boost::asio::io_context& loop,
                                                         const producer_config& config);

namespace detail {

/// The executor, counted as work: its context runs on as long as this lives. A work guard would do
/// the same, but not for a strand of any_io_executor.
template <class Executor>
[[nodiscard]] auto with_work(const Executor& executor) {
  return boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked);
}

/// One sink per execution context.
class handler_sink_service final : public boost::asio::execution_context::service {
 public:
  using key_type = handler_sink_service;
  static inline boost::asio::execution_context::id id;

  explicit handler_sink_service(boost::asio::execution_context& context)
      : service(context), sink_(new handler_sink) {}
  [[nodiscard]] handler_sink& sink() noexcept {
    PARTITA_EXPECTS_OR_SAY(
        sink_ != nullptr, "a record was produced with a handler whose execution context has ended");
    return *sink_;
  }

 private:
  /// An io_context of Boost 1.82 and later shuts its services down twice.
  void shutdown() noexcept override {
    if (handler_sink* const ending = std::exchange(sink_, nullptr)) ending->shut_down();
  }
  handler_sink* sink_;
};

/// Connects the handler's cancellation slot to the record. Every type of cancellation is taken: the
/// outcome says what became of the record, and is never more certain than it can be.
template <class Handler>
void enter_slot(const Handler& handler, produce_options& options) {
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  if (!slot.is_connected()) return;
  if (!options.handle) options.handle = record_handle::make();
  slot.assign(
      [handle = options.handle](boost::asio::cancellation_type) mutable { handle.cancel(); });
}
template <class Handler>
void leave_slot(const Handler& handler) {
  auto slot = boost::asio::get_associated_cancellation_slot(handler);
  if (slot.is_connected()) slot.clear();
}

template <class Handler, class Executor>
class executor_handler final : public waiting_handler {
 public:
  executor_handler(Handler&& handler, const Executor& executor)
      : held_(std::in_place, std::move(handler), executor) {}

  void post_drain(handler_sink& sink) override {
    boost::asio::post(held_->work, [&sink] { sink.drain(); });
  }
  void call(outcome answer) override {
    held taken = std::move(*held_);
    delete this;
    boost::asio::dispatch(
        taken.work, [handler = std::move(taken.handler), answer = std::move(answer)]() mutable {
          leave_slot(handler);
          std::move(handler)(std::move(answer));
        });
  }
  void drop_handler() noexcept override {
    std::optional<held> doomed = std::move(held_);
    held_.reset();
  }

 private:
  /// The work keeps the context's run() from returning while the record is unanswered.
  struct held {
    held(Handler&& from, const Executor& executor)
        : handler(std::move(from)), work(with_work(executor)) {}
    Handler handler;
    decltype(with_work(std::declval<const Executor&>())) work;
  };
  std::optional<held> held_;
};

template <class Handler>
class inline_handler final : public waiting_handler {
 public:
  explicit inline_handler(Handler&& handler) : handler_(std::move(handler)) {}
  void post_drain(handler_sink&) override {}
  void call(outcome answer) override {
    Handler taken = std::move(handler_);
    delete this;
    leave_slot(taken);
    std::move(taken)(std::move(answer));
  }
  void drop_handler() noexcept override {}

 private:
  Handler handler_;
};

/// What `produce(record)(token)` starts. The producer is named by a pointer because some tokens
/// keep copies of these arguments.
struct produce_initiation {
  producer* owner;
  produce_options options;

  template <class Handler>
  void operator()(Handler&& handler, const record& what) const {
    using stored = std::decay_t<Handler>;
    expect_not_empty(handler);
    const auto executor = boost::asio::get_associated_executor(handler);
    using executor_type = std::decay_t<decltype(executor)>;
    stored kept(std::forward<Handler>(handler));
    produce_options asked = options;
    enter_slot(kept, asked);
    if constexpr (std::is_same_v<executor_type, boost::asio::system_executor>) {
      start_inline(*owner, what, asked, *new inline_handler<stored>(std::move(kept)));
    } else {
      boost::asio::execution_context& context =
          boost::asio::query(executor, boost::asio::execution::context);
      handler_sink& sink = boost::asio::use_service<handler_sink_service>(context).sink();
      sink.start(*owner, what, asked,
                 *new executor_handler<stored, executor_type>(std::move(kept), executor));
    }
  }
};

template <class Token>
requires boost::asio::completion_token_for<Token, void(outcome)>
struct token_initiation<Token> {
  template <class Given>
  static auto start(producer& owner, const record& what, const produce_options& options,
                    Given&& token) {
    return boost::asio::async_initiate<Given, void(outcome)>(produce_initiation{&owner, options},
                                                             token, what);
  }
};

/// Asio's own future would start the threads of its system context.
template <class Allocator>
struct token_initiation<boost::asio::use_future_t<Allocator>> {
  template <class Given>
  static std::future<outcome> start(producer& owner, const record& what,
                                    const produce_options& options, Given&&) {
    std::promise<outcome> promise;
    std::future<outcome> future = promise.get_future();
    produce_initiation{&owner, options}(
        [promise = std::move(promise)](outcome answer) mutable {
          promise.set_value(std::move(answer));
        },
        what);
    return future;
  }
};

struct wait_initiation {
  template <class Handler, class T>
  void operator()(Handler&& handler, operation<T> waited) const {
    expect_not_empty(handler);
    auto executor = boost::asio::get_associated_executor(handler);
    using executor_type = decltype(executor);
    if constexpr (std::is_same_v<executor_type, boost::asio::system_executor>) {
      std::move(waited).then([handler = std::forward<Handler>(handler)](const T& result) mutable {
        std::move(handler)(result);
      });
    } else {
      std::move(waited).then([handler = std::forward<Handler>(handler),
                              work = with_work(executor)](const T& result) mutable {
        boost::asio::post(work, [handler = std::move(handler), result = result]() mutable {
          std::move(handler)(std::move(result));
        });
      });
    }
  }
};

}  // namespace detail

/// Waits for what flush(), close(), pause(), resume(), recover(), status() or produce_batch() gave.
template <class T, class Token = boost::asio::deferred_t>
requires boost::asio::completion_token_for<Token, void(T)>
auto async_wait(operation<T> waited, Token&& token = Token()) {
  return boost::asio::async_initiate<Token, void(T)>(detail::wait_initiation{}, token,
                                                     std::move(waited));
}

}  // namespace partita
