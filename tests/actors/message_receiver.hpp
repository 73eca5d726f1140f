// An actor of another system, as the tests of the CAF shell need it: it keeps what it receives
// until a test takes it, and is never scheduled.
//
// Its system has CAF's testing scheduler, hence no worker threads: libcaf is not instrumented, and
// each of its own queues would look like a race to the thread sanitizer.
#pragma once

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>
#include <caf/monitorable_actor.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

namespace partita::actors {

class message_receiver final : public caf::monitorable_actor {
 public:
  explicit message_receiver(caf::actor_config& config) : monitorable_actor(config) {}

  using caf::monitorable_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* unit) override {
    const std::lock_guard lock(mutex_);
    handed_a_unit_ = handed_a_unit_ || unit != nullptr;
    received_.push_back(std::move(what));
    changed_.notify_all();
  }

  /// Waits for the next message.
  caf::mailbox_element_ptr take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !received_.empty(); });
    auto first = std::move(received_.front());
    received_.pop_front();
    return first;
  }

  /// Somebody offered his own thread for the answer.
  [[nodiscard]] bool handed_a_unit() {
    const std::lock_guard lock(mutex_);
    return handed_a_unit_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<caf::mailbox_element_ptr> received_;
  bool handed_a_unit_ = false;
};

struct threadless_config : caf::actor_system_config {
  threadless_config() { set("scheduler.policy", caf::atom("testing")); }
};

/// The application's actor system with one such actor.
class foreign_system {
 public:
  [[nodiscard]] message_receiver& receiver() {
    return *static_cast<message_receiver*>(caf::actor_cast<caf::abstract_actor*>(handle_));
  }
  [[nodiscard]] caf::strong_actor_ptr pointer() const {
    return caf::actor_cast<caf::strong_actor_ptr>(handle_);
  }

  /// Sends as the receiver; `request` > 0 makes it a request with that number.
  template <class Content>
  void send(const caf::actor& to, Content content, std::uint64_t request = 0,
            caf::execution_unit* unit = nullptr) {
    caf::actor_cast<caf::strong_actor_ptr>(to)->enqueue(
        caf::make_mailbox_element(pointer(), caf::make_message_id(request), {}, std::move(content)),
        unit);
  }

 private:
  caf::actor make_receiver() {
    caf::actor_config settings;
    return caf::make_actor<message_receiver, caf::actor>(system_.next_actor_id(), system_.node(),
                                                         &system_, settings);
  }

  threadless_config config_;
  caf::actor_system system_{config_};
  caf::actor handle_ = make_receiver();
};

}  // namespace partita::actors
