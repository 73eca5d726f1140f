// Records that wait for their partition's share of the memory, and those that come while they do:
// the order that a partition and a key keep, also when the topic grows meanwhile.
#include "tests/sim/history.hpp"

#include <partita/partitioner.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Starts at once and is forgotten.
struct forgotten {
  struct promise_type {
    forgotten get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

/// A history, and answers by the names of records, in the order in which they came.
class share_story : public history {
 public:
  explicit share_story(const history_options& options) : history(options) {
    for (int partition = 0; partition < options.partitions; ++partition)
      history::produce(partition, "warm");
    EXPECT_TRUE(run_until_answered());
  }
  ~share_story() { end_producer(); }  // what it answers then is noted here

  /// Waits if it has to.
  forgotten send(partita::record what, std::string name, std::size_t padding = 0,
                 produce_options options = {}) {
    const std::string value = name + std::string(padding, '.');
    what.topic = what.topic.empty() ? topic() : what.topic;
    what.value = value;
    ++sent_;
    outcome answer = co_await producer().produce(what, std::move(options));
    told_.push_back(name);
    answers_.emplace(std::move(name), std::move(answer));
  }
  void send_batch(const std::vector<std::pair<partita::record, std::string>>& records) {
    std::vector<partita::record> views;
    std::vector<std::string> names;
    for (const auto& [what, name] : records) {
      views.push_back(what);
      views.back().topic = topic();
      views.back().value = name;
      names.push_back(name);
      ++sent_;
    }
    producer().produce_batch(views).then([this, names](const std::vector<outcome>& all) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        told_.push_back(names[i]);
        answers_.emplace(names[i], all[i]);
      }
    });
  }
  /// Nothing leaves the partition any more, and it holds its share.
  void fill(int partition) {
    wait_for(world(), producer().pause(topic(), partition));
    const std::string value(200, 'f');
    for (;;) {
      partita::record one;
      one.topic = topic();
      one.value = value;
      one.partition = partition;
      if (producer().try_produce(one, [](const outcome&) {}) != admission::accepted) return;
      run_for(milliseconds(20));
    }
  }
  void resume(int partition) { wait_for(world(), producer().resume(topic(), partition)); }
  void grow(int partitions) {
    ASSERT_EQ(cluster().add_partitions(topic(), partitions), broker_errc::none);
    run_for(seconds(1));
  }

  bool all_told(std::chrono::nanoseconds limit = seconds(5)) {
    return world().time().run_until([this] { return told_.size() == sent_; }, limit);
  }
  [[nodiscard]] const std::vector<std::string>& told() const { return told_; }
  [[nodiscard]] const outcome& answer_of(const std::string& name) const {
    return answers_.at(name);
  }
  [[nodiscard]] std::ptrdiff_t delivered() const {
    return std::count_if(answers_.begin(), answers_.end(),
                         [](const auto& each) { return each.second.is_delivered(); });
  }
  /// The names in a partition's log, or of one key there, without what warmed and filled it.
  [[nodiscard]] std::vector<std::string> names_in(int partition,
                                                  const std::optional<std::string>& of_key = {}) {
    std::vector<std::string> names;
    for (const log_record& each : cluster().log(topic(), partition)) {
      const std::string value = each.value.value_or("");
      const std::string name = value.substr(0, value.find('.'));
      if (name.size() <= 3 && (!of_key || each.key == of_key)) names.push_back(name);
    }
    return names;
  }

 private:
  std::size_t sent_ = 0;
  std::vector<std::string> told_;
  std::map<std::string, outcome> answers_;
};

using names = std::vector<std::string>;

history_options small_shares(int partitions = 3) {
  history_options options;
  options.partitions = partitions;
  options.config = hurried_config();
  options.config.linger = milliseconds(0);
  options.config.metadata_max_age = milliseconds(150);
  options.config.partition_memory_bytes = 1500;
  return options;
}

/// A key that murmur2 puts into `before` of 3 partitions and into `after` of 5.
std::string key_that_goes(int before, int after) {
  for (int i = 0;; ++i) {
    const std::string key = "key-" + std::to_string(i);
    if (partition_of_key(partitioner_kind::murmur2_random, key, 3)->value == before &&
        partition_of_key(partitioner_kind::murmur2_random, key, 5)->value == after)
      return key;
  }
}

