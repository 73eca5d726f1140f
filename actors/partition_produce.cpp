// Records that come as one control message (from a CAF actor) instead of one by one.
#include "actors/partition_actor.hpp"

#include "wire/record_batch.hpp"

#include <utility>

namespace partita::actors {
namespace {

/// Keeps the receiver of the reports alive until the last outcome was given, then goes.
class counted_target final : public completion_target {
 public:
  counted_target(std::shared_ptr<completion_target> to, std::size_t records)
      : to_(std::move(to)), left_(records) {}

  void complete(const completion_run& run) noexcept override {
    to_->complete(run);
    left_ -= run.size();
    if (left_ == 0) delete this;
  }

 private:
  std::shared_ptr<completion_target> to_;
  std::size_t left_;
};

record view_of(const owned_record& owned, std::vector<header>& headers) {
  headers.clear();
  for (const owned_header& each : owned.headers) headers.push_back({each.key, each.value});
  record view;
  view.topic = owned.topic;
  view.key = owned.key;
  view.value = owned.value;
  view.headers = headers;
  return view;
}

}  // namespace

void partition_actor::take_produced(control_command& asked) {
  auto& batch_of_records = std::get<produce_request>(asked.request);
  // The records are taken; what becomes of them is told by reports.
  asked.answer(control_done{});
  if (batch_of_records.records.empty()) return;
  auto* target = new counted_target(asked.reports, batch_of_records.records.size());
  std::vector<header> headers;
  std::uint64_t tag = batch_of_records.first_tag;
  for (const owned_record& owned : batch_of_records.records) {
    const record view = view_of(owned, headers);
    const auto size = static_cast<std::uint32_t>(wire::record_tail_size(view));
    const std::uint64_t cost = record_cost(size);
    const bool fits = cost <= shared_.room.capacity() && shared_.room.try_take(cost);
    record_node* node = fits ? make_record_node(view, size) : allocate_record_node(0);
    PARTITA_ASSERT(node != nullptr);
    node->weight = fits ? static_cast<std::uint32_t>(cost) : 0;
    node->flags = fits ? 0 : static_cast<std::uint16_t>(client_errc::buffer_full);
    node->key_hash = key_hash_of(view.key);
    node->target = target;
    node->data = tag++;
    node->timestamp_ms = owned.timestamp.time_since_epoch().count() != 0
                             ? owned.timestamp.time_since_epoch().count()
                             : wall_clock().count();
    node->admitted_ns = now().time_since_epoch().count();
    take_record(*node);
  }
}

}  // namespace partita::actors
