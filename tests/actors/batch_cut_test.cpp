// Taking records out of a batch.
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

class BatchCut : public ::testing::Test {
 protected:
  /// Records are numbered; number n has timestamp 5000 + 7n, deadline n seconds after the first
  /// one's, and n as the hash of its key.
  void fill(batch& into, int count, std::size_t padding = 0) {
    const std::string key(padding, 'k');
    for (int i = 0; i < count; ++i) {
      const std::string value = std::to_string(next_);
      const record what{.topic = "t", .key = key, .value = value};
      record_node* node =
          make_record_node(what, static_cast<std::uint32_t>(wire::record_tail_size(what)));
      node->timestamp_ms = 5000 + 7 * next_;
      node->key_hash = static_cast<std::uint32_t>(next_);
      cost_ += node->weight;
      into.append(*node, 100 + static_cast<std::uint64_t>(next_),
                  start_ + std::chrono::seconds(next_), start_);
      release_record_node(*node);
      ++next_;
    }
  }
  static auto odd() {
    return [](std::size_t, const completion_entry& each) { return each.key_hash % 2 == 1; };
  }
  /// Its records with their own timestamps, as its bytes and as its entries say.
  static void expect_sound(batch& cut, const numbers& expected) {
    ASSERT_EQ(cut.count(), expected.size());
    std::vector<owned_record> records;
    cut.copy_records(records);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const completion_entry& entry = cut.entries()[i];
      EXPECT_EQ(records[i].value, std::to_string(expected[i]));
      EXPECT_EQ(entry.position, i);
      EXPECT_EQ(entry.key_hash, static_cast<std::uint32_t>(expected[i]));
      EXPECT_EQ(cut.ordinal_of(i), 100U + static_cast<std::uint64_t>(expected[i]));
      const std::int64_t stamp = records[i].timestamp.time_since_epoch().count();
      EXPECT_EQ(stamp, 5000 + 7 * expected[i]);
      EXPECT_EQ(cut.base_timestamp() + entry.timestamp_delta_ms, stamp);
    }
  }
  /// As sent and refused before the append: no tuple of it is in use.
  static void refuse_once(batch& sent) {
    sent.enter(batch_state::in_flight);
    sent.attempts.begun();
    sent.attempts.ended(attempt_verdict::not_appended);
    sent.enter(batch_state::awaiting_retry);
    sent.enter(batch_state::sealed);
  }

  instant start_{1000h};
  int next_ = 0;
  std::size_t cost_ = 0;
  wire::segment_pool pool_;
  batch batch_{&pool_, nullptr};
  batch taken_{&pool_, nullptr};
};

TEST_F(BatchCut, ExtractingMovesWhatIsWantedInOrderAndLosesNothing) {
  fill(batch_, 6);

  EXPECT_EQ(batch_.extract(odd(), taken_), 3U);

  EXPECT_EQ(batch_.state(), batch_state::open);
  EXPECT_EQ(taken_.state(), batch_state::open);
  EXPECT_EQ(batch_.cost() + taken_.cost(), cost_);
  EXPECT_EQ(batch_.first_ordinal(), 100U);
  EXPECT_EQ(taken_.first_ordinal(), 101U);
  EXPECT_EQ(batch_.deadline(), start_);
  EXPECT_EQ(taken_.deadline(), start_ + 1s);
  EXPECT_EQ(taken_.expired_prefix(start_ + 3s), 2U);
  expect_sound(batch_, {0, 2, 4});
  expect_sound(taken_, {1, 3, 5});
  batch_.stamp(stamp_a, wire::codec::none, 0);
  taken_.stamp(stamp_b, wire::codec::none, 0);
  EXPECT_EQ(numbers_in(batch_), (numbers{0, 2, 4})) << "with a checksum that fits";
  EXPECT_EQ(numbers_in(taken_), (numbers{1, 3, 5}));
}

TEST_F(BatchCut, AnOpenBatchTakesMoreRecordsAfterwards) {
  fill(batch_, 3);
  batch_.extract(odd(), taken_);

  fill(batch_, 2);

  expect_sound(batch_, {0, 2, 3, 4});
  EXPECT_EQ(batch_.records_before(100), 0U);
  EXPECT_EQ(batch_.records_before(102), 1U) << "the one in between is gone";
  EXPECT_EQ(batch_.records_before(104), 3U);
  EXPECT_EQ(batch_.records_before(200), 4U);
}

