#include "api/share_line.hpp"

#include "actors/named_wait.hpp"
#include "actors/partition_actor.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace partita::detail {

namespace {

/// Answers a cancelled waiter on the lane, and also when the lane stops before that.
class refusal final : public actors::runnable {
 public:
  explicit refusal(share_waiter& waiter) : waiter_(waiter) {}
  actors::turn_result run(actors::lane&, const actors::turn_limits&) noexcept override {
    abandon();
    return actors::turn_result::idle;
  }
  void abandon() noexcept override {
    waiter_.share_refused(client_errc::cancelled);
    delete this;
  }

 private:
  share_waiter& waiter_;
};

/// Whoever waits for room in a partition waits for what lingers there.
struct share_linger_task final : actors::partition_task {
  void run(actors::partition_actor& at) override {
    at.end_linger();
    delete this;
  }
  void refuse() noexcept override { delete this; }
};

void end_linger(const actors::partition_actor& of) {
  auto task = std::make_unique<share_linger_task>();
  if (of.handle().push(*task)) static_cast<void>(task.release());
}

}  // namespace

/// The map has no order of its own that a seed could name.
void share_line::answer_in_order(std::vector<share_waiter*>& waiters, client_errc code) noexcept {
  std::sort(waiters.begin(), waiters.end(), [](const share_waiter* one, const share_waiter* other) {
    return one->number_ < other->number_;
  });
  for (share_waiter* each : waiters) each->share_refused(code);
}

share_line::share_line(actors::lane& home, const actors::clock_source& clock, std::uint64_t share,
                       actors::duration wait_max)
    : home_(home),
      clock_(clock),
      share_(share),
      wait_max_(wait_max),
      timer_(
          [](actors::timer_node& node) noexcept {
            static_cast<share_line*>(node.owner)->timer_fired();
          },
          this) {}

share_line::~share_line() { PARTITA_ASSERT(lines_.empty(), lines_.size()); }

bool share_line::has_room(const actors::partition_actor& to) const noexcept {
  return to.queued_bytes() < share_;
}

bool share_line::open(const actors::partition_actor& to) const {
  if (!has_room(to)) return false;
  if (waiting_.load(std::memory_order_acquire) == 0) return true;
  const std::lock_guard lock(mutex_);
  return !lines_.contains(&to);
}

void share_line::wait(const actors::partition_actor& to, share_waiter& waiter,
                      std::optional<std::chrono::milliseconds> wait_max) {
  bool refused = false;
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    waiter.deadline_ = clock_.now() + (wait_max ? actors::wait_of(*wait_max) : wait_max_);
    waiter.number_ = next_number_++;
    refused = closed_;
    if (!refused) {
      line& own = lines_[&to];
      first = own.empty();
      own.push_back(&waiter);
      waiting_.fetch_add(1, std::memory_order_release);
    }
  }
  if (refused) return waiter.share_refused(client_errc::closed);
  if (first) end_linger(to);
  // Room may have come before it lined up; and the timer belongs to lane 0.
  home_.post([this, &to] {
    serve(to);
    watch();
  });
}

bool share_line::withdraw(share_waiter& waiter) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto in = std::find_if(lines_.begin(), lines_.end(), [&](const auto& each) {
      return std::find(each.second.begin(), each.second.end(), &waiter) != each.second.end();
    });
    if (in == lines_.end()) return false;
    std::erase(in->second, &waiter);
    if (in->second.empty()) lines_.erase(in);
    waiting_.fetch_sub(1, std::memory_order_release);
  }
  home_.schedule(*new refusal(waiter));
  return true;
}

void share_line::room_again(const actors::partition_actor& of) noexcept {
  if (waiting_.load(std::memory_order_acquire) == 0) return;
  home_.post([this, &of] { serve(of); });
}

/// One for each look: the gauge follows only when the partition has taken the record in its turn.
void share_line::serve(const actors::partition_actor& of) noexcept {
  share_waiter* next = nullptr;
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find(&of);
    if (found == lines_.end() || !has_room(of)) return;
    next = found->second.front();
    found->second.pop_front();
    waiting_.fetch_sub(1, std::memory_order_release);
    more = !found->second.empty();
    if (!more) lines_.erase(found);
  }
  next->share_free();
  if (more) home_.post([this, &of] { serve(of); });
}

void share_line::watch() noexcept {
  actors::instant next = actors::never;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [partition, waiters] : lines_)
      for (const share_waiter* each : waiters) next = std::min(next, each->deadline_);
  }
  if (next != actors::never) home_.arm(timer_, next);
}

void share_line::timer_fired() noexcept {
  std::vector<share_waiter*> late;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = lines_.begin(); at != lines_.end();) {
      line& waiters = at->second;
      std::erase_if(waiters, [&](share_waiter* each) {
        if (each->deadline_ > home_.now()) return false;
        late.push_back(each);
        return true;
      });
      at = waiters.empty() ? lines_.erase(at) : std::next(at);
    }
    waiting_.fetch_sub(late.size(), std::memory_order_release);
  }
  answer_in_order(late, client_errc::admission_timeout);
  watch();
}

void share_line::close() noexcept {
  std::vector<share_waiter*> all;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (auto& [partition, waiters] : lines_) all.insert(all.end(), waiters.begin(), waiters.end());
    lines_.clear();
    waiting_.store(0, std::memory_order_release);
  }
  answer_in_order(all, client_errc::closed);
}

}  // namespace partita::detail
