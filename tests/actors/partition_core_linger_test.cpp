// Waiting for company, and what ends it.
#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::numbers_in;
using testing::partition_bench;

partition_settings lingering() {
  auto with = partition_bench::quick();
  with.batch_records_max = 10;
  with.linger = 5ms;
  return with;
}

TEST(PartitionCore, SaysThatItLingersAndThatItHas) {
  partition_bench b(lingering());
  b.started();
  b.produce(2);
  EXPECT_TRUE(b.is_lingering);
  EXPECT_FALSE(b.is_ready);
  EXPECT_EQ(b.send(), nullptr);
  EXPECT_EQ(b.lingers_ended, 0);

  b.advance(5ms);
  EXPECT_TRUE(b.is_ready);
  EXPECT_FALSE(b.is_lingering);
  EXPECT_EQ(b.lingers_ended, 1);
  b.deliver(b.send(), 0);
  b.end();
}

TEST(PartitionCore, AFullBatchBringsNobodyAlong) {
  partition_bench b(lingering());
  b.started();
  b.produce(10);
  EXPECT_TRUE(b.is_ready);
  EXPECT_EQ(b.lingers_ended, 0);
  b.end();
}

TEST(PartitionCore, ItsLingerCanBeEnded) {
  partition_bench b(lingering());
  b.started();
  b.produce(2);
  b.core->end_linger();
  EXPECT_GT(b.core->next_bytes(b.now), 0U);
  batch* sent = b.send();
  ASSERT_NE(sent, nullptr);
  b.deliver(sent, 0);
  b.produce(1);
  EXPECT_TRUE(b.is_lingering) << "what comes later lingers again";
  b.end();
}

TEST(PartitionCore, ARecordThatWaitedForRoomDoesNotLinger) {
  partition_bench b(lingering());
  b.started();
  b.produce(1);
  EXPECT_TRUE(b.is_lingering);
  b.produce_that_waited();
  EXPECT_TRUE(b.is_ready);
  b.end();
}

TEST(PartitionCore, ALoneRecordGoesAtOnceAfterOneThatLingeredInVain) {
  partition_bench b(lingering());
  b.alone = true;
  b.started();
  b.produce(1);
  EXPECT_TRUE(b.is_lingering);
  b.advance(5ms);
  b.deliver(b.send(), 0);
  b.produce(1);
  EXPECT_TRUE(b.is_ready);
  b.produce(1);
  batch* two = b.send();
  EXPECT_EQ(numbers_in(*two).size(), 2U);
  b.produce(1);
  EXPECT_FALSE(b.is_ready) << "something is under way";
  b.deliver(two, 1);
  EXPECT_TRUE(b.is_lingering) << "company is worth waiting for again";
  b.end();
}

TEST(PartitionCore, WhatOtherPartitionsHaveIsCompanyToo) {
  partition_bench b(lingering());
  b.alone = true;
  b.started();
  b.produce(1);
  b.advance(5ms);
  b.deliver(b.send(), 0);
  b.alone = false;
  b.produce(1);
  EXPECT_TRUE(b.is_lingering);
  b.end();
}

}  // namespace
}  // namespace partita::actors
