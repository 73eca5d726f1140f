#include "api/cli/line_input.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace partita::cli {
namespace {

struct seen_line {
  std::string bytes;
  std::uint64_t number;
  bool too_long;
  friend bool operator==(const seen_line&, const seen_line&) = default;
};

/// Feeds `text` in pieces of `piece` bytes.
std::vector<seen_line> split(std::string_view text, std::string delimiter, std::size_t piece,
                             std::size_t longest = 1000) {
  line_input input(std::move(delimiter), longest);
  std::vector<seen_line> lines;
  line_input::line line;
  const auto take = [&] {
    while (input.next(line)) lines.push_back({std::string(line.bytes), line.number, line.too_long});
  };
  for (std::size_t at = 0; at < text.size(); at += piece) {
    input.append(text.substr(at, piece));
    take();
  }
  input.finish();
  take();
  EXPECT_FALSE(input.next(line));
  return lines;
}

using lines = std::vector<seen_line>;

TEST(LineInput, SplitsTheSameHoweverTheBytesArrive) {
  const lines expected = {{"a", 1, false}, {"", 2, false}, {"bc", 3, false}, {"d\r", 4, false}};
  for (std::size_t piece = 1; piece <= 10; ++piece)
    EXPECT_EQ(split("a\n\nbc\nd\r\n", "\n", piece), expected) << piece;
}

TEST(LineInput, TakesALastLineWithoutDelimiter) {
  for (std::size_t piece = 1; piece <= 4; ++piece)
    EXPECT_EQ(split("a\nb", "\n", piece), (lines{{"a", 1, false}, {"b", 2, false}}));
  EXPECT_EQ(split("", "\n", 1), lines{});
  EXPECT_EQ(split("\n", "\n", 1), (lines{{"", 1, false}}));
}

TEST(LineInput, FindsADelimiterThatIsCutInTwo) {
  const lines expected = {{"a;", 1, false}, {"b", 2, false}, {";c;", 3, false}};
  for (std::size_t piece = 1; piece <= 12; ++piece)
    EXPECT_EQ(split("a;;\n;b;\n;;c;", ";\n;", piece), expected) << piece;
}

TEST(LineInput, ReportsAnOverlongLineOnceAndGoesOn) {
  const std::string text = "ok\n" + std::string(50, 'x') + "\nnext\n" + std::string(11, 'y');
  const lines expected = {{"ok", 1, false}, {"", 2, true}, {"next", 3, false}, {"", 4, true}};
  for (std::size_t piece = 1; piece <= 60; ++piece)
    EXPECT_EQ(split(text, "\n", piece, 10), expected) << piece;
}

TEST(LineInput, SkipsAnOverlongLineUpToADelimiterThatIsCutInTwo) {
  const lines expected = {{"", 1, true}, {"b", 2, false}};
  for (std::size_t piece = 1; piece <= 30; ++piece)
    EXPECT_EQ(split(std::string(40, '-') + "--=b", "-=", piece, 5), expected) << piece;
}

TEST(LineInput, TakesALineOfExactlyTheLimit) {
  EXPECT_EQ(split("0123456789\n", "\n", 3, 10), (lines{{"0123456789", 1, false}}));
}

TEST(SplitKey, TakesTheFirstDelimiter) {
  const key_and_value parts = split_key("k:v:w", ":");
  EXPECT_EQ(parts.key, "k");
  EXPECT_EQ(parts.value, "v:w");
}

TEST(SplitKey, LeavesALineWithoutDelimiterWhole) {
  EXPECT_EQ(split_key("kv", ":").key, std::nullopt);
  EXPECT_EQ(split_key("kv", ":").value, "kv");
  EXPECT_EQ(split_key("k:v", "").value, "k:v");
}

TEST(SplitKey, TellsAnEmptyKeyFromNone) {
  EXPECT_EQ(split_key(":v", ":").key, "");
  EXPECT_EQ(split_key("k:", ":").value, "");
}

TEST(Unescape, KnowsTheEscapesOfTheManual) {
  EXPECT_EQ(unescape(R"(a\tb\n\r\\)"), "a\tb\n\r\\");
  EXPECT_EQ(unescape(R"(\0\x41\xfF)"), std::string("\0A\xff", 3));
}

TEST(Unescape, RefusesOthers) {
  for (const char* text : {R"(\)", R"(\q)", R"(\x)", R"(\x4)", R"(\x4g)"})
    EXPECT_EQ(unescape(text), std::nullopt) << text;
}

}  // namespace
}  // namespace partita::cli
