// Every message at every version: round trip, truncation, defaults.

#include "tests/wire/sample_messages.hpp"

#include <gtest/gtest.h>

namespace partita::wire {
namespace {

constexpr std::size_t prefix_size = 4;
constexpr std::size_t correlation_size = 4;

template <class Request>
class Messages : public testing::Test {};

using all_requests =
    testing::Types<produce_request, fetch_request, list_offsets_request, metadata_request,
                   api_versions_request, init_producer_id_request, describe_producers_request>;
TYPED_TEST_SUITE(Messages, all_requests);

std::vector<std::byte> request_body(const encoded_frame& frame) {
  const auto bytes = frame.frame.flatten();
  const auto parsed = parse_request_header(std::span(bytes).subspan(prefix_size));
  return {parsed.body.begin(), parsed.body.end()};
}

std::vector<std::byte> response_bytes(const encoded_frame& frame) {
  auto bytes = frame.frame.flatten();
  bytes.erase(bytes.begin(), bytes.begin() + prefix_size + correlation_size);
  return bytes;
}

TYPED_TEST(Messages, RequestRoundTripsAtEveryVersion) {
  for (std::int16_t v = TypeParam::versions.first; v <= TypeParam::versions.last; ++v) {
    const auto sent = sample<TypeParam>(v);
    const auto frame = encode_request(sent, v, 1, "c");
    ASSERT_FALSE(frame.error) << v << frame.reason;
    const auto body = request_body(frame);
    const auto received = decode_request<TypeParam>(v, body);
    ASSERT_TRUE(received.ok()) << received.failure.describe("request", v);
    EXPECT_EQ(received.value, sent) << v;
  }
}

TYPED_TEST(Messages, ResponseRoundTripsAtEveryVersion) {
  using response = typename TypeParam::response_type;
  for (std::int16_t v = response::versions.first; v <= response::versions.last; ++v) {
    const auto sent = sample<response>(v);
    const auto frame = encode_response(sent, v, 1);
    ASSERT_FALSE(frame.error) << v << frame.reason;
    const auto bytes = response_bytes(frame);
    const auto received = decode_response<response>(v, bytes);
    ASSERT_TRUE(received.ok()) << received.failure.describe("response", v);
    EXPECT_EQ(received.value, sent) << v;
  }
}

TYPED_TEST(Messages, EveryTruncationOfAnAnswerIsRefused) {
  using response = typename TypeParam::response_type;
  for (std::int16_t v = response::versions.first; v <= response::versions.last; ++v) {
    const auto bytes = response_bytes(encode_response(sample<response>(v), v, 1));
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const auto received = decode_response<response>(v, std::span(bytes).first(length));
      ASSERT_FALSE(received.ok()) << v << " cut to " << length;
      ASSERT_EQ(received.failure.code, client_errc::malformed_answer);
    }
  }
}

TYPED_TEST(Messages, EveryTruncationOfARequestIsRefused) {
  for (std::int16_t v = TypeParam::versions.first; v <= TypeParam::versions.last; ++v) {
    const auto body = request_body(encode_request(sample<TypeParam>(v), v, 1, "c"));
    for (std::size_t length = 0; length < body.size(); ++length)
      ASSERT_FALSE(decode_request<TypeParam>(v, std::span(body).first(length)).ok())
          << v << " cut to " << length;
  }
}

TYPED_TEST(Messages, BytesBehindAnAnswerAreRefused) {
  using response = typename TypeParam::response_type;
  for (std::int16_t v = response::versions.first; v <= response::versions.last; ++v) {
    auto bytes = response_bytes(encode_response(sample<response>(v), v, 1));
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode_response<response>(v, bytes).ok()) << v;
  }
}

