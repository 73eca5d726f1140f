#include "api/testing/fetch_service.hpp"

#include "api/testing/cluster_core.hpp"
#include "api/testing/lenient_decode.hpp"
#include "api/testing/refused_answer.hpp"

#include <algorithm>

namespace partita::testing {

bool fetch_service::serve(std::uint64_t connection, std::int32_t broker,
                          const wire::request_header& header, byte_view body) {
  auto request = decode_leniently<wire::fetch_request>(header.version, body);
  if (!request) return false;
  operation work{connection,          broker, header.version, header.correlation_id,
                 std::move(*request), -1};
  if (complete(work, work.request.max_wait_ms <= 0)) return true;
  constexpr std::int64_t ns_per_ms = 1'000'000;
  work.deadline_ns = core_.now().steady_ns + work.request.max_wait_ms * ns_per_ms;
  core_.at(work.deadline_ns, [] {});  // settle() runs after every timer
  waiting_.push_back(std::move(work));
  return true;
}

void fetch_service::settle() {
  std::list<operation> tried;
  tried.swap(waiting_);
  for (auto at = tried.begin(); at != tried.end();) {
    const auto* broker = core_.state().broker(at->broker);
    const bool over = core_.now().steady_ns >= at->deadline_ns;
    if (!broker->paused && complete(*at, over)) {
      at = tried.erase(at);
    } else {
      ++at;
    }
  }
  // Answers may have let requests behind them wait: keep both.
  waiting_.splice(waiting_.begin(), tried);
}

void fetch_service::forget(std::uint64_t connection) {
  waiting_.remove_if([&](const operation& work) { return work.connection == connection; });
}

bool fetch_service::complete(const operation& work, bool time_is_over) {
  auto found = read(work);
  if (!time_is_over && !found.error && found.bytes < work.request.min_bytes) return false;
  if (const auto* fault = core_.refusal_of(work.connection)) refuse(found.response, *fault);
  core_.reply(work.connection, encode_answer(found.response, work.version, work.correlation_id));
  return true;
}

fetch_service::reading fetch_service::read(const operation& work) const {
  reading all;
  for (const auto& topic : work.request.topics) {
    auto& entry = all.response.topics.emplace_back();
    entry.name = topic.name;
    entry.topic_id = topic.topic_id;
    if (work.version >= 13)
      if (const auto* found = core_.state().topic(topic.topic_id)) entry.name = found->name;
    for (const auto& asked : topic.partitions) {
      auto& part = entry.partitions.emplace_back();
      part.index = asked.index;
      part.records = byte_view{};
      read_partition(work, topic, asked, all, part);
      if (part.error_code != broker_errc::none) all.error = true;
    }
  }
  if (work.request.topics.empty()) all.error = true;  // nothing to wait for
  return all;
}

void fetch_service::read_partition(const operation& work,
                                   const wire::fetch_request::topic& asked_topic,
                                   const wire::fetch_request::partition& asked, reading& all,
                                   wire::fetch_response::partition& part) const {
  auto& state = core_.state();
  auto* topic =
      work.version >= 13 ? state.topic(asked_topic.topic_id) : state.topic(asked_topic.name);
  if (topic == nullptr && work.version >= 13) {
    part.error_code = broker_errc::unknown_topic_id;
    return;
  }
  if (topic != nullptr && state.denied(right::read, topic->name)) {
    part.error_code = broker_errc::topic_authorization_failed;
    return;
  }
  const auto* partition = topic == nullptr ? nullptr : topic->partition(asked.index.value);
  if (partition == nullptr) {
    part.error_code = broker_errc::unknown_topic_or_partition;
    return;
  }
  // Any replica serves consumers from version 11 on (KIP-392); no replica, and older ones: the
  // leader.
  const auto* replica = partition->find(work.broker);
  if (replica == nullptr || (partition->leader() != work.broker && work.version < 11)) {
    part.error_code = broker_errc::not_leader_or_follower;
    part.current_leader = {partition->leader(), partition->leader_epoch()};
    return;
  }
  const auto epoch = asked.current_leader_epoch.value;
  if (epoch >= 0 && epoch != partition->leader_epoch()) {
    part.error_code = epoch < partition->leader_epoch() ? broker_errc::fenced_leader_epoch
                                                        : broker_errc::unknown_leader_epoch;
    return;
  }
  const auto& log = replica->log;
  const auto end = std::min(partition->high_watermark(), log.end());
  const auto from = asked.fetch_offset.value;
  // Between the high watermark and the log's end there is nothing to see yet.
  if (from < log.start() || from > log.end()) {
    part.error_code = broker_errc::offset_out_of_range;
    return;
  }
  const bool committed = work.request.isolation_level != 0;
  const auto stable = std::min(end, partition->last_stable_offset());
  const auto limit_offset = committed ? stable : end;
  part.high_watermark = end;
  part.last_stable_offset = stable;
  part.log_start_offset = log.start();
  if (committed) part.aborted_transactions.emplace();

  std::vector<std::byte> records;
  auto read_to = from;
  const auto limit =
      std::min<std::int64_t>(asked.partition_max_bytes, work.request.max_bytes - all.bytes);
  for (auto at = log.find(from); at < log.batches().size(); ++at) {
    const auto& batch = *log.batches()[at];
    if (batch.last_offset() >= limit_offset) break;
    const bool first = records.empty() && all.bytes == 0;
    if (!first &&
        std::cmp_greater(records.size() + batch.bytes.size(), std::max<std::int64_t>(0, limit)))
      break;
    records.insert(records.end(), batch.bytes.begin(), batch.bytes.end());
    read_to = batch.last_offset();
  }
  if (committed)
    for (const auto& one : log.aborted())
      if (one.last_offset >= from && one.first_offset <= read_to)
        part.aborted_transactions->push_back({one.producer_id, one.first_offset});
  all.bytes += static_cast<std::int64_t>(records.size());
  all.records.push_back(std::move(records));
  part.records = byte_view{all.records.back()};
}

}  // namespace partita::testing
