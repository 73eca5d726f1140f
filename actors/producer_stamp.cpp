#include "actors/producer_stamp.hpp"

#include <partita/contract.hpp>

namespace partita::actors {
namespace {

// Sequences live in [0, 2^31 - 1]; with this mask unsigned arithmetic wraps where Kafka's does.
constexpr std::uint32_t sequence_mask = 0x7fffffffU;

constexpr std::uint32_t bits(std::int32_t value) { return static_cast<std::uint32_t>(value); }

constexpr std::int32_t wrapped(std::uint32_t value) {
  return static_cast<std::int32_t>(value & sequence_mask);
}

}  // namespace

sequence sequence_after(sequence from, std::int32_t count) {
  PARTITA_EXPECTS(from.value >= 0, from.value);
  PARTITA_EXPECTS(count >= 0, count);
  return wrapped(bits(from.value) + bits(count));
}

std::int32_t sequence_distance(sequence from, sequence to) {
  PARTITA_EXPECTS(from.value >= 0 && to.value >= 0, from.value, to.value);
  return wrapped(bits(to.value) - bits(from.value));
}

sequence last_sequence(const batch_stamp& stamp, std::int32_t count) {
  PARTITA_EXPECTS(count > 0, count);
  if (!stamp.idempotent()) return {};
  return sequence_after(stamp.base, count - 1);
}

producer_stamp::producer_stamp(producer_id id, producer_epoch epoch, sequence next)
    : id_(id), epoch_(epoch), next_(next) {
  PARTITA_EXPECTS(id.value >= 0, id.value);
  PARTITA_EXPECTS(epoch.value >= 0, epoch.value);
  PARTITA_EXPECTS(next.value >= 0, next.value);
}

batch_stamp producer_stamp::take(std::int32_t count) {
  PARTITA_EXPECTS(count > 0, count);
  if (!idempotent()) return batch_stamp::none();
  const batch_stamp taken{id_, epoch_, next_};
  next_ = sequence_after(next_, count);
  PARTITA_ASSERT(next_ != taken.base, next_.value, count);
  return taken;
}

producer_stamp producer_stamp::bumped() const {
  PARTITA_EXPECTS(idempotent());
  PARTITA_EXPECTS(!exhausted(), id_.value);
  return producer_stamp{id_, static_cast<std::int16_t>(epoch_.value + 1), 0};
}

}  // namespace partita::actors
