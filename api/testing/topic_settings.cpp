#include "api/testing/topic_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace partita::testing {
namespace {

template <class Number>
bool read_number(std::string_view text, std::int64_t least, Number& number) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least ||
      std::cmp_greater(value, std::numeric_limits<Number>::max()))
    return false;
  number = static_cast<Number>(value);
  return true;
}

bool read_flag(std::string_view text, bool& flag) {
  flag = text == "true";
  return flag || text == "false";
}

bool read_codec(std::string_view text, int& codec) {
  constexpr std::array<std::string_view, 5> names = {"uncompressed", "gzip", "snappy", "lz4",
                                                     "zstd"};
  if (text == "producer") return codec = -1, true;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return codec = static_cast<int>(i), true;
  return false;
}

/// What Kafka's topics have besides, up to 4.4. It changes nothing here.
bool is_without_effect(std::string_view name) {
  constexpr std::array<std::string_view, 27> names = {
      "compression.gzip.level",
      "compression.lz4.level",
      "compression.zstd.level",
      "delete.retention.ms",
      "file.delete.delay.ms",
      "flush.messages",
      "flush.ms",
      "follower.replication.throttled.replicas",
      "index.interval.bytes",
      "leader.replication.throttled.replicas",
      "local.retention.bytes",
      "local.retention.ms",
      "max.compaction.lag.ms",
      "message.downconversion.enable",
      "message.format.version",
      "message.timestamp.difference.max.ms",
      "min.cleanable.dirty.ratio",
      "min.compaction.lag.ms",
      "preallocate",
      "remote.log.copy.disable",
      "remote.log.delete.on.disable",
      "remote.storage.enable",
      "retention.bytes",
      "retention.ms",
      "segment.index.bytes",
      "segment.jitter.ms",
      "segment.ms",
  };
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Unset: no setting that changes something here.
std::optional<bool> read_known(std::string_view name, std::string_view value,
                               topic_settings& settings) {
  if (name == "max.message.bytes") return read_number(value, 0, settings.max_message_bytes);
  if (name == "message.timestamp.before.max.ms")
    return read_number(value, 0, settings.timestamp_before_max_ms);
  if (name == "message.timestamp.after.max.ms")
    return read_number(value, 0, settings.timestamp_after_max_ms);
  if (name == "min.insync.replicas") return read_number(value, 1, settings.min_in_sync);
  if (name == "segment.bytes") return read_number(value, 14, settings.segment_bytes);
  if (name == "compression.type") return read_codec(value, settings.codec);
  if (name == "unclean.leader.election.enable") return read_flag(value, settings.unclean_election);
  if (name == "partita.dedup.window") return read_number(value, 0, settings.dedup_window);
  if (name == "partita.demand.sequence.zero")
    return read_flag(value, settings.demand_sequence_zero);
  if (name == "message.timestamp.type") {
    settings.log_append_time = value == "LogAppendTime";
    return settings.log_append_time || value == "CreateTime";
  }
  if (name == "cleanup.policy") {
    settings.compacted = value.find("compact") != std::string_view::npos;
    return value == "delete" || value == "compact" || value == "compact,delete" ||
           value == "delete,compact";
  }
  return std::nullopt;
}

}  // namespace

topic_settings default_settings(emulation version) noexcept {
  topic_settings settings;
  settings.minimum_holds_high_watermark = version != emulation::kafka_2_4;
  if (version < emulation::kafka_4_2)  // KIP-1030
    settings.timestamp_after_max_ms = std::numeric_limits<std::int64_t>::max();
  return settings;
}

setting_read read_setting(std::string_view name, std::string_view value, topic_settings& settings) {
  if (const auto known = read_known(name, value, settings))
    return *known ? setting_read::taken : setting_read::wrong_value;
  return is_without_effect(name) ? setting_read::taken : setting_read::unknown;
}

}  // namespace partita::testing
