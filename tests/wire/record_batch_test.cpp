#include "wire/record_batch.hpp"

#include "tests/wire/hex.hpp"
#include "tests/wire/sample_records.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace partita::wire {
namespace {

TEST(RecordBatch, EqualsTheExampleByteForByte) {
  batch_builder builder;
  append_example_records(builder);
  const sealed_batch batch = builder.seal(example_stamp);
  EXPECT_EQ(to_hex(batch.bytes().flatten()), std::string(example_batch_hex));
  EXPECT_EQ(batch.crc(), 0xa3e6b7e4u);
  EXPECT_EQ(batch.size(), 98u);
  EXPECT_EQ(batch.count(), 3);
  EXPECT_EQ(batch.base_timestamp(), 1700000000000);
  EXPECT_EQ(batch.max_timestamp(), 1700000000005);
  EXPECT_EQ(batch.stamp(), example_stamp);
}

TEST(RecordBatch, TransactionalBitIsSetOnRequest) {
  batch_builder builder;
  append_example_records(builder);
  const auto header =
      parse_batch_header(builder.seal(example_stamp, codec::none, 0, true).bytes().flatten());
  ASSERT_TRUE(header);
  EXPECT_TRUE(header->transactional());
  EXPECT_FALSE(header->control());
}

TEST(RecordBatch, SizeIsExactBeforeAndAfterEveryRecord) {
  std::mt19937 draw(5);
  segment_pool pool;
  for (int round = 0; round < 20; ++round) {
    batch_builder builder(&pool);
    EXPECT_EQ(builder.size(), batch_header_size);
    for (const stored_record& stored : random_records(draw, 200, 300)) {
      std::vector<header> headers;
      for (const auto& [key, value] : stored.headers) headers.push_back({key, value});
      const auto tail =
          tail_of({.topic = {}, .key = stored.key, .value = stored.value, .headers = headers});
      const std::size_t promised = builder.size_with(stored.timestamp_ms, tail.size());
      if (builder.empty()) {
        EXPECT_EQ(promised, batch_builder::size_alone(tail.size()));
      }
      builder.append(stored.timestamp_ms, tail);
      ASSERT_EQ(builder.size(), promised);
    }
    const std::size_t size = builder.size();
    const sealed_batch batch = builder.seal(example_stamp);
    EXPECT_EQ(batch.size(), size);
    EXPECT_EQ(batch.uncompressed_size(), size);
    EXPECT_EQ(batch.bytes().flatten().size(), size);
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(RecordBatch, ABuilderStartsAfreshAfterSealing) {
  segment_pool pool;
  batch_builder builder(&pool);
  append_example_records(builder);
  const auto first = builder.seal(example_stamp);
  EXPECT_TRUE(builder.empty());
  EXPECT_EQ(builder.footprint(), 0u);
  append_example_records(builder);
  const auto second = builder.seal(example_stamp);
  EXPECT_EQ(to_hex(first.bytes().flatten()), to_hex(second.bytes().flatten()));
}

TEST(RecordBatch, AnEmptyBuilderHoldsNoMemory) {
  segment_pool pool;
  const batch_builder builder(&pool);
  EXPECT_EQ(builder.footprint(), 0u);
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(RecordBatch, NotIdempotentIsAllMinusOne) {
  batch_builder builder;
  append_example_records(builder);
  const auto header = parse_batch_header(builder.seal(batch_stamp::none()).bytes().flatten());
  ASSERT_TRUE(header);
  EXPECT_EQ(header->producer_id, producer_id(-1));
  EXPECT_EQ(header->producer_epoch, producer_epoch(-1));
  EXPECT_EQ(header->base_sequence, sequence(-1));
}

TEST(RecordBatch, RestampEqualsSealingWithThatStamp) {
  const batch_stamp other{std::numeric_limits<std::int64_t>::max(), 32767, 2147483647};
  for (const codec which : {codec::none, codec::lz4}) {
    batch_builder builder;
    for (const stored_record& stored : golden_records()) append(builder, stored);
    sealed_batch changed = builder.seal(example_stamp, which);
    for (const stored_record& stored : golden_records()) append(builder, stored);
    const sealed_batch expected = builder.seal(other, which);
    EXPECT_NE(changed.crc(), expected.crc());
    changed.restamp(other);
    EXPECT_EQ(changed.stamp(), other);
    EXPECT_EQ(changed.crc(), expected.crc());
    EXPECT_EQ(to_hex(changed.bytes().flatten()), to_hex(expected.bytes().flatten()));
  }
}

TEST(RecordBatch, CompressionThatWouldEnlargeIsLeftOut) {
  for (const codec which : {codec::gzip, codec::snappy, codec::lz4, codec::zstd}) {
    batch_builder builder;
    append(builder, 1, {.topic = {}, .key = std::nullopt, .value = "x"});
    const std::size_t size = builder.size();
    const sealed_batch batch = builder.seal(example_stamp, which, levels_of(which).preset);
    EXPECT_EQ(batch.codec(), codec::none);
    EXPECT_EQ(batch.size(), size);
    const auto header = parse_batch_header(batch.bytes().flatten());
    ASSERT_TRUE(header);
    EXPECT_EQ(header->codec_number(), 0);
  }
}

TEST(RecordBatch, EveryCodecAndLevelReadsBack) {
  std::mt19937 draw(6);
  segment_pool pool;
  for (const codec which : {codec::none, codec::gzip, codec::snappy, codec::lz4, codec::zstd}) {
    const level_range levels = levels_of(which);
    // The lowest zstd levels trade all compression for speed; -5 still compresses.
    const int first = which == codec::zstd ? -5 : levels.first;
    for (const int level : {first, levels.preset, levels.last}) {
      const auto records = random_records(draw, 400, 500);
      batch_builder builder(&pool);
      for (const stored_record& stored : records) append(builder, stored);
      const sealed_batch batch = builder.seal(example_stamp, which, level);
      EXPECT_EQ(batch.codec(), which) << level;
      if (which != codec::none) {
        EXPECT_LT(batch.size(), batch.uncompressed_size());
      }
      const auto bytes = batch.bytes().flatten();
      record_reader reader(bytes);
      EXPECT_EQ(read_all(reader), records);
      EXPECT_FALSE(reader.error());
      EXPECT_EQ(reader.header().stamp(), example_stamp);
      EXPECT_EQ(reader.header().records_count, 400);
      EXPECT_EQ(reader.header().last_offset_delta, 399);
    }
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(RecordBatch, ARecordLargerThanABlockIsKept) {
  const std::string value(5 * segment_bytes + 17, 'v');
  batch_builder builder;
  append(builder, 1, {.topic = {}, .key = "k", .value = value});
  const auto bytes = builder.seal(example_stamp).bytes().flatten();
  record_reader reader(bytes);
  const auto records = read_all(reader);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].value, value);
}

}  // namespace
}  // namespace partita::wire
