#include "wire/frame.hpp"

#include "tests/wire/hex.hpp"
#include "tests/wire/sample_messages.hpp"
#include "wire/segments.hpp"

#include <gtest/gtest.h>

namespace partita::wire {
namespace {

TEST(Frame, LengthPrefixCountsOwnAndBorrowedBytes) {
  const auto encoded = encode_request(sample<produce_request>(9), 9, 5, "c");
  ASSERT_FALSE(encoded.error);
  const auto bytes = encoded.frame.flatten();
  EXPECT_EQ(encoded.frame.size(), bytes.size());
  decoder io(bytes, {0, false});
  EXPECT_EQ(static_cast<std::size_t>(io.integer<std::int32_t>()), bytes.size() - 4);
}

TEST(Frame, RecordsAreReferredToNotCopied) {
  segment_chain batch;
  const std::vector<std::byte> content(3 * segment_bytes, std::byte{0x42});
  batch.append(content);
  produce_request request;
  request.topics = {{"orders", {}, {{4, record_bytes(batch)}}}};
  const auto encoded = encode_request(request, 9, 5, "c");
  ASSERT_FALSE(encoded.error);
  EXPECT_LT(encoded.frame.own().size(), 100u);

  std::vector<const std::byte*> pieces;
  batch.for_each([&](std::span<const std::byte> piece) { pieces.push_back(piece.data()); });
  ASSERT_EQ(encoded.frame.splices().size(), pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i)
    EXPECT_EQ(encoded.frame.splices()[i].bytes.data(), pieces[i]);

  const auto bytes = encoded.frame.flatten();
  const auto parsed = parse_request_header(std::span(bytes).subspan(4));
  const auto decoded = decode_request<produce_request>(9, parsed.body);
  ASSERT_TRUE(decoded.ok()) << decoded.failure.reason;
  EXPECT_EQ(decoded.value.topics[0].partitions[0].records.flatten(), content);
}

TEST(Frame, CorrelationIdLiesWhereTheSessionPatchesIt) {
  const auto bytes =
      encode_request(sample<metadata_request>(9), 9, 0x01020304, "c").frame.flatten();
  EXPECT_EQ(to_hex(std::span(bytes).subspan(request_correlation_position, 4)), "01020304");
}

TEST(Frame, NullClientIdIsKept) {
  const auto bytes =
      encode_request(sample<metadata_request>(9), 9, 1, std::nullopt).frame.flatten();
  const auto parsed = parse_request_header(std::span(bytes).subspan(4));
  ASSERT_FALSE(parsed.failure);
  EXPECT_EQ(parsed.header.client_id, std::nullopt);
}

TEST(Frame, HeaderTagsOfARequestAreSkipped) {
  // ApiVersions v3, correlation 1, no client id, one header tag 5 of two bytes; body "ab" "c".
  const auto frame = from_hex(
      "0012"
      "0003"
      "00000001"
      "ffff"
      "010502aaaa"
      "036162"
      "0263"
      "00");
  const auto parsed = parse_request_header(frame);
  ASSERT_FALSE(parsed.failure) << parsed.failure.reason;
  const auto request = decode_request<api_versions_request>(3, parsed.body);
  ASSERT_TRUE(request.ok()) << request.failure.reason;
  EXPECT_EQ(request.value.client_software_name, "ab");
}

TEST(Frame, HeaderTagsOfAnAnswerAreSkipped) {
  // InitProducerId v2: one header tag, then throttle 0, error 0, id 9, epoch 1, no tags.
  const auto bytes = from_hex(
      "010001ff"
      "00000000"
      "0000"
      "0000000000000009"
      "0001"
      "00");
  const auto answer = decode_response<init_producer_id_response>(2, bytes);
  ASSERT_TRUE(answer.ok()) << answer.failure.reason;
  EXPECT_EQ(answer.value.producer_id, producer_id(9));
}

TEST(Frame, ApiVersionsAnswerHasNoHeaderTags) {
  const auto bytes = encode_response(api_versions_response{}, 3, 1).frame.flatten();
  // correlation id, then at once the error code, an empty array, throttle time, no tags
  EXPECT_EQ(to_hex(std::span(bytes).subspan(4)),
            "00000001"
            "0000"
            "01"
            "00000000"
            "00");
}

TEST(Frame, RequestHeaderTruncationsAreRefused) {
  const auto frame = from_hex(
      "0012"
      "0003"
      "00000001"
      "000161"
      "00");
  for (std::size_t length = 0; length < frame.size(); ++length)
    EXPECT_TRUE(parse_request_header(std::span(frame).first(length)).failure) << length;
  EXPECT_FALSE(parse_request_header(frame).failure);
}

TEST(Frame, UnknownApiHasAPlainHeader) {
  const auto parsed =
      parse_request_header(from_hex("0fff"
                                    "0003"
                                    "00000001"
                                    "000161"
                                    "77"));
  ASSERT_FALSE(parsed.failure);
  EXPECT_EQ(parsed.header.key, 0x0fff);
  EXPECT_EQ(parsed.body.size(), 1u);
}

TEST(AnswerLimit, BoundsEveryApi) {
  EXPECT_EQ(answer_limit(api_key::metadata), std::size_t{64} << 20);
  EXPECT_EQ(answer_limit(api_key::produce), std::size_t{16} << 20);
  EXPECT_EQ(answer_limit(api_key::fetch), std::size_t{64} << 20);
  EXPECT_EQ(answer_limit(api_key::fetch, 1000), 1000u);
  EXPECT_EQ(answer_limit(api_key::init_producer_id), std::size_t{1} << 20);
}

}  // namespace
}  // namespace partita::wire
