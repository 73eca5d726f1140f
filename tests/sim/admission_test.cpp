// Records that wait for room, and those that come while they do.
#include "tests/sim/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

record to_first_partition(const std::string& value) {
  record one;
  one.topic = history::topic();
  one.value = value;
  one.partition = 0;
  return one;
}

std::size_t place_of(const std::vector<log_record>& log, const std::string& value) {
  const auto found = std::find_if(log.begin(), log.end(),
                                  [&](const log_record& each) { return each.value == value; });
  return static_cast<std::size_t>(found - log.begin());
}

// The grant is made on the lane that frees the room, and the record enters its partition from lane
// 0: whoever called in between took the room that was left, and overtook.
TEST(Admission, ARecordThatWaitedForRoomIsNotOvertakenByALaterCall) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    history_options options;
    options.seed = seed;
    options.lanes = 2;
    options.config = hurried_config();
    options.config.batch_size_bytes = 1000;
    options.config.buffer_memory_bytes = 1500;
    history story(options);
    story.produce(0, "warm");
    ASSERT_TRUE(story.run_until_answered());

    story.produce(0, "first", 900);
    const std::string patient(700, 'p');
    const record waits = to_first_partition(patient);
    bool answered = false;
    story.producer().produce_batch({&waits, 1}).then([&](const std::vector<outcome>& answers) {
      answered = answers.front().is_delivered();
    });
    const std::string late = "late";
    bool taken = false;
    bool late_answered = false;
    for (int step = 0; step < 10'000 && !(answered && late_answered); ++step) {
      if (!taken)
        taken = story.producer().try_produce(to_first_partition(late), [&](const outcome& answer) {
          late_answered = answer.is_delivered();
        }) == admission::accepted;
      if (!story.world().time().step()) break;
    }
    ASSERT_TRUE(answered && late_answered);
    const auto log = story.cluster().log(history::topic(), 0);
    EXPECT_LT(place_of(log, patient), place_of(log, late));
  }
}

// What is left of it had no room either, and the halted key was told as an empty one. The other
// record's failure is no cause of that of the first.
TEST(Admission, WhoWaitsInVainHaltsAKeyThatHasItsName) {
  history_options options;
  options.config = hurried_config();
  options.config.on_failure = failure_policy::halt_key;
  options.config.batch_size_bytes = 1000;
  options.config.buffer_memory_bytes = 1500;
  options.config.max_block = std::chrono::milliseconds(200);
  history story(options);
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  wait_for(story.world(), story.producer().pause(history::topic(), 0));
  story.produce(0, "first", 1300);
  const std::string large(1300, 'l');
  record waits = to_first_partition(large);
  waits.key = "customer";
  std::error_code code;
  story.producer().produce_batch({&waits, 1}).then([&](const std::vector<outcome>& answers) {
    code = answers.front().failure()->code;
  });
  story.run_for(std::chrono::milliseconds(300));
  EXPECT_EQ(code, make_error_code(client_errc::admission_timeout));
  const auto status = wait_for(story.world(), story.producer().status()).partitions.at(0);
  ASSERT_EQ(status.halted_keys, 1U);
  EXPECT_EQ(status.some_halted_keys.at(0).key, "customer");

  ASSERT_TRUE(story.run_until_answered());
  const failed* failure = story.answer(1).failure();
  ASSERT_NE(failure, nullptr);
  EXPECT_EQ(failure->code, make_error_code(client_errc::delivery_timeout));
  EXPECT_FALSE(failure->cause) << failure->cause.message();
}

// Of a long key status() and the events tell the beginning; all of it ends the halt.
TEST(Admission, WhoWaitsInVainWithALongKeyHaltsAKeyThatHasItsBeginning) {
  history_options options;
  options.config = hurried_config();
  options.config.on_failure = failure_policy::halt_key;
  options.config.batch_size_bytes = 1000;
  options.config.buffer_memory_bytes = 4000;
  options.config.max_block = std::chrono::milliseconds(200);
  history story(options);
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  wait_for(story.world(), story.producer().pause(history::topic(), 0));
  story.produce(0, "first", 3500);
  const std::string key = "customer" + std::string(2000, 'k');
  const std::string value = "v";
  record waits = to_first_partition(value);
  waits.key = key;
  event_stream events = story.producer().events();
  bool told = false;
  story.producer().produce_batch({&waits, 1}).then([&](const std::vector<outcome>& answers) {
    told = answers.front().failure()->code == client_errc::admission_timeout;
  });
  story.run_for(std::chrono::milliseconds(300));
  ASSERT_TRUE(told);
  const auto status = wait_for(story.world(), story.producer().status()).partitions.at(0);
  ASSERT_EQ(status.halted_keys, 1U);
  EXPECT_EQ(status.some_halted_keys.at(0).key, key.substr(0, 1024));
  const auto halted = wait_for(story.world(), events.next());
  ASSERT_TRUE(halted);
  EXPECT_EQ(halted->keys, std::vector{key.substr(0, 1024)});

  const auto recover = [&](std::string_view which) {
    return wait_for(story.world(),
                    story.producer().recover(history::topic(), 0, which, recovery::discard));
  };
  EXPECT_FALSE(recover(key.substr(0, 1024)).was_halted) << "another key";
  EXPECT_TRUE(recover(key).was_halted);
  ASSERT_TRUE(story.run_until_answered());
}

// The first of two that wait gives up; the room is enough for the second, who is let in by that.
TEST(Admission, AWaiterThatGivesUpLetsTheNextOneIn) {
  history_options options;
  options.config = hurried_config();
  options.config.batch_size_bytes = 1000;
  options.config.buffer_memory_bytes = 1500;
  options.config.max_block = std::chrono::milliseconds(200);
  history story(options);
  story.produce(0, "warm");
  ASSERT_TRUE(story.run_until_answered());
  fault stuck;
  stuck.reply = reply::never;
  story.cluster().inject(stuck);

  story.produce(0, "first", 900);
  bool refused = false;
  bool let_in = false;
  const std::string large(900, 'l');
  const std::string small(100, 's');
  const record of_large = to_first_partition(large);
  const record of_small = to_first_partition(small);
  story.producer().produce_batch({&of_large, 1}).then([&](const std::vector<outcome>& answers) {
    refused = !answers.front().is_delivered();
  });
  story.run_for(std::chrono::milliseconds(100));
  story.producer().produce_batch({&of_small, 1}).then([&](const std::vector<outcome>&) {
    let_in = true;
  });
  EXPECT_FALSE(refused);
  story.run_for(std::chrono::milliseconds(150));
  EXPECT_TRUE(refused);
  EXPECT_EQ(story.answered(), 1U) << "the first record still has its room";
  story.cluster().clear_faults();
  ASSERT_TRUE(story.run_until_answered());
  for (int step = 0; step < 100'000 && !let_in; ++step) story.world().time().step();
  EXPECT_TRUE(let_in);
}

}  // namespace
}  // namespace partita::testing
