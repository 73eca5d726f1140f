#include "api/cli/fitting_defaults.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace partita::cli {
namespace {

using namespace std::chrono_literals;

struct fitted {
  producer_config config;
  std::vector<std::string> notes;
};

/// What `-X key=value` for each of these leads to.
fitted with(const std::vector<std::pair<std::string, std::string>>& settings) {
  fitted result;
  result.config.bootstrap_servers = "localhost:9092";
  config_report report;
  for (const auto& [key, value] : settings) {
    const config_error error = apply_property(result.config, key, value, "-X", &report);
    EXPECT_FALSE(error) << error.message();
  }
  result.notes = fit_defaults(result.config, report);
  return result;
}

TEST(FittingDefaults, LeaveWhatFitsAlone) {
  const fitted plain = with({{"linger.ms", "20"}});
  EXPECT_TRUE(plain.notes.empty());
  EXPECT_EQ(plain.config.request_timeout, 30s);
}

TEST(FittingDefaults, AShortDeadlineShortensTheRequests) {
  const fitted one = with({{"delivery.timeout.ms", "1000"}});
  EXPECT_FALSE(validate(one.config)) << validate(one.config).message();
  EXPECT_EQ(one.config.delivery_timeout, 1000ms);
  EXPECT_EQ(one.config.request_timeout, 995ms);
  ASSERT_EQ(one.notes.size(), 1U);
  EXPECT_EQ(one.notes[0], "request.timeout.ms is 995, to fit delivery.timeout.ms");
}

TEST(FittingDefaults, AVeryShortDeadlineEndsLingering) {
  const fitted one = with({{"delivery.timeout.ms", "3"}});
  EXPECT_FALSE(validate(one.config)) << validate(one.config).message();
  EXPECT_EQ(one.config.linger, 0us);
  EXPECT_EQ(one.config.request_timeout, 3ms);
  EXPECT_EQ(one.notes.size(), 2U);
}

TEST(FittingDefaults, ALongRequestLengthensTheDeadline) {
  const fitted one = with({{"request.timeout.ms", "200000"}});
  EXPECT_FALSE(validate(one.config)) << validate(one.config).message();
  EXPECT_EQ(one.config.delivery_timeout, 200005ms);
}

TEST(FittingDefaults, WhatWasSetIsNotChanged) {
  const fitted both = with({{"delivery.timeout.ms", "1000"}, {"request.timeout.ms", "2000"}});
  EXPECT_TRUE(both.notes.empty());
  EXPECT_EQ(validate(both.config).key, "delivery.timeout.ms");
  const fitted sizes = with({{"buffer.memory", "100000"}, {"batch.size", "200000"}});
  EXPECT_EQ(validate(sizes.config).key, "buffer.memory");
}

TEST(FittingDefaults, ASmallBufferOrRequestMakesSmallBatches) {
  const fitted buffer = with({{"buffer.memory", "100000"}});
  EXPECT_FALSE(validate(buffer.config)) << validate(buffer.config).message();
  EXPECT_EQ(buffer.config.batch_size_bytes, 100'000U);
  const fitted request = with({{"max.request.size", "50000"}});
  EXPECT_FALSE(validate(request.config)) << validate(request.config).message();
  EXPECT_EQ(request.config.batch_size_bytes, 50'000U);
}

TEST(FittingDefaults, IdempotenceThatNobodyAskedForGivesWay) {
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"acks", "1"},
           {"acks", "0"},
           {"retries", "0"},
           {"max.in.flight.requests.per.connection", "6"}}) {
    const fitted one = with({{key, value}});
    EXPECT_FALSE(validate(one.config)) << validate(one.config).message();
    EXPECT_FALSE(one.config.enable_idempotence);
    ASSERT_EQ(one.notes.size(), 1U) << key;
    EXPECT_NE(one.notes[0].find("enable.idempotence is false, to fit " + key), std::string::npos)
        << one.notes[0];
    EXPECT_NE(one.notes[0].find("what is in doubt is not sent again"), std::string::npos)
        << one.notes[0];
  }
}

TEST(FittingDefaults, IdempotenceThatWasAskedForConflicts) {
  const fitted both = with({{"acks", "1"}, {"enable.idempotence", "true"}});
  EXPECT_TRUE(both.notes.empty());
  EXPECT_EQ(validate(both.config).key, "acks");
  EXPECT_NE(validate(both.config).message().find("enable.idempotence=false"), std::string::npos);
  EXPECT_TRUE(with({{"acks", "all"}}).config.enable_idempotence);
}

}  // namespace
}  // namespace partita::cli
