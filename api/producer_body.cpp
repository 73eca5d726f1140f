// From the call to the partition's queue. Control calls are in producer_control.cpp.
#include "api/producer_body.hpp"

#include "actors/partition_actor.hpp"
#include "actors/tracked_record.hpp"
#include "api/admission_line.hpp"
#include "api/begun_operation.hpp"
#include "api/bootstrap_servers.hpp"
#include "api/closing.hpp"
#include "api/config_notices.hpp"
#include "api/record_router.hpp"
#include "api/refusal_line.hpp"
#include "api/share_line.hpp"
#include "api/topic_name.hpp"
#include "wire/compression.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

namespace partita::detail {
namespace {

std::atomic<std::uint64_t> next_instance{1};

/// Of the buffer, at most, for what failed in one partition and waits for recover().
constexpr std::size_t kept_share = 4;

actors::partition_settings partition_settings_of(const producer_config& config) {
  actors::partition_settings settings;
  settings.required_acks = config.acks;
  settings.idempotent = config.enable_idempotence && config.acks == acks::all;
  settings.max_in_flight = config.max_in_flight;
  settings.linger = config.linger;
  settings.habit = std::make_shared<actors::linger_habit>();
  settings.batch_bytes_max = config.batch_size_bytes;
  settings.batch_records_max = static_cast<std::size_t>(config.batch_records_max);
  settings.codec = static_cast<wire::codec>(config.compression);
  settings.codec_level =
      effective_compression_level(config).value_or(wire::levels_of(settings.codec).preset);
  settings.delivery_timeout = config.delivery_timeout;
  settings.retry_backoff = config.retry_backoff;
  settings.retry_backoff_max = config.retry_backoff_max;
  if (config.retries < settings.attempts_max) settings.attempts_max = config.retries + 1;
  settings.on_failure = config.on_failure;
  settings.while_halted = config.while_halted;
  settings.has_failure_handler = static_cast<bool>(config.failure_handler);
  settings.kept_bytes_max = config.buffer_memory_bytes / kept_share;
  settings.state_horizon = config.state_horizon;
  settings.new_producer_id_on_bump = config.new_producer_id_instead_of_bump;
  settings.ticket_retention = config.ticket_retention;
  settings.ticket_records_max = static_cast<std::size_t>(config.ticket_records_max);
  settings.request_bytes_max = config.max_request_size_bytes;
  settings.memory_bytes = config.buffer_memory_bytes;
  return settings;
}

actors::metadata_settings metadata_settings_of(const producer_config& config) {
  actors::metadata_settings settings;
  for (const bootstrap_server& each : parse_bootstrap_servers(config.bootstrap_servers).servers)
    settings.bootstrap.push_back({each.host, each.port});
  settings.connection = {config.client_id, config.connection_setup_timeout,
                         config.connection_setup_timeout_max, config.request_timeout};
  settings.max_age = config.metadata_max_age;
  settings.topic_wait_max = std::min(config.max_block, config.delivery_timeout);
  settings.retry_backoff = config.retry_backoff;
  settings.retry_backoff_max = config.retry_backoff_max;
  settings.reconnect_backoff = config.reconnect_backoff;
  settings.reconnect_backoff_max = config.reconnect_backoff_max;
  settings.drain_first = config.growth == partition_growth::drain_first;
  settings.topic_grace = config.topic_metadata_propagation_max;
  settings.topic_idle_max = config.metadata_max_idle;
  settings.rebootstrap = config.metadata_recovery == metadata_recovery::rebootstrap;
  settings.rebootstrap_trigger = config.metadata_rebootstrap_trigger;
  settings.auto_create_topics = config.allow_auto_create_topics;
  settings.partition = partition_settings_of(config);
  for (const auto& [name, topic] : config.topics)
    if (topic.on_failure) settings.on_failure_of.emplace(name, *topic.on_failure);
  settings.broker.connection = settings.connection;
  settings.broker.required_acks = config.acks;
  settings.broker.codec = settings.partition.codec;
  settings.broker.request_timeout = config.request_timeout;
  settings.broker.request_bytes_max = config.max_request_size_bytes;
  settings.broker.requests_in_flight_max = static_cast<std::size_t>(config.max_in_flight);
  settings.broker.reconnect_backoff = config.reconnect_backoff;
  settings.broker.reconnect_backoff_max = config.reconnect_backoff_max;
  settings.broker.idle_max = config.connections_max_idle;
  return settings;
}

std::uint64_t drawn_seed() {
  std::random_device machine;
  return (std::uint64_t{machine()} << 32U) | machine();
}

}  // namespace

producer_body::producer_body(const producer_config& config, environment_choice& environment)
    : config_(config),
      keeps_alive_(environment.keeps_alive),
      shared_(config.buffer_memory_bytes),
      reporter_(&actors::producer_shared::note_exception, &shared_),
      instance_(next_instance.fetch_add(1)),
      seed_(environment.options.surroundings.seed) {
  if (seed_ == 0) seed_ = drawn_seed();
  refusals_ = std::make_unique<refusal_line>(shared_);
  constexpr int debug_level = static_cast<int>(actors::log_level::debug);
  shared_.log = {config.log, config.log_context,
                 config.debug.empty() ? config.log_level : std::max(config.log_level, debug_level)};
  shared_.judge = config.failure_handler;
  shared_.log(actors::log_level::notice, [&] { return partitioner_notice(config); });
  for (const std::string& line : settings_without_effect(config))
    shared_.log(actors::log_level::notice, [&] { return line; });
  routes_ = std::make_unique<actors::topic_routes>(&make_router, this, &answer_withdrawn);
  shared_.clock = clock_ = environment.options.surroundings.clock;
  runtime_ = std::make_unique<actors::runtime>(std::move(environment.options));
  auto metadata = std::make_unique<actors::metadata_actor>(metadata_settings_of(config_), shared_,
                                                           *routes_, *runtime_);
  metadata_ = metadata.get();
  refusals_->run_on(runtime_->lane_at(0));
  metadata_handle_ = runtime_->spawn(std::move(metadata), runtime_->lane_at(0));
  line_ = std::make_unique<admission_line>(shared_.room, runtime_->lane_at(0), *clock_,
                                           config_.max_block, when_full());
  if (config_.partition_memory_bytes == 0) return;
  shares_ = std::make_unique<share_line>(runtime_->lane_at(0), *clock_,
                                         config_.partition_memory_bytes, config_.max_block);
  shared_.room_context = shares_.get();
  shared_.on_room = [](void* shares, const actors::partition_actor& of) noexcept {
    static_cast<share_line*>(shares)->room_again(of);
  };
}

std::unique_ptr<actors::record_router> producer_body::make_router(void* self,
                                                                  std::string_view topic) {
  const auto& body = *static_cast<producer_body*>(self);
  // Another seed per topic, so that keyless records of two topics do not march in step.
  return std::make_unique<record_router>(
      chooser_settings_of(body.config_), body.seed_ ^ std::hash<std::string_view>()(topic),
      *body.clock_,
      record_router::avoidance{body.config_.partitioner_availability_timeout,
                               body.config_.partition_memory_bytes});
}

producer_body::~producer_body() {
  PARTITA_EXPECTS_OR_SAY(
      !runtime_->would_wait_for_itself() && !refusals_->tells_here(),
      "a producer was destroyed on its own lane, or in a callback that it called "
      "(or in a coroutine that continued there): destroy it on another thread");
  shut_gate();
  refusals_->leave_lane();
  runtime_->stop();
  shared_.events.end();
  // The lanes first: their wheels let go of the line's timer.
  runtime_.reset();
  line_.reset();
  shares_.reset();
  refusals_->finish();
}

operation<close_report> producer_body::close(std::chrono::milliseconds deadline) {
  auto* state = begun_operation<close_report>(reporter());
  operation<close_report> result(*state);
  closing* begun = nullptr;
  {
    std::lock_guard lock(closings_mutex_);
    closings_.push_back(std::make_unique<closing>(*this, *state));
    begun = closings_.back().get();
  }
  begun->begin(deadline);
  return result;
}

std::vector<actors::partition_table::entry> producer_body::all_partitions() const {
  std::vector<actors::partition_table::entry> all;
  for (const actors::topic_route* route : routes_->all())
    if (const actors::partition_table* table = route->table()) {
      all.insert(all.end(), table->partitions.begin(), table->partitions.end());
      all.insert(all.end(), table->former.begin(), table->former.end());
    }
  return all;
}

void producer_body::fail_waiting_records(std::vector<owned_record>& unsent) {
  for (actors::topic_route* route : routes_->all()) metadata_->close_route(*route, &unsent);
}

void producer_body::shut_gate() noexcept {
  if (shut_.exchange(true, std::memory_order_acq_rel)) return;
  if (shares_ != nullptr) shares_->close();
  shared_.room.close();
}

std::int64_t producer_body::now_ns() const noexcept {
  return clock_->now().time_since_epoch().count();
}

/// Reading two clocks for each record is a tenth of its cost, and Kafka's timestamps count
/// milliseconds: the wall clock is read again after half of one.
std::int64_t producer_body::wall_ms_at(std::int64_t steady_ns) const noexcept {
  constexpr std::int64_t valid_ns = 500'000;
  struct reading {
    std::uint64_t instance = 0;
    std::int64_t steady_ns = 0;
    std::int64_t wall_ms = 0;
  };
  thread_local reading last;
  const std::int64_t age = steady_ns - last.steady_ns;
  if (last.instance != instance_ || age < 0 || age >= valid_ns)
    last = {instance_, steady_ns, clock_->wall_now().time_since_epoch().count()};
  return last.wall_ms;
}

bool producer_body::letting_in() const noexcept { return line_->letting_in(); }

namespace {

/// A producer writes to few topics, so a few names per thread save the look-up under the mutex.
struct seen_route {
  std::uint64_t instance = 0;
  actors::topic_route* route = nullptr;

