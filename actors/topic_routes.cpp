#include "actors/topic_routes.hpp"

#include "actors/growth_drain.hpp"
#include "actors/named_wait.hpp"
#include "actors/tracked_record.hpp"
#include "wire/varints.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace partita::actors {
namespace {

instant admitted(const record_node& node) noexcept {
  return instant(std::chrono::nanoseconds(node.admitted_ns));
}

const std::byte* read_bytes(const std::byte* at, const std::byte* end,
                            std::optional<std::string_view>& out) {
  std::int32_t size = -1;
  at = wire::get_varint32(at, end, size);
  PARTITA_ASSERT(at != nullptr && size <= end - at);  // we encoded it ourselves
  if (size < 0) {
    out.reset();
    return at;
  }
  out.emplace(reinterpret_cast<const char*>(at), static_cast<std::size_t>(size));
  return at + size;
}

/// The line is first in, first out: what has failed since the barrier came was before it.
void count_failures(route_barrier& barrier, std::uint64_t failed_now) noexcept {
  barrier.failed_before.not_written += failed_now - barrier.failed_at_entry;
}

}  // namespace

void view_of(const record_node& node, record& out, std::vector<header>& headers) {
  headers.clear();
  const std::span<const std::byte> tail = node.tail();
  const std::byte* at = tail.data();
  const std::byte* const end = at + tail.size();
  at = read_bytes(at, end, out.key);
  at = read_bytes(at, end, out.value);
  std::int32_t count = 0;
  at = wire::get_varint32(at, end, count);
  for (std::int32_t i = 0; i < count; ++i) {
    std::optional<std::string_view> key;
    std::optional<std::string_view> value;
    at = read_bytes(at, end, key);
    at = read_bytes(at, end, value);
    headers.push_back({*key, value});
  }
  out.headers = headers;
  if (node.partition >= 0) out.partition = partition_id(node.partition);
  out.timestamp = timestamp(std::chrono::milliseconds(node.timestamp_ms));
}

topic_route::topic_route(std::string name, std::unique_ptr<record_router> router,
                         withdrawn_function on_withdrawn, void* context)
    : name_(std::move(name)),
      router_(std::move(router)),
      on_withdrawn_(on_withdrawn),
      context_(context) {}

topic_route::~topic_route() { PARTITA_ASSERT(waiting_.empty(), waiting_.size()); }

route_answer topic_route::wait(record_node& node) {
  std::lock_guard lock(mutex_);
  if (closed_) return route_answer::closed;
  if (table_.load(std::memory_order_relaxed) != nullptr) return route_answer::published;
  waiting_.push_back(&node);
  own_limits_ = own_limits_ || node.tracked();
  return route_answer::waiting;
}

bool topic_route::wait(route_barrier& barrier) {
  if (table() != nullptr) {
    const std::vector<growth_drain*> drains = drains_under_way();
    return std::any_of(drains.begin(), drains.end(),
                       [&](growth_drain* each) { return each->wait(barrier); });
  }
  std::lock_guard lock(mutex_);
  if (waiting_.empty()) return false;
  barrier.failed_at_entry = failed_;
  waiting_.push_back(&barrier);
  return true;
}

bool topic_route::has_waiting() const {
  std::lock_guard lock(mutex_);
  return !waiting_.empty();
}

/// The error that keeps a record from its partition, if there is one.
std::error_code topic_route::forward(record_node& node, const partition_table& table) {
  record view;
  std::vector<header> headers;
  view.topic = name_;
  view_of(node, view, headers);
  if (node.flags != 0) view.value.reset();  // what is left of a refused one has its size there
  const record_router::choice choice = router_->choose(view, node.tail_size, table);
  if (choice.error == client_errc::partitioner_failed)
    tell_key_failure(table, view.key, choice.error);
  if (choice.error != client_errc{}) return choice.error;
  node.partition = choice.partition.value;
  const auto index = static_cast<std::size_t>(choice.partition.value);
  const ordered_actor_handle handle = table.partitions[index].handle;
  if (node.tracked()) static_cast<tracked_record*>(node.target)->enters_partition(handle);
  if (handle.push(node)) return {};
  return client_errc::closed;
}