// Its partition was chosen by the old count, when it lined up: by the new one it came into the
// other partition of its key, behind those that were produced later.
TEST(ShareOrder, WhoWaitsKeepsHisPartitionWhenTheTopicGrows) {
  share_story story(small_shares());
  const std::string key = key_that_goes(0, 4);
  story.fill(0);
  for (const char* name : {"A0", "A1", "A2"}) story.send({.key = key}, name);
  story.grow(5);
  for (const char* name : {"B0", "B1", "B2"}) story.send({.key = key}, name);
  story.run_for(milliseconds(500));
  story.resume(0);
  ASSERT_TRUE(story.all_told());
  EXPECT_EQ(story.names_in(0), (names{"A0", "A1", "A2"}));
  EXPECT_EQ(story.names_in(4), (names{"B0", "B1", "B2"}));
}

TEST(ShareOrder, WhoWaitsInVainFailsInThePartitionThatHeWaitedFor) {
  history_options options = small_shares();
  options.config.max_block = seconds(2);
  share_story story(options);
  const std::string key = key_that_goes(0, 4);
  story.fill(0);
  story.send({.key = key}, "A");
  story.grow(5);
  story.send({.key = key}, "B0");
  story.run_for(seconds(2));
  story.send({.key = key}, "B1");
  ASSERT_TRUE(story.all_told());
  ASSERT_NE(story.answer_of("A").failure(), nullptr);
  EXPECT_EQ(story.answer_of("A").failure()->code, make_error_code(client_errc::admission_timeout));
  EXPECT_EQ(story.answer_of("A").failure()->partition, partition_id(0));
  EXPECT_EQ(story.names_in(4), (names{"B0", "B1"}));
}

// META-09: what waits for the old partition's share is awaited like what is in that partition.
TEST(ShareOrder, AGrowthThatDrainsWaitsForThoseWhoWait) {
  history_options options = small_shares();
  options.config.growth = partition_growth::drain_first;
  options.config.batch_records_max = 1;
  share_story story(options);
  const std::string key = key_that_goes(0, 4);
  story.fill(0);
  for (const char* name : {"A0", "A1", "A2", "A3", "A4", "A5"}) story.send({.key = key}, name, 400);
  story.grow(5);
  for (const char* name : {"B0", "B1"}) story.send({.key = key}, name);
  story.run_for(milliseconds(500));
  EXPECT_TRUE(story.told().empty());
  fault slow;
  slow.topic = history::topic();
  slow.partition = 0;
  slow.answer_after = milliseconds(100);
  slow.times = 100;
  story.cluster().inject(slow);
  story.resume(0);
  ASSERT_TRUE(story.all_told(seconds(20)));
  EXPECT_EQ(story.told(), (names{"A0", "A1", "A2", "A3", "A4", "A5", "B0", "B1"}));
  EXPECT_EQ(story.names_in(4), (names{"B0", "B1"}));
  // It is over then: nobody waits any more.
  story.send({.key = key}, "C");
  ASSERT_TRUE(story.all_told(milliseconds(500)));
}

// HANG-17: those that have no key and name no partition, too.
TEST(ShareOrder, RecordsWithoutAKeyDoNotTakeTheRoomOfOtherTopics) {
  history_options options = small_shares(1);
  options.config.partition_memory_bytes = 8000;
  options.config.buffer_memory_bytes = 64'000;
  options.config.max_block = seconds(2);
  options.config.on_failure = failure_policy::skip;
  share_story story(options);
  topic_options one;
  one.partitions = 1;
  ASSERT_EQ(story.cluster().create_topic("healthy", one), broker_errc::none);
  story.send({.topic = "healthy"}, "warm");
  ASSERT_TRUE(story.all_told());
  wait_for(story.world(), story.producer().pause(history::topic(), 0));
  for (int i = 0; i < 100; ++i) {
    story.send({}, "t" + std::to_string(i), 1000);
    story.run_for(milliseconds(1));
  }
  const producer_status held = wait_for(story.world(), story.producer().status());
  EXPECT_LE(held.partitions.at(0).buffered_bytes, 8000U + 1200U);
  EXPECT_EQ(story.told(), (names{"warm"}));
  for (int i = 0; i < 10; ++i) story.send({.topic = "healthy"}, "u" + std::to_string(i), 1000);
  ASSERT_TRUE(
      story.world().time().run_until([&] { return story.told().size() == 11; }, seconds(1)));
  EXPECT_EQ(story.delivered(), 11);
  story.resume(0);
  ASSERT_TRUE(story.all_told());
  EXPECT_EQ(story.delivered(), 111);
}

