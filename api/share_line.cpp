#include "api/share_line.hpp"

#include "actors/named_wait.hpp"
#include "actors/partition_actor.hpp"
#include "actors/topic_routes.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <memory>
#include <unordered_set>
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

/// The maps have no order of their own that a seed could name.
void share_line::sort_by_number(std::vector<share_waiter*>& waiters) noexcept {
  std::sort(waiters.begin(), waiters.end(), [](const share_waiter* one, const share_waiter* other) {
    return one->number_ < other->number_;
  });
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

share_line::~share_line() {
  PARTITA_ASSERT(lines_.empty() && anywhere_.empty(), lines_.size(), anywhere_.size());
}

bool share_line::has_room(const actors::partition_actor& to) const noexcept {
  return to.queued_bytes() < share_;
}

bool share_line::has_waiters(const actors::partition_actor& to) const {
  if (!awaited()) return false;
  const std::lock_guard lock(mutex_);
  return lines_.contains(&to) || anywhere_.contains(to.topic());
}

bool share_line::open(const actors::partition_actor& to) const {
  return has_room(to) && !has_waiters(to);
}

void share_line::wait(const actors::partition_actor& to, share_waiter& waiter, limit wait_max) {
  line_up(waiter, {&to}, nullptr, wait_max);
}

void share_line::wait_anywhere(const actors::partition_table& among, share_waiter& waiter,
                               limit wait_max) {
  partitions all;
  for (const actors::partition_table::entry& each : among.partitions) all.push_back(each.actor);
  line_up(waiter, std::move(all), &among.partitions.front().actor->topic(), wait_max);
}

void share_line::wait_for_all(partitions all, share_waiter& waiter, limit wait_max) {
  std::unordered_set<const actors::partition_actor*> seen;
  std::erase_if(all,
                [&](const actors::partition_actor* each) { return !seen.insert(each).second; });
  line_up(waiter, std::move(all), nullptr, wait_max);
}

void share_line::line_up(share_waiter& waiter, partitions at, const std::string* anywhere_in,
                         limit wait_max) {
  bool refused = false;
  partitions first_at;
  {
    const std::lock_guard lock(mutex_);
    waiter.deadline_ = clock_.now() + (wait_max ? actors::wait_of(*wait_max) : wait_max_);
    waiter.number_ = next_number_++;
    refused = closed_;
    const auto stand = [&](share_queue& in) {
      const bool first = in.waiters.empty();
      in.waiters.push_back(&waiter);
      waiter.stands_in_.push_back(&in);
      return first;
    };
    if (!refused && anywhere_in != nullptr) {
      const auto own = anywhere_.try_emplace(*anywhere_in).first;
      own->second.topic = own->first;
      if (stand(own->second))
        first_at = at;
      else  // where there was none the first one's look is enough, but the topic may have grown
        std::erase_if(at, [&](const actors::partition_actor* each) { return !has_room(*each); });
    } else if (!refused) {
      for (const actors::partition_actor* each : at) {
        share_queue& own = lines_[each];
        own.of = each;
        if (stand(own)) first_at.push_back(each);
      }
    }
    if (!refused) waiting_.fetch_add(1, std::memory_order_release);
  }
  // From here on it may be gone.
  if (refused) return waiter.share_refused(client_errc::closed);
  for (const actors::partition_actor* each : first_at) end_linger(*each);
  // Room may have come before it lined up; and the timer belongs to lane 0.
  home_.post([this, at = std::move(at)] {
    for (const actors::partition_actor* each : at) serve(*each);
    watch();
  });
}

bool share_line::withdraw(share_waiter& waiter) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (waiter.stands_in_.empty()) return false;
    for (share_queue* each : waiter.stands_in_) {
      std::erase(each->waiters, &waiter);
      drop_if_idle(*each);
    }
    waiter.stands_in_.clear();
    waiting_.fetch_sub(1, std::memory_order_release);
  }
  home_.schedule(*new refusal(waiter));
  return true;
}

void share_line::room_again(const actors::partition_actor& of) noexcept {
  if (!awaited()) return;
  home_.post([this, &of] { serve(of); });
}

