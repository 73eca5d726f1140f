// A deadline that finds a frame of which the last byte has not left.
#include "actors/partition_core.hpp"

#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::partition_bench;

TEST(PartitionCore, ABatchThatHasNotLeftAtItsDeadlineIsNotWritten) {
  partition_bench b(partition_bench::quick());
  b.frames_can_be_withdrawn = true;
  b.started();
  const int first = b.produce(2);
  ASSERT_NE(b.send_in_part(), nullptr);
  b.advance(10s);
  EXPECT_TRUE(b.told(first).starts_with("not_written delivery_timeout")) << b.told(first);
  b.end();
}

TEST(PartitionCore, ABatchThatCanNotBeWithdrawnAtItsDeadlineIsUnknown) {
  partition_bench b(partition_bench::quick());
  b.started();
  const int first = b.produce(2);
  ASSERT_NE(b.send_in_part(), nullptr);
  b.advance(10s);
  EXPECT_EQ(b.told(first), "unknown delivery_timeout");
  b.end();
}

TEST(PartitionCore, NothingIsWithdrawnOfABatchInDoubt) {
  partition_bench b(partition_bench::quick());
  b.frames_can_be_withdrawn = true;
  b.started();
  const int first = b.produce(2);
  b.lose(b.send());
  b.advance(200ms);
  ASSERT_NE(b.send_in_part(), nullptr);
  b.advance(10s);
  EXPECT_TRUE(b.withdrawn.empty());
  EXPECT_TRUE(b.told(first).starts_with("unknown delivery_timeout")) << b.told(first);
  b.end();
}

TEST(PartitionCore, RecordsBehindAWithdrawnBatchEndAfterIt) {
  auto with = partition_bench::quick();
  with.on_failure = failure_policy::skip;
  partition_bench b(with);
  b.frames_can_be_withdrawn = true;
  b.started();
  b.produce(4);
  ASSERT_NE(b.send_in_part(), nullptr);
  b.advance(10s);
  for (const int each : {1, 2})
    EXPECT_TRUE(b.told(each).starts_with("not_written delivery_timeout")) << b.told(each);
  EXPECT_EQ(b.told(3).substr(0, 28), b.told(1).substr(0, 28));
  EXPECT_LT(b.place_of("2 " + b.told(2)), b.place_of("3 " + b.told(3)));
  b.end();
}

}  // namespace
}  // namespace partita::actors