  /// The place for that name, which is not empty.
  static seen_route& of(std::string_view topic) noexcept {
    thread_local constinit std::array<seen_route, 8> cache{};
    const std::size_t mix = topic.size() * 31 + static_cast<unsigned char>(topic.front()) * 7 +
                            static_cast<unsigned char>(topic.back());
    return cache[mix % cache.size()];
  }
};

}  // namespace

/// Null: this thread has to look it up, and the name may not be one.
actors::topic_route* producer_body::route_seen(std::string_view topic) const noexcept {
  if (topic.empty()) return nullptr;
  const seen_route& seen = seen_route::of(topic);
  return seen.instance == instance_ && seen.route->name() == topic ? seen.route : nullptr;
}

actors::topic_route& producer_body::route_of(std::string_view topic) {
  if (actors::topic_route* const seen = route_seen(topic)) return *seen;
  bool is_new = false;
  actors::topic_route& found = routes_->find(topic, is_new);
  seen_route::of(topic) = {instance_, &found};
  return found;
}

namespace {

std::uint32_t call_of(const actors::completion_slot& slot) noexcept {
  if (slot.tracked == nullptr) return 0;
  std::uint32_t call = actors::record_node::tracked_bit;
  if (const auto& own = slot.tracked->delivery_timeout())
    call |= static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(own->count(), 1, actors::record_node::timeout_max));
  return call;
}

}  // namespace

