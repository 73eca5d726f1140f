// A record that failed without getting a partition, told to all partitions of its topic.
#include "actors/partition_actor.hpp"
#include "actors/topic_routes.hpp"

#include <string>

namespace partita::actors {
namespace {

struct key_failure_task final : partition_task {
  std::string key;
  std::error_code code;

  void run(partition_actor& at) override {
    at.key_failed(key, code);
    delete this;
  }
  void refuse() noexcept override { delete this; }
};

}  // namespace

void tell_key_failure(const partition_table& table, const std::optional<std::string_view>& key,
                      std::error_code code) {
  if (!key) return;
  for (const partition_table::entry& each : table.partitions) {
    auto* task = new key_failure_task;
    task->key = *key;
    task->code = code;
    if (!each.handle.push(*task)) task->refuse();
  }
}

}  // namespace partita::actors
