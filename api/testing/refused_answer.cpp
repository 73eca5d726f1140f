#include "api/testing/refused_answer.hpp"

namespace partita::testing {
namespace {

bool meant(const std::string& topic, const api_fault& fault) {
  return fault.topic.empty() || fault.topic == topic;
}

}  // namespace

void refuse(wire::api_versions_response& answer, const api_fault& fault) {
  answer.error_code = fault.code;
}

void refuse(wire::metadata_response& answer, const api_fault& fault) {
  for (auto& topic : answer.topics) {
    if (!meant(topic.name.value_or(""), fault)) continue;
    topic.error_code = fault.code;
    topic.partitions.clear();
  }
}

void refuse(wire::init_producer_id_response& answer, const api_fault& fault) {
  answer = {};
  answer.error_code = fault.code;
}

void refuse(wire::list_offsets_response& answer, const api_fault& fault) {
  for (auto& topic : answer.topics)
    if (meant(topic.name, fault))
      for (auto& part : topic.partitions) {
        const auto index = part.index;
        part = {};
        part.index = index;
        part.error_code = fault.code;
      }
}

void refuse(wire::describe_producers_response& answer, const api_fault& fault) {
  for (auto& topic : answer.topics)
    if (meant(topic.name, fault))
      for (auto& part : topic.partitions) {
        part.error_code = fault.code;
        part.producers.clear();
      }
}

void refuse(wire::fetch_response& answer, const api_fault& fault) {
  for (auto& topic : answer.topics)
    if (meant(topic.name, fault))
      for (auto& part : topic.partitions) {
        part.error_code = fault.code;
        part.records = byte_view{};
      }
}

void refuse(find_coordinator_response& answer, const api_fault& fault) {
  answer.error_code = fault.code;
  for (auto& one : answer.coordinators) one.error_code = fault.code;
}

void refuse(add_partitions_to_txn_response& answer, const api_fault& fault) {
  const auto each = [&](auto& topics) {
    for (auto& topic : topics)
      for (auto& part : topic.partitions) part.error_code = fault.code;
  };
  each(answer.topics);
  for (auto& one : answer.transactions) each(one.topics);
}

void refuse(end_txn_response& answer, const api_fault& fault) { answer.error_code = fault.code; }

}  // namespace partita::testing
