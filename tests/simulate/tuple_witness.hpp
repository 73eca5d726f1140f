// What brokers saw of each (producer id, epoch, sequence): the same numbers with other bytes are
// the loss that a broker can not notice (I12).
//
// Invariants
// 1. It looks only; faults and the broker's rules decide.
//
// Threads: that of the simulation.
#pragma once

#include "tests/simulate/subject.hpp"

#include <partita/testing/attempt.hpp>
#include <partita/testing/virtual_time.hpp>

#include <chrono>
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
  tuple_witness(testing::virtual_time& time, const diary& trace) : time_(time), trace_(trace) {}

  [[nodiscard]] bool reads_records() const override { return trace_ != nullptr; }
  std::optional<testing::fault> on_seen(const testing::produce_attempt& attempt) override {
    if (trace_) {
      std::string what = "to broker " + std::to_string(attempt.broker.value) + " " +
                         std::string(attempt.topic) + "-" +
                         std::to_string(attempt.partition.value) + " epoch " +
                         std::to_string(attempt.producer_epoch.value) + " sequence " +
                         std::to_string(attempt.base_sequence.value) + ":";
      for (const testing::log_record& each : attempt.records)
        if (const auto named = subject::named_by(each.value.value_or("")))
          what += " " + std::to_string(named->first) + "#" + std::to_string(named->second);
      note(attempt.number, what);
    }
    // Nor is one looked at that names no topic of this cluster's.
    if (!attempt.producer_id.known() || attempt.topic.empty()) return std::nullopt;
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
  void on_executed(const testing::attempt_result& result) override {
    if (!trace_) return;
    note(result.number, (result.appended    ? "appended at "
                         : result.duplicate ? "known at "
                                            : "not appended, code ") +
                            std::to_string(result.appended || result.duplicate
                                               ? result.base_offset.value
                                               : static_cast<std::int64_t>(result.code)));
  }
  void on_answered(const testing::attempt_answer& answer) override {
    if (!trace_) return;
    note(answer.number, "answered " + std::to_string(static_cast<int>(answer.code)) + " base " +
                            std::to_string(answer.base_offset.value));
  }

  [[nodiscard]] const std::vector<std::string>& reused() const noexcept { return reused_; }

 private:
  void note(std::uint64_t number, const std::string& what) const {
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(time_.now());
    trace_(std::to_string(now.count()) + " ms    attempt " + std::to_string(number) + " " + what);
  }

  using numbers = std::tuple<std::string, std::int32_t, std::int64_t, std::int16_t, std::int32_t>;
  using contents = std::pair<std::uint32_t, std::int32_t>;
  testing::virtual_time& time_;
  const diary& trace_;
  std::map<numbers, contents> seen_;
  std::vector<std::string> reused_;
};

}  // namespace partita::simulate
