#include "api/testing/log_cleaner.hpp"

#include "api/testing/batch_records.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace partita::testing {
namespace {

void put_varint(std::vector<std::byte>& to, std::int64_t value) {
  auto left = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  for (; left >= 0x80; left >>= 7) to.push_back(static_cast<std::byte>(left & 0x7f | 0x80));
  to.push_back(static_cast<std::byte>(left));
}

void put_text(std::vector<std::byte>& to, const std::optional<std::string_view>& text) {
  put_varint(to, text ? static_cast<std::int64_t>(text->size()) : -1);
  if (!text) return;
  const auto bytes = std::as_bytes(std::span{text->data(), text->size()});
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void put_record(std::vector<std::byte>& to, const parsed_record& record,
                std::int64_t timestamp_delta) {
  std::vector<std::byte> body{std::byte{0}};  // attributes
  put_varint(body, timestamp_delta);
  put_varint(body, record.offset_delta);
  put_text(body, record.key);
  put_text(body, record.value);
  put_varint(body, static_cast<std::int64_t>(record.headers.size()));
  for (const auto& [key, value] : record.headers) {
    put_text(body, key);
    put_text(body, value);
  }
  put_varint(to, static_cast<std::int64_t>(body.size()));
  to.insert(to.end(), body.begin(), body.end());
}

bool is_cleanable(const stored_batch& batch, std::int64_t before) {
  return batch.last_offset() < before && !batch.header.control() && !batch.header.transactional();
}

/// The offset of the last record of each key.
std::map<std::string, std::int64_t> last_of_keys(const std::deque<batch_pointer>& batches,
                                                 std::int64_t before) {
  std::map<std::string, std::int64_t> last;
  for (const auto& batch : batches) {
    if (!is_cleanable(*batch, before)) continue;
    for (const auto& record : unpack(batch->bytes, batch->header).records)
      if (record.key) last[std::string{*record.key}] = batch->first_offset() + record.offset_delta;
  }
  return last;
}

/// What is told of producers comes from their newest batches.
bool is_newest_of_producer(const stored_batch& batch, const producer_state& producers) {
  const auto* known = producers.find(batch.header.producer_id);
  return known != nullptr && !known->window.empty() &&
         known->window.back().last_offset == batch.last_offset();
}

batch_pointer thinned(const stored_batch& batch, const std::vector<const parsed_record*>& kept) {
  batch_header header = batch.header;
  header.record_count = static_cast<std::int32_t>(kept.size());
  std::vector<std::byte> payload;
  if (kept.empty()) {
    header.attributes = static_cast<std::int16_t>(header.attributes & ~attribute_codec);
    header.base_timestamp = header.max_timestamp;
  } else {
    const auto time = [&](const parsed_record* one) {
      return batch.header.base_timestamp + one->timestamp_delta;
    };
    header.base_timestamp = time(kept.front());
    for (const auto* one : kept) put_record(payload, *one, time(one) - header.base_timestamp);
    const auto latest = std::max_element(kept.begin(), kept.end(),
                                         [&](auto* a, auto* b) { return time(a) < time(b); });
    if ((header.attributes & attribute_log_append_time) == 0) header.max_timestamp = time(*latest);
  }
  auto bytes = with_records(batch.bytes, header, payload);
  PARTITA_ASSERT(bytes.has_value());
  auto made = std::make_shared<stored_batch>();
  made->bytes = std::move(*bytes);
  made->header = read_batch_header(made->bytes);
  made->serial = batch.serial;
  return made;
}

}  // namespace

cleaning clean(const std::deque<batch_pointer>& batches, std::int64_t before,
               const producer_state& producers) {
  if (!batches.empty()) before = std::min(before, batches.back()->first_offset());
  const auto last = last_of_keys(batches, before);
  cleaning done;
  for (const auto& batch : batches) {
    if (!is_cleanable(*batch, before)) {
      done.left.push_back(batch);
      continue;
    }
    const auto unpacked = unpack(batch->bytes, batch->header);
    std::vector<const parsed_record*> kept;
    for (const auto& record : unpacked.records) {
      const auto offset = batch->first_offset() + record.offset_delta;
      if (record.key && last.at(std::string{*record.key}) == offset)
        kept.push_back(&record);
      else
        done.removed.push_back(record_of(batch->header, record));
    }
    if (kept.size() == unpacked.records.size() && !kept.empty())
      done.left.push_back(batch);
    else if (!kept.empty() || is_newest_of_producer(*batch, producers))
      done.left.push_back(thinned(*batch, kept));
    else
      done.gone.push_back(batch);
  }
  return done;
}

}  // namespace partita::testing
