#include "actors/log_gate.hpp"

#include <partita/error.hpp>

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;

constexpr instant start{std::chrono::hours(1)};

TEST(LogGate, LetsEachKindThroughOnceAMinute) {
  log_gate gate;
  EXPECT_TRUE(gate.passes(client_errc::connection_refused, start));
  EXPECT_FALSE(gate.passes(client_errc::connection_refused, start + 59s));
  EXPECT_TRUE(gate.passes(client_errc::host_not_found, start + 59s));
  EXPECT_TRUE(gate.passes(client_errc::connection_refused, start + 60s));
  EXPECT_FALSE(gate.passes(client_errc::connection_refused, start + 119s));
}

TEST(LogGate, RemembersABoundedNumberOfKinds) {
  log_gate gate;
  for (int code = 0; code < 100; ++code)
    EXPECT_TRUE(gate.passes({code + 1, std::generic_category()}, start));
  EXPECT_FALSE(gate.passes({100, std::generic_category()}, start));
  EXPECT_TRUE(gate.passes({1, std::generic_category()}, start)) << "the oldest is forgotten";
}

}  // namespace
}  // namespace partita::actors
