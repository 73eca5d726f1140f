// A broker that accepts connections and never answers the handshake, at the start of a producer.
#include <partita/error.hpp>
#include <partita/producer.hpp>
#include <partita/testing/api_fault.hpp>
#include <partita/testing/simulated_producer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

struct silent_start {
  explicit silent_start(int handshakes) {
    if (handshakes == 0) return;
    api_fault silent;
    silent.api = api::api_versions;
    silent.broker = broker_id{1};
    silent.reply = reply::never;
    silent.times = handshakes;
    world.cluster().inject(silent);
  }
  ~silent_start() { producer.reset(); }

  void start(const std::string& bootstrap) {
    producer_config config;
    config.bootstrap_servers = bootstrap;
    config.log_level = 4;
    config.log_context = this;
    config.log = [](void* self, int, std::string_view line) {
      static_cast<silent_start*>(self)->log.emplace_back(line);
    };
    producer = make_producer(world, config);
    producer->produce({.topic = "t", .value = "v"},
                      [this](const outcome& told) { answer.emplace(told); });
  }
  bool answered_within(std::chrono::nanoseconds limit) {
    return world.time().run_until([&] { return answer.has_value(); }, limit);
  }
  bool logged(std::string_view part) const {
    return std::any_of(log.begin(), log.end(),
                       [&](const auto& line) { return line.find(part) != std::string::npos; });
  }

  simulation world;
  std::vector<std::string> log;
  std::optional<outcome> answer;
  std::unique_ptr<partita::producer> producer;
};

TEST(SilentBootstrap, TheNextServerIsTriedBeforeTheSetupTimeout) {
  silent_start story(1);
  story.start("broker-1:9092,broker-2:9092,broker-3:9092");
  ASSERT_TRUE(story.answered_within(2500ms));
  EXPECT_TRUE(story.answer->is_delivered());
  EXPECT_TRUE(story.logged("broker-1:9092: connected, but silent"));
}

TEST(SilentBootstrap, OneThatIsAloneHasItsWholeTimeButIsNamedEarly) {
  silent_start story(always);
  story.start("broker-1:9092");
  EXPECT_FALSE(story.answered_within(2500ms));
  const producer_status early = wait_for(story.world, story.producer->status());
  EXPECT_EQ(early.metadata_error, make_error_code(client_errc::connection_timeout));
  EXPECT_NE(early.metadata_error_text.find("broker-1:9092: connected, but silent so far"),
            std::string::npos)
      << early.metadata_error_text;
  EXPECT_TRUE(story.logged("silent so far"));
}

TEST(SilentBootstrap, OneThatAnswersLateIsNoTroubleAnyMore) {
  silent_start story(0);
  api_fault late;
  late.api = api::api_versions;
  late.reply = reply::truthful;
  late.answer_after = 4s;
  story.world.cluster().inject(late);
  story.start("broker-1:9092");
  ASSERT_TRUE(story.answered_within(6s));
  EXPECT_TRUE(story.answer->is_delivered());
  const producer_status after = wait_for(story.world, story.producer->status());
  EXPECT_FALSE(after.metadata_error) << after.metadata_error_text;
}

}  // namespace
}  // namespace partita::testing
