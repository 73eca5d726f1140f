#include "api/cli/nearest_word.hpp"

#include <gtest/gtest.h>

namespace partita::cli {
namespace {

const std::vector<std::string> commands = {"produce", "cluster", "drive", "check", "demo"};

TEST(NearestWord, IsTheOneWithTheFewestLettersWrong) {
  EXPECT_EQ(nearest_word("produec", commands), "produce");
  EXPECT_EQ(nearest_word("prodcue", commands), "produce");
  EXPECT_EQ(nearest_word("clster", commands), "cluster");
  EXPECT_EQ(nearest_word("chekc", commands), "check");
}

TEST(NearestWord, IsNoneWhereHalfTheLettersAreWrong) {
  EXPECT_EQ(nearest_word("consume", commands), "");
  EXPECT_EQ(nearest_word("", {"produce"}), "");
  EXPECT_EQ(nearest_word(std::string(5000, 'x'), commands), "");
}

}  // namespace
}  // namespace partita::cli
