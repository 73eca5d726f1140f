// The topic settings that change what a broker answers to a producer.
//
// Threads: plain values.
#pragma once

#include <partita/error.hpp>
#include <partita/testing/cluster.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace partita::testing {

struct topic_settings {
  std::int64_t max_message_bytes = 1'048'588;
  bool log_append_time = false;
  std::int64_t timestamp_before_max_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t timestamp_after_max_ms = 3'600'000;  // KIP-1030, since 4.0
  bool compacted = false;
  std::int32_t min_in_sync = 1;
  std::int64_t segment_bytes = std::int64_t{1} << 30;
  /// -1: keep the producer's codec.
  int codec = -1;
  bool unclean_election = false;
  /// KAFKA-15583, since 3.7: the high watermark stands still below min.insync.replicas.
  bool minimum_holds_high_watermark = true;
  // Brokers of another make.
  std::size_t dedup_window = 5;
  bool demand_sequence_zero = false;
};

/// What a topic without settings of its own has, by version.
topic_settings default_settings(emulation version) noexcept;

enum class setting_read : std::uint8_t {
  taken,  ///< also one of Kafka's that changes nothing here, whatever its value
  unknown,
  wrong_value,
};

/// Takes one setting of a topic, by Kafka's name.
setting_read read_setting(std::string_view name, std::string_view value, topic_settings& settings);

}  // namespace partita::testing
