#include <partita/config.hpp>

#include "api/bootstrap_servers.hpp"
#include "api/config_keys.hpp"
#include "api/config_notices.hpp"
#include "api/config_text.hpp"

#include <partita/producer.hpp>
#include <partita/properties.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace partita {
namespace {

using namespace std::chrono_literals;

producer_config good() { return {.bootstrap_servers = "localhost:9092"}; }

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ProducerConfig, NeedsNothingButBrokers) {
  EXPECT_EQ(validate(good()).message(), "");
  EXPECT_FALSE(validate(good()));
}

TEST(ProducerConfig, RequiresBrokers) {
  const config_error error = validate({});
  ASSERT_TRUE(error);
  EXPECT_EQ(error.key, "bootstrap.servers");
  EXPECT_EQ(error.code(), client_errc::invalid_value);
  EXPECT_NE(error.message().find("at least one host:port is required"), std::string::npos);
}

TEST(ProducerConfig, HasTheDefaultsOfTheDocumentation) {
  const producer_config config;
  EXPECT_EQ(config.client_id, "partita");
  EXPECT_EQ(config.acks, acks::all);
  EXPECT_TRUE(config.enable_idempotence);
  EXPECT_EQ(config.on_failure, failure_policy::halt_key);
  EXPECT_EQ(config.while_halted, while_halted::refuse);
  EXPECT_EQ(config.max_in_flight, 5);
  EXPECT_EQ(config.linger, 5ms);
  EXPECT_EQ(config.batch_size_bytes, 1'000'000U);
  EXPECT_EQ(config.max_request_size_bytes, 1'048'576U);
  EXPECT_EQ(config.buffer_memory_bytes, 67'108'864U);
  EXPECT_EQ(config.delivery_timeout, 120s);
  EXPECT_EQ(config.request_timeout, 30s);
  EXPECT_EQ(config.max_block, 60s);
  EXPECT_EQ(config.retry_backoff, 100ms);
  EXPECT_EQ(config.retry_backoff_max, 1s);
  EXPECT_EQ(config.reconnect_backoff, 50ms);
  EXPECT_EQ(config.reconnect_backoff_max, 1s);
  EXPECT_EQ(config.connection_setup_timeout, 10s);
  EXPECT_EQ(config.connection_setup_timeout_max, 30s);
  EXPECT_EQ(config.metadata_max_age, 300s);
  EXPECT_EQ(config.connections_max_idle, 540s);
  EXPECT_EQ(config.partitioner, partitioner_kind::murmur2_random);
  EXPECT_EQ(config.state_horizon, 1h);
  EXPECT_EQ(config.lanes, 1);
}

TEST(ConfigError, SaysAValueOnce) {
  producer_config config = good();
  const config_error wrong = apply_property(config, "bootstrap.servers", "http://a:1", "-b");
  EXPECT_EQ(
      wrong.message(),
      "-b: bootstrap.servers: 'http://a:1': 'http://' is no scheme of a Kafka broker: leave it "
      "out; accepted: host:port, host:port, ...");
}

TEST(ConfigError, ShowsOfALongValueItsBeginning) {
  producer_config config = good();
  config.client_id = std::string(40'000, 'x');
  const std::string message = validate(config).message();
  EXPECT_LT(message.size(), 300U);
  EXPECT_NE(message.find("client.id = 'xxx"), std::string::npos) << message;
  EXPECT_NE(message.find("(40000 bytes)"), std::string::npos) << message;
}

TEST(ConfigError, IsWhatTheProducerThrowsAndNothingElse) {
  producer_config config = good();
  config.max_in_flight = 0;
  try {
    const producer never(config);
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.what(), validate(config).message());
    EXPECT_EQ(error.code(), client_errc::invalid_value);
  }
}

struct breach {
  const char* name;
  std::function<void(producer_config&)> break_it;
  client_errc kind;
  const char* key;
  const char* value;
  const char* part_of_message;
};

