#include "api/cli/exit_code.hpp"

#include <partita/error.hpp>

#include <gtest/gtest.h>

namespace partita::cli {
namespace {

TEST(ExitCode, IsZeroOnlyWhenEverythingWasDelivered) {
  EXPECT_EQ(exit_code_of({.counts = {10, 0, 0}}), exit_code::ok);
  EXPECT_EQ(exit_code_of({}), exit_code::ok);
  EXPECT_EQ(exit_code_of({.counts = {10, 1, 0}}), exit_code::not_written);
  EXPECT_EQ(exit_code_of({.counts = {10, 0, 1}}), exit_code::unknown);
  EXPECT_EQ(exit_code_of({.counts = {10, 0, 0}, .skipped_input = true}), exit_code::not_written);
}

TEST(ExitCode, TakesTheFirstOfTheTableWhenSeveralApply) {
  run_facts facts{.counts = {0, 1, 0}};
  EXPECT_EQ(exit_code_of(facts), exit_code::not_written);
  facts.halted = true;
  EXPECT_EQ(exit_code_of(facts), exit_code::halted);
  facts.counts.unknown = 1;
  EXPECT_EQ(exit_code_of(facts), exit_code::unknown);
  facts.unreachable = true;
  EXPECT_EQ(exit_code_of(facts), exit_code::unreachable);
  facts.denied = true;
  EXPECT_EQ(exit_code_of(facts), exit_code::denied);
  facts.bad_input = true;
  EXPECT_EQ(exit_code_of(facts), exit_code::usage);
  facts.interrupted = true;
  EXPECT_EQ(exit_code_of(facts), exit_code::interrupted);
}

TEST(ExitCode, HasTheNumbersThatScriptsRelyOn) {
  EXPECT_EQ(static_cast<int>(exit_code::ok), 0);
  EXPECT_EQ(static_cast<int>(exit_code::usage), 1);
  EXPECT_EQ(static_cast<int>(exit_code::not_written), 2);
  EXPECT_EQ(static_cast<int>(exit_code::unknown), 3);
  EXPECT_EQ(static_cast<int>(exit_code::halted), 4);
  EXPECT_EQ(static_cast<int>(exit_code::denied), 5);
  EXPECT_EQ(static_cast<int>(exit_code::unreachable), 6);
  EXPECT_EQ(static_cast<int>(exit_code::interrupted), 130);
}

TEST(ExitCode, TellsARefusalFromAnUnreachableCluster) {
  EXPECT_TRUE(is_denied(broker_errc::topic_authorization_failed));
  EXPECT_TRUE(is_denied({58, broker_category()}));
  EXPECT_FALSE(is_denied(broker_errc::request_timed_out));
  EXPECT_FALSE(is_denied(client_errc::connection_refused));
  EXPECT_TRUE(is_unreachable(client_errc::connection_refused));
  EXPECT_TRUE(is_unreachable(client_errc::not_kafka_http));
  EXPECT_FALSE(is_unreachable(client_errc::record_too_large));
  EXPECT_FALSE(is_unreachable(broker_errc::not_leader_or_follower));
  EXPECT_FALSE(is_unreachable({}));
}

}  // namespace
}  // namespace partita::cli
