#include "actors/batch.hpp"

#include "builders/contract_guard.hpp"
#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

using namespace std::chrono_literals;
using testing::broken_contract;
using testing::contract_guard;
using testing::numbers_in;
using numbers = std::vector<int>;

constexpr wire::batch_stamp stamp_a{4242, 7, 100};
constexpr wire::batch_stamp stamp_b{4242, 8, 0};

class Batch : public ::testing::Test {
 protected:
  /// A record whose value is its ordinal, with a deadline `later` after the first one's.
  void add(batch& to, std::int64_t timestamp_ms, duration later = {}, std::size_t padding = 0) {
    const std::string key(padding, 'k');
    const std::string value = std::to_string(next_);
    const header fields[] = {{"h", "x"}, {"null", std::nullopt}};
    const record what{.topic = "t", .key = key, .value = value, .headers = fields};
    record_node* node = node_of(what, timestamp_ms);
    // A refused append throws in these tests.
    const std::unique_ptr<record_node, void (*)(record_node*)> owned(
        node, [](record_node* done) { release_record_node(*done); });
    cost_ += node->weight;
    to.append(*node, next_++, start_ + later, start_);
  }
  static record_node* node_of(const record& what, std::int64_t timestamp_ms) {
    record_node* node =
        make_record_node(what, static_cast<std::uint32_t>(wire::record_tail_size(what)));
    node->timestamp_ms = timestamp_ms;
    return node;
  }
  bool fits(const batch& into, std::int64_t timestamp_ms, std::size_t bytes_max = 1000,
            std::size_t records_max = 10) {
    record_node* node = node_of({.topic = "t", .key = {}, .value = "v"}, timestamp_ms);
    const bool answer = into.fits(*node, bytes_max, records_max);
    release_record_node(*node);
    return answer;
  }

  instant start_{1000h};
  std::uint64_t next_ = 0;
  std::size_t cost_ = 0;
  wire::segment_pool pool_;
  batch batch_{&pool_, nullptr};
};

TEST_F(Batch, KeepsWhatItsRecordsCostAndWhereTheyBegin) {
  next_ = 17;
  add(batch_, 5000);
  add(batch_, 5003, 2s);

  EXPECT_EQ(batch_.count(), 2U);
  EXPECT_EQ(batch_.cost(), cost_);
  EXPECT_EQ(batch_.first_ordinal(), 17U);
  EXPECT_EQ(batch_.deadline(), start_);
  EXPECT_EQ(batch_.max_timestamp(), 5003);
  EXPECT_EQ(batch_.entries()[1].timestamp_delta_ms, 3);
}

TEST_F(Batch, TakesRecordsUpToItsLimits) {
  EXPECT_TRUE(fits(batch_, 1, 10)) << "a record larger than a batch gets one of its own";
  add(batch_, 1);
  const std::size_t size = batch_.size();

  EXPECT_FALSE(fits(batch_, 1, size));
  EXPECT_TRUE(fits(batch_, 1, size + 100));
  EXPECT_FALSE(fits(batch_, 1, 1000, 1));
  EXPECT_FALSE(fits(batch_, 1 + (std::int64_t{1} << 31), 1000)) << "its delta has 32 bits";
}

TEST_F(Batch, TakesNothingOnceItIsSealed) {
  contract_guard guard;
  add(batch_, 1);
  batch_.stamp(stamp_a, wire::codec::none, 0);

  EXPECT_FALSE(fits(batch_, 1));
  EXPECT_THROW(add(batch_, 1), broken_contract);
}

TEST_F(Batch, ASealedBatchCanBeNumberedAgainWhileNothingOfItIsInDoubt) {
  add(batch_, 1);
  batch_.stamp(stamp_a, wire::codec::none, 0);
  batch_.enter(batch_state::in_flight);
  batch_.attempts.begun();
  batch_.attempts.ended(attempt_verdict::not_appended);
  batch_.enter(batch_state::awaiting_retry);
  batch_.enter(batch_state::sealed);

  batch_.stamp(stamp_b, wire::codec::none, 0);

  EXPECT_EQ(batch_.tuple(), stamp_b);
  EXPECT_EQ(numbers_in(batch_), (numbers{0})) << "with a checksum that fits";
}

