#include "chaos/frame_faults.hpp"

#include "wire/frame.hpp"
#include "wire/messages/produce.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace partita::chaos {
namespace {

constexpr std::int16_t version = 9;

bytes without_prefix(const bytes& frame) { return {frame.begin() + 4, frame.end()}; }

bytes request() {
  wire::produce_request asked;
  asked.topics.push_back({"orders", {}, {{0, {}}, {3, {}}}});
  return without_prefix(
      wire::encode_request(asked, version, 77, std::string_view("me")).frame.flatten());
}

wire::produce_response decoded(const bytes& frame) {
  const bytes body = without_prefix(frame);
  auto answer = wire::decode_response<wire::produce_response>(version, std::span(body).subspan(4));
  EXPECT_TRUE(answer.ok());
  return answer.value;
}

TEST(FrameFaults, LooksAtARequest) {
  const request_view seen = look_at(request());
  EXPECT_EQ(seen.api_key, 0);
  EXPECT_EQ(seen.version, version);
  EXPECT_EQ(seen.correlation_id, 77);
  EXPECT_EQ(look_at(bytes(3)).api_key, -1);
}

TEST(FrameFaults, ARefusalNamesEveryPartitionAndNoOffset) {
  const bytes refusal = refusal_of(request(), broker_errc::not_enough_replicas);
  ASSERT_GT(refusal.size(), 8U);
  EXPECT_EQ(std::to_integer<int>(refusal[7]), 77);
  const auto answer = decoded(refusal);
  ASSERT_EQ(answer.topics.size(), 1U);
  EXPECT_EQ(answer.topics[0].name, "orders");
  ASSERT_EQ(answer.topics[0].partitions.size(), 2U);
  EXPECT_EQ(answer.topics[0].partitions[1].index, partition_id(3));
  for (const auto& each : answer.topics[0].partitions) {
    EXPECT_EQ(each.error_code, broker_errc::not_enough_replicas);
    EXPECT_FALSE(each.base_offset.known());
  }
  EXPECT_TRUE(refusal_of(bytes(20), broker_errc::none).empty());
}

TEST(FrameFaults, AnErrorInPlaceOfSuccessKeepsTheOffset) {
  wire::produce_response told;
  auto& topic = told.topics.emplace_back();
  topic.name = "orders";
  topic.partitions.resize(2);
  topic.partitions[0].base_offset = 5;
  topic.partitions[1].error_code = broker_errc::message_too_large;
  const bytes answer = without_prefix(wire::encode_response(told, version, 9).frame.flatten());
  const auto changed = decoded(with_code(answer, version, broker_errc::request_timed_out));
  EXPECT_EQ(changed.topics[0].partitions[0].error_code, broker_errc::request_timed_out);
  EXPECT_EQ(changed.topics[0].partitions[0].base_offset, offset(5));
  EXPECT_EQ(changed.topics[0].partitions[1].error_code, broker_errc::message_too_large);
}

TEST(FrameFaults, AreChosenBySeedAtTheirRate) {
  fault_chooser one(5), same(5);
  std::map<frame_fault, int> seen;
  for (int i = 0; i < 20'000; ++i) {
    const chosen_fault chosen = one.choose(500);
    EXPECT_EQ(chosen.fault, same.choose(500).fault);
    ++seen[chosen.fault];
  }
  EXPECT_EQ(seen.size(), frame_faults);
  EXPECT_NEAR(seen[frame_fault::none], 10'000, 500);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one.choose(0).fault, frame_fault::none);
}

}  // namespace
}  // namespace partita::chaos
