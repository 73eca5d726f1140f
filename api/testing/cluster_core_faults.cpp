// The part of cluster_core that answers worse than the truth: faults of all APIs but Produce.
#include "api/testing/cluster_core.hpp"
#include "api/testing/spoiled_frame.hpp"

namespace partita::testing {

const api_fault* cluster_core::choose_fault(connection_id id, std::int16_t key,
                                            std::int32_t broker) {
  auto hit = api_faults_.next(key, broker, state_.draws());
  if (!hit) return nullptr;
  ++counters_.faults_hit;
  return &(hits_[id] = std::move(*hit));
}

const api_fault* cluster_core::refusal_of(connection_id id) const noexcept {
  const auto found = hits_.find(id);
  return found == hits_.end() || found->second.reply != reply::error ? nullptr : &found->second;
}

// True when a fault decides how this answer goes out.
bool cluster_core::answer_badly(connection_id id, std::vector<std::byte>& bytes) {
  const auto found = hits_.find(id);
  if (found == hits_.end()) return false;
  auto hit = std::move(found->second);
  hits_.erase(found);
  if (hit.answer_after.count() > 0) {
    const auto wait = std::chrono::nanoseconds{hit.answer_after}.count();
    at(now_().steady_ns + wait,
       [this, id, hit, late = std::make_shared<std::vector<std::byte>>(std::move(bytes))] {
         send_badly(id, hit, std::move(*late));
       });
  } else {
    send_badly(id, hit, std::move(bytes));
  }
  return true;
}

void cluster_core::send_badly(connection_id id, const api_fault& hit,
                              std::vector<std::byte> bytes) {
  constexpr std::size_t last_of_id = 7;
  switch (hit.reply) {
    case reply::close_before:
    case reply::reset:
      close(id, hit.reply == reply::reset);
      return;
    case reply::never:
      block(id);
      return;
    case reply::lost:
      silence(id);
      reply_nothing(id);
      return;
    case reply::close_after:
      send_only(id, std::move(bytes));
      close(id, false);
      return;
    case reply::cut_answer:
      spoil(bytes, hit.reply, hit.cut_at, state_.draws());
      send_only(id, std::move(bytes));
      close(id, true);
      return;
    case reply::wrong_correlation_id:
      bytes[last_of_id] ^= std::byte{1};
      break;
    case reply::truncated:
    case reply::garbage:
      spoil(bytes, hit.reply, hit.cut_at, state_.draws());
      break;
    case reply::truthful:
    case reply::error:
      break;
  }
  if (hit.throttle.count() > 0) {
    send_only(id, std::move(bytes));
    at(now_().steady_ns + std::chrono::nanoseconds{hit.throttle}.count(),
       [this, id] { reply_nothing(id); });
  } else {
    reply(id, std::move(bytes));
  }
}

}  // namespace partita::testing
