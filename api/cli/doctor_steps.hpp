// The steps of `partita doctor`. Each looks at one thing, and says what it saw.
//
// Invariants
// 1. Every step ends by its limit; only the system's name lookup has one of its own.
// 2. A step that failed says what to do about it.
//
// Threads: one.
#pragma once

#include "api/cli/exit_code.hpp"

#include <partita/testing/log_reader.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace partita::cli {

struct broker_address {
  std::string host;  ///< IPv6 without its brackets
  std::uint16_t port = 9092;

  /// As people write it.
  [[nodiscard]] std::string shown() const;
};

/// A list that validate() has accepted. Each server once.
[[nodiscard]] std::vector<broker_address> split_addresses(const std::string& bootstrap_servers);

struct step_verdict {
  std::string step;
  bool good = false;
  std::string saw;
  std::string hint;                ///< of one that failed
  exit_code code = exit_code::ok;  ///< what a run ends with that fails here
};

[[nodiscard]] step_verdict look_up_name(const broker_address& at);
[[nodiscard]] step_verdict open_connection(const broker_address& at,
                                           std::chrono::milliseconds limit);
/// Whether a Kafka broker answers there, and what it says about the topic: two verdicts, or one.
[[nodiscard]] std::vector<step_verdict> ask_about_topic(const broker_address& at,
                                                        const std::string& topic,
                                                        std::chrono::milliseconds limit,
                                                        testing::topic_description& found);
[[nodiscard]] step_verdict reach_leaders(const testing::topic_description& found,
                                         const std::string& topic, std::chrono::milliseconds limit);
[[nodiscard]] step_verdict judge_write_right(const testing::topic_description& found,
                                             const std::string& topic);

}  // namespace partita::cli
