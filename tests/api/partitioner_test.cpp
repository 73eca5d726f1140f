#include <partita/partitioner.hpp>

#include "api/partition_chooser.hpp"
#include "api/partitioner_hash.hpp"
#include "wire/crc32.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace partita {
namespace {

using namespace std::string_view_literals;

constexpr auto long_key = "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"sv;
constexpr auto text_key = "this is another string with more length to it perhaps"sv;

// --- Hashes: figures of Kafka's, librdkafka's and Sarama's own tests
// ---------------------------------

struct murmur_vector {
  std::string_view key;
  std::uint32_t hash;
  std::int32_t as_signed;
  std::uint32_t positive;
  std::array<std::int32_t, 4> partitions;  // of 2, 3, 10 and 12
};

TEST(Murmur2, IsJavas) {
  const murmur_vector vectors[] = {
      {"21", 0xc5f2f8ec, -973932308, 1173551340, {0, 0, 0, 0}},
      {"foobar", 0xd0e47bbe, -790332482, 1357151166, {0, 0, 6, 6}},
      {"a-little-bit-long-string", 0xc53b1da0, -985981536, 1161502112, {0, 2, 2, 8}},
      {"a-little-bit-longer-string", 0xa768c9c3, -1486304829, 661178819, {1, 2, 9, 11}},
      {long_key, 0xfc7d49cd, -58897971, 2088585677, {1, 2, 7, 5}},
      {"abc", 0x1c94221b, 479470107, 479470107, {1, 0, 7, 3}},
      {"kafka", 0xd067cf64, -798503068, 1348980580, {0, 1, 0, 4}},
      {"giberish123456789", 0x8f552b0c, -1890243828, 257239820, {0, 2, 0, 8}},
      {"1234", 0x9fc97b14, -1614185708, 533297940, {0, 0, 0, 0}},
      {"234", 0xe7c009ca, -406844982, 1740638666, {0, 2, 6, 2}},
      {"34", 0x873930da, -2026295078, 121188570, {0, 0, 0, 6}},
      {"4", 0x5a4b5ca1, 1514888353, 1514888353, {1, 1, 3, 1}},
      {"", 0x106e08d9, 275646681, 275646681, {1, 0, 1, 9}},
      {"\xff", 0xed6f615b, -311467685, 1836015963, {1, 0, 3, 3}},
      {"\x80\x80\x80\x80", 0xfa4e6e04, -95523324, 2051960324, {0, 2, 4, 8}},
  };
  constexpr std::array<std::int32_t, 4> counts = {2, 3, 10, 12};
  for (const murmur_vector& vector : vectors) {
    EXPECT_EQ(murmur2(vector.key), vector.hash) << vector.key;
    EXPECT_EQ(static_cast<std::int32_t>(murmur2(vector.key)), vector.as_signed) << vector.key;
    EXPECT_EQ(masked(murmur2(vector.key)), vector.positive) << vector.key;
    for (std::size_t at = 0; at < counts.size(); ++at)
      EXPECT_EQ(partition_of_key(partitioner_kind::murmur2_random, vector.key, counts[at]),
                partition_id(vector.partitions[at]))
          << vector.key << " of " << counts[at];
  }
}

/// java.util.SplittableRandom, as far as nextBytes needs it.
class splittable_random {
 public:
  explicit splittable_random(std::uint64_t seed) : state_(seed) {}

  void fill(std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      std::uint64_t bits = next();
      for (int byte = 0; byte < 8 && at < bytes.size(); ++byte, bits >>= 8)
        bytes[at++] = static_cast<char>(bits & 0xff);
    }
  }

 private:
  std::uint64_t next() {
    std::uint64_t bits = state_ += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
  }

  std::uint64_t state_;
};

TEST(Murmur2, AgreesWithKafkasBulkCheck) {
  splittable_random random(0);
  std::uint64_t sum = 0;
  for (std::size_t size = 0; size <= 1000; ++size) {
    for (int round = 0; round < 100; ++round) {
      std::string bytes(size, '\0');
      random.fill(bytes);
      sum += murmur2(bytes);
    }
  }
  EXPECT_EQ(sum, 0xc3b8cf7c99fcU);
}

struct hash_vector {
  std::string_view key;
  std::uint32_t crc32;
  std::uint32_t murmur2;
  std::uint32_t murmur2_masked;
  std::uint32_t fnv1a_positive;
};

