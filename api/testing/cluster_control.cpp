// The part of cluster that controls what is beside produce attempts: other APIs, rights, replicas.
#include "api/testing/cluster_guard.hpp"

#include <limits>

namespace partita::testing {

void cluster::inject(const api_fault& fault) {
  const std::lock_guard hold{core_->lock()};
  core_->api_faults().add(fault);
}

void cluster::inject(const metadata_lie& lie) {
  const std::lock_guard hold{core_->lock()};
  core_->api_faults().add(lie);
}

void cluster::release_held() {
  const guard hold{*this};
  core_->release_held({}, -1);
}

void cluster::release_held(std::string_view topic, partition_id partition) {
  const guard hold{*this};
  if (!topic.empty()) core_->release_held(topic, partition.value);
}

std::size_t cluster::held() const {
  const std::lock_guard hold{core_->lock()};
  return core_->held();
}

void cluster::answer_next_id(producer_id id, producer_epoch epoch) {
  const std::lock_guard hold{core_->lock()};
  core_->state().answer_next_id(id.value, epoch.value);
}

void cluster::offer(api which, std::int16_t first, std::int16_t last) {
  const std::lock_guard hold{core_->lock()};
  core_->state().offer(static_cast<std::int16_t>(which), {first, last});
}

void cluster::deny(right what, std::string_view topic) {
  const std::lock_guard hold{core_->lock()};
  core_->state().deny(what, topic);
}

void cluster::allow(right what, std::string_view topic) {
  const std::lock_guard hold{core_->lock()};
  core_->state().allow(what, topic);
}

void cluster::seed_producer(std::string_view topic, partition_id partition,
                            const producer_view& seed) {
  const guard hold{*this};
  auto* found = core_->state().topic(topic);
  if (auto* part = found == nullptr ? nullptr : found->partition(partition.value))
    part->seed_producer({seed.producer_id.value, seed.producer_epoch.value,
                         seed.last_sequence.value, seed.last_sequence.value},
                        seed.last_timestamp_ms);
}

void cluster::limit_in_sync(std::string_view topic, partition_id partition, int count) {
  const guard hold{*this};
  core_->state().limit_in_sync(topic, partition.value, count);
  core_->state().replicate();
}

void cluster::roll_back(std::string_view topic, partition_id partition, partita::offset end) {
  const guard hold{*this};
  auto* found = core_->state().topic(topic);
  if (auto* part = found == nullptr ? nullptr : found->partition(partition.value))
    part->roll_back(end.value);
}

std::vector<log_record> cluster::compact(std::string_view topic, partition_id partition,
                                         std::optional<partita::offset> before) {
  const guard hold{*this};
  auto* found = core_->state().topic(topic);
  auto* part = found == nullptr ? nullptr : found->partition(partition.value);
  if (part == nullptr) return {};
  return part->clean(before ? before->value : std::numeric_limits<std::int64_t>::max());
}

void cluster::isolate_broker(broker_id broker) {
  const guard hold{*this};
  core_->state().isolate_broker(broker.value);
  core_->state().replicate();
}

void cluster::rejoin_broker(broker_id broker) {
  const guard hold{*this};
  core_->state().rejoin_broker(broker.value);
  core_->state().replicate();
}

}  // namespace partita::testing