/// Whoever has waited longest of those that may go there.
share_waiter* share_line::next_for(const actors::partition_actor& of) const {
  share_waiter* next = nullptr;
  const auto own = lines_.find(&of);
  if (own != lines_.end() && !own->second.waiters.empty()) next = own->second.waiters.front();
  const auto any = anywhere_.find(of.topic());
  if (any == anywhere_.end() || any->second.waiters.empty()) return next;
  share_waiter* const free = any->second.waiters.front();
  return next == nullptr || free->number_ < next->number_ ? free : next;
}

bool share_line::may_go(const share_waiter& waiter, const actors::partition_actor& to) const {
  return std::all_of(waiter.stands_in_.begin(), waiter.stands_in_.end(),
                     [&](const share_queue* each) {
                       const actors::partition_actor& of = each->of == nullptr ? to : *each->of;
                       return has_room(of) && next_for(of) == &waiter;
                     });
}

/// One for each look: others of the lane have their turns in between.
void share_line::serve(const actors::partition_actor& of) noexcept {
  share_waiter* next = nullptr;
  std::vector<share_queue*> left;
  partitions behind{&of};
  {
    const std::lock_guard lock(mutex_);
    next = next_for(of);
    if (next == nullptr || !may_go(*next, of)) return;
    left.swap(next->stands_in_);
    for (share_queue* each : left) {
      each->waiters.pop_front();
      ++each->leaving;
      if (each->of != nullptr && each->of != &of) behind.push_back(each->of);
    }
  }
  next->share_free(of);
  arrived(left, 1);
  serve_later(std::move(behind));
}

void share_line::serve_later(partitions which) noexcept {
  if (which.empty() || !awaited()) return;
  home_.post([this, which = std::move(which)] {
    for (const actors::partition_actor* each : which) serve(*each);
  });
}

void share_line::arrived(const std::vector<share_queue*>& left, std::size_t waiters) noexcept {
  const std::lock_guard lock(mutex_);
  for (share_queue* each : left)
    if (--each->leaving == 0) drop_if_idle(*each);
  waiting_.fetch_sub(waiters, std::memory_order_release);
}

void share_line::drop_if_idle(const share_queue& queue) {
  if (!queue.waiters.empty() || queue.leaving != 0) return;
  if (queue.of != nullptr)
    lines_.erase(queue.of);
  else
    anywhere_.erase(std::string(queue.topic));
}

template <class Visit>
void share_line::visit_queues(Visit&& visit) {
  for (auto& [partition, queue] : lines_) visit(queue);
  for (auto& [topic, queue] : anywhere_) visit(queue);
}

void share_line::watch() noexcept {
  actors::instant next = actors::never;
  {
    const std::lock_guard lock(mutex_);
    visit_queues([&](const share_queue& queue) {
      for (const share_waiter* each : queue.waiters) next = std::min(next, each->deadline_);
    });
  }
  if (next != actors::never) home_.arm(timer_, next);
}

void share_line::timer_fired() noexcept {
  std::vector<share_waiter*> late;
  std::vector<share_queue*> left;
  partitions behind;  // a batch, which may have held up what has room
  {
    const std::lock_guard lock(mutex_);
    visit_queues([&](share_queue& queue) {
      std::erase_if(queue.waiters, [&](share_waiter* each) {
        if (each->deadline_ > home_.now()) return false;
        ++queue.leaving;
        left.push_back(&queue);
        if (each->stands_in_.front() == &queue) late.push_back(each);
        return true;
      });
    });
    sort_by_number(late);
    for (share_waiter* each : late) {
      if (each->stands_in_.size() > 1)
        for (const share_queue* queue : each->stands_in_) behind.push_back(queue->of);
      each->stands_in_.clear();
    }
  }
  const std::size_t count = late.size();
  for (share_waiter* each : late) each->share_refused(client_errc::admission_timeout);
  arrived(left, count);
  serve_later(std::move(behind));
  watch();
}

void share_line::close() noexcept {
  std::vector<share_waiter*> all;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    visit_queues([&](share_queue& queue) {
      for (share_waiter* each : queue.waiters)
        if (each->stands_in_.front() == &queue) all.push_back(each);
      queue.waiters.clear();
    });
    sort_by_number(all);
    for (share_waiter* each : all) each->stands_in_.clear();
    const auto idle = [](const auto& each) { return each.second.leaving == 0; };
    std::erase_if(lines_, idle);
    std::erase_if(anywhere_, idle);
    waiting_.fetch_sub(all.size(), std::memory_order_release);
  }
  for (share_waiter* each : all) each->share_refused(client_errc::closed);
}

}  // namespace partita::detail