void topic_route::publish(std::unique_ptr<const partition_table> table, answer_function answer,
                          void* context) {
  std::vector<route_barrier*> barriers;
  std::vector<std::pair<record_node*, std::error_code>> refused;
  const partition_table* shown = table.get();
  {
    const std::lock_guard lock(mutex_);
    for (command* each : waiting_) {
      if (each->kind == command_kind::record) {
        auto& node = static_cast<record_node&>(*each);
        const std::error_code wrong = forward(node, *shown);
        if (!wrong) continue;
        refused.emplace_back(&node, wrong);
        ++failed_;
      } else {
        auto& barrier = static_cast<route_barrier&>(*each);
        count_failures(barrier, failed_);
        barriers.push_back(&barrier);
      }
    }
    waiting_.clear();
    if (shown->drain != nullptr) {
      for (const auto& [partition, count] : expected_)
        shown->drain->expect(partition_id(partition), count);
      drains_that_expect_ = drains_.size();
    }
    tables_.push_back(std::move(table));
    table_.store(shown, std::memory_order_release);
  }
  // Without the lock: user code may produce to this topic again.
  for (const auto& [node, wrong] : refused)
    answer(context, *node, failure_of(wrong, {}, limit::none));
  for (route_barrier* each : barriers) each->reached(shown);
}

void topic_route::publish_drained(std::unique_ptr<partition_table> table, answer_function answer,
                                  answer_function answer_held, void* context) {
  const partition_table* before = this->table();
  PARTITA_EXPECTS(before != nullptr && !draining());
  auto drain = std::make_unique<growth_drain>(*this, *before, *table, answer_held, context);
  growth_drain& begun = *drain;
  table->drain = &begun;
  {
    const std::lock_guard lock(mutex_);
    drains_.push_back(std::move(drain));
  }
  publish(std::move(table), answer, context);
  begun.start();
}

std::vector<growth_drain*> topic_route::drains_under_way() const {
  std::vector<growth_drain*> some;
  const std::lock_guard lock(mutex_);
  for (const auto& each : drains_)
    if (!each->finished()) some.push_back(each.get());
  return some;
}

bool topic_route::draining() const { return !drains_under_way().empty(); }

void topic_route::forward_expired(instant now, duration delivery_timeout) {
  for (growth_drain* each : drains_under_way()) each->forward_expired(now, delivery_timeout);
}

void topic_route::abort_partition(partition_id partition, const std::function<void()>& pause) {
  const std::vector<growth_drain*> drains = drains_under_way();
  if (drains.empty()) return pause();
  for (growth_drain* each : drains)
    each->abort(
        partition, each == drains.front() ? pause : [] {});
}

bool topic_route::hold_moved(record_node& node, const record& what, const partition_table& table) {
  growth_drain& drain = *table.drain;
  if (drain.finished()) return false;
  const std::optional<partition_id> before = router_->of_key(what, drain.count_before());
  return before && before->value != node.partition &&
         drain.hold(node, *before, what.partition.has_value());
}

void topic_route::note_placed(const partition_table& table, partition_id partition) {
  const partition_table* shown = this->table();
  if (shown != &table && shown->drain != nullptr) shown->drain->note_late(partition);
}

std::optional<std::size_t> topic_route::expect(const partition_table& table,
                                               partition_id partition) {
  const std::lock_guard lock(mutex_);
  if (table_.load(std::memory_order_relaxed) != &table) return std::nullopt;
  ++expected_[partition.value];
  return drains_that_expect_;
}

void topic_route::arrived(partition_id partition, std::size_t since) {
  std::vector<growth_drain*> waiting;
  {
    const std::lock_guard lock(mutex_);
    const auto counted = expected_.find(partition.value);
    PARTITA_ASSERT(counted != expected_.end(), partition.value);
    if (--counted->second == 0) expected_.erase(counted);
    if (closed_) return;
    for (std::size_t i = since; i < drains_that_expect_; ++i) waiting.push_back(drains_[i].get());
  }
  for (growth_drain* each : waiting) each->has_arrived(partition);
}