void producer_body::refuse_in_turn(const record& what, actors::completion_slot slot,
                                   client_errc code, const placement& at) {
  if (!is_topic_name(what.topic)) return answer_at_once(what, slot, code);
  actors::topic_route& route = route_of(what.topic);
  // In a route every node is paid for, because nothing else limits how many wait there.
  actors::record_node* node = refused_node(what, route.table() == nullptr);
  if (node == nullptr) return answer_at_once(what, slot, code);
  node->target = slot.target;
  node->data = slot.data;
  node->flags = static_cast<std::uint16_t>(code);
  node->call = call_of(slot);  // it may wait for its topic: until its own deadline
  node->admitted_ns = now_ns();
  node->timestamp_ms = wall_ms_at(node->admitted_ns);
  node->partition = what.partition.value_or(partition_id()).value;
  deliver(*node, what, route, at);
}

namespace {

std::optional<std::chrono::milliseconds> delivery_timeout_of(
    const actors::completion_slot& slot) noexcept {
  return slot.tracked != nullptr ? slot.tracked->delivery_timeout() : std::nullopt;
}

}  // namespace

client_errc producer_body::judge(const record& what, const record_size& size,
                                 const std::optional<std::chrono::milliseconds>& delivery_timeout,
                                 const actors::topic_route* route) const noexcept {
  // What has a route has a name that was looked at.
  if (route == nullptr && !is_topic_name(what.topic)) return client_errc::invalid_topic;
  return check_record(what, size, {config_.max_request_size_bytes, shared_.room.capacity()},
                      delivery_timeout);
}

