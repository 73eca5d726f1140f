// Records that are refused before they are buffered: why, and what is left of them.
#include "api/producer_body.hpp"

#include "actors/halted_keys.hpp"
#include "actors/refused_record.hpp"
#include "api/refusal_line.hpp"
#include "wire/record_batch.hpp"

#include <utility>

namespace partita::detail {
std::string producer_body::detail_of(const record& what, client_errc code) const {
  if (code == client_errc::invalid_partition && !what.partition)
    return std::string(actors::no_partition_text);
  if (code != client_errc::record_too_large) return {};
  return actors::too_large_text(actors::refused_size{wire::record_tail_size(what)},
                                config_.max_request_size_bytes, shared_.room.capacity());
}

void producer_body::answer_at_once(const record& what, actors::completion_slot slot,
                                   client_errc code, std::error_code cause,
                                   std::string_view detail) {
  refusals_->tell({.fate = fate::not_written,
                   .code = code,
                   .cause = cause,
                   .ended_by = actors::limit_of(code),
                   .topic = std::string(what.topic),
                   .partition = what.partition.value_or(partition_id()),
                   .detail = detail.empty() ? detail_of(what, code) : std::string(detail)},
                  slot);
}

void producer_body::refuse_closed(const record& what, actors::completion_slot slot,
                                  owned_record copy) {
  {
    const std::lock_guard lock(closings_mutex_);
    closed_waiters_.push_back(std::move(copy));
  }
  answer_at_once(what, slot, client_errc::closed);
}

std::vector<owned_record> producer_body::take_closed_waiters() {
  const std::lock_guard lock(closings_mutex_);
  return std::exchange(closed_waiters_, {});
}

/// What a refused record leaves: its key, for the choice of its partition and for the halt, and its
/// size. What is told of a halted key needs no room in the budget: who waited in vain for some
/// would else halt a key that nobody can name. Null: there is no room for all of it, which the
/// choice of a partition needs.
actors::record_node* producer_body::refused_node(const record& what, bool needs_key) noexcept {
  constexpr std::size_t key_bytes_max = 64 * 1024;
  const actors::refused_size size_note{wire::record_tail_size(what)};
  record left;
  left.key = what.key;
  left.value = size_note.as_value();
  std::size_t size = wire::record_tail_size(left);
  const std::uint64_t cost = actors::record_cost(size);
  const bool paid = size <= key_bytes_max && shared_.room.try_take(cost);
  if (!paid && needs_key) return nullptr;
  if (!paid && left.key) {
    left.key = left.key->substr(0, actors::halted_keys::key_bytes_max);
    size = wire::record_tail_size(left);
  }
  actors::record_node* node = actors::make_record_node(left, static_cast<std::uint32_t>(size));
  if (node == nullptr && paid) shared_.room.give_back(cost);
  if (node == nullptr && needs_key) return nullptr;
  if (node == nullptr) node = actors::allocate_record_node(0);
  if (node == nullptr) return nullptr;
  if (!paid || node->tail_size == 0) node->weight = 0;
  node->key_hash = actors::key_hash_of(what.key);  // of all of it: so it is recovered
  return node;
}

void producer_body::refuse(const record& what, actors::completion_slot slot, client_errc code) {
  if (code == client_errc::invalid_topic)
    answer_at_once(what, slot, code);
  else
    refuse_in_turn(what, slot, code);
}

}  // namespace partita::detail
