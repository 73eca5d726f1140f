#include "api/cli/printable.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::cli {
namespace {

TEST(Printable, TextStaysAndWhatSteersATerminalDoesNot) {
  EXPECT_EQ(printable_message("two\nlines, \\ and caf\u00e9 \u20ac \U0001f600"),
            "two\nlines, \\ and caf\u00e9 \u20ac \U0001f600");
  EXPECT_EQ(printable_message("\x1b[31m\r\t\x7f"), "\\x1b[31m\\x0d\\x09\\x7f");
  EXPECT_EQ(printable_message(std::string("\0a", 2)), "\\x00a");
  EXPECT_EQ(printable_message("\xc2\x9b"), "\\xc2\\x9b") << "a control of two bytes";
}

TEST(Printable, BytesThatAreNoTextAreShownOneByOne) {
  EXPECT_EQ(printable_message("\xff!\x80"), "\\xff!\\x80");
  EXPECT_EQ(printable_message("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable_message("\xc0\xaf"), "\\xc0\\xaf") << "overlong";
  EXPECT_EQ(printable_message("\xe0\x80\xaf"), "\\xe0\\x80\\xaf") << "overlong";
  EXPECT_EQ(printable_message("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(printable_message("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last";
}

}  // namespace
}  // namespace partita::cli
