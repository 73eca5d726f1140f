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

TEST(PartitionCore, RecordsThatOnlyJoinABatchMayComeUnseen) {
  partition_bench b(lingering());
  b.started();
  b.produce(2);
  const auto two_of_ten = b.core->patience(b.now);
  EXPECT_GT(two_of_ten.bytes, 0U);
  EXPECT_FALSE(two_of_ten.until) << "the timer of the linger is armed";
  b.produce(6);
  EXPECT_GT(b.core->patience(b.now).bytes, 0U);
  EXPECT_LT(b.core->patience(b.now).bytes, two_of_ten.bytes) << "the batch has less room";
  b.produce(2);
  EXPECT_EQ(b.core->patience(b.now).bytes, 0U) << "it is full";
  b.end();
}

TEST(PartitionCore, BehindABatchTheNextRecordMayComeUnseenForOneLingerUnlessItIsAlone) {
  partition_bench b(lingering());
  b.started();
  b.produce(10);
  ASSERT_NE(b.send(), nullptr);
  b.alone = false;
  const auto among_others = b.core->patience(b.now);
  EXPECT_GT(among_others.bytes, 0U);
  ASSERT_TRUE(among_others.until) << "nothing else would call";
  EXPECT_EQ(*among_others.until, b.now + 6ms);
  b.alone = true;
  EXPECT_EQ(b.core->patience(b.now).bytes, 0U);
  b.alone = false;
  EXPECT_EQ(b.core->patience(b.now + 6ms).bytes, 0U) << "nothing came in that time";
  b.end();
}

TEST(PartitionCore, WhatFillsABatchDoesNotComeUnseen) {
  auto settings = lingering();
  settings.batch_records_max = 2;
  partition_bench b(settings);
  b.started();
  b.produce(1);
  EXPECT_LE(b.core->patience(b.now).bytes, partition_core::unseen_record_bytes) << "one is missing";
  b.produce(1);
  ASSERT_NE(b.send(), nullptr);
  EXPECT_LE(b.core->patience(b.now).bytes, 2 * partition_core::unseen_record_bytes);
  b.end();

  settings.batch_records_max = 1'000;
  settings.batch_bytes_max = 500;
  partition_bench small(settings);
  small.started();
  small.produce(1);
  const std::size_t left = small.core->patience(small.now).bytes;
  EXPECT_GT(left, 0U);
  EXPECT_LT(left, 500U - wire::batch_header_size);
  small.end();
}

// The timer is armed for the end of what is buffered; a record that came unseen would end before.
TEST(PartitionCore, BesideARecordWithADeadlineOfItsOwnNoneComesUnseen) {
  partition_bench b(lingering());
  b.started();
  b.produce_own(30s);
  EXPECT_EQ(b.core->patience(b.now).bytes, 0U);
  b.end();
}

TEST(PartitionCore, NoRecordComesUnseenWhereItWouldBeAnsweredOrPutAsideAtOnce) {
  partition_bench b(lingering());
  b.started();
  b.produce(2);
  ASSERT_GT(b.core->patience(b.now).bytes, 0U);
  b.core->pause(pause_mode::hold, b.now);
  EXPECT_EQ(b.core->patience(b.now).bytes, 0U);
  b.core->resume(b.now);
  EXPECT_GT(b.core->patience(b.now).bytes, 0U);
  b.produce_failed(client_errc::record_too_large, "k");
  EXPECT_EQ(b.core->patience(b.now).bytes, 0U) << "halted";
  b.end();
}

TEST(PartitionCore, WithoutLingerNoRecordComesUnseen) {
  auto settings = lingering();
  settings.linger = 0ms;
  partition_bench b(settings);
  b.produce(2);
  EXPECT_EQ(b.core->patience(b.now).bytes, 0U);
  b.end();
}

TEST(PartitionCore, ALingerCountsFromTheComingOfItsFirstRecord) {
  partition_bench b(lingering());
  b.started();
  b.advance(1s);
  b.produce_that_came(b.now - 3ms);
  EXPECT_TRUE(b.is_lingering);
  b.advance(2ms);
  EXPECT_TRUE(b.is_ready);
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
