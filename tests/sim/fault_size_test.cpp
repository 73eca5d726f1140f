// SIZE: sizes, batching, compression, encoding.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace partita::testing {
namespace {

std::string nth(int i) { return "r" + std::to_string(i); }

SCENARIO(fault_size, size_04_compressible_record) {
  s.set().compression = compression::lz4;
  s.set().on_failure = failure_policy::skip;
  s.produce("A", {.padding = 2 << 20});
  s.right("A=N, log=");
  EXPECT_EQ(s.code("A"), client_errc::record_too_large);
}

void size_07(stage& s, compression codec, std::optional<int> level) {
  s.set().compression = codec;
  s.set().compression_level = level;
  s.set().batch_records_max = 1000;
  s.set().linger = 5ms;
  s.set().delivery_timeout = 60s;
  int next = 0;
  for (const int count : {1, 2, 1000})
    for (const std::size_t size : {std::size_t{1}, std::size_t{300}}) {
      for (int i = 0; i < count; ++i) s.produce(nth(next++), {.padding = size});
      s.await_all();
    }
  s.produce("large", {.padding = 900'000});
  s.await_all();
  for (int i = 0; i < next; ++i) EXPECT_EQ(s.letter(nth(i)), "D");
  s.right("large=D");
}
SCENARIO_SEEDS(fault_size, size_07_codec_framing_none, 1) { size_07(s, compression::none, {}); }
SCENARIO_SEEDS(fault_size, size_07_codec_framing_gzip, 1) { size_07(s, compression::gzip, 9); }
SCENARIO_SEEDS(fault_size, size_07_codec_framing_snappy, 1) { size_07(s, compression::snappy, {}); }
SCENARIO_SEEDS(fault_size, size_07_codec_framing_lz4, 1) { size_07(s, compression::lz4, 1); }
SCENARIO_SEEDS(fault_size, size_07_codec_framing_zstd, 1) { size_07(s, compression::zstd, 3); }

void size_08(stage& s, std::int16_t first, std::int16_t last, const char* right) {
  s.set().compression = compression::zstd;
  s.set().on_failure = failure_policy::skip;
  s.cold();
  s.cluster().offer(api::produce, first, last);
  s.produce("A", {.padding = 500});
  s.right(right);
  for (const attempt_note& each : s.attempts("A"))
    EXPECT_NE(each.answered.value_or(broker_errc::none), broker_errc::unsupported_compression_type);
}
SCENARIO(fault_size, size_08_codec_by_version_a) { size_08(s, 0, 13, "A=D"); }
SCENARIO(fault_size, size_08_codec_by_version_b) {
  size_08(s, 3, 6, "A=D, log=A");
  constexpr int codec_bits = 7;
  constexpr int lz4 = 3;
  EXPECT_EQ(s.cluster().batches("t", 0).back().attributes & codec_bits, lz4);
}
SCENARIO(fault_size, size_08_codec_by_version_c) { size_08(s, 3, 13, "A=D"); }

SCENARIO_SEEDS(fault_size, size_09_codec_levels, 1) {
  struct range {
    compression codec;
    int lowest;
    int highest;
  };
  for (const range& each : {range{compression::gzip, 1, 9}, range{compression::lz4, 0, 17},
                            range{compression::zstd, -131072, 22}}) {
    producer_config config;
    config.bootstrap_servers = "b:9092";
    config.compression = each.codec;
    for (const int inside : {each.lowest, each.highest}) {
      config.compression_level = inside;
      EXPECT_FALSE(validate(config)) << inside;
    }
    for (const int outside : {each.lowest - 1, each.highest + 1}) {
      config.compression_level = outside;
      EXPECT_TRUE(validate(config)) << outside;
    }
  }
  static_cast<void>(s);
}

SCENARIO_SEEDS(fault_size, size_10_string_lengths_header_and_topic, 1) {
  int next = 0;
  for (const std::size_t length : {0, 1, 126, 127, 128, 129, 16383, 16384, 32767}) {
    const std::string key(length, 'h');
    s.produce(nth(next++), {.headers = {{key, "v"}}});
  }
  for (const std::size_t length : {1, 126, 127, 128, 129, 249})
    s.produce(nth(next++) + "@p0", {.topic = std::string(length, 'n')});
  s.await_all();
  for (int i = 0; i < next; ++i) EXPECT_EQ(s.letter(nth(i)), "D") << i;
}
void size_10(stage& s, std::size_t length) {
  s.set().client_id = std::string(length, 'c');
  s.produce("A");
  s.right("A=D, log=A");
}
SCENARIO_SEEDS(fault_size, size_10_string_lengths_client_0, 1) { size_10(s, 0); }
SCENARIO_SEEDS(fault_size, size_10_string_lengths_client_1, 1) { size_10(s, 1); }
SCENARIO_SEEDS(fault_size, size_10_string_lengths_client_127, 1) { size_10(s, 127); }
SCENARIO_SEEDS(fault_size, size_10_string_lengths_client_128, 1) { size_10(s, 128); }
SCENARIO_SEEDS(fault_size, size_10_string_lengths_client_16384, 1) { size_10(s, 16384); }
SCENARIO_SEEDS(fault_size, size_10_string_lengths_client_32767, 1) { size_10(s, 32767); }

// p0 is taken away at any moment of building a request over three partitions.
SCENARIO_SEEDS(fault_size, size_11_fail_while_serialising, 500) {
  s.set_cluster().topics["t"].replicas = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  s.set().on_failure = failure_policy::skip;
  s.start();
  s.produce("A@p0 B@p1 C@p2");
  s.run(std::chrono::microseconds(s.draws().below(600)));
  if (s.draws().chance(0.5))
    s.pause(0, pause_mode::abort_buffered);
  else
    static_cast<void>(s.recover(recovery::discard));
  s.resume(0);
  s.produce("A2@p0 B2@p1 C2@p2");
  s.right("B=D, C=D, A2=D, B2=D, C2=D, log(p1)=B B2, log(p2)=C C2");
  s.await("A");
  for (const attempt_note& each : s.all_attempts())
    EXPECT_NE(each.answered, broker_errc::out_of_order_sequence_number);
}

SCENARIO_SEEDS(fault_size, size_12_timestamp_deltas, 10) {
  s.set().batch_records_max = 8;
  s.set().linger = 5ms;
  s.set().on_failure = failure_policy::skip;
  s.start();
  const timestamp now = s.world().time().wall();
  const std::vector<std::vector<int>> shapes = {
      {0, 0, 0, 0}, {0, 1, 2, 3}, {3, 2, 1, 0}, {5, -7, 0, 100000}, {0, -100000, 1, -1}};
  int next = 0;
  for (const std::vector<int>& shape : shapes) {
    for (const int each : shape)
      s.produce(nth(next++), {.stamp = now + std::chrono::milliseconds(each)});
    s.await_all();
  }
  for (int i = 0; i < next; ++i) EXPECT_EQ(s.letter(nth(i)), "D") << i;
  const auto batches = s.cluster().batches("t", 0);
  EXPECT_EQ(batches.back().max_timestamp_ms, now.time_since_epoch().count() + 1);
  s.produce("negative", {.stamp = timestamp{std::chrono::milliseconds(-5)}});
  s.right("negative=N");
  EXPECT_EQ(s.code("negative"), client_errc::invalid_timestamp);
}

SCENARIO_SEEDS(fault_size, size_13_null_and_empty, 10) {
  s.start();
  const std::vector<std::optional<std::string_view>> forms = {std::nullopt, "", "x"};
  const std::vector<std::vector<header>> headers = {
      {}, {{"h", "1"}}, {{"h", "1"}, {"h", std::nullopt}, {"g", ""}, {"h", "2"}}};
  struct wanted {
    std::optional<std::string_view> key;
    std::optional<std::string_view> value;
    const std::vector<header>* headers;
  };
  std::vector<wanted> all;
  int answers = 0;
  for (const auto& key : forms)
    for (const auto& value : forms)
      for (const auto& set : headers) {
        partita::record one;
        one.topic = "t";
        one.partition = 0;
        one.key = key;
        one.value = value;
        one.headers = set;
        s.producer().produce(one, [&](const outcome& answer) {
          EXPECT_TRUE(answer.is_delivered());
          ++answers;
        });
        all.push_back({key, value, &set});
      }
  EXPECT_TRUE(s.until([&] { return answers == static_cast<int>(all.size()); }));
  const auto log = s.cluster().log("t", 0);
  ASSERT_EQ(log.size(), all.size() + 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(log[i + 1].key.has_value(), all[i].key.has_value()) << i;
    EXPECT_EQ(log[i + 1].value.has_value(), all[i].value.has_value()) << i;
    EXPECT_EQ(log[i + 1].key.value_or(""), std::string(all[i].key.value_or(""))) << i;
    EXPECT_EQ(log[i + 1].value.value_or(""), std::string(all[i].value.value_or(""))) << i;
    ASSERT_EQ(log[i + 1].headers.size(), all[i].headers->size()) << i;
    for (std::size_t k = 0; k < all[i].headers->size(); ++k) {
      const header& is = (*all[i].headers)[k];
      EXPECT_EQ(log[i + 1].headers[k].key, std::string(is.key));
      EXPECT_EQ(log[i + 1].headers[k].value.has_value(), is.value.has_value());
    }
  }
  s.log_may_differ();  // the records have no names
}

SCENARIO_SEEDS(fault_size, size_14_batches_stay_large, 1) {
  s.set().batch_records_max = 10'000;
  s.set().linger = 5ms;
  s.set().buffer_memory_bytes = 1'500'000;
  for (int i = 0; i < 10'000; ++i) s.produce(nth(i), {.waits = true});
  s.await_all();
  const auto all = s.all_attempts();
  EXPECT_LE(all.size(), 100U) << "mean batch above 100 records";
}

SCENARIO_SEEDS(fault_size, size_15_one_request_many_partitions, 3) {
  s.cold();
  topic_options& wide = s.set_cluster().topics["wide"];
  wide.partitions = 48;
  wide.replicas.assign(48, {1, 2, 3});
  s.set().linger = 5ms;
  s.set().batch_records_max = 1000;
  constexpr int records = 20'000;
  for (int i = 0; i < records; ++i) {
    s.produce(nth(i) + "@p" + std::to_string(i % 48), {.topic = "wide"});
    s.run(100us);
  }
  s.await_all();
  for (int i = 0; i < records; i += 97) EXPECT_EQ(s.letter(nth(i)), "D");
  EXPECT_LE(s.cluster().counters().produce_requests, 500U) << "in two seconds";
}

// One awaited record at a time, for linger is worth nothing then.
SCENARIO_SEEDS(fault_size, size_16_first_record_is_quick_b, 20) {
  s.set().linger = 5ms;
  s.set().batch_records_max = 1000;
  s.start();
  for (int i = 0; i < 20; ++i) {
    s.produce(nth(i) + "@p" + std::to_string(i % 3));
    s.await(nth(i));
    if (i > 0) {
      EXPECT_LT(s.took(nth(i)), 2 * 500us + 1ms) << i;
    }
  }
  // Company is worth waiting for again.
  for (int i = 20; i < 30; ++i) {
    s.produce(nth(i));
    s.run(50us);
  }
  s.await_all();
  EXPECT_LE(s.all_attempts(0).size(), 7U + 3U);
}

// The first record to each of fifty topics, one after the other.
SCENARIO_SEEDS(fault_size, size_16_first_record_is_quick_a, 20) {
  for (int i = 0; i < 50; ++i) s.set_cluster().topics["first" + nth(i)].partitions = 1;
  s.start();
  for (int i = 0; i < 50; ++i) {
    s.produce(nth(i), {.topic = "first" + nth(i)});
    s.await(nth(i));
    EXPECT_EQ(s.letter(nth(i)), "D");
    // Metadata, producer state at a broker that may be new (a connection and its handshake), then
    // the record: never a pause of 100 ms.
    EXPECT_LT(s.took(nth(i)), 3 * (2 * 500us) + 2ms) << i;
  }
}

}  // namespace
}  // namespace partita::testing
