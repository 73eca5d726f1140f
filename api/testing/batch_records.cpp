#include "api/testing/batch_records.hpp"

namespace partita::testing {

log_record record_of(const batch_header& header, const parsed_record& record) {
  const auto text = [](const auto& view) {
    return view ? std::optional<std::string>{std::string{*view}} : std::nullopt;
  };
  log_record made;
  made.offset = header.base_offset + record.offset_delta;
  made.producer_id = header.producer_id;
  made.producer_epoch = header.producer_epoch;
  if (header.base_sequence >= 0) {
    constexpr std::int64_t wrap = std::int64_t{1} << 31;
    made.sequence = static_cast<std::int32_t>(
        (std::int64_t{header.base_sequence} + record.offset_delta) % wrap);
  }
  made.key = text(record.key);
  made.value = text(record.value);
  for (const auto& [key, value] : record.headers)
    made.headers.push_back({std::string{key}, text(value)});
  const bool by_broker = (header.attributes & attribute_log_append_time) != 0;
  made.timestamp = partita::timestamp{std::chrono::milliseconds{
      by_broker ? header.max_timestamp : header.base_timestamp + record.timestamp_delta}};
  return made;
}

bool visit_records(byte_view batches, const std::function<void(const log_record&)>& visit,
                   std::int64_t& next) {
  while (batches.size() >= batch_header_bytes) {
    const auto header = read_batch_header(batches);
    if (header.batch_length < static_cast<std::int32_t>(batch_header_bytes - batch_prefix_bytes) ||
        header.magic != 2)
      return false;
    const auto size = static_cast<std::size_t>(header.batch_length) + batch_prefix_bytes;
    if (size > batches.size()) return true;  // brokers may cut the last one short
    const auto batch = batches.first(size);
    batches = batches.subspan(size);
    if (batch_checksum(batch) != header.checksum) return false;
    if (!header.control()) {
      const auto unpacked = unpack(batch, header);
      if (unpacked.error != unpack_error::none) return false;
      for (const auto& record : unpacked.records) visit(record_of(header, record));
    }
    next = header.base_offset + header.last_offset_delta + 1;
  }
  return true;
}

}  // namespace partita::testing
