// A log that is not the one that was written to: what is not found in it may have been there.
#include "tests/builders/one_partition.hpp"

#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/simulated_producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

class ChangedLog : public ::testing::Test {
 protected:
  std::unique_ptr<producer> make(std::uint64_t seed) {
    producer_config config;
    config.linger = 0ms;
    config.on_failure = failure_policy::skip;
    config.delivery_timeout = 3s;
    config.request_timeout = 700ms;
    config.bootstrap_servers = world_.bootstrap();
    return make_producer(world_, config, {1, seed});
  }
  outcome produce(producer& by, const std::string& value) {
    std::optional<outcome> told;
    by.produce({.topic = "t", .value = value, .partition = 0},
               [&told](const outcome& answer) { told = answer; });
    EXPECT_TRUE(world_.time().run_until([&] { return told.has_value(); }, 10s));
    return told.value_or(outcome(failed{}));
  }
  void fill(producer& by, int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(produce(by, "v" + std::to_string(i)).is_delivered());
    }
  }
  /// What became of a record that was told unknown, which lies in the log or lay there.
  std::error_code undecided(producer& by, const outcome& told) {
    const failed* failure = told.failure();
    EXPECT_TRUE(failure != nullptr && failure->fate == fate::unknown);
    if (failure == nullptr) return {};
    const settlement verdict = wait_for(world_, by.settle(failure->ticket));
    EXPECT_NE(verdict.undecided(), nullptr);
    return verdict.undecided() != nullptr ? verdict.undecided()->reason : std::error_code();
  }

  simulation world_{one_partition()};
  std::unique_ptr<producer> ours_ = make(1);
  std::unique_ptr<producer> others_ = make(2);
};

TEST_F(ChangedLog, ATailThatWasLostAndFilledByOthersProvesNothing) {
  fill(*ours_, 6);
  world_.cluster().roll_back("t", 0, 3);
  const outcome told = produce(*ours_, "B");  // it lies at 3, where another one of ours was
  fill(*others_, 5);
  EXPECT_EQ(undecided(*ours_, told), make_error_code(client_errc::log_changed));
}

TEST_F(ChangedLog, ATailThatWasLostAndFilledByOurselvesProvesNothing) {
  fill(*ours_, 6);
  world_.cluster().roll_back("t", 0, 3);
  const outcome told = produce(*ours_, "B");
  for (int i = 0; i < 5; ++i) static_cast<void>(produce(*ours_, "C"));
  EXPECT_EQ(undecided(*ours_, told), make_error_code(client_errc::log_changed));
}

TEST_F(ChangedLog, TheFirstRecordOfAProducerMayHaveBeenTrimmedAway) {
  fill(*others_, 3);
  fault mute;
  mute.reply = reply::never;
  mute.times = 1'000'000;
  mute.value = "A";
  world_.cluster().inject(mute);
  const outcome told = produce(*ours_, "A");
  fill(*others_, 2);
  ASSERT_EQ(world_.cluster().delete_records("t", 0, 4), broker_errc::none);
  EXPECT_EQ(undecided(*ours_, told), make_error_code(client_errc::log_trimmed));
}

TEST_F(ChangedLog, TheFirstRecordOfAProducerIsFoundInALogThatIsWhole) {
  fill(*others_, 3);
  fault mute;
  mute.reply = reply::never;
  mute.times = 1'000'000;
  mute.value = "A";
  world_.cluster().inject(mute);
  const outcome told = produce(*ours_, "A");
  fill(*others_, 2);
  ASSERT_NE(told.failure(), nullptr);
  const settlement verdict = wait_for(world_, ours_->settle(told.failure()->ticket));
  ASSERT_TRUE(verdict.is_delivered());
  EXPECT_EQ(verdict.delivery()->offset, offset(3));
}

/// A record of ours whose answers never come: it lies behind what the others wrote, in one batch.
class CompactedLog : public ChangedLog {
 protected:
  outcome produce_keyed(producer& by, const std::string& key, const std::string& value) {
    std::optional<outcome> told;
    by.produce({.topic = "t", .key = key, .value = value, .partition = 0},
               [&told](const outcome& answer) { told = answer; });
    EXPECT_TRUE(world_.time().run_until([&] { return told.has_value(); }, 10s));
    return told.value_or(outcome(failed{}));
  }
  outcome produce_muted(bool is_first = false) {
    if (!is_first) {
      EXPECT_TRUE(produce_keyed(*ours_, "first", "1").is_delivered());
    }
    fault mute;
    mute.reply = reply::never;
    mute.times = 1'000'000;
    mute.value = "A";
    world_.cluster().inject(mute);
    const outcome told = produce_keyed(*ours_, "k", "A");
    for (const char* key : {"k", "other", "newest"})
      EXPECT_TRUE(produce_keyed(*others_, key, "B").is_delivered());
    return told;
  }
  static std::vector<std::int64_t> offsets_of(const std::vector<log_record>& records) {
    std::vector<std::int64_t> all;
    for (const log_record& each : records) all.push_back(each.offset.value);
    return all;
  }
};

// The batch stays, empty, as the newest one of its producer: it is found.
TEST_F(CompactedLog, ARecordThatWasReplacedIsFoundByWhatIsLeftOfItsBatch) {
  const outcome told = produce_muted();
  EXPECT_EQ(offsets_of(world_.cluster().compact("t", 0)), std::vector<std::int64_t>{1});
  ASSERT_NE(told.failure(), nullptr);
  EXPECT_EQ(told.failure()->fate, fate::unknown);
  const settlement verdict = wait_for(world_, ours_->settle(told.failure()->ticket));
  ASSERT_TRUE(verdict.is_delivered());
  EXPECT_EQ(verdict.delivery()->offset, offset(1));
}

// Behind a newer batch of its producer nothing of it is left but a gap, and that proves nothing.
TEST_F(CompactedLog, AGapWhereItMayHaveLainProvesNothing) {
  const outcome told = produce_muted();
  EXPECT_TRUE(produce_keyed(*ours_, "fence", "1").is_delivered());
  EXPECT_TRUE(produce_keyed(*others_, "last", "1").is_delivered());
  EXPECT_EQ(offsets_of(world_.cluster().compact("t", 0)), std::vector<std::int64_t>{1});
  EXPECT_EQ(world_.cluster().batches("t", 0).size(), 6U);
  EXPECT_EQ(undecided(*ours_, told), make_error_code(client_errc::log_trimmed));
}

// Nothing of ours was acknowledged before it: the log is looked at from where it is old enough on.
TEST_F(CompactedLog, AGapBeforeWhatIsYoungProvesNothing) {
  const outcome told = produce_muted(true);
  EXPECT_TRUE(produce_keyed(*ours_, "fence", "1").is_delivered());
  EXPECT_TRUE(produce_keyed(*others_, "last", "1").is_delivered());
  EXPECT_EQ(offsets_of(world_.cluster().compact("t", 0)), std::vector<std::int64_t>{0});
  EXPECT_EQ(undecided(*ours_, told), make_error_code(client_errc::log_trimmed));
}

}  // namespace
}  // namespace partita::testing
