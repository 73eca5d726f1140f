// Kafka's numbers as distinct types, so that an offset can not be passed for a sequence.
#pragma once

#include <compare>
#include <cstdint>

namespace partita {

/// A number with a meaning. Reads implicitly from its representation so that literals stay short
/// (`.partition = 3`); never converts to another id.
template <class Tag, class Rep>
struct id {
  using rep = Rep;
  Rep value = Tag::none;

  constexpr id() noexcept = default;
  constexpr id(Rep number) noexcept : value(number) {}  // NOLINT: implicit by intent

  /// False for the tag's "none" value (Kafka's -1).
  [[nodiscard]] constexpr bool known() const noexcept { return value != Tag::none; }

  friend constexpr bool operator==(id, id) noexcept = default;
  friend constexpr auto operator<=>(id, id) noexcept = default;
};

struct partition_tag {
  static constexpr std::int32_t none = -1;
};
struct offset_tag {
  static constexpr std::int64_t none = -1;
};
struct broker_tag {
  static constexpr std::int32_t none = -1;
};
struct leader_epoch_tag {
  static constexpr std::int32_t none = -1;
};
struct producer_tag {
  static constexpr std::int64_t none = -1;
};
struct producer_epoch_tag {
  static constexpr std::int16_t none = -1;
};
struct sequence_tag {
  static constexpr std::int32_t none = -1;
};

using partition_id = id<partition_tag, std::int32_t>;     ///< index of a partition in its topic
using offset = id<offset_tag, std::int64_t>;              ///< position in a partition's log
using broker_id = id<broker_tag, std::int32_t>;           ///< Kafka's node id
using leader_epoch = id<leader_epoch_tag, std::int32_t>;  ///< rises with each leader of a partition
using producer_id = id<producer_tag, std::int64_t>;       ///< handed out by InitProducerId
using producer_epoch = id<producer_epoch_tag, std::int16_t>;  ///< 0 to 32767, bumped per partition
using sequence = id<sequence_tag, std::int32_t>;              ///< counts records, wraps at 2^31

/// A topic's identity (KIP-516): all zero when unknown. A recreated topic has another one.
struct topic_id {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  [[nodiscard]] constexpr bool known() const noexcept { return (high | low) != 0; }
  friend constexpr bool operator==(topic_id, topic_id) noexcept = default;
  friend constexpr auto operator<=>(topic_id, topic_id) noexcept = default;
};

}  // namespace partita
