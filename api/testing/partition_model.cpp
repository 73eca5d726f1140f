#include "api/testing/partition_model.hpp"

#include "api/testing/control_batch.hpp"

#include <partita/contract.hpp>

#include <algorithm>

namespace partita::testing {
namespace {

produce_result refuse(const refusal& why, const partition_log& log) {
  produce_result result;
  result.code = why.code;
  result.log_start = why.shows_log_start ? log.start() : -1;
  result.record_faults = why.record_faults;
  result.message = why.message;
  return result;
}

}  // namespace

partition_model::partition_model(std::int32_t index, const std::vector<std::int32_t>& brokers)
    : index_(index), in_sync_(brokers) {
  PARTITA_EXPECTS(!brokers.empty());
  for (const auto broker : brokers) replicas_.push_back({broker, true, true, {}});
  leader_ = last_leader_ = brokers.front();
}

bool partition_model::in_sync(std::int32_t broker) const noexcept {
  return std::find(in_sync_.begin(), in_sync_.end(), broker) != in_sync_.end();
}

const replica* partition_model::find(std::int32_t broker) const noexcept {
  const auto found = std::find_if(replicas_.begin(), replicas_.end(),
                                  [&](const replica& one) { return one.broker == broker; });
  return found == replicas_.end() ? nullptr : &*found;
}

replica* partition_model::find_mutable(std::int32_t broker) noexcept {
  return const_cast<replica*>(find(broker));  // NOLINT: this object is not const
}

const partition_log& partition_model::log() const noexcept {
  return find(leader_ >= 0 ? leader_ : last_leader_)->log;
}

partition_log& partition_model::leader_log() noexcept {
  return find_mutable(leader_ >= 0 ? leader_ : last_leader_)->log;
}

std::int32_t partition_model::min_in_sync(const topic_settings& settings) const noexcept {
  return std::min(settings.min_in_sync, static_cast<std::int32_t>(replicas_.size()));
}

produce_result partition_model::append(const append_request& request,
                                       const topic_settings& settings) {
  const auto asked = request.broker >= 0 ? request.broker : leader_;
  PARTITA_EXPECTS(leads(asked), asked, leader_);
  const bool zombie = asked != leader_;  // it believes that its followers are still in sync
  auto& log = find_mutable(asked)->log;
  const auto in_sync_count = static_cast<std::int32_t>(in_sync_.size());
  if (request.acks == -1 && !zombie && in_sync_count < min_in_sync(settings))
    return refuse({broker_errc::not_enough_replicas, true}, log);

  auto batch = check_batch(request.batch, settings, request.now_ms);
  if (batch.refused.refused()) return refuse(batch.refused, log);

  const auto& header = batch.header;
  if (header.producer_id >= 0) {
    const batch_tuple tuple{header.producer_id, header.producer_epoch, header.base_sequence,
                            header.last_sequence()};
    if (const auto* known = log.producers().find_duplicate(tuple, settings.dedup_window)) {
      produce_result result;
      result.base_offset = known->first_offset();
      result.log_append_ms = known->timestamp_ms;  // on CreateTime topics too
      result.log_start = log.start();
      result.deduplicated = true;
      result.committed_at = known->last_offset + 1;
      return result;
    }
    const auto code = check_producer(request, tuple, header.transactional(), log, settings);
    if (code != broker_errc::none) return refuse({code, true}, log);
    if (header.transactional()) verifications_.erase(header.producer_id);
  }
  auto result = store(std::move(batch), log, leader_epoch(asked));
  if (settings.log_append_time) result.log_append_ms = request.now_ms;
  return result;
}

// Whether the batch may follow what the producer wrote before; it is no duplicate.
broker_errc partition_model::check_producer(const append_request& request, const batch_tuple& tuple,
                                            bool transactional, const partition_log& log,
                                            const topic_settings& settings) const {
  const auto* known = log.producers().find(tuple.producer_id);
  const auto tried = verifications_.find(tuple.producer_id);
  if (transactional && tried != verifications_.end() && tried->second.epoch >= tuple.epoch &&
      tuple.base_sequence > tried->second.lowest_sequence)
    return broker_errc::out_of_order_sequence_number;
  const auto code = log.producers().check(tuple, log.ever_written(), request.version);
  if (code != broker_errc::none) return code;
  const bool from_zero = settings.demand_sequence_zero || (transactional && request.server_driven);
  if (from_zero && known == nullptr && tuple.base_sequence != 0)
    return broker_errc::out_of_order_sequence_number;
  if (!transactional && known != nullptr && known->transaction_start >= 0)
    return broker_errc::invalid_txn_state;
  return broker_errc::none;
}

produce_result partition_model::store(checked_batch batch, partition_log& log, std::int32_t epoch) {
  auto stored = std::make_shared<stored_batch>();
  stored->bytes = std::move(batch.bytes);
  stored->serial = ++last_serial_;
  patch_place(stored->bytes, log.end(), epoch);
  stored->header = read_batch_header(stored->bytes);
  produce_result result;
  result.base_offset = log.end();
  log.append(std::move(stored));
  result.log_start = log.start();
  result.committed_at = log.end();
  return result;
}

void partition_model::fetch(replica& follower, const partition_log& source) {
  follower.log.truncate_to_common(source);
  // A replica whose end lies below the leader's start begins anew there.
  if (follower.log.end() < source.start())
    follower.log.begin_at(source.batches().empty() ? source.start()
                                                   : source.batches().front()->first_offset());
  for (auto at = source.find(follower.log.end()); at < source.batches().size(); ++at)
    follower.log.append(source.batches()[at]);
  if (follower.log.start() < source.start()) follower.log.delete_before(source.start());
}

void partition_model::catch_up(std::int32_t broker) {
  auto* follower = find_mutable(broker);
  if (follower != nullptr && broker != last_leader_) fetch(*follower, leader_log());
}

bool partition_model::replicate(const topic_settings& settings) {
  if (leader_ < 0) return false;
  const auto& source = leader_log();
  const bool served = find(leader_)->fetching;  // a paused leader answers no follower either
  for (auto& follower : replicas_) {
    if (follower.broker == leader_ || !served || !follower.running || !follower.fetching) continue;
    fetch(follower, source);
    if (!in_sync(follower.broker)) in_sync_.push_back(follower.broker);
  }
  if (settings.minimum_holds_high_watermark &&
      static_cast<std::int32_t>(in_sync_.size()) < min_in_sync(settings))
    return false;
  auto least = source.end();
  // What a follower has beside its leader's log is not a copy of it: it has not fetched from it
  // yet.
  for (const auto broker : in_sync_) least = std::min(least, find(broker)->log.common_end(source));
  if (least <= high_watermark_) return false;
  high_watermark_ = least;
  return true;
}

commit_state partition_model::committed(std::int64_t committed_at, std::int32_t broker,
                                        std::int32_t leader_epoch,
                                        const topic_settings& settings) const noexcept {
  const auto zombie = zombies_.find(broker);
  if (zombie != zombies_.end() && zombie->second == leader_epoch) return commit_state::waiting;
  if (leader_ != broker || leader_epoch_ != leader_epoch) return commit_state::lost_leadership;
  if (high_watermark_ < committed_at) return commit_state::waiting;
  const auto enough = static_cast<std::int32_t>(in_sync_.size()) >= min_in_sync(settings);
  return enough ? commit_state::committed : commit_state::under_replicated;
}

bool partition_model::leads(std::int32_t broker) const noexcept {
  return broker >= 0 && (broker == leader_ || zombies_.contains(broker));
}

std::int32_t partition_model::leader_epoch(std::int32_t broker) const noexcept {
  const auto zombie = zombies_.find(broker);
  return zombie == zombies_.end() ? leader_epoch_ : zombie->second;
}

bool partition_model::in_transaction(std::int64_t producer_id, std::int16_t epoch,
                                     emulation version) const noexcept {
  const auto* known = log().producers().find(producer_id);
  if (known == nullptr || known->transaction_start < 0) return false;
  return version < emulation::kafka_4_2 || known->epoch == epoch;
}

void partition_model::begin_verification(const batch_header& header) {
  auto& entry = verifications_[header.producer_id];
  if (header.producer_epoch > entry.epoch) {
    entry = {header.producer_epoch, header.base_sequence};
  } else if (header.producer_epoch == entry.epoch) {
    entry.lowest_sequence = std::min(entry.lowest_sequence, header.base_sequence);
  }
}

void partition_model::end_transaction(std::int64_t producer_id, std::int16_t epoch, bool commit,
                                      std::int64_t now_ms) {
  PARTITA_EXPECTS(leader_ >= 0, leader_);
  auto& log = leader_log();
  verifications_.erase(producer_id);
  const auto* known = log.producers().find(producer_id);
  if (known != nullptr && known->epoch > epoch) return;  // fenced
  checked_batch marker;
  marker.bytes = make_marker(producer_id, epoch, commit, now_ms);
  store(std::move(marker), log, leader_epoch_);
}

std::int64_t partition_model::last_stable_offset() const noexcept {
  return std::min(high_watermark_, log().first_unstable());
}

void partition_model::set_fetching(std::int32_t broker, bool on) {
  if (auto* found = find_mutable(broker)) found->fetching = on;
}

void partition_model::set_running(std::int32_t broker, bool on) {
  auto* found = find_mutable(broker);
  if (found == nullptr || found->running == on) return;
  found->running = on;
  if (on) {
    found->log.producers().keep_last_batches();
    if (leader_ < 0 && in_sync(broker)) lead(broker);
    return;
  }
  if (leader_ == broker) {
    const auto heir = std::find_if(in_sync_.begin(), in_sync_.end(), [&](std::int32_t other) {
      return other != broker && find(other)->running;
    });
    if (heir != in_sync_.end()) {
      lead(*heir);
    } else {
      last_leader_ = leader_;
      leader_ = -1;
      ++leader_epoch_;
    }
  }
  leave_in_sync(broker);
}

void partition_model::leave_in_sync(std::int32_t broker) {
  if (in_sync_.size() > 1 && broker != leader_) std::erase(in_sync_, broker);
}

void partition_model::lead(std::int32_t broker) {
  PARTITA_EXPECTS(find(broker) != nullptr, broker);
  if (leader_ == broker) return;
  zombies_.erase(broker);
  leader_ = last_leader_ = broker;
  ++leader_epoch_;
  if (!in_sync(broker)) in_sync_ = {broker};  // an unclean election starts over
  high_watermark_ = std::min(high_watermark_, leader_log().end());
}

void partition_model::add_replica(std::int32_t broker) {
  if (find(broker) == nullptr) replicas_.push_back({broker, true, true, {}});
}

void partition_model::set_replicas(const std::vector<std::int32_t>& brokers) {
  PARTITA_EXPECTS(!brokers.empty());
  std::vector<replica> kept;
  for (const auto broker : brokers) {
    auto* found = find_mutable(broker);
    PARTITA_EXPECTS(found != nullptr, broker);
    kept.push_back(*found);
  }
  const bool leader_stays = std::count(brokers.begin(), brokers.end(), leader_) == 1;
  if (leader_ >= 0 && !leader_stays) lead(brokers.front());
  replicas_ = std::move(kept);
  std::erase_if(in_sync_, [&](std::int32_t broker) { return find(broker) == nullptr; });
  if (find(last_leader_) == nullptr) last_leader_ = brokers.front();
}

void partition_model::truncate(std::int32_t broker, std::int64_t offset) {
  if (auto* found = find_mutable(broker)) found->log.truncate(offset);
}

void partition_model::roll_back(std::int64_t offset) {
  for (auto& one : replicas_) one.log.truncate(std::max(offset, one.log.start()));
  high_watermark_ = std::min(high_watermark_, log().end());
}

void partition_model::make_zombie(std::int32_t broker) {
  set_fetching(broker, false);
  if (broker != leader_) {
    leave_in_sync(broker);
    return;
  }
  const auto heir = std::find_if(in_sync_.begin(), in_sync_.end(), [&](std::int32_t other) {
    return other != broker && find(other)->running && find(other)->fetching;
  });
  if (heir == in_sync_.end()) return;  // nobody else can lead: it goes on in good right
  const auto believed = leader_epoch_;
  lead(*heir);
  std::erase(in_sync_, broker);
  zombies_[broker] = believed;
}

void partition_model::end_zombie(std::int32_t broker) {
  zombies_.erase(broker);
  set_fetching(broker, true);
}

void partition_model::seed_producer(const batch_tuple& tuple, std::int64_t timestamp_ms) {
  for (auto& one : replicas_) {
    const auto last = one.log.end() - 1;
    one.log.producers().remember(tuple, last, last, timestamp_ms);
  }
}

broker_errc partition_model::delete_before(std::int64_t offset) {
  if (leader_ < 0) return broker_errc::leader_not_available;
  if (offset < 0 || offset > high_watermark_) return broker_errc::offset_out_of_range;
  for (auto& one : replicas_)
    if (one.running && one.log.end() >= offset) one.log.delete_before(offset);
  return broker_errc::none;
}

std::vector<log_record> partition_model::clean(std::int64_t before) {
  std::vector<log_record> removed;
  const auto& batches = log().batches();
  if (leader_ < 0 || batches.empty()) return removed;
  // The leader's newest batch stays everywhere. A follower that has something behind it, which it
  // is going to lose, would take it for an older one.
  const auto limit = std::min({before, last_stable_offset(), batches.back()->first_offset()});
  for (auto& one : replicas_) {
    if (!one.running || !in_sync(one.broker)) continue;
    auto lost = one.log.clean(limit);
    if (one.broker == leader_) removed = std::move(lost);
  }
  return removed;
}

void partition_model::retain(std::int64_t bytes_max) {
  const auto& log = leader_log();
  while (log.bytes() > bytes_max && log.batches().size() > 1) {
    const auto next = log.batches().front()->last_offset() + 1;
    if (delete_before(next) != broker_errc::none) return;
  }
}

void partition_model::expire_producers(std::int64_t now_ms, std::int64_t limit_ms) {
  for (auto& one : replicas_) one.log.producers().expire(now_ms, limit_ms);
}

void partition_model::forget_producers() {
  for (auto& one : replicas_) one.log.producers().clear();
}

}  // namespace partita::testing