TEST(KeyHashes, AreThoseOfTheOtherClients) {
  const hash_vector vectors[] = {
      {"23456", 0xb1b451d7, 0x858d780f, 0x058d780f, 0x27e6f469},
      {text_key, 0xb0150df7, 0xcf7703da, 0x4f7703da, 0x155e3e5f},
      {"hejsan", 0xd077037e, 0x5ec19395, 0x5ec19395, 0x17b1e27a},
      {"kafka", 0x5bbc7517, 0xd067cf64, 0x5067cf64, 0x0d33c4e1},
      {"giberish123456789", 0x7b3a8e3f, 0x8f552b0c, 0x0f552b0c, 0x77a58295},
      {"", 0x00000000, 0x106e08d9, 0x106e08d9, 0x7ee3623b},
  };
  for (const hash_vector& vector : vectors) {
    EXPECT_EQ(wire::crc32(vector.key), vector.crc32) << vector.key;
    EXPECT_EQ(murmur2(vector.key), vector.murmur2) << vector.key;
    EXPECT_EQ(masked(murmur2(vector.key)), vector.murmur2_masked) << vector.key;
    EXPECT_EQ(negated_if_negative(fnv1a(vector.key)), vector.fnv1a_positive) << vector.key;
  }
}

TEST(KeyHashes, HaveTheirPublishedCheckValues) {
  EXPECT_EQ(wire::crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(wire::crc32({}), 0U);
  EXPECT_EQ(fnv1a(""), 0x811c9dc5U);
  EXPECT_EQ(fnv1a("a"), 0xe40c292cU);
  EXPECT_EQ(fnv1a("foobar"), 0xbf9cf968U);
}

TEST(KeyHashes, TurnNegativesIntoPositivesEachInItsWay) {
  EXPECT_EQ(masked(0x80000001U), 1U);
  EXPECT_EQ(negated_if_negative(0x80000001U), 0x7fffffffU);
  EXPECT_EQ(negated_if_negative(0xffffffffU), 1U);
  EXPECT_EQ(negated_if_negative(0x7fffffffU), 0x7fffffffU);
  // The most negative number has no positive: Sarama negates after the modulo, with the same
  // result.
  EXPECT_EQ(negated_if_negative(0x80000000U), 0x80000000U);
}

// --- Partitions by key
// -------------------------------------------------------------------------------

struct placement {
  std::string_view key;
  std::int32_t consistent_random;
  std::int32_t murmur2_random;
  std::int32_t fnv1a_random;
};

TEST(PartitionOfKey, PutsKeysOfFourPartitionsWhereLibrdkafkaDoes) {
  const placement placements[] = {
      {"a", 3, 0, 0},
      {"b", 1, 0, 3},
      {"kafka", 3, 0, 1},
      {"TT0124", 3, 2, 0},
      {"fd7af248-ce5c-46a5-93d7-1c0c9005b99d", 3, 2, 3},
  };
  for (const auto& [key, consistent, murmur, fnv] : placements) {
    EXPECT_EQ(partition_of_key(partitioner_kind::consistent_random, key, 4),
              partition_id(consistent));
    EXPECT_EQ(partition_of_key(partitioner_kind::consistent, key, 4), partition_id(consistent));
    EXPECT_EQ(partition_of_key(partitioner_kind::murmur2_random, key, 4), partition_id(murmur));
    EXPECT_EQ(partition_of_key(partitioner_kind::murmur2, key, 4), partition_id(murmur));
    EXPECT_EQ(partition_of_key(partitioner_kind::fnv1a_random, key, 4), partition_id(fnv));
    EXPECT_EQ(partition_of_key(partitioner_kind::fnv1a, key, 4), partition_id(fnv));
  }
}

struct empty_case {
  partitioner_kind kind;
  std::optional<partition_id> for_null;
  std::optional<partition_id> for_empty;
};

TEST(PartitionOfKey, TellsNoKeyFromAnEmptyOneAsTheOriginalsDo) {
  const partition_id murmur = static_cast<std::int32_t>(0x106e08d9U % 7);
  const partition_id fnv = static_cast<std::int32_t>(0x7ee3623bU % 7);
  const empty_case cases[] = {
      {partitioner_kind::consistent, partition_id(0), partition_id(0)},
      {partitioner_kind::consistent_random, {}, {}},
      {partitioner_kind::murmur2, murmur, murmur},
      {partitioner_kind::murmur2_random, {}, murmur},
      {partitioner_kind::fnv1a, fnv, fnv},
      {partitioner_kind::fnv1a_random, {}, fnv},
      {partitioner_kind::random, {}, {}},
      {partitioner_kind::round_robin, {}, {}},
      {partitioner_kind::sticky, {}, {}},
      {partitioner_kind::manual, {}, {}},
  };
  for (const auto& [kind, for_null, for_empty] : cases) {
    EXPECT_EQ(partition_of_key(kind, std::nullopt, 7), for_null) << name_of(kind);
    EXPECT_EQ(partition_of_key(kind, "", 7), for_empty) << name_of(kind);
  }
}

TEST(PartitionOfKey, StaysInRangeForAnyCount) {
  for (const std::int32_t count : {1, 2, 1000, std::numeric_limits<std::int32_t>::max()}) {
    for (int number = 0; number < 1000; ++number) {
      for (const auto kind :
           {partitioner_kind::consistent, partitioner_kind::murmur2, partitioner_kind::fnv1a}) {
        const auto partition = partition_of_key(kind, "key" + std::to_string(number), count);
        ASSERT_TRUE(partition);
        ASSERT_GE(partition->value, 0);
        ASSERT_LT(partition->value, count);
      }
    }
  }
}

// --- The chooser
// -------------------------------------------------------------------------------------

record keyless() { return {.topic = "t"}; }
record keyed(std::string_view key) { return {.topic = "t", .key = key}; }

constexpr chooser_settings uniform = {.adaptive = false, .sticky_bytes = 1000};
constexpr chooser_settings adaptive = {.adaptive = true, .sticky_bytes = 1000};

/// Chi-squared of counts that should all be equal.
double deviation(const std::vector<int>& counts) {
  double total = 0;
  for (const int count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(PartitionChooser, LetsTheRecordDecide) {
  partition_chooser chooser({.kind = partitioner_kind::murmur2_random}, 1);
  record said = keyed("abc");
  said.partition = 9;
  EXPECT_EQ(chooser.choose(said, 10, {.count = 10}).partition, partition_id(9));
  for (const std::int32_t wrong : {10, -1, -2, 1 << 30}) {
    said.partition = wrong;
    const partition_choice choice = chooser.choose(said, 10, {.count = 10});
    EXPECT_EQ(choice.error, client_errc::invalid_partition) << wrong;
    EXPECT_FALSE(choice.partition.known());
  }
}

TEST(PartitionChooser, KeepsAKeyWhereItIsWhateverIsAvailable) {
  partition_chooser chooser(adaptive, 1);
  const bool available[10] = {};
  const std::uint64_t queued[10] = {0, 0, 0, 0, 0, 0, 0, 1'000'000, 0, 0};
  const partition_view view = {.count = 10, .available = available, .queued_bytes = queued};
  for (int round = 0; round < 100; ++round)
    ASSERT_EQ(chooser.choose(keyed("abc"), 500, view).partition, partition_id(7));
}

TEST(PartitionChooser, DoesNotCountKeyedRecordsAsSticky) {
  partition_chooser chooser(uniform, 1);
  const partition_id first = chooser.choose(keyless(), 1, {.count = 100}).partition;
  for (int round = 0; round < 100; ++round)
    ASSERT_FALSE(chooser.choose(keyed("k"), 5000, {.count = 100}).error != client_errc{});
  EXPECT_EQ(chooser.choose(keyless(), 1, {.count = 100}).partition, first);
}

TEST(PartitionChooser, IgnoresKeysWhenAsked) {
  partition_chooser chooser({.ignore_keys = true, .adaptive = false, .sticky_bytes = 1}, 3);
  std::set<std::int32_t> seen;
  for (int round = 0; round < 200; ++round)
    seen.insert(chooser.choose(keyed("abc"), 1, {.count = 10}).partition.value);
  EXPECT_EQ(seen.size(), 10U);
}

TEST(PartitionChooser, DemandsAPartitionWhenManual) {
  partition_chooser chooser({.kind = partitioner_kind::manual}, 1);
  EXPECT_EQ(chooser.choose(keyed("abc"), 1, {.count = 3}).error, client_errc::invalid_partition);
  record said = keyless();
  said.partition = 2;
  EXPECT_EQ(chooser.choose(said, 1, {.count = 3}).partition, partition_id(2));
}

class fixed_partitioner final : public partitioner {
 public:
  explicit fixed_partitioner(std::int32_t answer) : answer_(answer) {}
  partition_id choose(const record&, const partition_view&) const noexcept override {
    ++calls;
    return answer_;
  }
  mutable int calls = 0;

 private:
  std::int32_t answer_;
};

TEST(PartitionChooser, AsksTheApplicationsPartitioner) {
  const fixed_partitioner two(2);
  partition_chooser chooser({.custom = &two}, 1);
  EXPECT_EQ(chooser.choose(keyed("abc"), 1, {.count = 3}).partition, partition_id(2));
  EXPECT_EQ(two.calls, 1);
  record said = keyless();
  said.partition = 0;
  EXPECT_EQ(chooser.choose(said, 1, {.count = 3}).partition, partition_id(0));
  EXPECT_EQ(two.calls, 1);
}

TEST(PartitionChooser, RefusesAnAnswerThatIsNoPartition) {
  for (const std::int32_t wrong : {-1, 3, -7}) {
    const fixed_partitioner answer(wrong);
    partition_chooser chooser({.custom = &answer}, 1);
    EXPECT_EQ(chooser.choose(keyed("abc"), 1, {.count = 3}).error, client_errc::partitioner_failed);
  }
}

TEST(StickyChoice, StaysForTheBytesAndThenMoves) {
  partition_chooser chooser(uniform, 42);
  std::vector<std::int32_t> choices;
  for (int round = 0; round < 100; ++round)
    choices.push_back(chooser.choose(keyless(), 250, {.count = 1'000'000}).partition.value);
  // Four records of 250 bytes make a stint of 1000; of a million partitions none repeats by chance.
  std::set<std::int32_t> stints;
  for (std::size_t at = 0; at < choices.size(); at += 4) {
    for (std::size_t record = 1; record < 4; ++record) EXPECT_EQ(choices[at], choices[at + record]);
    EXPECT_TRUE(stints.insert(choices[at]).second);
  }
  EXPECT_EQ(stints.size(), 25U);
}

TEST(StickyChoice, LetsTheRecordThatCrossesTheLimitStay) {
  partition_chooser chooser(uniform, 7);
  const partition_view view = {.count = 1'000'000};
  const partition_id first = chooser.choose(keyless(), 999, view).partition;
  EXPECT_EQ(chooser.choose(keyless(), 1'000'000, view).partition, first);
  EXPECT_NE(chooser.choose(keyless(), 1, view).partition, first);
}

TEST(StickyChoice, CountsRecordsOfAnySize) {
  partition_chooser chooser(uniform, 7);
  const partition_view view = {.count = 1'000'000};
  const partition_id first =
      chooser.choose(keyless(), std::numeric_limits<std::size_t>::max(), view).partition;
  EXPECT_NE(chooser.choose(keyless(), 1, view).partition, first);
}

TEST(StickyChoice, RepeatsWithTheSameSeedOnly) {
  std::vector<std::int32_t> runs[3];
  const std::uint64_t seeds[] = {5, 5, 6};
  for (int run = 0; run < 3; ++run) {
    partition_chooser chooser(uniform, seeds[run]);
    for (int round = 0; round < 200; ++round)
      runs[run].push_back(chooser.choose(keyless(), 500, {.count = 50}).partition.value);
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_NE(runs[0], runs[2]);
}

TEST(StickyChoice, IsUniformWithoutQueues) {
  // Chi-squared with 9 degrees of freedom exceeds 33.7 once in 10,000 samples; the seeds are fixed.
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    for (const chooser_settings& settings : {uniform, adaptive}) {
      partition_chooser chooser(settings, seed);
      std::vector<int> counts(10);
      for (int round = 0; round < 20'000; ++round)
        ++counts[static_cast<std::size_t>(
            chooser.choose(keyless(), 1000, {.count = 10}).partition.value)];
      EXPECT_LT(deviation(counts), 33.7) << seed;
    }
  }
}

TEST(StickyChoice, IsUniformWithEqualQueues) {
  const std::vector<std::uint64_t> queued(10, 123'456);
  partition_chooser chooser(adaptive, 9);
  std::vector<int> counts(10);
  for (int round = 0; round < 20'000; ++round)
    ++counts[static_cast<std::size_t>(
        chooser.choose(keyless(), 1000, {.count = 10, .queued_bytes = queued}).partition.value)];
  EXPECT_LT(deviation(counts), 33.7);
}

TEST(StickyChoice, PrefersShortQueuesInProportion) {
  // Backlogs of 0, 3 and 5 stints: chances 6, 3 and 1 of 10 (KIP-794).
  const std::uint64_t queued[] = {0, 3000, 5000};
  const partition_view view = {.count = 3, .queued_bytes = queued};
  partition_chooser chooser(adaptive, 11);
  std::array<int, 3> counts{};
  constexpr int rounds = 50'000;
  for (int round = 0; round < rounds; ++round)
    ++counts[static_cast<std::size_t>(chooser.choose(keyless(), 1000, view).partition.value)];
  // Five standard deviations of a share are at most 0.0112.
  EXPECT_NEAR(counts[0], 0.6 * rounds, 0.0112 * rounds);
  EXPECT_NEAR(counts[1], 0.3 * rounds, 0.0112 * rounds);
  EXPECT_NEAR(counts[2], 0.1 * rounds, 0.0112 * rounds);
}

TEST(StickyChoice, IgnoresQueuesWhenNotAdaptive) {
  const std::uint64_t queued[] = {0, 1'000'000'000};
  partition_chooser chooser(uniform, 11);
  std::vector<int> counts(2);
  for (int round = 0; round < 20'000; ++round)
    ++counts[static_cast<std::size_t>(
        chooser.choose(keyless(), 1000, {.count = 2, .queued_bytes = queued}).partition.value)];
  EXPECT_LT(deviation(counts), 15.2);  // one degree of freedom, once in 10,000
}

TEST(StickyChoice, SurvivesQueuesOfAnyLength) {
  const std::vector<std::uint64_t> queued = {0, std::numeric_limits<std::uint64_t>::max(),
                                             std::numeric_limits<std::uint64_t>::max()};
  partition_chooser chooser({.sticky_bytes = 1}, 11);
  for (int round = 0; round < 1000; ++round) {
    const auto choice = chooser.choose(keyless(), 1, {.count = 3, .queued_bytes = queued});
    ASSERT_GE(choice.partition.value, 0);
    ASSERT_LT(choice.partition.value, 3);
  }
}

class Unavailable : public testing::TestWithParam<partitioner_kind> {};

TEST_P(Unavailable, IsNeverChosenWhileOthersAre) {
  const bool available[] = {false, true, false, false, true, true, false};
  const std::uint64_t queued[] = {0, 90'000, 0, 0, 50'000, 0, 0};
  for (const bool with_queues : {false, true}) {
    for (const bool prefer_short : {false, true}) {
      partition_chooser chooser({.kind = GetParam(), .adaptive = prefer_short, .sticky_bytes = 100},
                                17);
      partition_view view = {.count = 7, .available = available};
      if (with_queues) view.queued_bytes = queued;
      std::set<std::int32_t> seen;
      for (int round = 0; round < 5000; ++round)
        seen.insert(chooser.choose(keyless(), 100, view).partition.value);
      EXPECT_EQ(seen, (std::set<std::int32_t>{1, 4, 5}));
    }
  }
}

TEST_P(Unavailable, IsChosenWhenNothingElseIsThere) {
  const bool available[3] = {};
  const std::uint64_t queued[3] = {};
  partition_chooser chooser({.kind = GetParam(), .sticky_bytes = 100}, 17);
  for (int round = 0; round < 1000; ++round) {
    const auto choice = chooser.choose(
        keyless(), 100, {.count = 3, .available = available, .queued_bytes = queued});
    ASSERT_EQ(choice.error, client_errc{});
    ASSERT_GE(choice.partition.value, 0);
    ASSERT_LT(choice.partition.value, 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Keyless, Unavailable,
                         testing::Values(partitioner_kind::murmur2_random, partitioner_kind::sticky,
                                         partitioner_kind::random, partitioner_kind::round_robin),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(StickyChoice, LeavesAPartitionThatBecomesUnavailable) {
  partition_chooser chooser(uniform, 3);
  const std::int32_t first = chooser.choose(keyless(), 1, {.count = 2}).partition.value;
  bool available[2] = {true, true};
  available[first] = false;
  EXPECT_EQ(chooser.choose(keyless(), 1, {.count = 2, .available = available}).partition.value,
            1 - first);
}

TEST(StickyChoice, LeavesAPartitionThatIsGone) {
  partition_chooser chooser(uniform, 3);
  EXPECT_EQ(chooser.choose(keyless(), 1, {.count = 1'000'000}).error, client_errc{});
  EXPECT_EQ(chooser.choose(keyless(), 1, {.count = 1}).partition, partition_id(0));
}

TEST(RandomChoice, IsUniformWhateverTheKey) {
  partition_chooser chooser({.kind = partitioner_kind::random}, 23);
  std::vector<int> counts(10);
  for (int round = 0; round < 20'000; ++round)
    ++counts[static_cast<std::size_t>(
        chooser.choose(keyed("abc"), 1, {.count = 10}).partition.value)];
  EXPECT_LT(deviation(counts), 33.7);
}

TEST(RoundRobin, UsesEveryPartitionInTurn) {
  // KAFKA-17632: Java's used every other partition of an even number.
  partition_chooser chooser({.kind = partitioner_kind::round_robin}, 1);
  for (int round = 0; round < 12; ++round)
    EXPECT_EQ(chooser.choose(keyed("abc"), 1, {.count = 4}).partition, partition_id(round % 4));
}

TEST(RoundRobin, StaysEvenWhileNoneIsAvailable) {
  const bool available[6] = {};
  partition_chooser chooser({.kind = partitioner_kind::round_robin}, 17);
  std::array<int, 6> share = {};
  for (int i = 0; i < 60; ++i) {
    const auto choice = chooser.choose(keyless(), 100, {.count = 6, .available = available});
    ASSERT_EQ(choice.error, client_errc{});
    ++share[static_cast<std::size_t>(choice.partition.value)];
  }
  for (const int each : share) EXPECT_EQ(each, 10);
}

TEST(RoundRobin, StaysEvenAmongTheAvailable) {
  const bool available[] = {true, false, false, true, true};
  partition_chooser chooser({.kind = partitioner_kind::round_robin}, 1);
  std::vector<int> counts(5);
  for (int round = 0; round < 300; ++round)
    ++counts[static_cast<std::size_t>(
        chooser.choose(keyless(), 1, {.count = 5, .available = available}).partition.value)];
  EXPECT_EQ(counts, (std::vector<int>{100, 0, 0, 100, 100}));
}

TEST(PartitionChooser, IsSharedByThreads) {
  constexpr int threads = 4;
  constexpr int records = 20'000;
  partition_chooser turns({.kind = partitioner_kind::round_robin}, 1);
  partition_chooser sticky(uniform, 1);
  std::array<std::atomic<int>, 8> counts{};
  std::atomic<int> outside{0};
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&] {
      for (int round = 0; round < records; ++round) {
        const auto turn = turns.choose(keyless(), 1, {.count = 8}).partition.value;
        ++counts[static_cast<std::size_t>(turn)];
        const auto stint = sticky.choose(keyless(), 10, {.count = 8}).partition.value;
        if (stint < 0 || stint >= 8) ++outside;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(outside, 0);
  // Every turn belongs to one caller, so the turns are exactly even.
  for (const auto& count : counts) EXPECT_EQ(count, threads * records / 8);
}

// --- The line at the start
// ---------------------------------------------------------------------------

TEST(PartitionerNotice, WarnsOnlyWhenKeysLandElsewhereThanInJava) {
  producer_config config;
  EXPECT_EQ(partitioner_notice(config),
            "partitioner in use: murmur2_random (the same as Kafka's Java producer)");
  for (const auto kind :
       {partitioner_kind::consistent, partitioner_kind::consistent_random, partitioner_kind::fnv1a,
        partitioner_kind::fnv1a_random, partitioner_kind::random, partitioner_kind::round_robin,
        partitioner_kind::sticky, partitioner_kind::manual}) {
    config.partitioner = kind;
    const std::string line = partitioner_notice(config);
    EXPECT_NE(line.find(name_of(kind)), std::string::npos) << line;
    EXPECT_NE(line.find("warning"), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
  config.partitioner = partitioner_kind::murmur2_random;
  config.partitioner_ignore_keys = true;
  EXPECT_NE(partitioner_notice(config).find("keys ignored; warning"), std::string::npos);
  const fixed_partitioner own(0);
  config.custom_partitioner = &own;
  EXPECT_NE(partitioner_notice(config).find("the application's own; warning"), std::string::npos);
}

}  // namespace
}  // namespace partita