// The partition has no turn in between.
TEST(ShareOrder, ABurstDoesNotExceedTheShare) {
  history_options options = small_shares();
  options.config.partition_memory_bytes = 8000;
  share_story story(options);
  for (int i = 0; i < 60; ++i) {
    story.send({.key = "k", .partition = 0}, "n" + std::to_string(i), 1000);
    story.send({}, "m" + std::to_string(i), 1000);
  }
  EXPECT_LE(wait_for(story.world(), story.producer().status()).buffered_bytes, 3U * 9200U);
  ASSERT_TRUE(story.all_told());
  EXPECT_EQ(story.delivered(), 120);
  // What was counted on its way has come: the partitions are empty, and take as much again.
  (void)wait_for(story.world(), story.producer().flush());
  int taken = 0;
  const std::string value(1000, 'v');
  partita::record one;
  one.topic = history::topic();
  one.value = value;
  one.partition = 0;
  while (story.producer().try_produce(one, [](const outcome&) {}) == admission::accepted) ++taken;
  EXPECT_EQ(taken, 8);
}

TEST(ShareOrder, ARecordWithoutAKeyDoesNotPassThoseThatWait) {
  share_story story(small_shares(1));
  story.fill(0);
  for (const char* name : {"A0", "A1", "A2"}) story.send({.partition = 0}, name);
  story.run_for(milliseconds(100));
  story.send({}, "B");
  story.run_for(milliseconds(100));
  story.send({.key = "k"}, "C");
  story.send({.partition = 0}, "D");
  story.send({}, "E");
  story.run_for(milliseconds(100));
  story.resume(0);
  ASSERT_TRUE(story.all_told());
  EXPECT_EQ(story.names_in(0), (names{"A0", "A1", "A2", "B", "C", "D", "E"}));
}

// It waits for any partition: not for that which can not be reached.
TEST(ShareOrder, ARecordWithoutAKeyGoesWhereThereIsRoomFirst) {
  history_options options = small_shares();
  options.config.delivery_timeout = seconds(60);
  options.config.max_block = seconds(5);
  options.config.on_failure = failure_policy::skip;
  options.config.partitioner_sticky_bytes = 1;
  share_story story(options);
  story.fill(0);
  for (int i = 0; i < 100; ++i) {
    story.send({}, "r" + std::to_string(i), 700);
    story.run_for(std::chrono::microseconds(50));
  }
  ASSERT_TRUE(story.all_told());
  EXPECT_EQ(story.delivered(), 100);
}

TEST(ShareOrder, ABatchDoesNotPassThoseThatWait) {
  share_story story(small_shares());
  story.fill(0);
  story.send_batch({{{.key = "k", .partition = 0}, "a"}});  // nobody waits: as it is documented
  story.run_for(milliseconds(100));
  for (const char* name : {"A0", "A1"}) story.send({.key = "k", .partition = 0}, name);
  story.run_for(milliseconds(100));
  story.send_batch({{{.key = "k", .partition = 0}, "B0"},
                    {{.key = "l", .partition = 1}, "B1"},
                    {{.key = "k", .partition = 0}, "B2"}});
  story.run_for(milliseconds(100));
  // Nor does one pass the batch, in any of its partitions; others go on.
  story.send({.key = "l", .partition = 1}, "C");
  story.send({.partition = 2}, "D");
  story.send_batch({{{.key = "k", .partition = 0}, "E0"}, {{.partition = 2}, "E1"}});
  story.run_for(milliseconds(500));
  EXPECT_EQ(story.told(), (names{"D"}));
  story.resume(0);
  ASSERT_TRUE(story.all_told());
  EXPECT_EQ(story.names_in(0), (names{"a", "A0", "A1", "B0", "B2", "E0"}));
  EXPECT_EQ(story.names_in(1), (names{"B1", "C"}));
  EXPECT_EQ(story.names_in(2), (names{"D", "E1"}));
}

TEST(ShareOrder, ABatchThatWaitsInVainHoldsNobodyUpAnyLonger) {
  history_options options = small_shares();
  options.config.max_block = seconds(2);
  options.config.delivery_timeout = seconds(20);
  options.config.on_failure = failure_policy::skip;
  share_story story(options);
  story.fill(0);
  produce_options patient;
  patient.admission_timeout = seconds(15);
  story.send({.partition = 0}, "A", 0, patient);
  story.run_for(milliseconds(100));
  story.send_batch({{{.partition = 0}, "B0"}, {{.partition = 1}, "B1"}});
  story.run_for(seconds(1));
  story.send({.partition = 1}, "C");
  story.run_for(milliseconds(500));
  EXPECT_TRUE(story.told().empty());
  ASSERT_TRUE(story.world().time().run_until([&] { return story.told().size() == 3; }, seconds(1)));
  EXPECT_EQ(story.answer_of("B1").failure()->code, make_error_code(client_errc::admission_timeout));
  EXPECT_TRUE(story.answer_of("C").is_delivered());
  const close_report report = wait_for(story.world(), story.producer().close(milliseconds(10)));
  ASSERT_TRUE(story.all_told());
  EXPECT_EQ(story.answer_of("A").failure()->code, make_error_code(client_errc::closed));
  EXPECT_TRUE(std::any_of(report.unsent.begin(), report.unsent.end(),
                          [](const owned_record& each) { return each.value == "A"; }));
}

