#include <partita/ack_watermark.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <algorithm>
#include <thread>
#include <vector>

namespace partita {
namespace {

const outcome good = delivered{partition_id(0), offset(1), {}};
const outcome bad = failed{fate::not_written, client_errc::delivery_timeout, {}};
const outcome open_fate = failed{fate::unknown, client_errc::delivery_timeout, {}};
using positions = std::vector<std::int64_t>;

TEST(AckWatermark, CLI_01_never_passes_an_open_position) {
  ack_watermark marks(10);
  EXPECT_EQ(marks.watermark(), 10);
  for (const int each : {10, 11, 15}) ASSERT_TRUE(marks.begin(each));
  EXPECT_EQ(marks.watermark(), 10);

  EXPECT_TRUE(marks.note(15, good));
  EXPECT_TRUE(marks.note(11, good));
  EXPECT_EQ(marks.watermark(), 10);
  EXPECT_TRUE(marks.note(10, good));
  EXPECT_EQ(marks.watermark(), 16) << "above everything that began";
  EXPECT_EQ(marks.pending(), 0U);
}

TEST(AckWatermark, CLI_01_a_failed_or_unknown_one_holds_it_until_it_is_released) {
  ack_watermark marks;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(marks.begin(i));
  marks.note(0, good);
  marks.note(1, bad);
  marks.note(2, open_fate);
  marks.note(3, good);

  EXPECT_EQ(marks.watermark(), 1);
  EXPECT_EQ(marks.held(), (positions{1, 2}));
  EXPECT_EQ(marks.held(1), (positions{1}));
  EXPECT_TRUE(marks.release(2));
  EXPECT_EQ(marks.watermark(), 1);
  EXPECT_TRUE(marks.release(1));
  EXPECT_EQ(marks.watermark(), 4);
}

TEST(AckWatermark, WhatDoesNotFitIsRefusedAndChangesNothing) {
  ack_watermark marks(5, 2);
  EXPECT_FALSE(marks.begin(4)) << "below the start";
  EXPECT_TRUE(marks.begin(7));
  EXPECT_FALSE(marks.begin(7)) << "twice";
  EXPECT_FALSE(marks.begin(6)) << "out of order";
  EXPECT_TRUE(marks.begin(8));
  EXPECT_FALSE(marks.begin(9)) << "too many are open";
  EXPECT_FALSE(marks.note(6, good));
  EXPECT_FALSE(marks.release(99));
  EXPECT_TRUE(marks.note(7, bad));
  EXPECT_FALSE(marks.note(7, good)) << "it has its answer";
  EXPECT_EQ(marks.watermark(), 7);
  EXPECT_TRUE(marks.release(7));
  EXPECT_FALSE(marks.release(7));
  EXPECT_TRUE(marks.begin(9)) << "there is room again";
}

TEST(AckWatermark, WatchIsACallback) {
  ack_watermark marks;
  ASSERT_TRUE(marks.begin(0));
  ASSERT_TRUE(marks.begin(1));
  int seen = 0;
  marks.watch(0)(good);
  marks.watch(1, [&](const outcome& answer) { seen += answer.is_delivered() ? 1 : 100; })(good);
  EXPECT_EQ(marks.watermark(), 2);
  EXPECT_EQ(seen, 1);
}

TEST(AckWatermark, ManyThreadsAnswerInAnyOrder) {
  constexpr int count = 20'000;
  ack_watermark marks(0, count);
  for (int i = 0; i < count; ++i) ASSERT_TRUE(marks.begin(i));
  std::vector<std::atomic<bool>> answered(count);
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<int> mine;
      for (int i = t; i < count; i += 4) mine.push_back(i);
      std::shuffle(mine.begin(), mine.end(), std::mt19937(static_cast<unsigned>(t)));
      for (std::size_t i = 0; i < mine.size(); ++i) {
        answered[static_cast<std::size_t>(mine[i])] = true;
        marks.note(mine[i], good);
        if (i % 500 != 0) continue;
        const auto below = static_cast<std::size_t>(marks.watermark());
        for (std::size_t k = 0; k < below; ++k) wrong = wrong || !answered[k];
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_FALSE(wrong);
  EXPECT_EQ(marks.watermark(), count);
}

}  // namespace
}  // namespace partita