TEST_F(BatchCut, ASealedBatchIsCutWhateverItsCodec) {
  for (const auto codec : {wire::codec::none, wire::codec::gzip, wire::codec::snappy,
                           wire::codec::lz4, wire::codec::zstd}) {
    batch sent(&pool_, nullptr);
    batch taken(&pool_, nullptr);
    next_ = 0;
    cost_ = 0;
    fill(sent, 5, 200);
    const int level = wire::levels_of(codec).preset;
    sent.stamp(stamp_a, codec, level);
    refuse_once(sent);
    sent.last_code = broker_errc::not_enough_replicas;
    sent.retry_at = start_ + 1s;

    EXPECT_EQ(sent.extract(odd(), taken), 2U);

    for (batch* each : {&sent, &taken}) {
      EXPECT_EQ(each->state(), batch_state::sealed) << "no record may join what was sent";
      EXPECT_EQ(each->attempts.attempts(), 1);
      EXPECT_EQ(each->last_code, broker_errc::not_enough_replicas);
      EXPECT_EQ(each->retry_at, start_ + 1s);
      EXPECT_EQ(each->bytes().count(), 0) << "the old bytes are gone";
      each->stamp(stamp_b, codec, level);
    }
    EXPECT_EQ(sent.cost() + taken.cost(), cost_);
    expect_sound(sent, {0, 2, 4});
    expect_sound(taken, {1, 3});
    EXPECT_EQ(sent.bytes().codec(), codec);
    EXPECT_EQ(sent.tuple(), stamp_b);
    EXPECT_EQ(numbers_in(taken), (numbers{1, 3}));
  }
}

TEST_F(BatchCut, WantingNothingOrEverythingLeavesOneOfThemEmpty) {
  fill(batch_, 2);
  EXPECT_EQ(batch_.extract([](std::size_t, const auto&) { return false; }, taken_), 0U);
  EXPECT_TRUE(taken_.empty());
  expect_sound(batch_, {0, 1});

  EXPECT_EQ(batch_.extract([](std::size_t, const auto&) { return true; }, taken_), 2U);
  EXPECT_TRUE(batch_.empty());
  EXPECT_EQ(batch_.cost(), 0U);
  expect_sound(taken_, {0, 1});
}

TEST_F(BatchCut, OfAFailedBatchEveryRecordKeepsItsTicket) {
  fill(batch_, 4);
  batch_.stamp(stamp_a, wire::codec::zstd, 3);
  batch_.enter(batch_state::in_flight);
  batch_.attempts.begun();
  batch_.attempts.ended(attempt_verdict::unknown);
  batch_.enter(batch_state::failed);
  batch_.first_ticket = 70;

  batch_.extract(odd(), taken_);

  EXPECT_EQ(taken_.state(), batch_state::failed);
  EXPECT_EQ(taken_.first_ticket, 70U);
  EXPECT_EQ(taken_.entries()[0].position, 1U);
  EXPECT_EQ(taken_.entries()[1].position, 3U);
  EXPECT_EQ(batch_.entries()[1].position, 2U);
  testing::recovery_run target;
  taken_.resubmit(&target, 0, 500, start_);
  EXPECT_EQ(taken_.entries()[1].position, 1U) << "a new submission counts anew";
  taken_.stamp(stamp_b, wire::codec::none, 0);
  EXPECT_EQ(numbers_in(taken_), (numbers{1, 3}));
}

TEST_F(BatchCut, ABatchThatMayBeWrittenIsNeverCut) {
  contract_guard guard;
  fill(batch_, 2);
  batch_.stamp(stamp_a, wire::codec::none, 0);
  batch_.enter(batch_state::in_flight);
  batch_.attempts.begun();
  EXPECT_THROW(batch_.extract(odd(), taken_), broken_contract) << "an attempt is under way";
  batch_.attempts.ended(attempt_verdict::unknown);
  batch_.enter(batch_state::awaiting_retry);
  EXPECT_THROW(batch_.extract(odd(), taken_), broken_contract) << "its tuple is in use";
  batch_.enter(batch_state::sealed);
  EXPECT_THROW(batch_.extract(odd(), taken_), broken_contract) << "it is in doubt";
  EXPECT_THROW(batch_.split_half(taken_), broken_contract);
}

TEST_F(BatchCut, HalvesAreOfTheSameSizeAndNeverEmpty) {
  fill(batch_, 8, 100);
  batch_.split_half(taken_);
  expect_sound(taken_, {0, 1, 2, 3});
  expect_sound(batch_, {4, 5, 6, 7});

  for (const bool large_first : {true, false}) {
    batch uneven(&pool_, nullptr);
    batch front(&pool_, nullptr);
    next_ = 0;
    fill(uneven, 1, large_first ? 9000 : 10);
    fill(uneven, 1, large_first ? 10 : 9000);
    uneven.split_half(front);
    expect_sound(front, {0});
    expect_sound(uneven, {1});
  }
}

TEST_F(BatchCut, HalvingEndsWithSingleRecords) {
  contract_guard guard;
  fill(batch_, 1);
  EXPECT_THROW(batch_.split_half(taken_), broken_contract);
}

}  // namespace
}  // namespace partita::actors
