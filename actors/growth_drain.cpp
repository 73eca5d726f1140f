#include "actors/growth_drain.hpp"

#include "actors/control_command.hpp"
#include "actors/tracked_record.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace partita::actors {
namespace {

std::uint64_t bound_for(const record_node& node) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(node.partition)} << 32U | node.key_hash;
}

}  // namespace

/// The answer of one old partition's flush; refused counts as answered, for then it has ended.
class growth_drain::reply final : public control_reply {
 public:
  reply(growth_drain& drain, std::size_t old) : drain_(drain), old_(old) {}
  void complete(control_answer) noexcept override { drain_.drained(old_); }

 private:
  growth_drain& drain_;
  const std::size_t old_;
};

growth_drain::growth_drain(topic_route& route, const partition_table& before,
                           const partition_table& after, answer_function answer, void* context)
    : route_(route),
      before_(before),
      after_(after),
      answer_(answer),
      context_(context),
      left_(before.partitions.size()),
      places_(before.partitions.size()) {
  PARTITA_EXPECTS(after.partitions.size() > before.partitions.size(), after.partitions.size());
}

growth_drain::~growth_drain() { PARTITA_ASSERT(held_ == 0, held_); }

void growth_drain::start() {
  for (std::size_t old = 0; old < before_.partitions.size(); ++old) ask(old);
}

void growth_drain::ask(std::size_t old) {
  auto asked =
      std::make_unique<control_command>(flush_request{}, std::make_unique<reply>(*this, old));
  if (before_.partitions[old].handle.push(*asked))
    asked.release();
  else
    refuse_control(std::move(asked), client_errc::closed);
}

void growth_drain::place::let_go(const record_node& node) {
  const auto counted = bound.find(bound_for(node));
  PARTITA_ASSERT(counted != bound.end(), node.partition);
  if (--counted->second == 0) bound.erase(counted);
}

bool growth_drain::hold(record_node& node, partition_id old, bool named) {
  const std::lock_guard lock(mutex_);
  place& from = places_[static_cast<std::size_t>(old.value)];
  if (closed_ || from.asked == 0) return false;
  if (named && !from.bound.contains(bound_for(node))) return false;
  if (node.tracked()) static_cast<tracked_record*>(node.target)->enters_drain(route_);
  from.held.push_back({&node, next_number_++});
  ++from.bound[bound_for(node)];
  ++held_;
  return true;
}

record_node* growth_drain::withdraw(const tracked_record& who) {
  const std::lock_guard lock(mutex_);
  for (place& from : places_) {
    const auto found =
        std::find_if(from.held.begin(), from.held.end(),
                     [&](const held_record& each) { return each.node->target == &who; });
    if (found == from.held.end()) continue;
    record_node* node = found->node;
    count_failure(found->number);
    from.let_go(*node);
    from.held.erase(found);
    --held_;
    return node;
  }
  return nullptr;
}

/// Under the lock, or what the drain forwards meanwhile would come behind the pause and stay.
void growth_drain::abort(partition_id to, const std::function<void()>& pause) {
  std::vector<record_node*> refused;
  std::vector<route_barrier*> reached;
  {
    const std::lock_guard lock(mutex_);
    pause();
    const auto aborted = [&](record_node& node) {
      if (node.partition != to.value) return false;
      if (node.flags == 0) node.flags = static_cast<std::uint16_t>(client_errc::aborted);
      return true;
    };
    for (place& each : places_) forward(each, aborted, refused);
    reached = barriers_if_empty();
  }
  tell(refused, reached);
}

void growth_drain::note_late(partition_id old) {
  const auto index = static_cast<std::size_t>(old.value);
  if (index >= places_.size()) return;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (places_[index].asked++ == 0) left_.fetch_add(1, std::memory_order_acq_rel);
  }
  ask(index);
}

void growth_drain::expect(partition_id old, std::size_t records) {
  const auto index = static_cast<std::size_t>(old.value);
  if (index < places_.size()) places_[index].asked += records;
}

void growth_drain::has_arrived(partition_id old) {
  const auto index = static_cast<std::size_t>(old.value);
  if (index < places_.size()) ask(index);
}

/// Under the lock, or a record that comes now could pass those that waited.
template <class Wanted>
void growth_drain::forward(place& from, Wanted&& wanted, std::vector<record_node*>& refused) {
  held_ -= std::erase_if(from.held, [&](const held_record& each) {
    record_node& node = *each.node;
    if (!wanted(node)) return false;
    from.let_go(node);
    const auto index = static_cast<std::size_t>(node.partition);
    const ordered_actor_handle handle = after_.partitions[index].handle;
    if (node.tracked()) static_cast<tracked_record*>(node.target)->enters_partition(handle);
    if (handle.push(node)) return true;
    refused.push_back(&node);
    count_failure(each.number);
    return true;
  });
}

/// Of a record that ends here: for the barriers behind it.
void growth_drain::count_failure(std::uint64_t number) noexcept {
  for (const waiting_barrier& each : barriers_)
    if (number < each.number) ++each.barrier->failed_before.not_written;
}

void growth_drain::tell(const std::vector<record_node*>& refused,
                        const std::vector<route_barrier*>& reached) {
  const failed closed{fate::not_written, client_errc::closed, {}};
  for (record_node* each : refused) answer_(context_, *each, closed);
  for (route_barrier* each : reached) each->reached(&after_);
}

void growth_drain::drained(std::size_t old) noexcept {
  std::vector<record_node*> refused;
  std::vector<route_barrier*> reached;
  {
    const std::lock_guard lock(mutex_);
    place& from = places_[old];
    if (--from.asked != 0) return;
    forward(
        from, [](const record_node&) { return true; }, refused);
    left_.fetch_sub(1, std::memory_order_acq_rel);
    reached = barriers_if_empty();
  }
  tell(refused, reached);
}

void growth_drain::forward_expired(instant now, duration delivery_timeout) {
  const auto expired = [&](const record_node& node) {
    const duration own = node.own_timeout();
    const instant admitted{std::chrono::nanoseconds(node.admitted_ns)};
    return admitted + (own.count() != 0 ? own : delivery_timeout) <= now;
  };
  std::vector<record_node*> refused;
  std::vector<route_barrier*> reached;
  {
    const std::lock_guard lock(mutex_);
    for (place& each : places_) forward(each, expired, refused);
    reached = barriers_if_empty();
  }
  tell(refused, reached);
}

std::vector<route_barrier*> growth_drain::barriers_if_empty() {
  std::vector<route_barrier*> reached;
  if (held_ != 0) return reached;
  for (const waiting_barrier& each : std::exchange(barriers_, {})) reached.push_back(each.barrier);
  return reached;
}

bool growth_drain::wait(route_barrier& barrier) {
  const std::lock_guard lock(mutex_);
  if (held_ == 0) return false;
  barriers_.push_back({&barrier, next_number_});
  return true;
}

void growth_drain::close(const failed& with, const std::function<void(const record_node&)>& look) {
  std::vector<record_node*> held;
  std::vector<route_barrier*> reached;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (place& from : places_) {
      for (const held_record& each : from.held) {
        held.push_back(each.node);
        count_failure(each.number);
      }
      from.held.clear();
      from.bound.clear();
    }
    held_ = 0;
    reached = barriers_if_empty();
  }
  for (record_node* each : held) {
    look(*each);
    answer_(context_, *each, with);
  }
  for (route_barrier* each : reached) each->reached(&after_);
}

}  // namespace partita::actors
