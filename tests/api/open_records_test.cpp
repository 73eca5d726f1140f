#include "api/cli/open_records.hpp"

#include <partita/error.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace partita::cli {
namespace {

outcome written_at(std::int64_t where) {
  return delivered{.partition = 0, .offset = partita::offset{where}, .timestamp = {}};
}

outcome refused() {
  return failed{fate::not_written, client_errc::delivery_timeout, {}, limit::none, "t", {}, 0,
                ticket{}};
}

std::unique_ptr<input_record> content(std::size_t bytes) {
  auto made = std::make_unique<input_record>();
  made->value = std::string(bytes, 'x');
  return made;
}

struct order_of_input {
  std::vector<std::string> take() {
    std::vector<std::string> taken;
    open.take_answered([&](const open_records::entry& each) {
      taken.push_back(std::to_string(each.line()) + (each.failure() == nullptr ? "" : "!"));
    });
    return taken;
  }

  delivery_ledger ledger;
  delivery_ledger::topic_entry& topic = ledger.topic("t");
  int failures = 0;
  open_records open{[](void* count) noexcept { ++*static_cast<int*>(count); }, &failures};
};

using lines = std::vector<std::string>;

TEST(OpenRecords, AreTakenInTheOrderOfTheInputWhateverTheOrderOfTheAnswers) {
  order_of_input input;
  auto& first = input.open.add(input.topic, 1, nullptr);
  auto& second = input.open.add(input.topic, 2, nullptr);
  auto& third = input.open.add(input.topic, 5, nullptr);
  third.answer(refused());
  second.answer(written_at(7));
  EXPECT_EQ(input.take(), lines{});
  EXPECT_TRUE(input.open.any_failed());
  EXPECT_EQ(input.failures, 1);
  first.answer(refused());
  EXPECT_EQ(input.take(), (lines{"1!", "2", "5!"}));
  EXPECT_EQ(input.take(), lines{});
  EXPECT_EQ(input.ledger.counts().delivered, 1U);
  EXPECT_EQ(input.ledger.counts().not_written, 2U);
}

TEST(OpenRecords, AreBoundedByWhatIsKeptOfThem) {
  order_of_input input;
  auto& large = input.open.add(input.topic, 1, content(64 * 1024 * 1024));
  EXPECT_TRUE(input.open.is_full());
  large.answer(written_at(0));
  EXPECT_EQ(input.take(), lines{"1"});
  EXPECT_FALSE(input.open.is_full());
  input.open.add(input.topic, 2, content(64 * 1024 * 1024));
  input.open.withdraw_last();
  EXPECT_FALSE(input.open.is_full());
}

}  // namespace
}  // namespace partita::cli
