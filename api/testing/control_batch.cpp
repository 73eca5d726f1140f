#include "api/testing/control_batch.hpp"

#include "api/testing/batch_bytes.hpp"

#include <array>

namespace partita::testing {
namespace {

// Big-endian, appended.
template <class Number>
void put(std::vector<std::byte>& to, Number value) {
  for (std::size_t i = sizeof value; i-- > 0;)
    to.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff));
}

// Behind the header: length, attributes, two deltas, key length; then version and kind.
constexpr std::size_t kind_at = batch_header_bytes + 5 + 2;

}  // namespace

std::vector<std::byte> make_marker(std::int64_t producer_id, std::int16_t epoch, bool commit,
                                   std::int64_t now_ms) {
  // The one record; its numbers are zig-zag varints of one byte each.
  std::vector<std::byte> record;
  for (const int byte : {0, 0, 0, 8}) record.push_back(static_cast<std::byte>(byte));
  put(record, std::int16_t{0});  // key: version, kind
  put(record, static_cast<std::int16_t>(commit ? 1 : 0));
  record.push_back(std::byte{12});
  put(record, std::int16_t{0});  // value: version, coordinator epoch
  put(record, coordinator_epoch);
  record.push_back(std::byte{0});  // no headers

  std::vector<std::byte> batch;
  const auto length = batch_header_bytes - batch_prefix_bytes + 1 + record.size();
  put(batch, std::int64_t{0});
  put(batch, static_cast<std::int32_t>(length));
  put(batch, std::int32_t{-1});  // leader epoch
  put(batch, std::int8_t{2});    // magic
  put(batch, std::uint32_t{0});  // checksum
  put(batch, static_cast<std::int16_t>(attribute_transactional | attribute_control));
  put(batch, std::int32_t{0});  // last offset delta
  put(batch, now_ms);
  put(batch, now_ms);
  put(batch, producer_id);
  put(batch, epoch);
  put(batch, std::int32_t{-1});  // base sequence
  put(batch, std::int32_t{1});   // records
  batch.push_back(static_cast<std::byte>(2 * record.size()));
  batch.insert(batch.end(), record.begin(), record.end());
  patch_timestamps(batch, attribute_transactional | attribute_control, now_ms);  // and the checksum
  return batch;
}

bool commits(const std::vector<std::byte>& marker) noexcept {
  return marker.size() > kind_at + 1 && marker[kind_at + 1] == std::byte{1};
}

}  // namespace partita::testing