// Guards the pairs of a member's initialiser and the default that describe() states.
TYPED_TEST(Messages, DefaultsFitEveryVersion) {
  using response = typename TypeParam::response_type;
  for (std::int16_t v = response::versions.first; v <= response::versions.last; ++v) {
    const auto answer = encode_response(response{}, v, 1);
    ASSERT_FALSE(answer.error) << v << answer.reason;
    EXPECT_EQ(decode_response<response>(v, response_bytes(answer)).value, response{}) << v;
    if (std::is_same_v<TypeParam, metadata_request> && v == 0) continue;  // null topics
    const auto request = encode_request(TypeParam{}, v, 1, std::nullopt);
    ASSERT_FALSE(request.error) << v << request.reason;
    EXPECT_EQ(decode_request<TypeParam>(v, request_body(request)).value, TypeParam{}) << v;
  }
}

TYPED_TEST(Messages, VersionsOutsideTheRangeAreRefused) {
  const auto beyond = static_cast<std::int16_t>(TypeParam::versions.last + 1);
  EXPECT_EQ(encode_request(TypeParam{}, beyond, 1, "c").error, client_errc::unsupported_version);
  EXPECT_FALSE(decode_request<TypeParam>(beyond, {}).ok());
}

TYPED_TEST(Messages, SpokenVersionsAreDescribed) {
  const auto spoken = spoken_versions(TypeParam::key);
  ASSERT_TRUE(spoken.has_value());
  EXPECT_TRUE(TypeParam::versions.contains(spoken->first));
  EXPECT_TRUE(TypeParam::versions.contains(spoken->last));
  EXPECT_EQ(TypeParam::response_type::versions, TypeParam::versions);
}

TEST(Metadata, WhatAVersionCannotAskIsRefused) {
  metadata_request by_id;
  by_id.topics = {{sample_topic_id, std::nullopt}};
  EXPECT_FALSE(encode_request(by_id, 12, 1, "c").error);
  EXPECT_EQ(encode_request(by_id, 9, 1, "c").error, client_errc::unsupported_version);
  metadata_request no_creation;
  no_creation.topics.emplace();
  no_creation.allow_auto_topic_creation = false;
  EXPECT_FALSE(encode_request(no_creation, 4, 1, "c").error);
  EXPECT_EQ(encode_request(no_creation, 3, 1, "c").error, client_errc::unsupported_version);
}

TEST(InitProducerId, KeepingAnIdNeedsVersionThree) {
  init_producer_id_request keep;
  keep.producer_id = 7;
  EXPECT_FALSE(encode_request(keep, 3, 1, "c").error);
  EXPECT_EQ(encode_request(keep, 2, 1, "c").error, client_errc::unsupported_version);
}

TEST(ApiVersions, UnderstandsABrokerThatDoesNotKnowTheVersion) {
  api_versions_response refusal;
  refusal.error_code = broker_errc::unsupported_version;
  refusal.apis = {{18, 0, 3}};
  const auto bytes = response_bytes(encode_response(refusal, 0, 1));
  const auto answer = decode_api_versions_answer(4, bytes);
  ASSERT_TRUE(answer.ok()) << answer.failure.reason;
  EXPECT_EQ(answer.value.error_code, broker_errc::unsupported_version);
  EXPECT_EQ(answer.value.range_of(api_key::api_versions), (version_range{0, 3}));
}

TEST(ApiVersions, DecodesAnOrdinaryAnswerAtTheVersionAsked) {
  const auto bytes = response_bytes(encode_response(sample<api_versions_response>(4), 4, 1));
  const auto answer = decode_api_versions_answer(4, bytes);
  ASSERT_TRUE(answer.ok()) << answer.failure.reason;
  EXPECT_EQ(answer.value, sample<api_versions_response>(4));
  EXPECT_EQ(answer.value.range_of(api_key::produce), (version_range{3, 13}));
  EXPECT_EQ(answer.value.range_of(api_key::fetch), std::nullopt);
}

TEST(ApiKey, HighestCommonVersion) {
  EXPECT_EQ(highest_common({3, 13}, {0, 9}), 9);
  EXPECT_EQ(highest_common({3, 13}, {3, 20}), 13);
  EXPECT_EQ(highest_common({3, 13}, {13, 20}), 13);
  EXPECT_EQ(highest_common({3, 13}, {14, 20}), std::nullopt);
  EXPECT_EQ(highest_common({3, 13}, {0, 2}), std::nullopt);
}

}  // namespace
}  // namespace partita::wire
