#include "wire/listener_loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <utility>

namespace partita::wire {

struct listener_loop::parts {
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  boost::asio::steady_timer alarm{context};
};

listener_loop::listener_loop() : parts_(std::make_unique<parts>()) {}
listener_loop::~listener_loop() = default;

boost::asio::io_context& listener_loop::context() noexcept { return parts_->context; }

void listener_loop::run() { parts_->context.run(); }

void listener_loop::stop() { parts_->context.stop(); }

void listener_loop::post(std::function<void()> work) {
  boost::asio::post(parts_->context, std::move(work));
}

void listener_loop::set_alarm(std::chrono::steady_clock::time_point when,
                              std::function<void()> ring) {
  parts_->alarm.expires_at(when);
  parts_->alarm.async_wait([ring = std::move(ring)](const boost::system::error_code& error) {
    if (!error) ring();
  });
}

void listener_loop::cancel_alarm() { parts_->alarm.cancel(); }

}  // namespace partita::wire