failed topic_route::failure_of(std::error_code code, std::error_code cause, limit ended_by) const {
  return {fate::not_written, code, cause, ended_by, name_, partition_id(), 0, ticket{}};
}

template <class Ends>
void topic_route::take_front(std::vector<command*>& taken, Ends&& ends) {
  std::lock_guard lock(mutex_);
  while (!waiting_.empty()) {
    command* front = waiting_.front();
    if (front->kind == command_kind::record) {
      if (!ends(static_cast<record_node&>(*front))) return;
      ++failed_;
    } else {
      count_failures(static_cast<route_barrier&>(*front), failed_);
    }
    taken.push_back(front);
    waiting_.pop_front();
  }
}

void topic_route::answer_taken(const std::vector<command*>& taken, const failed& with,
                               answer_function answer, void* context) {
  for (command* each : taken) {
    if (each->kind == command_kind::record)
      answer(context, static_cast<record_node&>(*each), with);
    else
      static_cast<route_barrier*>(each)->reached(nullptr);
  }
}

namespace {

struct waiting_end {
  instant at;
  bool by_delivery;
};

/// Whichever comes first: the end of its admission or its delivery deadline.
waiting_end end_of(const record_node& node, duration waiting_max) noexcept {
  const auto* tracked = node.tracked() ? static_cast<const tracked_record*>(node.target) : nullptr;
  if (tracked != nullptr && tracked->admission_timeout())
    waiting_max = wait_of(*tracked->admission_timeout());
  const duration own = node.own_timeout();
  if (own.count() != 0 && own < waiting_max) return {admitted(node) + own, true};
  // Not by the clock: that of a lane stands still during a round.
  if (waiting_max.count() == 0) return {instant::min(), false};
  return {admitted(node) + waiting_max, false};
}

/// When the first record of a line ends. Of those without limits of their own that is the front.
instant first_end(const std::deque<command*>& line, bool own_limits, duration waiting_max) {
  instant first = never;
  for (const command* each : line) {
    if (each->kind != command_kind::record) continue;
    first = std::min(first, end_of(static_cast<const record_node&>(*each), waiting_max).at);
    if (!own_limits) break;
  }
  return first;
}

}  // namespace

/// A barrier behind it hears of it when it is reached.
record_node* topic_route::take_from_middle(std::size_t index) {
  auto* node = static_cast<record_node*>(waiting_[index]);
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
  for (std::size_t i = index; i < waiting_.size(); ++i)
    if (waiting_[i]->kind != command_kind::record)
      ++static_cast<route_barrier*>(waiting_[i])->failed_before.not_written;
  return node;
}

bool topic_route::withdraw(tracked_record& who) {
  record_node* node = nullptr;
  {
    std::lock_guard lock(mutex_);
    std::size_t index = 0;
    const auto is_it = [&](const command* each) {
      return each->kind == command_kind::record &&
             static_cast<const record_node*>(each)->target == &who;
    };
    while (index < waiting_.size() && !is_it(waiting_[index])) ++index;
    if (index < waiting_.size()) node = take_from_middle(index);
  }
  for (growth_drain* each : drains_under_way())
    if (node == nullptr) node = each->withdraw(who);
  if (node == nullptr) return false;
  on_withdrawn_(context_, *this, *node);
  return true;
}

