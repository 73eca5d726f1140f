#include <partita/testing/cluster.hpp>

#include "api/testing/batch_records.hpp"
#include "api/testing/cluster_guard.hpp"

#include <algorithm>

namespace partita::testing {

cluster::cluster(std::unique_ptr<cluster_core> core) : core_(std::move(core)) {}
cluster::~cluster() = default;

broker_errc cluster::create_topic(std::string_view name, const topic_options& options) {
  const guard hold{*this};
  return core_->state().create_topic(name, options);
}

broker_errc cluster::delete_topic(std::string_view name) {
  const guard hold{*this};
  return core_->state().delete_topic(name);
}

broker_errc cluster::alter_topic(std::string_view name, std::string_view setting,
                                 std::optional<std::string_view> value) {
  const guard hold{*this};
  const auto code = core_->state().alter_topic(name, setting, value);
  core_->state().replicate();  // a smaller min.insync.replicas may let the high watermark go on
  return code;
}

broker_errc cluster::add_partitions(std::string_view name, std::int32_t total) {
  const guard hold{*this};
  return core_->state().add_partitions(name, total);
}

broker_errc cluster::delete_records(std::string_view name, partition_id partition,
                                    partita::offset before) {
  const guard hold{*this};
  auto* topic = core_->state().topic(name);
  auto* found = topic == nullptr ? nullptr : topic->partition(partition.value);
  return found == nullptr ? broker_errc::unknown_topic_or_partition
                          : found->delete_before(before.value);
}

std::vector<std::string> cluster::topics() const {
  const std::lock_guard hold{core_->lock()};
  std::vector<std::string> names;
  for (const auto& [name, topic] : core_->state().topics()) names.push_back(name);
  return names;
}

std::vector<log_record> cluster::log(std::string_view topic, partition_id partition) const {
  const std::lock_guard hold{core_->lock()};
  std::vector<log_record> records;
  const auto* found = core_->state().partition(topic, partition.value);
  if (found == nullptr) return records;
  for (const auto& batch : found->log().batches()) {
    std::int64_t next = 0;
    visit_records(
        batch->bytes,
        [&](const log_record& record) {
          if (record.offset.value >= found->log().start()) records.push_back(record);
        },
        next);
  }
  return records;
}

std::vector<log_batch> cluster::batches(std::string_view topic, partition_id partition) const {
  const std::lock_guard hold{core_->lock()};
  std::vector<log_batch> batches;
  const auto* found = core_->state().partition(topic, partition.value);
  if (found == nullptr) return batches;
  for (const auto& batch : found->log().batches()) {
    const auto& header = batch->header;
    batches.push_back({header.base_offset, header.record_count, header.producer_id,
                       header.producer_epoch, header.base_sequence, header.leader_epoch,
                       header.attributes, header.max_timestamp, header.checksum});
  }
  return batches;
}

std::optional<partition_view> cluster::view(std::string_view topic, partition_id partition) const {
  const std::lock_guard hold{core_->lock()};
  const auto* found = core_->state().partition(topic, partition.value);
  if (found == nullptr) return std::nullopt;
  partition_view made;
  made.leader = found->leader();
  made.leader_epoch = found->leader_epoch();
  for (const auto& replica : found->replicas()) made.replicas.push_back(replica.broker);
  made.in_sync = found->in_sync();
  made.log_start = found->log().start();
  made.high_watermark = found->high_watermark();
  made.log_end = found->log().end();
  return made;
}

std::vector<producer_view> cluster::producers(std::string_view topic,
                                              partition_id partition) const {
  const std::lock_guard hold{core_->lock()};
  std::vector<producer_view> made;
  const auto* found = core_->state().partition(topic, partition.value);
  if (found == nullptr) return made;
  for (const auto& [id, producer] : found->log().producers().producers())
    made.push_back({id, producer.epoch,
                    producer.window.empty() ? -1 : producer.window.back().last_sequence,
                    producer.last_timestamp_ms, static_cast<int>(producer.window.size())});
  return made;
}

void cluster::inject(const fault& fault) {
  const std::lock_guard hold{core_->lock()};
  core_->faults().add(fault);
}

void cluster::inject(const fault_mix& mix) {
  const std::lock_guard hold{core_->lock()};
  core_->faults().set(mix);
  core_->api_faults().disturb(mix.disturb_others);
}

void cluster::clear_faults() {
  const std::lock_guard hold{core_->lock()};
  core_->faults().clear();
  core_->api_faults().clear();
}

void cluster::follow(attempt_script* script) {
  const std::lock_guard hold{core_->lock()};
  core_->follow(script);
}

void cluster::stop_broker(broker_id broker, stop_kind kind) {
  const guard hold{*this};
  core_->stop_broker(broker.value, kind);
}

void cluster::start_broker(broker_id broker) {
  const guard hold{*this};
  core_->start_broker(broker.value);
}

void cluster::pause_broker(broker_id broker) {
  const guard hold{*this};
  core_->pause_broker(broker.value);
}

void cluster::resume_broker(broker_id broker) {
  const guard hold{*this};
  core_->resume_broker(broker.value);
}

void cluster::hold_replication(std::string_view topic, partition_id partition, bool held) {
  const guard hold{*this};
  core_->state().hold_replication(topic, partition.value, held);
  core_->state().replicate();
}

bool cluster::move_leader(std::string_view name, partition_id partition, broker_id broker,
                          tail tail) {
  const guard hold{*this};
  auto* topic = core_->state().topic(name);
  auto* found = topic == nullptr ? nullptr : topic->partition(partition.value);
  const auto* heir = found == nullptr ? nullptr : found->find(broker.value);
  if (heir == nullptr || !heir->running) return false;
  if (tail == tail::kept) {
    found->catch_up(broker.value);
  } else if (tail == tail::lost) {
    found->truncate(broker.value, found->high_watermark());
  }
  found->lead(broker.value);
  found->replicate(topic->settings);
  return true;
}

void cluster::forget_producers(std::string_view name, partition_id partition) {
  const guard hold{*this};
  auto* topic = core_->state().topic(name);
  if (auto* found = topic == nullptr ? nullptr : topic->partition(partition.value))
    found->forget_producers();
}

void cluster::drop_connections(broker_id broker, bool reset) {
  const guard hold{*this};
  core_->drop_connections(broker.value, reset);
}

void cluster::move_broker(broker_id broker, std::int32_t port) {
  const guard hold{*this};
  auto* moved = core_->state().broker(broker.value);
  if (moved == nullptr) return;
  moved->port = port;
  core_->drop_connections(broker.value, true);
}

cluster_counters cluster::counters() const {
  const std::lock_guard hold{core_->lock()};
  return core_->counters();
}

int cluster::broker_count() const { return static_cast<int>(core_->state().brokers().size()); }

}  // namespace partita::testing