std::uint64_t producer_body::cost_if_sound(const record& what,
                                           const produce_options& options) const noexcept {
  const record_size size = size_of(what);
  const client_errc wrong = judge(what, size, options.delivery_timeout, route_seen(what.topic));
  return wrong == client_errc{} ? size.cost : 0;
}

void producer_body::admit_or_refuse(const record& what, actors::completion_slot slot, bool waited,
                                    const placement& at) noexcept {
  const record_size size = size_of(what);
  const client_errc wrong = judge(what, size, delivery_timeout_of(slot), route_seen(what.topic));
  if (wrong == client_errc{})
    return admit(what, static_cast<std::uint32_t>(size.tail), slot, waited, at);
  refuse(what, slot, wrong);
}

admission producer_body::try_submit(const record& what, actors::completion_slot slot) {
  if (shut()) return admission::closed;
  const record_size size = size_of(what);
  placement at;
  at.route = route_seen(what.topic);
  const client_errc wrong = judge(what, size, delivery_timeout_of(slot), at.route);
  if (wrong != client_errc{}) {
    refuse(what, slot, wrong);
    return admission::accepted;
  }
  if (shares_ != nullptr) {
    const client_errc lost = place(what, size.tail, at);
    if (lost != client_errc{}) {
      answer_at_once(what, slot, lost);
      return admission::accepted;
    }
    if (!open(at)) return admission::full;
  }
  if (!line_->take_now(size.cost)) return shut() ? admission::closed : admission::full;
  admit(what, static_cast<std::uint32_t>(size.tail), slot, false, at);
  return admission::accepted;
}

void producer_body::submit(const record& what, actors::completion_slot slot) {
  switch (try_submit(what, slot)) {
    case admission::accepted:
      return;
    case admission::full:
      return answer_at_once(what, slot, client_errc::buffer_full);
    case admission::closed:
      return answer_at_once(what, slot, client_errc::closed, why_shut());
  }
}

std::error_code producer_body::why_shut() const noexcept {
  return is_in_child() ? std::make_error_code(std::errc::owner_dead) : std::error_code{};
}

void producer_body::admit(const record& what, std::uint32_t tail_size, actors::completion_slot slot,
                          bool waited, const placement& at) noexcept {
  actors::record_node* node = actors::make_record_node(what, tail_size);
  if (node == nullptr) {
    shared_.room.give_back(actors::record_cost(tail_size));
    return answer_at_once(what, slot, client_errc::buffer_full,
                          std::make_error_code(std::errc::not_enough_memory));
  }
  node->target = slot.target;
  node->data = slot.data;
  node->call = call_of(slot) | (waited ? actors::record_node::waited_bit : 0);
  node->admitted_ns = now_ns();
  node->timestamp_ms =
      what.timestamp ? what.timestamp->time_since_epoch().count() : wall_ms_at(node->admitted_ns);
  node->partition = what.partition.value_or(partition_id()).value;
  deliver(*node, what, at.route != nullptr ? *at.route : route_of(what.topic), at);
}

client_errc producer_body::choose(const record& what, std::size_t tail_size,
                                  actors::topic_route& route, const actors::partition_table& table,
                                  placement& at) noexcept {
  const auto choice = route.router().choose(what, tail_size, table);
  if (choice.error == client_errc::partitioner_failed)
    actors::tell_key_failure(table, what.key, choice.error);
  if (choice.error != client_errc{}) return choice.error;
  at.route = &route;
  at.table = &table;
  at.partition = choice.partition;
  return {};
}

