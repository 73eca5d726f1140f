// Control calls that concern several partitions: flush, close, status.
#include "api/producer_body.hpp"

#include "actors/broker_actor.hpp"
#include "actors/partition_actor.hpp"
#include "api/begun_operation.hpp"
#include "api/event_queue.hpp"
#include "api/gathering.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace partita::detail {
namespace {

/// A part of a flush: one partition's answer.
class flush_reply final : public actors::control_reply {
 public:
  explicit flush_reply(std::shared_ptr<gathering<tally>> into) : into_(std::move(into)) {}
  void complete(actors::control_answer answer) noexcept override {
    const auto* counts = std::get_if<tally>(&answer);
    into_->add([&](tally& sum) {
      if (counts != nullptr) sum += *counts;
    });
  }

 private:
  std::shared_ptr<gathering<tally>> into_;
};

void flush_partition_into(const actors::partition_table::entry& partition,
                          const std::shared_ptr<gathering<tally>>& into) {
  into->expect_one_more();
  auto asked = std::make_unique<actors::control_command>(flush_request{},
                                                         std::make_unique<flush_reply>(into));
  if (partition.handle.push(*asked))
    asked.release();
  else
    actors::refuse_control(std::move(asked), client_errc::closed);
}

/// `only` that partition, where it is given and the topic has it.
void flush_table_into(const actors::partition_table& table, std::optional<partition_id> only,
                      const std::shared_ptr<gathering<tally>>& into) {
  if (only) {
    if (const auto* found = table.find(*only)) flush_partition_into(*found, into);
    return;
  }
  for (const auto& each : table.partitions) flush_partition_into(each, into);
  for (const auto& each : table.former) flush_partition_into(each, into);
}

/// Behind the records that wait for their topic's partitions.
class flush_barrier_in_route final : public actors::route_barrier {
 public:
  flush_barrier_in_route(std::optional<partition_id> only, std::shared_ptr<gathering<tally>> into)
      : only_(only), into_(std::move(into)) {}
  void reached(const actors::partition_table* table) noexcept override {
    if (table != nullptr) flush_table_into(*table, only_, into_);
    into_->add([&](tally& sum) { sum += failed_before; });
    delete this;
  }

 private:
  const std::optional<partition_id> only_;
  std::shared_ptr<gathering<tally>> into_;
};

void flush_route_into(actors::topic_route& route, std::optional<partition_id> only,
                      const std::shared_ptr<gathering<tally>>& into) {
  if (route.table() == nullptr || route.draining()) {
    auto barrier = std::make_unique<flush_barrier_in_route>(only, into);
    into->expect_one_more();
    if (route.wait(*barrier)) {
      barrier.release();
      return;
    }
    into->add([](tally&) {});
  }
  // Published meanwhile, or nothing was produced to it.
  if (const actors::partition_table* table = route.table()) flush_table_into(*table, only, into);
}

template <class T>
operation<T> operation_of(const std::shared_ptr<gathering<T>>& work, callback_reporter& reporter) {
  auto* state = begun_operation<T>(reporter);
  operation<T> result(*state);
  state->retain();
  work->when_done([state](T& value) noexcept {
    state->result.emplace(std::move(value));
    state->open();
    state->release();
  });
  return result;
}

}  // namespace

operation<tally> producer_body::flush_all() {
  auto work = gathering<tally>::make();
  for (actors::topic_route* route : routes_->all()) flush_route_into(*route, {}, work);
  return operation_of(work, reporter());
}

operation<tally> producer_body::flush_topic(std::string_view topic) {
  auto work = gathering<tally>::make();
  if (actors::topic_route* route = routes_->find_existing(topic))
    flush_route_into(*route, {}, work);
  return operation_of(work, reporter());
}

operation<tally> producer_body::flush_partition(std::string_view topic, partition_id partition) {
  auto work = gathering<tally>::make();
  actors::topic_route* route = routes_->find_existing(topic);
  if (route == nullptr) return operation_of(work, reporter());
  const actors::partition_table* table = route->table();
  const auto* found = table == nullptr ? nullptr : table->find(partition);
  if (found != nullptr && !route->draining())
    flush_partition_into(*found, work);
  else if (found != nullptr || table == nullptr)
    flush_route_into(*route, partition, work);  // what waits there may go to this one
  return operation_of(work, reporter());
}

const actors::partition_table::entry* producer_body::find_partition(std::string_view topic,
                                                                    partition_id partition) {
  const actors::topic_route* route = routes_->find_existing(topic);
  const actors::partition_table* table = route == nullptr ? nullptr : route->table();
  return table == nullptr ? nullptr : table->find(partition);
}

