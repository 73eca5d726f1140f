#include "actors/batch_queue.hpp"

#include "builders/contract_guard.hpp"
#include "builders/partition_bench.hpp"

#include <gtest/gtest.h>

namespace partita::actors {
namespace {

/// Batches with one record each, whose order is their index.
class BatchQueue : public ::testing::Test {
 protected:
  batch& at(std::uint64_t ordinal) {
    auto& made = *batches_.emplace_back(std::make_unique<batch>(&pool_, nullptr));
    const record what{.topic = "t", .key = {}, .value = "v"};
    record_node* node =
        make_record_node(what, static_cast<std::uint32_t>(wire::record_tail_size(what)));
    made.append(*node, ordinal, instant(), instant());
    release_record_node(*node);
    return made;
  }
  std::vector<std::uint64_t> ordinals() const {
    std::vector<std::uint64_t> all;
    for (const batch* each = queue_.front(); each != nullptr; each = batch_queue::after(*each))
      all.push_back(each->first_ordinal());
    return all;
  }

  wire::segment_pool pool_;
  std::vector<std::unique_ptr<batch>> batches_;
  batch_queue queue_;
};

TEST_F(BatchQueue, GivesBackWhatCameFirst) {
  batch& first = at(1);
  batch& second = at(2);
  queue_.push_back(first);
  queue_.push_back(second);

  EXPECT_EQ(queue_.size(), 2U);
  EXPECT_EQ(queue_.pop_front(), &first);
  EXPECT_EQ(queue_.front(), &second);
  EXPECT_EQ(queue_.back(), &second);
  EXPECT_EQ(queue_.pop_front(), &second);
  EXPECT_TRUE(queue_.empty());
  EXPECT_EQ(queue_.back(), nullptr);
}

TEST_F(BatchQueue, InsertsByTheOrderOfTheRecords) {
  for (const std::uint64_t ordinal : {5, 1, 9, 3, 7}) queue_.insert_by_order(at(ordinal));

  EXPECT_EQ(ordinals(), (std::vector<std::uint64_t>{1, 3, 5, 7, 9}));
  EXPECT_EQ(queue_.back()->first_ordinal(), 9U);
  queue_.push_back(at(11));
  EXPECT_EQ(queue_.size(), 6U);
}

TEST_F(BatchQueue, ABatchIsInOneQueueOnly) {
  testing::contract_guard guard;
  batch& first = at(1);
  queue_.push_back(first);
  queue_.push_back(at(2));
  batch_queue other;

  EXPECT_THROW(other.push_back(first), testing::broken_contract);
}

TEST_F(BatchQueue, AnEmptyQueueGivesNothing) {
  testing::contract_guard guard;

  EXPECT_THROW(queue_.pop_front(), testing::broken_contract);
}

}  // namespace
}  // namespace partita::actors