/// Queues it in its partition or its route; the code says why not, and then it is still the
/// caller's.
client_errc producer_body::queue(actors::record_node& node, const record& what,
                                 actors::topic_route& route, placement at) noexcept {
  actors::tracked_record* const tracked =
      node.tracked() ? static_cast<actors::tracked_record*>(node.target) : nullptr;
  if (!route.used.load(std::memory_order_relaxed)) {
    route.used.store(true, std::memory_order_seq_cst);
    if (route.dormant.load(std::memory_order_seq_cst)) metadata_->wake_topic(route);
  }
  if (at.known() && !at.exists()) at = {};
  const actors::partition_table* table = at.known() ? at.table : route.table();
  while (table == nullptr) {
    if (tracked != nullptr && !tracked->enters_route(route)) return client_errc::cancelled;
    switch (route.wait(node)) {
      case actors::route_answer::waiting:
        metadata_->want_topic(route);
        if (tracked != nullptr) metadata_->look_again();
        return {};
      case actors::route_answer::published:
        table = route.table();
        break;
      case actors::route_answer::closed:
        return client_errc::closed;
    }
  }
  if (!at.known()) {
    const client_errc wrong = choose(what, node.tail_size, route, *table, at);
    if (wrong != client_errc{}) return wrong;
  }
  node.partition = at.partition.value;
  const auto index = static_cast<std::size_t>(at.partition.value);
  if (tracked != nullptr && tracked->ended()) return client_errc::cancelled;
  if (table->drain != nullptr && route.hold_moved(node, what, *table)) return {};
  if (tracked != nullptr) tracked->enters_partition(table->partitions[index].handle);
  if (shares_ != nullptr) table->partitions[index].actor->expect_bytes(node.weight);
  if (!table->partitions[index].actor->push(node)) return client_errc::closed;
  if (config_.growth == partition_growth::drain_first) route.note_placed(*table, at.partition);
  return {};
}

void producer_body::deliver(actors::record_node& node, const record& what,
                            actors::topic_route& route, const placement& at) noexcept {
  const actors::completion_slot slot{node.target, node.data};
  actors::tracked_record* const tracked =
      node.tracked() ? static_cast<actors::tracked_record*>(node.target) : nullptr;
  if (tracked != nullptr) tracked->retain();  // the record may be answered before this ends
  const client_errc wrong = queue(node, what, route, at);
  if (wrong == client_errc{}) {
    if (tracked != nullptr) tracked->is_queued();
  } else {
    shared_.room.give_back(node.weight);
    actors::release_record_node(node);
    answer_at_once(what, slot, wrong);
  }
  if (tracked != nullptr) tracked->release();
}

actors::completion_slot producer_body::track(const produce_options& options,
                                             actors::completion_slot receiver) {
  if (!options.any()) return receiver;
  auto* tracked = new actors::tracked_record(options, receiver);
  return {tracked, 0, tracked};
}

namespace {

/// Answers a record that was taken out of its route, on lane 0, and if that ends first, all the
/// same.
struct withdrawn_task final : actors::metadata_task {
  using ending = void (*)(void* self, actors::topic_route& from, actors::record_node& node);

  withdrawn_task(actors::topic_route& route, actors::record_node& record, void* owner,
                 ending at_end)
      : from(route), node(record), self(owner), end(at_end) {}
  void run(actors::metadata_actor& at) override {
    at.answer_cancelled(from, node);
    delete this;
  }
  void refuse() noexcept override {
    end(self, from, node);
    delete this;
  }

  actors::topic_route& from;
  actors::record_node& node;
  void* const self;
  const ending end;
};

}  // namespace

void producer_body::answer_withdrawn(void* self, actors::topic_route& from,
                                     actors::record_node& node) {
  const auto answer_here = [](void* owner, actors::topic_route& route,
                              actors::record_node& record_of) {
    auto& body = *static_cast<producer_body*>(owner);
    record what;
    what.topic = route.name();
    const actors::completion_slot slot{record_of.target, record_of.data};
    body.shared_.room.give_back(record_of.weight);
    actors::release_record_node(record_of);
    body.answer_at_once(what, slot, client_errc::cancelled);
  };
  auto* task = new withdrawn_task(from, node, self, answer_here);
  if (static_cast<producer_body*>(self)->metadata_handle_.push(*task)) return;
  delete task;
  answer_here(self, from, node);
}

}  // namespace partita::detail