TEST_F(Batch, LargeRecordsLieInItAmongOthers) {
  for (const wire::codec codec : {wire::codec::none, wire::codec::lz4}) {
    batch mixed{&pool_, nullptr};
    next_ = 0;
    add(mixed, 1);
    add(mixed, 2, {}, 100'000);
    add(mixed, 3, {}, 50'000);
    add(mixed, 4);
    mixed.stamp(stamp_a, codec, wire::levels_of(codec).preset);
    EXPECT_EQ(numbers_in(mixed), (numbers{0, 1, 2, 3}));
    EXPECT_EQ(mixed.uncompressed_size() > 150'000, true);
    mixed.enter(batch_state::failed);
  }
  EXPECT_EQ(pool_.outstanding(), 0U);
}

TEST_F(Batch, ABatchInDoubtIsNeverNumberedAgain) {
  contract_guard guard;
  add(batch_, 1);
  batch_.stamp(stamp_a, wire::codec::none, 0);
  batch_.enter(batch_state::in_flight);
  batch_.attempts.begun();
  EXPECT_THROW(batch_.stamp(stamp_b, wire::codec::none, 0), broken_contract);
  batch_.attempts.ended(attempt_verdict::unknown);
  batch_.enter(batch_state::awaiting_retry);
  batch_.enter(batch_state::sealed);

  EXPECT_THROW(batch_.stamp(stamp_b, wire::codec::none, 0), broken_contract);
  EXPECT_EQ(batch_.tuple(), stamp_a);
}

TEST_F(Batch, RefusesIllegalMoves) {
  contract_guard guard;
  using enum batch_state;

  EXPECT_THROW(batch_.enter(in_flight), broken_contract);
  EXPECT_THROW(batch_.enter(delivered), broken_contract);
  batch_.enter(sealed);
  EXPECT_THROW(batch_.enter(delivered), broken_contract);
  batch_.enter(in_flight);
  EXPECT_THROW(batch_.enter(sealed), broken_contract);
  batch_.enter(delivered);
  for (const auto next : {open, sealed, in_flight, awaiting_retry, failed})
    EXPECT_THROW(batch_.enter(next), broken_contract);
}

TEST_F(Batch, CountsWhatHasExpiredFromTheFront) {
  add(batch_, 1);
  add(batch_, 1, 1s);
  add(batch_, 1, 1s);
  add(batch_, 1, 5s);

  EXPECT_EQ(batch_.expired_prefix(start_ - 1ms), 0U);
  EXPECT_EQ(batch_.expired_prefix(start_), 1U);
  EXPECT_EQ(batch_.expired_prefix(start_ + 1s), 3U);
  EXPECT_EQ(batch_.expired_prefix(start_ + 1h), 4U);
}

TEST_F(Batch, SplittingMovesTheFrontAndLosesNothing) {
  add(batch_, 5000);
  add(batch_, 5010, 1s, 300);
  add(batch_, 4990, 2s);  // an older timestamp than the new first record's
  add(batch_, 5030, 4s);
  batch front(&pool_, nullptr);

  batch_.split_front(1, front);

  EXPECT_EQ(front.cost() + batch_.cost(), cost_);
  EXPECT_EQ(front.first_ordinal(), 0U);
  EXPECT_EQ(front.deadline(), start_);
  EXPECT_EQ(batch_.first_ordinal(), 1U);
  EXPECT_EQ(batch_.deadline(), start_ + 1s);
  EXPECT_EQ(batch_.expired_prefix(start_ + 2s), 2U);
  EXPECT_EQ(batch_.base_timestamp(), 5010);
  EXPECT_EQ(batch_.entries()[1].timestamp_delta_ms, -20);
  EXPECT_EQ(batch_.entries()[2].position, 2U);
  batch_.stamp(stamp_a, wire::codec::none, 0);
  front.stamp(stamp_b, wire::codec::none, 0);
  EXPECT_EQ(numbers_in(front), (numbers{0}));
  EXPECT_EQ(numbers_in(batch_), (numbers{1, 2, 3}));
}

TEST_F(Batch, WhatASplitLeavesTakesMoreRecords) {
  add(batch_, 5000);
  add(batch_, 5010, 1s);
  batch front(&pool_, nullptr);
  batch_.split_front(1, front);

  ASSERT_TRUE(fits(batch_, 5020));
  add(batch_, 5020, 2s);
  batch_.stamp(stamp_a, wire::codec::none, 0);

  EXPECT_EQ(numbers_in(batch_), (numbers{1, 2}));
}

TEST_F(Batch, ABatchInUseIsNeverSplit) {
  contract_guard guard;
  add(batch_, 1);
  add(batch_, 1, 1s);
  batch_.stamp(stamp_a, wire::codec::none, 0);
  batch_.enter(batch_state::in_flight);
  batch_.attempts.begun();
  batch_.attempts.ended(attempt_verdict::not_appended);
  batch front(&pool_, nullptr);

  EXPECT_THROW(batch_.split_front(1, front), broken_contract);
}

TEST_F(Batch, CopiesRecordsAlsoOutOfACompressedBatch) {
  for (const auto codec : {wire::codec::none, wire::codec::lz4, wire::codec::zstd}) {
    batch sent(&pool_, nullptr);
    next_ = 0;
    add(sent, 5000, {}, 200);
    add(sent, 5001, {}, 200);
    sent.stamp(stamp_a, codec, wire::levels_of(codec).preset);

    std::vector<owned_record> copies;
    sent.copy_records(copies);

    ASSERT_EQ(copies.size(), 2U);
    EXPECT_EQ(copies[1].key, std::string(200, 'k'));
    EXPECT_EQ(copies[1].value, "1");
    EXPECT_EQ(copies[1].timestamp, timestamp(5001ms));
    EXPECT_EQ(copies[1].headers, (std::vector<owned_header>{{"h", "x"}, {"null", std::nullopt}}));
  }
}

TEST_F(Batch, ANewSubmissionForgetsTheOldOne) {
  add(batch_, 1);
  add(batch_, 1, 3s);
  batch_.stamp(stamp_a, wire::codec::none, 0);
  batch_.enter(batch_state::in_flight);
  batch_.attempts.begun();
  batch_.attempts.ended(attempt_verdict::unknown);
  batch_.enter(batch_state::failed);
  batch_.first_ticket = 9;
  batch_.hopeless.emplace();
  testing::recovery_run target;

  batch_.resubmit(&target, 10, 77, start_ + 20s);

  EXPECT_EQ(batch_.state(), batch_state::sealed);
  EXPECT_FALSE(batch_.attempts.doubted());
  EXPECT_FALSE(batch_.hopeless);
  EXPECT_EQ(batch_.first_ticket, 0U);
  EXPECT_EQ(batch_.submission, 77U);
  EXPECT_EQ(batch_.entries()[1].data, 11U);
  EXPECT_EQ(batch_.entries()[1].target, &target);
  EXPECT_EQ(batch_.expired_prefix(start_ + 20s - 1ms), 0U);
  EXPECT_EQ(batch_.expired_prefix(start_ + 20s), 2U);
  batch_.stamp(stamp_b, wire::codec::none, 0);
  EXPECT_EQ(batch_.tuple(), stamp_b);
}

TEST_F(Batch, AfterAResetItIsAsNew) {
  add(batch_, 1);
  batch_.stamp(stamp_a, wire::codec::none, 0);
  batch_.submission = 3;
  batch_.orphaned = true;
  batch_.hopeless.emplace();
  batch_.enter(batch_state::failed);

  batch_.reset();

  EXPECT_EQ(batch_.state(), batch_state::open);
  EXPECT_TRUE(batch_.empty());
  EXPECT_EQ(batch_.cost(), 0U);
  EXPECT_EQ(batch_.submission, 0U);
  EXPECT_FALSE(batch_.orphaned);
  EXPECT_FALSE(batch_.hopeless);
  next_ = 40;
  add(batch_, 9);
  batch_.stamp(stamp_b, wire::codec::none, 0);
  EXPECT_EQ(numbers_in(batch_), (numbers{40}));
}

TEST_F(Batch, IsNotResetWhileItsBytesAreBeingWritten) {
  contract_guard guard;
  add(batch_, 1);
  batch_.stamp(stamp_a, wire::codec::none, 0);
  batch_.attempts.begun();

  EXPECT_THROW(batch_.reset(), broken_contract);

  batch_.attempts.ended(attempt_verdict::unknown);
}

}  // namespace
}  // namespace partita::actors
