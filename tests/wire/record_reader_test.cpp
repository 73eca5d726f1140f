#include "wire/record_reader.hpp"

#include "tests/wire/golden_file.hpp"
#include "tests/wire/hex.hpp"
#include "tests/wire/sample_records.hpp"
#include "wire/crc32c.hpp"
#include "wire/messages/produce.hpp"

#include <gtest/gtest.h>

namespace partita::wire {
namespace {

std::vector<std::byte> example() { return from_hex(example_batch_hex); }

/// Puts the right checksum on bytes that were tampered with.
void repair_checksum(std::vector<std::byte>& batch) {
  const std::uint32_t sum = crc32c(std::span(batch).subspan(21));
  for (std::size_t i = 0; i < 4; ++i)
    batch[17 + i] = static_cast<std::byte>(sum >> (8 * (3 - i)) & 0xff);
}

void put_length(std::vector<std::byte>& batch, std::uint32_t length) {
  for (std::size_t i = 0; i < 4; ++i)
    batch[8 + i] = static_cast<std::byte>(length >> (8 * (3 - i)) & 0xff);
}

TEST(BatchHeader, FieldsOfTheExample) {
  const auto header = parse_batch_header(example());
  ASSERT_TRUE(header);
  EXPECT_EQ(header->base_offset, 0);
  EXPECT_EQ(header->batch_length, 86);
  EXPECT_EQ(header->partition_leader_epoch, -1);
  EXPECT_EQ(header->magic, 2);
  EXPECT_EQ(header->crc, 0xa3e6b7e4u);
  EXPECT_EQ(header->attributes, 0);
  EXPECT_EQ(header->last_offset_delta, 2);
  EXPECT_EQ(header->base_timestamp, 1700000000000);
  EXPECT_EQ(header->max_timestamp, 1700000000005);
  EXPECT_EQ(header->stamp(), example_stamp);
  EXPECT_EQ(header->records_count, 3);
  EXPECT_TRUE(checksum_matches(*header, example()));
}

TEST(RecordReader, RecordsOfTheExample) {
  const auto bytes = example();
  record_reader reader(bytes);
  const std::vector<stored_record> expected = {
      {1700000000000, "k1", "v1", {}},
      {1700000000005, std::nullopt, "hello", {{"h", "x"}, {"n", std::nullopt}}},
      {1699999999997, "", std::nullopt, {}},
  };
  EXPECT_EQ(read_all(reader), expected);
  EXPECT_FALSE(reader.error());
}

TEST(RecordReader, OffsetsCountFromTheBase) {
  auto bytes = example();
  bytes[7] = std::byte{40};
  record_reader reader(bytes);
  record_view view;
  for (std::int64_t offset = 40; offset < 43; ++offset) {
    ASSERT_TRUE(reader.next(view));
    EXPECT_EQ(view.offset, offset);
  }
  EXPECT_FALSE(reader.next(view));
}

TEST(RecordReader, AppendTimeReplacesTheRecordsOwn) {
  auto bytes = example();
  bytes[22] = std::byte{0x08};
  repair_checksum(bytes);
  record_reader reader(bytes);
  record_view view;
  ASSERT_TRUE(reader.next(view));
  EXPECT_EQ(view.timestamp_ms, 1700000000005);
}

TEST(RecordReader, BatchesOfKafkaPythonInEveryCodec) {
  std::size_t batches = 0;
  for (const auto& words : golden_lines("kafka_python_batches")) {
    SCOPED_TRACE(words.at(0));
    const auto bytes = from_hex(words.at(1));
    record_reader reader(bytes);
    EXPECT_EQ(read_all(reader), golden_records());
    EXPECT_FALSE(reader.error());
    EXPECT_EQ(reader.header().stamp(), (batch_stamp{4242, 0, 0}));
    ++batches;
  }
  EXPECT_EQ(batches, 5u);
}

TEST(RecordReader, BatchesOfLibrdkafkaInEveryCodec) {
  std::vector<int> codecs;
  for (const auto& words : golden_lines("librdkafka")) {
    if (words.at(0) != "produce") continue;
    SCOPED_TRACE(words.at(2));
    const auto frame = from_hex(words.at(3));
    const auto parsed = parse_request_header(std::span(frame).subspan(4));
    const auto request = decode_request<produce_request>(7, parsed.body);
    ASSERT_TRUE(request.ok());
    record_reader reader(request.value.topics.at(0).partitions.at(0).records.view());
    auto records = read_all(reader);
    EXPECT_FALSE(reader.error());
    auto expected = golden_records();
    ASSERT_EQ(records.size(), expected.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      expected[i].timestamp_ms = records[i].timestamp_ms;  // the time at which it was recorded
      EXPECT_EQ(records[i], expected[i]);
    }
    EXPECT_EQ(reader.header().stamp(), (batch_stamp{4242, 0, 0}));
    codecs.push_back(reader.header().codec_number());
  }
  EXPECT_EQ(codecs, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(RecordBatch, EqualsTheUncompressedBatchOfKafkaPython) {
  const auto lines = golden_lines("kafka_python_batches");
  ASSERT_EQ(lines.at(0).at(0), "none");
  auto theirs = from_hex(lines[0].at(1));
  // It writes leader epoch 0, which the checksum does not cover.
  for (std::size_t i = 12; i < 16; ++i) theirs[i] = std::byte{0xff};
  batch_builder builder;
  for (const stored_record& stored : golden_records()) append(builder, stored);
  EXPECT_EQ(to_hex(builder.seal({4242, 0, 0}).bytes().flatten()), to_hex(theirs));
}

TEST(BatchReader, WalksBatchesAndLeavesACutOneAtTheEnd) {
  auto blob = example();
  const auto second = example();
  blob.insert(blob.end(), second.begin(), second.end());
  blob.insert(blob.end(), second.begin(), second.end() - 1);
  batch_reader reader(blob);
  EXPECT_TRUE(reader.next());
  EXPECT_TRUE(reader.next());
  EXPECT_EQ(reader.header().stamp(), example_stamp);
  EXPECT_EQ(reader.batch().size(), second.size());
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.truncated());
  EXPECT_FALSE(reader.error());
}

TEST(BatchReader, EveryTruncationEndsWithoutABatch) {
  const auto bytes = example();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::span<const std::byte> cut(bytes.data(), length);
    batch_reader reader(cut);
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.error());
    EXPECT_EQ(reader.truncated(), length != 0);
  }
}

TEST(BatchReader, ImpossibleLengthsAndOtherMagicsAreErrors) {
  for (const std::uint32_t length : {0u, 48u, 0xffffffffu, 0x80000000u, 0xfffffff4u}) {
    auto bytes = example();
    put_length(bytes, length);
    batch_reader reader(bytes);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.error(), client_errc::corrupt_data) << length;
  }
  for (const int magic : {0, 1, 3, 255}) {
    auto bytes = example();
    bytes[16] = static_cast<std::byte>(magic);
    batch_reader reader(bytes);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.error(), client_errc::corrupt_data) << magic;
  }
}

