#include "api/admission_line.hpp"

#include "actors/named_wait.hpp"

#include <partita/contract.hpp>

#include <utility>

namespace partita::detail {

admission_line::admission_line(actors::budget& room, actors::lane& home,
                               const actors::clock_source& clock, actors::duration wait_max,
                               std::function<void()> on_full)
    : room_(room),
      home_(home),
      clock_(clock),
      wait_max_(wait_max),
      on_full_(std::move(on_full)),
      timer_(
          [](actors::timer_node& node) noexcept {
            static_cast<admission_line*>(node.owner)->timer_fired();
          },
          this) {}

admission_line::~admission_line() {
  PARTITA_ASSERT(line_.empty(), line_.size());
  // Granted, and then lane 0 came to its end.
  while (!granted_.empty()) {
    admission_waiter* const next = granted_.front();
    granted_.pop_front();
    next->refused(client_errc::closed);
  }
}

/// The look comes after the taking: the budget opens for newcomers when the last one was granted,
/// which is after that one was counted here.
bool admission_line::take_now(std::uint64_t bytes) noexcept {
  if (!room_.try_take(bytes)) return false;
  if (!letting_in()) return true;
  room_.give_back(bytes);
  return false;
}

bool admission_line::take_or_wait(std::uint64_t bytes, admission_waiter& waiter,
                                  std::optional<std::chrono::milliseconds> wait_max) {
  waiter.line_ = this;
  bool first = false;
  {
    // Lined up before it asks, so that a grant on another thread finds it in the line.
    std::lock_guard lock(mutex_);
    first = line_.empty();
    waiter.deadline_ = clock_.now() + (wait_max ? actors::wait_of(*wait_max) : wait_max_);
    waiter.place_ = line_.emplace(waiter.deadline_, &waiter);
  }
  switch (room_.take_or_wait(bytes, waiter)) {
    case actors::admission::taken:
      if (letting_in()) {
        let_in(waiter);
        return false;
      }
      leave(waiter);
      return true;
    case actors::admission::closed:
      leave(waiter);
      waiter.refused(client_errc::closed);
      return false;
    case actors::admission::waiting:
      break;
  }
  if (!watch_posted_.exchange(true)) home_.post([this] { watch(); });
  // What begins to linger from now on sees that the room is awaited; what does already, does not.
  if (first && on_full_) on_full_();
  return false;
}

namespace {

/// Refuses a waiter on the lane, and if that ends first, all the same.
class refusal final : public actors::runnable {
 public:
  explicit refusal(admission_waiter& waiter) : waiter_(waiter) {}
  actors::turn_result run(actors::lane&, const actors::turn_limits&) noexcept override {
    abandon();
    return actors::turn_result::idle;
  }
  void abandon() noexcept override {
    waiter_.refused(client_errc::cancelled);
    delete this;
  }

 private:
  admission_waiter& waiter_;
};

}  // namespace

bool admission_line::withdraw(admission_waiter& waiter) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!room_.leave_wait(waiter)) return false;
    line_.erase(waiter.place_);
  }
  room_.grant_waiting();  // without the lock: who is granted takes it
  home_.schedule(*new refusal(waiter));
  return true;
}

void admission_line::leave(admission_waiter& waiter) noexcept {
  std::lock_guard lock(mutex_);
  line_.erase(waiter.place_);
}

void admission_waiter::granted_or_closed(actors::budget_waiter& waiter,
                                         actors::grant what) noexcept {
  auto& self = static_cast<admission_waiter&>(waiter);
  admission_line& line = *self.line_;
  if (what == actors::grant::granted) return line.let_in(self);
  line.leave(self);
  self.refused(client_errc::closed);
}

void admission_line::let_in(admission_waiter& waiter) noexcept {
  on_their_way_.fetch_add(1, std::memory_order_acq_rel);
  {
    std::lock_guard lock(mutex_);
    line_.erase(waiter.place_);
    granted_.push_back(&waiter);
    if (std::exchange(admitting_posted_, true)) return;
  }
  home_.post([this] { admit_granted(); });
}

void admission_line::admit_granted() noexcept {
  for (;;) {
    admission_waiter* next = nullptr;
    {
      std::lock_guard lock(mutex_);
      admitting_posted_ = !granted_.empty();
      if (!admitting_posted_) return;
      next = granted_.front();
      granted_.pop_front();
    }
    next->admitted();
    on_their_way_.fetch_sub(1, std::memory_order_acq_rel);
  }
}

void admission_line::watch() noexcept {
  watch_posted_.store(false);
  actors::instant next = actors::never;
  {
    std::lock_guard lock(mutex_);
    if (!line_.empty()) next = line_.begin()->first;
  }
  if (next != actors::never) home_.arm(timer_, next);
}

void admission_line::timer_fired() noexcept {
  for (;;) {
    admission_waiter* late = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (line_.empty() || line_.begin()->first > home_.now()) break;
      late = line_.begin()->second;
      // Not withdrawn: it is being granted on another thread at this moment, which takes it out.
      if (!room_.leave_wait(*late)) break;
      line_.erase(late->place_);
    }
    room_.grant_waiting();  // without the lock: who is granted takes it
    late->refused(client_errc::admission_timeout);
  }
  watch();
}

}  // namespace partita::detail
