#include <partita/partitioner.hpp>

#include "api/partitioner_hash.hpp"
#include "wire/crc32.hpp"

#include <partita/contract.hpp>

namespace partita {
namespace {

partition_id reduced(std::uint32_t hash, std::int32_t count) noexcept {
  return static_cast<std::int32_t>(hash % static_cast<std::uint32_t>(count));
}

/// Whether keys decide at all.
bool hashes_keys(partitioner_kind kind) noexcept {
  switch (kind) {
    case partitioner_kind::random:
    case partitioner_kind::round_robin:
    case partitioner_kind::sticky:
    case partitioner_kind::manual:
      return false;
    default:
      return true;
  }
}

}  // namespace

std::optional<partition_id> partition_of_key(partitioner_kind kind,
                                             std::optional<std::string_view> key,
                                             std::int32_t count) noexcept {
  PARTITA_EXPECTS_OR_SAY(count > 0, "partition_of_key() needs at least one partition", count);
  const std::string_view bytes = key.value_or(std::string_view{});
  switch (kind) {
    case partitioner_kind::murmur2_random:
      if (!key) return std::nullopt;
      [[fallthrough]];
    case partitioner_kind::murmur2:
      return reduced(masked(murmur2(bytes)), count);
    case partitioner_kind::consistent_random:
      // Unlike the others, librdkafka's default does not tell an empty key from none.
      if (bytes.empty()) return std::nullopt;
      [[fallthrough]];
    case partitioner_kind::consistent:
      return reduced(wire::crc32(bytes), count);
    case partitioner_kind::fnv1a_random:
      if (!key) return std::nullopt;
      [[fallthrough]];
    case partitioner_kind::fnv1a:
      return reduced(negated_if_negative(fnv1a(bytes)), count);
    case partitioner_kind::random:
    case partitioner_kind::round_robin:
    case partitioner_kind::sticky:
    case partitioner_kind::manual:
      break;
  }
  return std::nullopt;
}

std::string_view name_of(partitioner_kind kind) noexcept {
  switch (kind) {
    case partitioner_kind::murmur2_random:
      return "murmur2_random";
    case partitioner_kind::murmur2:
      return "murmur2";
    case partitioner_kind::consistent_random:
      return "consistent_random";
    case partitioner_kind::consistent:
      return "consistent";
    case partitioner_kind::fnv1a_random:
      return "fnv1a_random";
    case partitioner_kind::fnv1a:
      return "fnv1a";
    case partitioner_kind::random:
      return "random";
    case partitioner_kind::round_robin:
      return "round_robin";
    case partitioner_kind::sticky:
      return "sticky";
    case partitioner_kind::manual:
      return "manual";
  }
  return "unknown";
}

std::string partitioner_notice(const producer_config& config) {
  if (config.custom_partitioner != nullptr)
    return "partitioner in use: the application's own; warning: keys may land on other partitions "
           "than with Kafka's Java producer";
  const std::string start = "partitioner in use: " + std::string(name_of(config.partitioner));
  if (!hashes_keys(config.partitioner) || config.partitioner_ignore_keys)
    return start + (config.partitioner_ignore_keys ? ", keys ignored" : "") +
           "; warning: keys do not decide, unlike with Kafka's Java producer";
  const bool javas = config.partitioner == partitioner_kind::murmur2_random;
  if (javas) return start + " (the same as Kafka's Java producer)";
  if (config.partitioner == partitioner_kind::murmur2)
    return start +
           "; keys land where Kafka's Java producer puts them; warning: records without a "
           "key all go to one partition";
  return start +
         "; warning: keys land on other partitions than with Kafka's Java producer "
         "(partitioner=murmur2_random)";
}

}  // namespace partita
