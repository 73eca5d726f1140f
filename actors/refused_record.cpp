#include "actors/refused_record.hpp"

#include "actors/topic_routes.hpp"
#include "wire/record_batch.hpp"

#include <cstring>
#include <vector>

namespace partita::actors {

std::optional<refused_size> size_of_refused(const record_node& node) {
  if (node.tail_size == 0) return std::nullopt;
  record left;
  std::vector<header> headers;
  view_of(node, left, headers);
  refused_size size;
  if (!left.value || left.value->size() != sizeof size.tail_bytes) return std::nullopt;
  std::memcpy(&size.tail_bytes, left.value->data(), sizeof size.tail_bytes);
  return size;
}

std::string too_large_text(std::optional<refused_size> size, std::size_t request_bytes_max,
                           std::size_t memory_bytes) {
  if (!size) return "max.request.size is " + std::to_string(request_bytes_max);
  const auto tail = static_cast<std::size_t>(size->tail_bytes);
  const std::size_t alone = wire::batch_builder::size_alone(tail);
  if (alone > request_bytes_max)
    return "in a request by itself the record takes " + std::to_string(alone) +
           " bytes; max.request.size is " + std::to_string(request_bytes_max);
  return "the record takes " + std::to_string(record_cost(tail)) +
         " bytes of memory; buffer.memory is " + std::to_string(memory_bytes);
}

std::string detail_of_refused(const record_node& node, std::size_t request_bytes_max,
                              std::size_t memory_bytes) {
  if (static_cast<client_errc>(node.flags) != client_errc::record_too_large) return {};
  return too_large_text(size_of_refused(node), request_bytes_max, memory_bytes);
}

}  // namespace partita::actors
