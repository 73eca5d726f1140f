#include "actors/producer_shared.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::actors {
namespace {

struct written_lines {
  std::vector<std::string> lines;
  log_sink sink{[](void* context, int, std::string_view line) {
                  static_cast<written_lines*>(context)->lines.emplace_back(line);
                },
                this, static_cast<int>(log_level::info)};
};

TEST(LogSink, LetsNoControlCharacterOfAPeerThrough) {
  written_lines log;
  log.sink(log_level::warning, [] { return std::string("said: \x1b[31mred\r\n\x7f\0end", 21); });
  ASSERT_EQ(log.lines.size(), 1U);
  EXPECT_EQ(log.lines[0], "said: ?[31mred????end");
}

TEST(LogSink, CutsALineWithoutEnd) {
  written_lines log;
  log.sink(log_level::warning, [] { return std::string(100'000, 'x'); });
  ASSERT_EQ(log.lines.size(), 1U);
  EXPECT_EQ(log.lines[0], std::string(1000, 'x'));
}

TEST(LogSink, BuildsNoLineThatNobodyWants) {
  written_lines log;
  log.sink(log_level::debug, []() -> std::string {
    ADD_FAILURE() << "was built";
    return {};
  });
  EXPECT_TRUE(log.lines.empty());
}

}  // namespace
}  // namespace partita::actors