TEST(BatchReader, AFlippedBitBehindTheChecksumIsAnError) {
  for (std::size_t at = 17; at < example().size(); ++at) {
    auto bytes = example();
    bytes[at] ^= std::byte{0x10};
    batch_reader reader(bytes);
    EXPECT_FALSE(reader.next()) << at;
    EXPECT_EQ(reader.error(), client_errc::corrupt_data) << at;
    batch_reader trusting(bytes, checksum::skip);
    EXPECT_TRUE(trusting.next()) << at;
  }
}

TEST(RecordReader, ACountThatDoesNotMatchIsAnError) {
  for (const int count : {2, 4}) {
    auto bytes = example();
    bytes[60] = static_cast<std::byte>(count);
    repair_checksum(bytes);
    record_reader reader(bytes);
    EXPECT_EQ(read_all(reader).size(), static_cast<std::size_t>(std::min(count, 3)));
    EXPECT_EQ(reader.error(), client_errc::corrupt_data);
  }
  auto bytes = example();
  bytes[57] = std::byte{0x80};  // negative
  repair_checksum(bytes);
  record_reader reader(bytes);
  EXPECT_EQ(reader.error(), client_errc::corrupt_data);
}

TEST(RecordReader, UnknownCodecsAreNamed) {
  for (const int number : {5, 6, 7}) {
    auto bytes = example();
    bytes[22] = static_cast<std::byte>(number);
    repair_checksum(bytes);
    record_reader reader(bytes);
    EXPECT_EQ(reader.error(), client_errc::unsupported_codec) << number;
  }
}

TEST(RecordReader, DecompressionStopsAtTheLimit) {
  const std::string zeros(1 << 20, '0');
  for (const codec which : {codec::gzip, codec::snappy, codec::lz4, codec::zstd}) {
    batch_builder builder;
    append(builder, 1, {.topic = {}, .key = "k", .value = zeros});
    const auto bytes =
        builder.seal(example_stamp, which, levels_of(which).preset).bytes().flatten();
    record_reader bounded(bytes, 100'000);
    EXPECT_EQ(bounded.error(), client_errc::answer_too_large) << static_cast<int>(which);
    record_reader sufficient(bytes, zeros.size() + 100);
    EXPECT_EQ(read_all(sufficient).size(), 1u) << static_cast<int>(which);
    EXPECT_FALSE(sufficient.error());
  }
}

}  // namespace
}  // namespace partita::wire
