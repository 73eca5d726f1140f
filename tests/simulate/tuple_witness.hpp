// What brokers saw of each (producer id, epoch, sequence): the same numbers with other bytes are
// the loss that a broker can not notice (I12).
//
// Invariants
// 1. It looks only; faults and the broker's rules decide.
//
// Threads: that of the simulation.
#pragma once

#include <partita/testing/attempt.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace partita::simulate {

class tuple_witness final : public testing::attempt_script {
 public:
  std::optional<testing::fault> on_seen(const testing::produce_attempt& attempt) override {
    if (!attempt.producer_id.known()) return std::nullopt;
    const numbers key{attempt.topic, attempt.partition.value, attempt.producer_id.value,
                      attempt.producer_epoch.value, attempt.base_sequence.value};
    const contents now{attempt.checksum, attempt.record_count};
    const auto [known, fresh] = seen_.emplace(key, now);
    if (!fresh && known->second != now)
      reused_.push_back("partition " + std::to_string(attempt.partition.value) + " id " +
                        std::to_string(attempt.producer_id.value) + " epoch " +
                        std::to_string(attempt.producer_epoch.value) + " sequence " +
                        std::to_string(attempt.base_sequence.value) + " with other bytes");
    return std::nullopt;
  }
  void on_executed(const testing::attempt_result&) override {}
  void on_answered(const testing::attempt_answer&) override {}

  [[nodiscard]] const std::vector<std::string>& reused() const noexcept { return reused_; }

 private:
  using numbers = std::tuple<std::string, std::int32_t, std::int64_t, std::int16_t, std::int32_t>;
  using contents = std::pair<std::uint32_t, std::int32_t>;
  std::map<numbers, contents> seen_;
  std::vector<std::string> reused_;
};

}  // namespace partita::simulate