class Rule : public testing::TestWithParam<breach> {};

TEST_P(Rule, NamesKeyValueAndReason) {
  producer_config config = good();
  GetParam().break_it(config);
  const config_error error = validate(config);
  ASSERT_TRUE(error);
  EXPECT_EQ(error.kind, GetParam().kind);
  EXPECT_EQ(error.code(), make_error_code(GetParam().kind));
  EXPECT_EQ(error.key, GetParam().key);
  EXPECT_EQ(error.value, GetParam().value);
  EXPECT_NE(error.message().find(GetParam().part_of_message), std::string::npos) << error.message();
  EXPECT_EQ(error.message().find('\n'), std::string::npos);
}

constexpr auto invalid = client_errc::invalid_value;
constexpr auto conflict = client_errc::conflicting_values;

INSTANTIATE_TEST_SUITE_P(
    BetweenMembers, Rule,
    testing::Values(
        breach{"AcksOfAll", [](auto& c) { c.acks = acks::leader; }, conflict, "acks", "1",
               "(enable.idempotence = 'true')"},
        breach{"AcksOfNone", [](auto& c) { c.acks = acks::none; }, conflict, "acks", "0",
               "acks=all"},
        breach{"Retries", [](auto& c) { c.retries = 0; }, conflict, "retries", "0", "retries > 0"},
        breach{"FiveInFlight", [](auto& c) { c.max_in_flight = 6; }, conflict,
               "max.in.flight.requests.per.connection", "6", "at most 5"},
        breach{"DeliveryCoversARequest", [](auto& c) { c.delivery_timeout = 30'004ms; }, conflict,
               "delivery.timeout.ms", "30004", "linger.ms + request.timeout.ms"},
        breach{"DeliveryCoversFractionsOfLinger",
               [](auto& c) { c.delivery_timeout = 30'005ms, c.linger = 5'001us; }, conflict,
               "delivery.timeout.ms", "30005", "linger.ms + request.timeout.ms"},
        breach{"BatchFitsARequest", [](auto& c) { c.batch_size_bytes = 1'048'577; }, conflict,
               "batch.size", "1048577", "max.request.size = '1048576'"},
        breach{"BufferHoldsABatch", [](auto& c) { c.buffer_memory_bytes = 999'999; }, conflict,
               "buffer.memory", "999999", "batch.size = '1000000'"},
        breach{"LevelOfTheCodec",
               [](auto& c) { c.compression = compression::gzip, c.compression_level = 10; },
               conflict, "compression.level", "10", "gzip takes 1 to 9"},
        breach{"OwnLevelOfTheCodec",
               [](auto& c) { c.compression = compression::lz4, c.compression_lz4_level = 18; },
               invalid, "compression.lz4.level", "18", "1 to 17"},
        breach{"TopicPolicyNeedsAName",
               [](auto& c) { c.topics[""].on_failure = failure_policy::skip; }, invalid,
               "on.failure.topics", ":skip", "topic:policy"}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Bounds, Rule,
    testing::Values(
        breach{"LingerBelow", [](auto& c) { c.linger = -1us; }, invalid, "linger.ms", "-0.001",
               "0 to 900000"},
        breach{"LingerAbove", [](auto& c) { c.linger = 900'000ms + 1us; }, invalid, "linger.ms",
               "900000.001", "0 to 900000"},
        breach{"BatchOfNothing", [](auto& c) { c.batch_size_bytes = 0; }, invalid, "batch.size",
               "0", "1 to 2147483647"},
        breach{"SizeBeyondSigned",
               [](auto& c) { c.buffer_memory_bytes = std::numeric_limits<std::size_t>::max(); },
               invalid, "buffer.memory", "9223372036854775807", "1024 to 1099511627776"},
        breach{"DeliveryForEver", [](auto& c) { c.delivery_timeout = 0ms; }, invalid,
               "delivery.timeout.ms", "0", "1 to 2147483647"},
        breach{"RetryWithoutBackoff", [](auto& c) { c.retry_backoff = 0ms; }, invalid,
               "retry.backoff.ms", "0", "1 to 2147483647"},
        breach{"IdleMetadata", [](auto& c) { c.metadata_max_idle = 4'999ms; }, invalid,
               "metadata.max.idle.ms", "4999", "5000 to 2147483647"},
        breach{"NoLanes", [](auto& c) { c.lanes = 0; }, invalid, "partita.lanes", "0", "1 to 256"},
        breach{"NoInFlight", [](auto& c) { c.max_in_flight = 0; }, invalid,
               "max.in.flight.requests.per.connection", "0", "1 to 1000000"},
        breach{"NegativeRetries", [](auto& c) { c.retries = -1; }, invalid, "retries", "-1",
               "0 to 2147483647"},
        breach{"LogLevel", [](auto& c) { c.log_level = 8; }, invalid, "log_level", "8", "0 to 7"},
        breach{"DebugWord", [](auto& c) { c.debug = "msg,nonsense"; }, invalid, "debug",
               "msg,nonsense", "protocol"},
        breach{"NoEnumerator", [](auto& c) { c.compression = static_cast<compression>(9); },
               invalid, "compression.type", "9", "none, gzip, snappy, lz4, zstd"},
        breach{"BadServer", [](auto& c) { c.bootstrap_servers = "a:0"; }, invalid,
               "bootstrap.servers", "a:0", "not 1 to 65535"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ProducerConfig, AllowsWithoutIdempotenceWhatItForbids) {
  producer_config config = good();
  config.enable_idempotence = false;
  config.acks = acks::none;
  config.retries = 0;
  config.max_in_flight = 1'000'000;
  EXPECT_EQ(validate(config).message(), "");
}

TEST(ProducerConfig, BoundsTheLengthOfTheClientId) {
  producer_config config = good();
  config.client_id.assign(32'767, 'x');
  EXPECT_FALSE(validate(config));
  config.client_id.push_back('x');
  EXPECT_EQ(validate(config).key, "client.id");
}

TEST(ProducerConfig, AcceptsItsLimitsExactly) {
  producer_config config = good();
  config.delivery_timeout = 30'005ms;
  config.batch_size_bytes = config.max_request_size_bytes;
  config.buffer_memory_bytes = config.batch_size_bytes;
  config.linger = 5ms;
  EXPECT_EQ(validate(config).message(), "");
}

TEST(ProducerConfig, TakesTheCodecsOwnLevelBeforeTheGeneralOne) {
  producer_config config = good();
  config.compression_level = 4;
  config.compression_gzip_level = 9;
  EXPECT_EQ(effective_compression_level(config), std::nullopt);
  config.compression = compression::gzip;
  EXPECT_EQ(effective_compression_level(config), 9);
  config.compression = compression::zstd;
  EXPECT_EQ(effective_compression_level(config), 4);
  config.compression_level.reset();
  EXPECT_EQ(effective_compression_level(config), std::nullopt);
}

TEST(ConfigKeys, HaveOneRowForAName) {
  std::set<std::string_view> names;
  for (const auto rows : {own_keys(), foreign_keys()})
    for (const config_key& row : rows) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(ConfigKeys, BindEachMemberOnce) {
  std::set<std::string_view> members;
  for (const config_key& row : own_keys()) {
    if (row.mark != key_mark::known || row.accepts_some) continue;
    EXPECT_NE(row.member, "") << row.name;
    EXPECT_TRUE(members.insert(row.member).second) << row.member;
  }
}

TEST(ConfigKeys, ResolveEveryAliasToAKnownRow) {
  for (const config_key& row : own_keys()) {
    if (row.of.empty()) continue;
    EXPECT_EQ(canonical(row).name, row.of);
    EXPECT_EQ(canonical(row).mark, key_mark::known) << row.name;
  }
}

TEST(ConfigKeys, SayWhyTheyAreNotOurs) {
  for (const config_key& row : foreign_keys()) EXPECT_FALSE(row.note.empty()) << row.name;
}

TEST(ConfigKeys, ParseTheirOwnDefaults) {
  const producer_config defaults;
  for (const config_key& row : own_keys()) {
    if (row.mark != key_mark::known || row.accepts_some || row.name == "bootstrap.servers")
      continue;
    const std::string printed = row.binding.print(defaults);
    producer_config config;
    EXPECT_EQ(row.binding.parse(config, printed), parse_result::ok) << row.name << '=' << printed;
    EXPECT_EQ(row.binding.print(config), printed) << row.name;
    EXPECT_TRUE(row.binding.in_bounds(config)) << row.name;
    EXPECT_FALSE(row.binding.bounds().empty()) << row.name;
  }
}

TEST(ConfigKeys, AreAllInTheDocumentation) {
  const auto root = std::filesystem::path(PARTITA_SOURCE_DIR);
  const std::string document = contents_of(root / "docs" / "configuration.md");
  ASSERT_FALSE(document.empty());
  EXPECT_NE(document.find(known_keys_table()), std::string::npos)
      << "docs/configuration.md must contain this table:\n"
      << known_keys_table();
  EXPECT_NE(document.find(foreign_keys_table()), std::string::npos)
      << "docs/configuration.md must contain this table:\n"
      << foreign_keys_table();
}

TEST(ConfigNotices, NameEachSettingThatHasNoEffectAndNoOther) {
  producer_config config;
  config.bootstrap_servers = "localhost:9092";
  EXPECT_TRUE(settings_without_effect(config).empty());
  config.client_rack = "r1";
  config.client_dns_lookup = dns_lookup::resolve_canonical_bootstrap_servers_only;
  config.buffer_records_max = 5;
  config.statistics_interval = std::chrono::seconds(1);
  const std::vector<std::string> lines = settings_without_effect(config);
  ASSERT_EQ(lines.size(), 4U);
  for (const char* key : {"client.rack", "client.dns.lookup", "queue.buffering.max.messages",
                          "statistics.interval.ms"})
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.starts_with(key);
    })) << key;
}

TEST(BootstrapServers, ReadsNamesAddressesAndPorts) {
  const auto list =
      parse_bootstrap_servers(" a.example , b:1234,[::1]:9093,[fe80::2], PLAINTEXT://c:1");
  ASSERT_EQ(list.error, "");
  const std::vector<bootstrap_server> expected = {
      {"a.example", 9092}, {"b", 1234}, {"::1", 9093}, {"fe80::2", 9092}, {"c", 1}};
  EXPECT_EQ(list.servers, expected);
}

/// As librdkafka and Java's clients do.
TEST(BootstrapServers, TakesCommasTooManyAndServersThatAreNamedTwice) {
  const std::vector<bootstrap_server> expected = {{"a", 9092}, {"b", 1}};
  for (const char* text : {"a,b:1,", ",a,b:1", "a,,b:1", "a , , b:1 , ", "a,b:1,a", "a:9092,a,b:1",
                           "PLAINTEXT://a,a:9092,b:1,b:1"}) {
    const auto list = parse_bootstrap_servers(text);
    EXPECT_EQ(list.error, "") << text;
    EXPECT_EQ(list.servers, expected) << text;
  }
}

TEST(BootstrapServers, RefusesWhatIsNoList) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "required"},           {"  ", "required"},
      {",", "required"},          {" , ,", "required"},
      {"a:1,,b:x", "65535"},      {"a:1,b c:1", "host"},
      {"a:", "not host:port"},    {"a:65536", "65535"},
      {"a:-1", "65535"},          {"a:x", "65535"},
      {"::1:9092", "IPv6"},       {"[::1", "not host:port"},
      {"[::1]9092", "host:port"}, {":9092", "host"},
      {"SSL://a:1", "TLS"},       {"a b:1", "host"},
      {"sasl_ssl://a:1", "TLS"},  {"http://a:1", "'http://' is no scheme"}};
  for (const auto& [text, reason] : cases) {
    const auto list = parse_bootstrap_servers(text);
    EXPECT_NE(list.error.find(reason), std::string::npos) << text << ": " << list.error;
    EXPECT_TRUE(list.servers.empty()) << text;
  }
}

TEST(ConfigText, ReadsThousandths) {
  const std::pair<const char*, std::optional<std::int64_t>> cases[] = {
      {"5", 5000},       {"0.1", 100},     {"0.25", 250},
      {".5", 500},       {"1.0010", 1001}, {"-0.5", -500},
      {" 7.125 ", 7125}, {"1.0005", {}},   {"1.", {}},
      {"", {}},          {".", {}},        {"1e3", {}},
      {"0.1.2", {}},     {"1,5", {}},      {"--1", {}},
      {"+1", 1000},      {"0.-1", {}},     {"9223372036854775807", {}}};
  for (const auto& [text, thousandths] : cases)
    EXPECT_EQ(parse_thousandths(text), thousandths) << text;
}

TEST(ConfigText, PrintsThousandthsWithoutNoise) {
  EXPECT_EQ(print_thousandths(5000), "5");
  EXPECT_EQ(print_thousandths(100), "0.1");
  EXPECT_EQ(print_thousandths(1001), "1.001");
  EXPECT_EQ(print_thousandths(-500), "-0.5");
  EXPECT_EQ(print_thousandths(0), "0");
}

TEST(ConfigText, ReadsWholeNumbersOnly) {
  EXPECT_EQ(parse_whole(" 42 "), 42);
  EXPECT_EQ(parse_whole("+42"), 42);
  EXPECT_EQ(parse_whole("-1"), -1);
  for (const char* text : {"", " ", "4.2", "0x10", "1k", "+-1", "9223372036854775808"})
    EXPECT_EQ(parse_whole(text), std::nullopt) << text;
}

TEST(ConfigText, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("linger.ms", "linger.ms"), 0U);
}

TEST(TopicConfigs, AreAMapByName) {
  producer_config config{.bootstrap_servers = "localhost:9092",
                         .topics = {{"b", {.on_failure = failure_policy::skip}},
                                    {"a", {}},
                                    {"b", {.on_failure = failure_policy::halt_key}}}};
  ASSERT_EQ(config.topics.size(), 2U);
  EXPECT_EQ(config.topics.begin()->first, "a");
  EXPECT_EQ(config.topics.at("b").on_failure, failure_policy::skip) << "the first one counts";
  EXPECT_TRUE(config.topics.contains("a"));
  EXPECT_EQ(config.topics.find("c"), config.topics.end());
  EXPECT_EQ(config.topics.erase("a"), 1U);
  EXPECT_EQ(config.topics.erase("a"), 0U);
  EXPECT_EQ(config.topics.size(), 1U);
}

TEST(TopicConfigs, NamesThatNoTopicCanHaveAreRefused) {
  for (const char* name : {".", "..", "a b", "a/b"}) {
    producer_config config = good();
    config.topics[name].on_failure = failure_policy::skip;
    const config_error error = validate(config);
    EXPECT_EQ(error.kind, client_errc::invalid_value) << name;
    EXPECT_EQ(error.key, "on.failure.topics");
    EXPECT_EQ(error.value, name);
    EXPECT_NE(error.message().find("a-z"), std::string::npos) << error.message();
  }
  producer_config config = good();
  config.topics["orders-1.x_Y"].on_failure = failure_policy::skip;
  EXPECT_FALSE(validate(config));
}

}  // namespace
}  // namespace partita