instant topic_route::expire_own(instant now, duration waiting_max, std::error_code cause,
                                answer_function answer, void* context) {
  std::vector<std::pair<record_node*, bool>> taken;
  std::vector<command*> reached;
  {
    std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < waiting_.size();) {
      if (waiting_[i]->kind != command_kind::record) {
        ++i;
        continue;
      }
      const waiting_end end = end_of(static_cast<record_node&>(*waiting_[i]), waiting_max);
      if (end.at <= now)
        taken.emplace_back(take_from_middle(i), end.by_delivery);
      else
        ++i;
    }
  }
  for (const auto& [node, by_delivery] : taken)
    answer(context, *node,
           by_delivery ? failure_of(client_errc::delivery_timeout, cause, limit::delivery_timeout)
                       : failure_of(client_errc::metadata_timeout, cause, limit::metadata_timeout));
  // Barriers that have nothing before them any more.
  take_front(reached, [](const record_node&) { return false; });
  answer_taken(reached, failure_of({}, {}, limit::none), answer, context);
  std::lock_guard lock(mutex_);
  return first_end(waiting_, own_limits_, waiting_max);
}

instant topic_route::expire(instant now, duration waiting_max, std::error_code cause,
                            answer_function answer, void* context) {
  bool next_own = false;
  {
    std::lock_guard lock(mutex_);
    if (waiting_.empty()) own_limits_ = false;
    if (own_limits_) next_own = true;
  }
  if (next_own) return expire_own(now, waiting_max, cause, answer, context);
  std::vector<command*> taken;
  take_front(taken, [&](const record_node& front) { return admitted(front) + waiting_max <= now; });
  answer_taken(taken, failure_of(client_errc::metadata_timeout, cause, limit::metadata_timeout),
               answer, context);
  // After the answers: what their callbacks produced waits here too, and wakes nobody.
  std::lock_guard lock(mutex_);
  return first_end(waiting_, own_limits_, waiting_max);
}

void topic_route::fail_waiting(std::error_code code, std::error_code cause, answer_function answer,
                               void* context) {
  std::vector<command*> taken;
  take_front(taken, [](const record_node&) { return true; });
  answer_taken(taken, failure_of(code, cause, limit::none), answer, context);
}

void topic_route::close(answer_function answer, void* context, std::vector<owned_record>* unsent) {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  std::vector<command*> taken;
  take_front(taken, [](const record_node&) { return true; });
  const auto hand_back = [&](const record_node& node) {
    if (unsent != nullptr && node.flags == 0) unsent->push_back(copy_of(node));
  };
  for (const command* each : taken)
    if (each->kind == command_kind::record) hand_back(static_cast<const record_node&>(*each));
  answer_taken(taken, failure_of(client_errc::closed, {}, limit::none), answer, context);
  for (growth_drain* each : drains_under_way())
    each->close(failure_of(client_errc::closed, {}, limit::none), hand_back);
}

owned_record topic_route::copy_of(const record_node& node) const {
  record view;
  std::vector<header> headers;
  view_of(node, view, headers);
  owned_record copy;
  copy.topic = name_;
  copy.partition = view.partition.value_or(partition_id());
  if (view.key) copy.key.emplace(*view.key);
  if (view.value) copy.value.emplace(*view.value);
  for (const header& field : headers) {
    owned_header kept{std::string(field.key), std::nullopt};
    if (field.value) kept.value.emplace(*field.value);
    copy.headers.push_back(std::move(kept));
  }
  copy.timestamp = *view.timestamp;
  return copy;
}

topic_route& topic_routes::find(std::string_view topic, bool& is_new) {
  std::lock_guard lock(mutex_);
  is_new = false;
  const auto found = routes_.find(std::string(topic));
  if (found != routes_.end()) return *found->second;
  is_new = true;
  auto made = std::make_unique<topic_route>(std::string(topic), make_router_(context_, topic),
                                            on_withdrawn_, context_);
  return *routes_.emplace(std::string(topic), std::move(made)).first->second;
}

topic_route* topic_routes::find_existing(std::string_view topic) const {
  std::lock_guard lock(mutex_);
  const auto found = routes_.find(std::string(topic));
  return found == routes_.end() ? nullptr : found->second.get();
}

std::vector<topic_route*> topic_routes::all() const {
  std::lock_guard lock(mutex_);
  std::vector<topic_route*> routes;
  routes.reserve(routes_.size());
  for (const auto& [name, route] : routes_) routes.push_back(route.get());
  return routes;
}

}  // namespace partita::actors
