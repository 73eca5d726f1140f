// The part of produce_service that talks with an attempt_script.
#include "api/testing/batch_records.hpp"
#include "api/testing/cluster_core.hpp"
#include "api/testing/produce_service.hpp"

#include <vector>

namespace partita::testing {

std::optional<fault> produce_service::ask_script(const operation& work, const part& one) {
  auto* script = core_.script();
  if (script == nullptr) return std::nullopt;
  produce_attempt attempt;
  attempt.number = one.number;
  attempt.request = work.number;
  attempt.connection = work.connection;
  attempt.broker = work.broker;
  attempt.topic = one.topic;
  attempt.partition = one.index;
  attempt.bytes = one.records;
  std::vector<log_record> records;
  if (one.records.size() >= batch_header_bytes) {
    const auto header = read_batch_header(one.records);
    attempt.producer_id = header.producer_id;
    attempt.producer_epoch = header.producer_epoch;
    attempt.base_sequence = header.base_sequence;
    attempt.record_count = header.record_count;
    attempt.checksum = header.checksum;
    std::int64_t next = 0;
    const auto keep = [&](const log_record& record) { records.push_back(record); };
    if (script->reads_records() && !visit_records(one.records, keep, next)) records.clear();
  }
  attempt.records = records;
  return script->on_seen(attempt);
}

void produce_service::tell_executed(const part& one, const produce_result& result) {
  if (auto* script = core_.script())
    script->on_executed({one.number, result.code, result.base_offset,
                         result.committed_at >= 0 && !result.deduplicated, result.deduplicated});
}

void produce_service::tell_answered(const operation& work) {
  auto* script = core_.script();
  if (script == nullptr) return;
  for (const auto& one : work.parts)
    script->on_answered({one.number, one.result.code, one.result.base_offset});
}

}  // namespace partita::testing
