// The numbering of one partition: producer id, epoch and next sequence as one value.
//
// Kept as one value because a new epoch with an old sequence is refused for ever (KAFKA-12152), and
// because a batch takes its tuple in one step (L1).
//
// Invariants
// 1. Either all three parts are known, or none is: not idempotent.
// 2. The next sequence lies in [0, 2^31 - 1]; it only moves forward, modulo 2^31, by the records
// taken.
// 3. There is no way back: a bumped stamp starts at sequence 0 of the next epoch.
//
// Threads: a plain value, owned by its partition.
#pragma once

#include "wire/batch_stamp.hpp"

#include <partita/contract.hpp>
#include <partita/ids.hpp>

#include <cstdint>

namespace partita::actors {

using wire::batch_stamp;

/// Sequences live in [0, 2^31 - 1]: with this mask unsigned arithmetic wraps where Kafka's does.
inline constexpr std::uint32_t sequence_mask = 0x7fffffffU;

/// `from` + `count` modulo 2^31. `count` >= 0.
[[nodiscard]] inline sequence sequence_after(sequence from, std::int32_t count) {
  PARTITA_EXPECTS(from.value >= 0, from.value);
  PARTITA_EXPECTS(count >= 0, count);
  const auto sum = static_cast<std::uint32_t>(from.value) + static_cast<std::uint32_t>(count);
  return static_cast<std::int32_t>(sum & sequence_mask);
}

/// How many records lie between `from` (included) and `to` (excluded), modulo 2^31.
[[nodiscard]] inline std::int32_t sequence_distance(sequence from, sequence to) {
  PARTITA_EXPECTS(from.value >= 0 && to.value >= 0, from.value, to.value);
  const auto apart = static_cast<std::uint32_t>(to.value) - static_cast<std::uint32_t>(from.value);
  return static_cast<std::int32_t>(apart & sequence_mask);
}

/// The sequence of the last of `count` records; smaller than the base where the batch straddles the
/// wrap. None when not idempotent. `count` > 0.
[[nodiscard]] sequence last_sequence(const batch_stamp& stamp, std::int32_t count);

class producer_stamp {
 public:
  /// The largest epoch is valid on data batches; only bumping it further is impossible.
  static constexpr std::int16_t last_epoch = 32767;

  /// Not idempotent: every batch is stamped (-1, -1, -1).
  constexpr producer_stamp() noexcept = default;
  [[nodiscard]] static constexpr producer_stamp none() noexcept { return {}; }

  /// A numbering that begins; `next` other than 0 is for tests of the wrap.
  explicit producer_stamp(producer_id id, producer_epoch epoch = 0, sequence next = 0);

  [[nodiscard]] constexpr bool idempotent() const noexcept { return id_.known(); }
  [[nodiscard]] constexpr producer_id id() const noexcept { return id_; }
  [[nodiscard]] constexpr producer_epoch epoch() const noexcept { return epoch_; }
  [[nodiscard]] constexpr sequence next() const noexcept { return next_; }

  /// True at the last epoch: the partition needs a new producer id instead of a bump. A new id
  /// fences nothing, so everything old must have been settled first (kafka-semantics 3.2).
  [[nodiscard]] constexpr bool exhausted() const noexcept { return epoch_.value == last_epoch; }

  /// The tuple of the next batch of `count` > 0 records; the numbering advances past it.
  [[nodiscard]] batch_stamp take(std::int32_t count);

  /// The next epoch at sequence 0. Not for an exhausted or a non-idempotent stamp.
  [[nodiscard]] producer_stamp bumped() const;

  friend constexpr bool operator==(const producer_stamp&, const producer_stamp&) noexcept = default;

 private:
  producer_id id_;
  producer_epoch epoch_;
  sequence next_;
};

}  // namespace partita::actors
