// Our bytes against those of independent implementations: a codec tested only against itself proves
// that its two halves agree, not that a broker does.

#include "tests/wire/golden_file.hpp"
#include "tests/wire/sample_messages.hpp"

#include <gtest/gtest.h>

namespace partita::wire {
namespace {

constexpr std::int32_t golden_correlation = 77;
constexpr const char* golden_client = "golden";
constexpr std::size_t prefix_size = 4;
constexpr std::size_t correlation_size = 4;

struct golden_frame {
  std::string kind;
  std::int16_t version = 0;
  std::string origin;
  std::vector<std::byte> bytes;
};

std::vector<golden_frame> load(const std::string& name) {
  std::vector<golden_frame> frames;
  for (const std::vector<std::string>& words : golden_lines(name)) {
    EXPECT_EQ(words.size(), 4u);
    frames.push_back({words.at(0), static_cast<std::int16_t>(std::stoi(words.at(1))), words.at(2),
                      from_hex(words.at(3))});
  }
  return frames;
}

template <class Request>
void check_request(const golden_frame& golden) {
  const auto expected = sample<Request>(golden.version);
  const auto ours = encode_request(expected, golden.version, golden_correlation, golden_client);
  ASSERT_FALSE(ours.error) << ours.reason;
  EXPECT_EQ(to_hex(ours.frame.flatten()), to_hex(golden.bytes));

  const auto parsed = parse_request_header(std::span(golden.bytes).subspan(prefix_size));
  ASSERT_FALSE(parsed.failure) << parsed.failure.reason;
  EXPECT_EQ(parsed.header.key, static_cast<std::int16_t>(Request::key));
  EXPECT_EQ(parsed.header.version, golden.version);
  EXPECT_EQ(parsed.header.correlation_id, golden_correlation);
  EXPECT_EQ(parsed.header.client_id, golden_client);
  const auto theirs = decode_request<Request>(golden.version, parsed.body);
  ASSERT_TRUE(theirs.ok()) << theirs.failure.describe("request", golden.version);
  EXPECT_EQ(theirs.value, expected);
}

template <class Response>
void check_response(const golden_frame& golden) {
  const auto expected = sample<Response>(golden.version);
  const auto ours = encode_response(expected, golden.version, golden_correlation);
  ASSERT_FALSE(ours.error) << ours.reason;
  EXPECT_EQ(to_hex(ours.frame.flatten()), to_hex(golden.bytes));

  const auto theirs = decode_response<Response>(
      golden.version, std::span(golden.bytes).subspan(prefix_size + correlation_size));
  ASSERT_TRUE(theirs.ok()) << theirs.failure.describe("response", golden.version);
  EXPECT_EQ(theirs.value, expected);
}

template <class Request>
void check_file(const std::string& name, std::size_t frames) {
  const auto goldens = load(name);
  EXPECT_EQ(goldens.size(), frames);
  for (const golden_frame& golden : goldens) {
    SCOPED_TRACE(name + " " + golden.kind + " v" + std::to_string(golden.version) + " by " +
                 golden.origin);
    if (golden.kind == "request") {
      check_request<Request>(golden);
    } else {
      ASSERT_EQ(golden.kind, "response");
      check_response<typename Request::response_type>(golden);
    }
  }
}

TEST(Golden, ProduceEqualsOtherImplementations) { check_file<produce_request>("produce", 21); }
TEST(Golden, MetadataEqualsOtherImplementations) { check_file<metadata_request>("metadata", 22); }
TEST(Golden, ApiVersionsEqualsOtherImplementations) {
  check_file<api_versions_request>("api_versions", 10);
}
TEST(Golden, InitProducerIdEqualsOtherImplementations) {
  check_file<init_producer_id_request>("init_producer_id", 8);
}
TEST(Golden, ListOffsetsEqualsOtherImplementations) {
  check_file<list_offsets_request>("list_offsets", 20);
}
TEST(Golden, FetchEqualsOtherImplementations) { check_file<fetch_request>("fetch", 28); }
TEST(Golden, DescribeProducersEqualsOtherImplementations) {
  check_file<describe_producers_request>("describe_producers", 2);
}

// librdkafka fills fields in its own way, so its requests are decoded and encoded again.
template <class Request>
Request reread(std::int16_t version, const std::vector<std::byte>& frame) {
  const auto parsed = parse_request_header(std::span(frame).subspan(prefix_size));
  EXPECT_FALSE(parsed.failure) << parsed.failure.reason;
  EXPECT_EQ(parsed.header.version, version);
  const auto theirs = decode_request<Request>(version, parsed.body);
  EXPECT_TRUE(theirs.ok()) << theirs.failure.describe("request", version);
  const auto ours =
      encode_request(theirs.value, version, parsed.header.correlation_id, parsed.header.client_id);
  EXPECT_FALSE(ours.error) << ours.reason;
  EXPECT_EQ(to_hex(ours.frame.flatten()), to_hex(frame));
  return theirs.value;
}

TEST(Golden, RequestsOfLibrdkafkaSurviveBeingReadAndWritten) {
  std::size_t produced = 0;
  for (const auto& words : golden_lines("librdkafka")) {
    SCOPED_TRACE(words.at(0) + " " + words.at(2));
    const auto version = static_cast<std::int16_t>(std::stoi(words.at(1)));
    const std::vector<std::byte> frame = from_hex(words.at(3));
    if (words[0] == "api_versions") {
      EXPECT_EQ(reread<api_versions_request>(version, frame).client_software_name, "librdkafka");
    } else if (words[0] == "metadata") {
      const auto request = reread<metadata_request>(version, frame);
      ASSERT_TRUE(request.topics.has_value());
      ASSERT_EQ(request.topics->size(), 1u);
      EXPECT_EQ(request.topics->front().name, "orders");
    } else if (words[0] == "init_producer_id") {
      EXPECT_EQ(reread<init_producer_id_request>(version, frame).transactional_id, std::nullopt);
    } else {
      const auto request = reread<produce_request>(version, frame);
      EXPECT_EQ(request.acks, -1);
      EXPECT_EQ(request.timeout_ms, 30000);
      ASSERT_EQ(request.topics.size(), 1u);
      EXPECT_EQ(request.topics[0].name, "orders");
      ++produced;
    }
  }
  EXPECT_EQ(produced, 5u);
}

}  // namespace
}  // namespace partita::wire
