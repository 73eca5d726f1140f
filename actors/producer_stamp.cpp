#include "actors/producer_stamp.hpp"

namespace partita::actors {

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
