#include <partita/properties.hpp>

#include "api/config_keys.hpp"
#include "api/properties_grammar.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace partita {
namespace {

using namespace std::chrono_literals;

bool has(const std::vector<std::string>& lines, std::string_view part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

const config_entry& entry_of(const std::vector<config_entry>& entries, std::string_view key) {
  return *std::find_if(entries.begin(), entries.end(),
                       [&](const config_entry& entry) { return entry.key == key; });
}

/// A variable of the environment for the length of a test.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~variable() { ::unsetenv(name_); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  const char* name_;
};

/// A file that is removed at the end of the test.
class file {
 public:
  explicit file(const std::string& text) {
    static int number = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("partita_properties_" + std::to_string(::getpid()) + "_" + std::to_string(++number));
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~file() { std::filesystem::remove(path_); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// --- The grammar
// -----------------------------------------------------------------------------------

struct grammar_case {
  const char* text;
  const char* key;
  const char* value;
};

TEST(PropertiesGrammar, ReadsOneEntry) {
  const grammar_case cases[] = {
      {"a=b", "a", "b"},
      {"a = b", "a", "b"},
      {"a:b", "a", "b"},
      {"a : b", "a", "b"},
      {"a b", "a", "b"},
      {"a\t\fb", "a", "b"},
      {"  \t a=b", "a", "b"},
      {"a==b", "a", "=b"},
      {"a = = b", "a", "= b"},
      {"a=b=c:d e", "a", "b=c:d e"},
      {"a", "a", ""},
      {"a=", "a", ""},
      {"=b", "", "b"},
      {"a=b ", "a", "b "},
      {"a=b # no comment", "a", "b # no comment"},
      {"a\\=b=c", "a=b", "c"},
      {"a\\:b\\ c=d", "a:b c", "d"},
      {"a=\\tb\\nc\\rd\\fe", "a", "\tb\nc\rd\fe"},
      {"a=b\\\\c", "a", "b\\c"},
      {"a=\\q\\#\\!", "a", "q#!"},
      {"a=b\\", "a", "b"},
      {"a=b\\\nc", "a", "bc"},
      {"a=b\\\n   c", "a", "bc"},
      {"a=b, \\\r\n\t c, \\\r\n d", "a", "b, c, d"},
      {"a=b\\\n# no comment", "a", "b# no comment"},
      {"a=b\\\\\n", "a", "b\\"},
      {"a\\\n=b", "a", "b"},
      {"\xEF\xBB\xBF"
       "a=b",
       "a", "b"},
      {"a=\\u00e9", "a", "\xC3\xA9"},
      {"a=\\u20AC!", "a", "\xE2\x82\xAC!"},
      {"a=\\u0041\\u0042", "a", "AB"},
      {"a=\\ud83d\\ude00", "a", "\xF0\x9F\x98\x80"},
      {"a=\xC3\xA9", "a", "\xC3\xA9"},
  };
  for (const auto& [text, key, value] : cases) {
    const properties parsed = parse_properties(text);
    ASSERT_EQ(parsed.error, "") << text;
    ASSERT_EQ(parsed.entries.size(), 1U) << text;
    EXPECT_EQ(parsed.entries[0].key, key) << text;
    EXPECT_EQ(parsed.entries[0].value, value) << text;
  }
}

TEST(PropertiesGrammar, SkipsCommentsAndBlankLines) {
  // A comment does not go on: its backslash is text.
  const properties parsed = parse_properties("# one \\\n! two\n\n   \t\n  # three\na=b\n#end");
  ASSERT_EQ(parsed.entries.size(), 1U);
  EXPECT_EQ(parsed.entries[0].line, 6);
}

TEST(PropertiesGrammar, BeginsAnewAfterAContinuationOfNothing) {
  for (const char* text : {"\\\n# a comment\na=b", "\\\n\na=b", " \\\r\n! a comment \\\n\\\na=b"}) {
    const properties parsed = parse_properties(text);
    ASSERT_EQ(parsed.entries.size(), 1U) << text;
    EXPECT_EQ(parsed.entries[0].key, "a") << text;
    EXPECT_EQ(parsed.entries[0].value, "b") << text;
  }
  EXPECT_TRUE(parse_properties("\\").entries.empty());
}

TEST(PropertiesGrammar, CountsLinesForEveryLineEnd) {
  const properties parsed = parse_properties("a=1\r\nb=2\\\r\n3\rc=4\n\nd=5");
  ASSERT_EQ(parsed.entries.size(), 4U);
  EXPECT_EQ(parsed.entries[0].line, 1);
  EXPECT_EQ(parsed.entries[1].line, 2);
  EXPECT_EQ(parsed.entries[1].value, "23");
  EXPECT_EQ(parsed.entries[2].line, 4);
  EXPECT_EQ(parsed.entries[3].line, 6);
}

TEST(PropertiesGrammar, RefusesMalformedUnicode) {
  for (const char* value :
       {"\\u12", "\\u12g4", "\\ud83d", "\\ud83d\\u0041", "\\ude00", "\\ud83dx"}) {
    const properties parsed = parse_properties("a=1\nb=" + std::string(value));
    EXPECT_NE(parsed.error, "") << value;
    EXPECT_EQ(parsed.error_line, 2) << value;
    EXPECT_TRUE(parsed.entries.empty()) << value;
  }
}

// --- One key
// ---------------------------------------------------------------------------------------

TEST(ApplyProperty, SetsTheMember) {
  producer_config config;
  EXPECT_FALSE(apply_property(config, "linger.ms", "0.1"));
  EXPECT_FALSE(apply_property(config, "acks", "-1"));
  EXPECT_FALSE(apply_property(config, "compression.type", "ZSTD"));
  EXPECT_FALSE(apply_property(config, "enable.idempotence", "False"));
  EXPECT_FALSE(apply_property(config, "partitioner", "fnv1a_random"));
  EXPECT_FALSE(apply_property(config, "bootstrap.servers", " a:1,b:2 "));
  EXPECT_FALSE(apply_property(config, "on.failure", "skip"));
  EXPECT_FALSE(apply_property(config, "while.halted", "hold"));
  EXPECT_EQ(config.linger, 100us);
  EXPECT_EQ(config.acks, acks::all);
  EXPECT_EQ(config.compression, compression::zstd);
  EXPECT_FALSE(config.enable_idempotence);
  EXPECT_EQ(config.partitioner, partitioner_kind::fnv1a_random);
  EXPECT_EQ(config.bootstrap_servers, "a:1,b:2");
  EXPECT_EQ(config.on_failure, failure_policy::skip);
  EXPECT_EQ(config.while_halted, while_halted::hold);
}

TEST(ApplyProperty, SetsPoliciesByTopic) {
  producer_config config;

  EXPECT_FALSE(
      apply_property(config, "on.failure.topics", " orders:halt_partition, audit.1 : Skip ,"));

  ASSERT_EQ(config.topics.size(), 2U);
  EXPECT_EQ(config.topics["orders"].on_failure, failure_policy::halt_partition);
  EXPECT_EQ(config.topics["audit.1"].on_failure, failure_policy::skip);
  for (const char* bad : {"orders", ":skip", "orders:halt", "orders:skip:skip"})
    EXPECT_TRUE(apply_property(config, "on.failure.topics", bad)) << bad;
  EXPECT_FALSE(apply_property(config, "on.failure.topics", ""));
  EXPECT_TRUE(config.topics.empty());
}

TEST(ApplyProperty, KnowsAliases) {
  producer_config config;
  EXPECT_FALSE(apply_property(config, "metadata.broker.list", "a:1"));
  EXPECT_FALSE(apply_property(config, "request.required.acks", "1"));
  EXPECT_FALSE(apply_property(config, "max.in.flight", "3"));
  EXPECT_FALSE(apply_property(config, "message.send.max.retries", "7"));
  EXPECT_FALSE(apply_property(config, "message.timeout.ms", "50000"));
  EXPECT_FALSE(apply_property(config, "queue.buffering.max.ms", "12.5"));
  EXPECT_FALSE(apply_property(config, "queue.buffering.max.kbytes", "2048"));
  EXPECT_FALSE(apply_property(config, "message.max.bytes", "2000000"));
  EXPECT_FALSE(apply_property(config, "compression.codec", "lz4"));
  EXPECT_FALSE(apply_property(config, "topic.metadata.refresh.interval.ms", "77000"));
  EXPECT_FALSE(apply_property(config, "send.buffer.bytes", "-1"));
  EXPECT_FALSE(apply_property(config, "receive.buffer.bytes", "32768"));
  EXPECT_EQ(config.bootstrap_servers, "a:1");
  EXPECT_EQ(config.acks, acks::leader);
  EXPECT_EQ(config.max_in_flight, 3);
  EXPECT_EQ(config.retries, 7);
  EXPECT_EQ(config.delivery_timeout, 50s);
  EXPECT_EQ(config.linger, 12'500us);
  EXPECT_EQ(config.buffer_memory_bytes, 2'097'152U);
  EXPECT_EQ(config.max_request_size_bytes, 2'000'000U);
  EXPECT_EQ(config.compression, compression::lz4);
  EXPECT_EQ(config.metadata_max_age, 77s);
  EXPECT_EQ(config.socket_send_buffer_bytes, 0U);
  EXPECT_EQ(config.socket_receive_buffer_bytes, 32'768U);
}

TEST(ApplyProperty, TellsTheTwoMeaningsOfLevelMinusOneApart) {
  producer_config config;
  config.compression_level = 3;
  config.compression_gzip_level = 3;
  EXPECT_FALSE(apply_property(config, "compression.level", "-1"));
  EXPECT_FALSE(apply_property(config, "compression.gzip.level", "-1"));
  EXPECT_FALSE(apply_property(config, "compression.zstd.level", "-1"));
  EXPECT_EQ(config.compression_level, std::nullopt);
  EXPECT_EQ(config.compression_gzip_level, std::nullopt);
  EXPECT_EQ(config.compression_zstd_level, -1);
  EXPECT_TRUE(apply_property(config, "compression.lz4.level", "-1"));
}

struct suggestion {
  const char* given;
  const char* nearest;
};

TEST(ApplyProperty, SuggestsTheNearestKnownKey) {
  const suggestion cases[] = {
      {"linger.sm", "linger.ms"},
      {"linger_ms", "linger.ms"},
      {"linger", "linger.ms"},
      {"LINGER.MS", "linger.ms"},
      {"bootstrap.server", "bootstrap.servers"},
      {"compresion.type", "compression.type"},
      {"delivery.timeout", "delivery.timeout.ms"},
      {"enable.idempotance", "enable.idempotence"},
      {"queue.buffering.max.kbyte", "queue.buffering.max.kbytes"},
      {"partita.lane", "partita.lanes"},
      {"completely.different.thing.altogether", ""},
      {"x", ""},
  };
  for (const auto& [given, nearest] : cases) {
    producer_config config;
    const config_error error = apply_property(config, given, "1", "command line");
    ASSERT_TRUE(error) << given;
    EXPECT_EQ(error.code(), client_errc::unknown_key) << given;
    EXPECT_EQ(error.nearest, nearest) << given;
    EXPECT_EQ(error.origin, "command line");
  }
  producer_config config;
  EXPECT_EQ(apply_property(config, "linger.sm", "1", "a.properties:3").message(),
            "a.properties:3: unknown key 'linger.sm'; did you mean 'linger.ms'?");
}

TEST(ApplyProperty, SurvivesAKeyOfAnyLength) {
  producer_config config;
  const config_error error = apply_property(config, std::string(1'000'000, 'k'), "1");
  EXPECT_EQ(error.code(), client_errc::unknown_key);
  EXPECT_EQ(error.nearest, "");
}

struct bad_value {
  const char* key;
  const char* value;
  const char* bounds;
};

TEST(ApplyProperty, NamesTheBoundsAndChangesNothing) {
  const bad_value cases[] = {
      {"linger.ms", "900000.001", "0 to 900000"},
      {"linger.ms", "-1", "0 to 900000"},
      {"linger.ms", "5ms", "0 to 900000"},
      {"linger.ms", "0.0001", "three decimals"},
      {"linger.ms", "", "0 to 900000"},
      {"retries", "2147483648", "0 to 2147483647"},
      {"retries", "1.5", "0 to 2147483647"},
      {"batch.size", "0", "1 to 2147483647"},
      {"message.timeout.ms", "0", "1 to 2147483647"},
      {"acks", "2", "all, -1, 0, 1"},
      {"acks", "", "all, -1, 0, 1"},
      {"enable.idempotence", "yes", "true or false"},
      {"compression.type", "brotli", "none, gzip, snappy, lz4, zstd"},
      {"partitioner", "murmur3", "murmur2_random"},
      {"log_level", "8", "0 to 7"},
      {"debug", "everything", "protocol"},
      {"queue.buffering.max.kbytes", "9007199254740993", "1 to 1073741824"},
      {"broker.address.family", "v5", "any, v4, v6"},
      {"security.protocol", "SASL_SSL", "PLAINTEXT"},
  };
  for (const auto& [key, value, bounds] : cases) {
    producer_config config;
    const auto before = describe(config);
    const config_error error = apply_property(config, key, value, "here");
    ASSERT_TRUE(error) << key << '=' << value;
    EXPECT_EQ(error.code(), client_errc::invalid_value);
    EXPECT_EQ(error.key, key);
    EXPECT_EQ(error.value, value);
    EXPECT_NE(error.bounds.find(bounds), std::string::npos) << key << ": " << error.bounds;
    EXPECT_NE(error.message().find(bounds), std::string::npos) << error.message();
    const auto after = describe(config);
    for (std::size_t at = 0; at < after.size(); ++at)
      EXPECT_EQ(after[at].value, before[at].value) << after[at].key;
  }
}

TEST(ApplyProperty, ExplainsABadServerList) {
  producer_config config;
  const config_error error = apply_property(config, "bootstrap.servers", "a:1,b:99999");
  EXPECT_NE(error.message().find("'b:99999' has a port that is not 1 to 65535"), std::string::npos)
      << error.message();
}

TEST(ApplyProperty, TreatsEveryForeignKeyAsItsMarkSays) {
  for (const config_key& row : foreign_keys()) {
    std::string name(row.name);
    if (name.ends_with('*')) name.back() = 'x';
    producer_config config;
    config_report report;
    const config_error error = apply_property(config, name, "sEcReT", "here", &report);
    if (row.mark == key_mark::refused) {
      EXPECT_EQ(error.code(), client_errc::invalid_value) << name;
      EXPECT_NE(error.message().find(row.note), std::string::npos) << name;
      EXPECT_TRUE(report.notes.empty()) << name;
      EXPECT_EQ(error.message().find("sEcReT") == std::string::npos, row.secret) << error.message();
    } else {
      EXPECT_EQ(error.message(), "") << name;
      ASSERT_EQ(report.notes.size(), 1U) << name;
      EXPECT_NE(report.notes[0].find(row.note), std::string::npos) << name;
    }
  }
}

TEST(ApplyProperty, AcceptsRefusedKeysThatAskForNothing) {
  producer_config config;
  config_report report;
  for (const auto& [key, value] : {std::pair{"enable.gapless.guarantee", "false"},
                                   {"transactional.id", ""},
                                   {"transaction.two.phase.commit.enable", "False"},
                                   {"partitioner.rack.aware", "false"},
                                   {"test.mock.num.brokers", "0"},
                                   {"security.protocol", "plaintext"}})
    EXPECT_EQ(apply_property(config, key, value, "here", &report).message(), "");
  EXPECT_TRUE(report.notes.empty());
}

TEST(ApplyProperty, NeverRepeatsWhatMayBeASecret) {
  producer_config config;
  for (const char* key : {"sasl.password", "sasl.pasword", "ssl.key.password", "ssl.key.pass",
                          "sasl.jaas.config", "sasl.oauthbearer.client.secret", "my.password"}) {
    const config_error error = apply_property(config, key, "hunter2");
    ASSERT_TRUE(error) << key;
    EXPECT_EQ(error.value, "") << key;
    EXPECT_EQ(error.message().find("hunter2"), std::string::npos) << error.message();
  }
}

TEST(ApplyProperty, MapsKafkasPartitionerClasses) {
  producer_config config;
  config_report report;
  const std::string package = "org.apache.kafka.clients.producer.";
  EXPECT_FALSE(apply_property(config, "partitioner.class", package + "RoundRobinPartitioner",
                              "here", &report));
  EXPECT_EQ(config.partitioner, partitioner_kind::round_robin);
  EXPECT_TRUE(has(report.notes, "is taken as partitioner=round_robin"));
  const config_error error = apply_property(config, "partitioner.class", "com.example.Mine");
  EXPECT_NE(error.message().find("custom_partitioner"), std::string::npos) << error.message();
  EXPECT_EQ(config.partitioner, partitioner_kind::round_robin);
}

// --- Files
// -----------------------------------------------------------------------------------------

constexpr std::string_view java_client =
    "# A client file as it is written for Java\n"
    "bootstrap.servers=one:9092,\\\n"
    "                  two:9092\n"
    "key.serializer=org.apache.kafka.common.serialization.StringSerializer\n"
    "security.protocol=PLAINTEXT\n"
    "acks=all\n"
    "linger.ms=20\n"
    "compression.type=lz4\n"
    "group.id=left over from a consumer\n"
    "metrics.recording.level=DEBUG\n";

TEST(LoadProperties, TakesAJavaFileAsItIs) {
  producer_config config;
  config_report report;
  ASSERT_EQ(load_properties(config, java_client, "client.properties", &report).message(), "");
  EXPECT_EQ(config.bootstrap_servers, "one:9092,two:9092");
  EXPECT_EQ(config.linger, 20ms);
  EXPECT_EQ(config.compression, compression::lz4);
  EXPECT_FALSE(validate(config));
  EXPECT_TRUE(has(report.notes, "client.properties:4: key.serializer has no effect: Java only"));
  EXPECT_TRUE(has(report.notes, "client.properties:9: group.id has no effect: consumers only"));
  EXPECT_TRUE(has(report.notes, "client.properties:10: metrics.recording.level has no effect"));
  EXPECT_EQ(report.notes.size(), 3U);
}

TEST(LoadProperties, TakesALibrdkafkaFileAsItIs) {
  producer_config config;
  config_report report;
  const auto text =
      "metadata.broker.list=one:9092\nqueue.buffering.max.ms=0.5\nsocket.keepalive.enable=true\n"
      "queue.buffering.max.messages=500000\nlog.connection.close=false\ndebug=broker,msg\n";
  ASSERT_EQ(load_properties(config, text, "kcat.conf", &report).message(), "");
  EXPECT_EQ(config.linger, 500us);
  EXPECT_EQ(config.buffer_records_max, 500'000);
  EXPECT_EQ(config.debug, "broker,msg");
  EXPECT_EQ(report.notes.size(), 1U);
}

TEST(LoadProperties, NamesFileAndLineOfAnError) {
  producer_config config;
  const config_error error =
      load_properties(config, "acks=all\n\nlinger.ms=\\\n  soon\n", "client.properties");
  EXPECT_EQ(error.origin, "client.properties:3");
  EXPECT_EQ(error.message(),
            "client.properties:3: linger.ms = 'soon': not understood; accepted: 0 to 900000, up to "
            "three decimals");
}

TEST(LoadProperties, ChangesNothingWhenOneLineIsWrong) {
  producer_config config;
  config_report report;
  EXPECT_TRUE(load_properties(config, "linger.ms=20\ngroup.id=x\nlinger.sm=1", "f", &report));
  EXPECT_EQ(config.linger, 5ms);
  EXPECT_TRUE(report.notes.empty());
  EXPECT_TRUE(report.origins.empty());
}

TEST(LoadProperties, RefusesOneSettingUnderTwoNamesUnlessTheyAgree) {
  producer_config config;
  const config_error error = load_properties(config, "linger.ms=5\nqueue.buffering.max.ms=6", "f");
  EXPECT_EQ(error.code(), client_errc::conflicting_values);
  EXPECT_EQ(error.origin, "f:2");
  EXPECT_EQ(
      error.message(),
      "f:2: queue.buffering.max.ms = '6' conflicts: linger.ms = '5' of f:1 is the same setting");
  EXPECT_FALSE(load_properties(config, "linger.ms=6\nqueue.buffering.max.ms=6.0", "f"));
  EXPECT_EQ(config.linger, 6ms);
  EXPECT_FALSE(load_properties(config, "acks=all\nrequest.required.acks=-1", "f"));
}

TEST(LoadProperties, LetsTheLastOfOneNameCountWithANote) {
  producer_config config;
  config_report report;
  EXPECT_FALSE(load_properties(config, "linger.ms=6\nlinger.ms=7", "f", &report));
  EXPECT_EQ(config.linger, 7ms);
  EXPECT_TRUE(has(report.notes, "f:2: linger.ms replaces the value of f:1"));
}

TEST(LoadProperties, PrefersTheRefreshIntervalOverTheCacheAge) {
  // metadata.max.age.ms is the age of a cache in librdkafka; only the other key means the refresh.
  for (const char* text :
       {"metadata.max.age.ms=900000\ntopic.metadata.refresh.interval.ms=60000",
        "topic.metadata.refresh.interval.ms=60000\nmetadata.max.age.ms=900000"}) {
    producer_config config;
    config_report report;
    EXPECT_EQ(load_properties(config, text, "f", &report).message(), "");
    EXPECT_EQ(config.metadata_max_age, 60s);
    EXPECT_EQ(entry_of(describe(config, &report), "metadata.max.age.ms").alias,
              "topic.metadata.refresh.interval.ms");
  }
}

TEST(LoadProperties, SaysWhereJavaAndKcatReadDifferently) {
  producer_config config;
  config_report report;
  EXPECT_FALSE(load_properties(config, "client.id=a\\b\nclient.rack=c\\:d", "f", &report));
  EXPECT_EQ(config.client_id, "ab");
  EXPECT_EQ(config.client_rack, "c:d");
  ASSERT_EQ(report.notes.size(), 1U);
  EXPECT_EQ(report.notes[0], "f:1: client.id is read as 'ab' as Java does; kcat reads 'a\\b'");
}

TEST(LoadProperties, ReportsMalformedEscapesWithTheirLine) {
  producer_config config;
  const config_error error = load_properties(config, "acks=all\nclient.id=\\u00", "f");
  EXPECT_EQ(error.origin, "f:2");
  EXPECT_EQ(error.code(), client_errc::invalid_value);
}

TEST(LoadProperties, BoundsTheText) {
  producer_config config;
  EXPECT_TRUE(load_properties(config, std::string(1024 * 1024 + 1, '\n'), "f"));
  EXPECT_FALSE(load_properties(config, std::string(1024 * 1024, '\n'), "f"));
}

TEST(LoadProperties, DoesNotExpandReferences) {
  const variable secret("PARTITA_TEST_ID", "from the environment");
  producer_config config;
  EXPECT_FALSE(load_properties(config, "client.id=${env:PARTITA_TEST_ID}", "f"));
  EXPECT_EQ(config.client_id, "${env:PARTITA_TEST_ID}");
  EXPECT_FALSE(apply_property(config, "client.id", "${env:PARTITA_TEST_ID}x"));
  EXPECT_EQ(config.client_id, "${env:PARTITA_TEST_ID}x");
}

TEST(LoadPropertiesFile, ExpandsReferencesOnce) {
  const variable id("PARTITA_TEST_ID", "a${env:HOME}b");
  const file rack("rack 7\r\n");
  const file settings("client.id=<${env:PARTITA_TEST_ID}>\nclient.rack=${file:" + rack.path() +
                      "}\ndebug=\nbootstrap.servers=${plain}:1\n");
  producer_config config;
  EXPECT_EQ(load_properties_file(config, settings.path()).message(), "");
  EXPECT_EQ(config.client_id, "<a${env:HOME}b>");
  EXPECT_EQ(config.client_rack, "rack 7");
  EXPECT_EQ(config.bootstrap_servers, "${plain}:1");
}

TEST(LoadPropertiesFile, NamesReferencesItCanNotResolve) {
  ::unsetenv("PARTITA_TEST_MISSING");
  const std::pair<const char*, const char*> cases[] = {
      {"acks=all\nclient.id=${env:PARTITA_TEST_MISSING}", "PARTITA_TEST_MISSING"},
      {"acks=all\nclient.id=${file:/nonexistent/partita}", "/nonexistent/partita"},
      {"acks=all\nclient.id=${vault:x}", "'vault'"}};
  for (const auto& [text, part] : cases) {
    const file settings(text);
    producer_config config;
    const config_error error = load_properties_file(config, settings.path());
    EXPECT_EQ(error.origin, settings.path() + ":2") << text;
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST(LoadPropertiesFile, ReportsAFileItCanNotRead) {
  producer_config config;
  for (const std::string& path : {std::string("/nonexistent/partita"), testing::TempDir()}) {
    const config_error error = load_properties_file(config, path);
    EXPECT_EQ(error.code(), client_errc::invalid_value) << path;
    EXPECT_NE(error.message().find(path), std::string::npos) << error.message();
  }
}

// --- The environment
// -------------------------------------------------------------------------------

TEST(LoadEnvironment, SetsKnownKeysAndAliases) {
  const variable linger("KAFKA_LINGER_MS", "33");
  const variable list("KAFKA_METADATA_BROKER_LIST", "a:1");
  const variable level("KAFKA_LOG_LEVEL", "3");
  producer_config config;
  config_report report;
  EXPECT_EQ(load_environment(config, &report).message(), "");
  EXPECT_EQ(config.linger, 33ms);
  EXPECT_EQ(config.bootstrap_servers, "a:1");
  EXPECT_EQ(config.log_level, 3);
  const auto entries = describe(config, &report);
  EXPECT_EQ(entry_of(entries, "linger.ms").origin, "environment KAFKA_LINGER_MS");
  EXPECT_EQ(entry_of(entries, "bootstrap.servers").alias, "metadata.broker.list");
}

TEST(LoadEnvironment, SkipsVariablesOfKafkasScripts) {
  const variable options("KAFKA_OPTS", "-Dx=y");
  const variable heap("KAFKA_HEAP_OPTS", "-Xmx1G");
  const variable debug("KAFKA_DEBUG", "y");
  const variable reporters("KAFKA_METRIC_REPORTERS", "x");
  producer_config config;
  config_report report;
  EXPECT_EQ(load_environment(config, &report).message(), "");
  EXPECT_EQ(config.debug, "");
  EXPECT_TRUE(report.notes.empty());
}

TEST(LoadEnvironment, NamesTheVariableOfAnError) {
  const variable acks("KAFKA_ACKS", "2");
  producer_config config;
  const config_error error = load_environment(config);
  EXPECT_EQ(error.origin, "environment KAFKA_ACKS");
  EXPECT_EQ(error.key, "acks");
}

TEST(LoadEnvironment, RefusesSecurityInsteadOfGoingOnWithout) {
  const variable password("KAFKA_SASL_PASSWORD", "hunter2");
  producer_config config;
  const config_error error = load_environment(config);
  EXPECT_EQ(error.key, "sasl.password");
  EXPECT_EQ(error.message().find("hunter2"), std::string::npos);
}

// --- Origins
// ---------------------------------------------------------------------------------------

TEST(Describe, ListsEveryKnownKeyWithValueAndDefault) {
  producer_config config;
  config.lanes = 2;
  const auto entries = describe(config);
  EXPECT_EQ(entry_of(entries, "partita.lanes").value, "2");
  EXPECT_EQ(entry_of(entries, "partita.lanes").default_value, "1");
  EXPECT_EQ(entry_of(entries, "partita.lanes").origin, "call");
  EXPECT_EQ(entry_of(entries, "acks").origin, "default");
  EXPECT_EQ(entry_of(entries, "security.protocol").value, "PLAINTEXT");
  const auto known = std::count_if(own_keys().begin(), own_keys().end(), [](const config_key& row) {
    return row.mark == key_mark::known;
  });
  EXPECT_EQ(static_cast<std::ptrdiff_t>(entries.size()), known);
}

TEST(Describe, KeepsTheLastOriginOfEachKey) {
  producer_config config;
  config_report report;
  EXPECT_FALSE(load_properties(config, "linger.ms=1\nacks=all", "f", &report));
  EXPECT_FALSE(apply_property(config, "queue.buffering.max.ms", "5", "command line", &report));
  const auto entries = describe(config, &report);
  EXPECT_EQ(entry_of(entries, "linger.ms").value, "5");
  EXPECT_EQ(entry_of(entries, "linger.ms").origin, "command line");
  EXPECT_EQ(entry_of(entries, "linger.ms").alias, "queue.buffering.max.ms");
  EXPECT_EQ(entry_of(entries, "acks").origin, "f:2");
  EXPECT_EQ(report.origins.size(), 2U);
}

TEST(Describe, GivesValuesThatCanBeAppliedAgain) {
  producer_config config;
  config.bootstrap_servers = "a:1";
  config.linger = 1'250us;
  config.compression_zstd_level = -7;
  config.acks = acks::leader;
  config.enable_idempotence = false;
  producer_config copy;
  for (const config_entry& entry : describe(config))
    EXPECT_EQ(apply_property(copy, entry.key, entry.value).message(), "");
  const auto first = describe(config);
  const auto second = describe(copy);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t at = 0; at < first.size(); ++at)
    EXPECT_EQ(first[at].value, second[at].value) << first[at].key;
}

}  // namespace
}  // namespace partita