bool producer_body::control(std::string_view topic, partition_id partition,
                            std::unique_ptr<actors::control_command> command) {
  const auto* found = find_partition(topic, partition);
  if (found == nullptr) return false;
  const auto push = [&] {
    if (found->handle.push(*command)) command.release();
  };
  const auto* pause = std::get_if<pause_request>(&command->request);
  if (pause != nullptr && pause->abort_buffered)
    routes_->find_existing(topic)->abort_partition(partition, push);
  else
    push();
  if (command != nullptr) actors::refuse_control(std::move(command), client_errc::closed);
  return true;
}

// Status

namespace {

/// Of a partition that its topic has no more: something is still to be done about it.
bool concerns_anybody(const partition_status& former) noexcept {
  return former.buffered_bytes != 0 || former.buffered_records != 0 || former.halt_cause ||
         former.halted_keys != 0;
}

class status_reply final : public actors::control_reply {
 public:
  status_reply(std::shared_ptr<gathering<producer_status>> into, bool former)
      : into_(std::move(into)), former_(former) {}
  void complete(actors::control_answer answer) noexcept override {
    auto* one = std::get_if<partition_status>(&answer);
    into_->add([&](producer_status& all) {
      if (one != nullptr && (!former_ || concerns_anybody(*one)))
        all.partitions.push_back(std::move(*one));
    });
  }

 private:
  std::shared_ptr<gathering<producer_status>> into_;
  const bool former_;
};

void ask_status_into(const actors::partition_table::entry& partition, bool former,
                     const std::shared_ptr<gathering<producer_status>>& into) {
  into->expect_one_more();
  auto asked = std::make_unique<actors::control_command>(
      status_request{}, std::make_unique<status_reply>(into, former));
  if (partition.handle.push(*asked))
    asked.release();
  else
    actors::refuse_control(std::move(asked), client_errc::closed);
}

struct broker_status_task final : actors::broker_task {
  std::shared_ptr<gathering<producer_status>> into;
  void run(actors::broker_actor& at) override {
    into->add([&](producer_status& all) { all.brokers.push_back(at.status()); });
    delete this;
  }
  void refuse() noexcept override {
    into->add([](producer_status&) {});
    delete this;
  }
};

struct metadata_status_task final : actors::metadata_task {
  std::shared_ptr<gathering<producer_status>> into;
  void run(actors::metadata_actor& at) override {
    for (const auto& [id, broker] : at.brokers()) {
      into->expect_one_more();
      auto* task = new broker_status_task;
      task->into = into;
      if (!broker.handle.push(*task)) task->refuse();
    }
    into->add([&](producer_status& all) {
      all.metadata_error = at.last_error();
      all.metadata_error_text = at.last_error_text();
    });
    delete this;
  }
  void refuse() noexcept override {
    into->add([](producer_status&) {});
    delete this;
  }
};

void sort(producer_status& all) {
  std::sort(all.partitions.begin(), all.partitions.end(),
            [](const partition_status& a, const partition_status& b) {
              return a.topic != b.topic ? a.topic < b.topic : a.partition < b.partition;
            });
  std::sort(all.brokers.begin(), all.brokers.end(),
            [](const broker_status& a, const broker_status& b) { return a.id < b.id; });
}

}  // namespace

operation<producer_status> producer_body::status() {
  auto work = gathering<producer_status>::make();
  for (actors::topic_route* route : routes_->all()) {
    const actors::partition_table* table = route->table();
    if (table == nullptr) continue;
    for (const auto& each : table->partitions) ask_status_into(each, false, work);
    for (const auto& each : table->former) ask_status_into(each, true, work);
  }
  work->expect_one_more();
  auto* task = new metadata_status_task;
  task->into = work;
  if (!metadata_handle_.push(*task)) task->refuse();

  auto* state = begun_operation<producer_status>(reporter());
  operation<producer_status> result(*state);
  state->retain();
  work->when_done([this, state](producer_status& value) noexcept {
    sort(value);
    value.buffered_bytes = shared_.room.taken();
    value.buffer_memory_bytes = shared_.room.capacity();
    value.callback_exceptions = shared_.callback_exceptions.load();
    value.impossible_verdicts = shared_.impossible_verdicts.load();
    value.contradictions = shared_.contradictions.load();
    value.slow_callbacks = shared_.slow_callbacks.load();
    value.rebootstraps = shared_.rebootstraps.load();
    state->result.emplace(std::move(value));
    state->open();
    state->release();
  });
  return result;
}

event_stream producer_body::events(std::size_t capacity) {
  PARTITA_EXPECTS_OR_SAY(capacity > 0, "events() needs room for at least one event");
  auto queue = std::make_shared<event_queue>(capacity, reporter());
  if (is_in_child())
    queue->end();  // the parent's partitions tell nothing here (MEM-11)
  else
    shared_.events.add(queue);
  return event_stream(new event_reader{std::move(queue)});
}

}  // namespace partita::detail