TEST(ShareOrder, CloseAnswersWhoeverWaits) {
  share_story story(small_shares(1));
  story.fill(0);
  record_handle handle = record_handle::make();
  produce_options given_up;
  given_up.handle = handle;
  story.send({.key = "k"}, "A");
  story.send({}, "B");
  story.send({}, "X", 0, given_up);
  story.send_batch({{{.key = "k"}, "C0"}, {{}, "C1"}});
  story.run_for(milliseconds(100));
  EXPECT_TRUE(story.producer().cancel(handle));
  story.run_for(milliseconds(100));
  EXPECT_EQ(story.told(), (names{"X"}));
  const close_report report = wait_for(story.world(), story.producer().close(milliseconds(10)));
  ASSERT_TRUE(story.all_told());
  for (const char* name : {"A", "B", "C0", "C1"})
    EXPECT_EQ(story.answer_of(name).failure()->code, make_error_code(client_errc::closed)) << name;
  names unsent;
  for (const owned_record& each : report.unsent)
    if (each.value->size() <= 2) unsent.push_back(*each.value);
  EXPECT_EQ(unsent, (names{"A", "B", "C0", "C1"}));
}

/// A key's records in its old partition, then those in the new one.
names course_of(share_story& story, const std::string& key) {
  const partition_id old = *partition_of_key(partitioner_kind::murmur2_random, key, 3);
  const partition_id now = *partition_of_key(partitioner_kind::murmur2_random, key, 5);
  names all = story.names_in(old.value, key);
  if (now == old) return all;
  for (std::string& each : story.names_in(now.value, key)) all.push_back(std::move(each));
  return all;
}

// However the threads' turns and the growth fall: what one thread produces lies in each partition
// in the order of its calls, with a key or without, alone or in a batch. A growth that drains holds
// single keys back: there it is the order of each key, the old partition first.
TEST(ShareOrder, TheLogHasTheOrderOfTheCalls) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    history_options options = small_shares();
    options.seed = seed;
    options.lanes = 1 + static_cast<int>(seed % 3);
    options.config.delivery_timeout = std::chrono::minutes(2);
    options.config.max_block = std::chrono::minutes(2);
    options.config.partitioner_sticky_bytes = 500;
    const bool drains = seed % 2 == 0;
    if (drains) options.config.growth = partition_growth::drain_first;
    if (seed % 5 == 0) options.config.buffer_memory_bytes = 3000;
    share_story story(options);
    fault_mix mix;
    mix.delay = 0.3;
    mix.delay_max = milliseconds(100);
    story.cluster().inject(mix);
    for (int i = 100; i < 300; ++i) {
      if (i == 160) {
        ASSERT_EQ(story.cluster().add_partitions(history::topic(), 5), broker_errc::none);
      }
      const std::string key = "key-" + std::to_string(i % 7);
      const std::string name = std::to_string(i);
      if (i % 11 == 0) {
        story.send_batch({{{.key = key}, name}, {{}, std::to_string(++i)}});
      } else if (i % 4 == 0) {
        story.send({}, name, 150);
      } else {
        story.send({.key = key}, name, 150);
      }
      story.run_for(milliseconds(i % 3));
    }
    ASSERT_TRUE(story.all_told(std::chrono::minutes(3)));
    EXPECT_EQ(story.delivered(), 200);
    std::vector<names> orders;
    for (int partition = 0; !drains && partition < 5; ++partition)
      orders.push_back(story.names_in(partition));
    for (int key = 0; drains && key < 7; ++key)
      orders.push_back(course_of(story, "key-" + std::to_string(key)));
    for (const names& each : orders)
      EXPECT_TRUE(std::is_sorted(each.begin(), each.end())) << ::testing::PrintToString(each);
  }
}

}  // namespace
}  // namespace partita::testing
