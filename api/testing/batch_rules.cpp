#include "api/testing/batch_rules.hpp"

#include <algorithm>
#include <utility>

namespace partita::testing {
namespace {

constexpr std::int32_t smallest_length = 14;  // the overhead of a magic 0 record
constexpr std::size_t up_to_magic = 17;
constexpr int codec_zstd = 4;

enum class next_batch : std::uint8_t { none, found, impossible };

struct batch_scan {
  byte_view rest;
  byte_view batch{};

  // A batch that is cut short counts as none; a length or magic that no batch can have is
  // corruption.
  next_batch next() {
    if (rest.size() < batch_prefix_bytes) return next_batch::none;
    std::int32_t length = 0;
    for (std::size_t i = 8; i < 12; ++i)
      length = static_cast<std::int32_t>(static_cast<std::uint32_t>(length) << 8 |
                                         std::to_integer<std::uint32_t>(rest[i]));
    if (length < smallest_length) return next_batch::impossible;
    if (rest.size() < up_to_magic) return next_batch::none;
    const auto magic = std::to_integer<std::int8_t>(rest[16]);
    if (magic < 0 || magic > 2) return next_batch::impossible;
    const auto size = static_cast<std::size_t>(length) + batch_prefix_bytes;
    if (rest.size() < size) return next_batch::none;
    batch = rest.first(size);
    rest = rest.subspan(size);
    return next_batch::found;
  }
};

refusal invalid_record() { return {broker_errc::invalid_record, true}; }

refusal impossible_batch() {
  return {broker_errc::corrupt_message, false, "a batch with an impossible length or magic", {}};
}

// The batch as a whole, by its header.
refusal check_header(const batch_header& header) {
  const auto counted = std::int64_t{header.last_offset_delta} + 1;
  if (counted <= 0 || header.record_count <= 0 || counted != header.record_count)
    return invalid_record();
  if (header.control()) return invalid_record();
  if (header.producer_id >= 0 && header.base_sequence < 0) return invalid_record();
  return {};
}

struct record_check {
  const batch_header& header;
  const topic_settings& settings;
  std::int64_t now_ms;

  [[nodiscard]] std::int64_t timestamp(const parsed_record& record) const noexcept {
    if ((header.attributes & attribute_log_append_time) != 0) return header.max_timestamp;
    return header.base_timestamp + record.timestamp_delta;
  }

  // None, 87 or 32 for one record.
  [[nodiscard]] broker_errc operator()(const parsed_record& record) const {
    if (settings.compacted && !record.key) return broker_errc::invalid_record;
    const auto time = timestamp(record);
    if (!settings.log_append_time && time != -1) {
      const bool too_old = now_ms - time > settings.timestamp_before_max_ms;
      const bool too_new = time - now_ms > settings.timestamp_after_max_ms;
      if (too_old || too_new) return broker_errc::invalid_timestamp;
    } else if ((header.attributes & attribute_log_append_time) != 0) {
      return broker_errc::invalid_timestamp;
    }
    return broker_errc::none;
  }
};

refusal check_records(const record_check& check, const std::vector<parsed_record>& records) {
  refusal result;
  bool timestamps = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto code = check(records[i]);
    if (code == broker_errc::none) continue;
    timestamps = timestamps || code == broker_errc::invalid_timestamp;
    result.record_faults.push_back(
        {static_cast<std::int32_t>(i), code == broker_errc::invalid_record
                                           ? "a record without a key on a compacted topic"
                                           : "a timestamp outside of the allowed range"});
  }
  if (result.record_faults.empty()) return {};
  result.code = timestamps ? broker_errc::invalid_timestamp : broker_errc::invalid_record;
  result.shows_log_start = true;
  result.message = "one or more records have been rejected";
  return result;
}

// What the broker writes into the batch: the time type of the topic and the true largest timestamp.
void settle_timestamps(checked_batch& batch, const record_check& check,
                       const std::vector<parsed_record>& records) {
  auto attributes = static_cast<std::int16_t>(batch.header.attributes & ~attribute_log_append_time);
  auto newest = check.now_ms;
  if (check.settings.log_append_time) {
    attributes = static_cast<std::int16_t>(attributes | attribute_log_append_time);
  } else {
    newest = std::int64_t{-1};
    for (const auto& record : records) newest = std::max(newest, check.timestamp(record));
  }
  if (attributes != batch.header.attributes || newest != batch.header.max_timestamp)
    patch_timestamps(batch.bytes, attributes, newest);
}

}  // namespace

framed_batch check_framing(byte_view records, int produce_version) {
  batch_scan scan{records};
  const auto first = scan.next();
  if (first == next_batch::impossible) return {impossible_batch(), {}};
  if (first == next_batch::none) return {{broker_errc::invalid_record}, {}};
  const auto batch = scan.batch;
  if (std::to_integer<int>(batch[16]) != 2) return {{broker_errc::invalid_record}, {}};
  if (batch.size() >= 23 && produce_version < 7 &&
      (std::to_integer<int>(batch[22]) & attribute_codec) == codec_zstd)
    return {{broker_errc::unsupported_compression_type}, {}};
  const auto second = scan.next();
  if (second == next_batch::impossible) return {impossible_batch(), {}};
  if (second == next_batch::found) return {{broker_errc::invalid_record}, {}};
  return {{}, batch};
}

checked_batch check_batch(byte_view batch, const topic_settings& settings, std::int64_t now_ms) {
  checked_batch result;
  const bool at_zero =
      std::all_of(batch.begin(), batch.begin() + 8, [](std::byte b) { return b == std::byte{}; });
  if (!at_zero) {
    result.refused = invalid_record();
  } else if (std::cmp_greater(batch.size(), settings.max_message_bytes)) {
    result.refused = {broker_errc::message_too_large};
  } else if (batch.size() < batch_header_bytes) {
    result.refused = {broker_errc::corrupt_message};
  }
  if (result.refused.refused()) return result;

  result.header = read_batch_header(batch);
  if (batch_checksum(batch) != result.header.checksum) {
    result.refused = {broker_errc::corrupt_message};
    return result;
  }
  result.refused = check_header(result.header);
  if (result.refused.refused()) return result;

  const auto unpacked = unpack(batch, result.header);
  if (unpacked.error != unpack_error::none) {
    result.refused = {unpacked.error == unpack_error::codec ? broker_errc::unknown_server_error
                                                            : broker_errc::invalid_record,
                      true};
    return result;
  }
  const record_check check{result.header, settings, now_ms};
  result.refused = check_records(check, unpacked.records);
  if (result.refused.refused()) return result;

  result.bytes.assign(batch.begin(), batch.end());
  settle_timestamps(result, check, unpacked.records);
  if (settings.codec >= 0 && settings.codec != result.header.codec()) {
    const auto stamped = read_batch_header(result.bytes);
    auto other = recompress(result.bytes, stamped, settings.codec);
    if (!other) {
      result.refused = {broker_errc::unknown_server_error, true};
      return result;
    }
    result.bytes = std::move(*other);
    if (std::cmp_greater(result.bytes.size(), settings.max_message_bytes)) {
      result.refused = {broker_errc::message_too_large};
      return result;
    }
  }
  if (std::cmp_greater(result.bytes.size(), settings.segment_bytes))
    result.refused = {broker_errc::record_list_too_large};
  return result;
}

}  // namespace partita::testing
