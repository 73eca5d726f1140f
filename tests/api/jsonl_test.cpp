#include "api/cli/jsonl.hpp"

#include "api/cli/base64.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::cli {
namespace {

input_record read(std::string_view line) {
  input_record record;
  const auto error = parse_jsonl(line, record);
  EXPECT_FALSE(error) << line << ": " << error->column << ": " << error->reason;
  return record;
}

struct refused {
  std::size_t column;
  std::string reason;
};

refused refusal(std::string_view line) {
  input_record record;
  const auto error = parse_jsonl(line, record);
  if (!error) return {0, "was read"};
  return {error->column, error->reason};
}

TEST(Jsonl, ReadsEveryMember) {
  const input_record record =
      read(R"({"topic":"t","key":"k","value":"v","partition":3,"timestamp":1764000000000,)"
           R"("headers":{"a":"1","b":null}})");
  EXPECT_EQ(record.topic, "t");
  EXPECT_EQ(record.key, "k");
  EXPECT_EQ(record.value, "v");
  EXPECT_EQ(record.partition, partition_id(3));
  ASSERT_TRUE(record.timestamp);
  EXPECT_EQ(record.timestamp->time_since_epoch().count(), 1'764'000'000'000);
  const std::vector<owned_header> expected = {{"a", "1"}, {"b", std::nullopt}};
  EXPECT_EQ(record.headers, expected);
}

TEST(Jsonl, TakesHeadersAsPairsLikeDrive) {
  const std::vector<owned_header> expected = {{"h", "x"}, {"h", std::nullopt}, {"a", ""}};
  const input_record record =
      read(R"({"headers":[["h","x"],["h",null],{"key":"a","value":""}],"value":"v"})");
  EXPECT_EQ(record.headers, expected);
  EXPECT_EQ(record.value, "v");
  EXPECT_EQ(read(R"({"headers":[]})").headers, std::vector<owned_header>{});
}

TEST(Jsonl, TellsNullFromEmpty) {
  EXPECT_EQ(read(R"({"key":null,"value":null})").value, std::nullopt);
  EXPECT_EQ(read(R"({"key":"","value":""})").value, "");
  EXPECT_EQ(read(R"({})").value, std::nullopt);
  EXPECT_EQ(read(R"({"key":""})").key, "");
}

TEST(Jsonl, DecodesEscapesAndKeepsZeroBytes) {
  EXPECT_EQ(read(R"({"value":"a\nb\u0000\u00e9\ud83d\ude00"})").value,
            std::string("a\nb\0\xc3\xa9\xf0\x9f\x98\x80", 10));
}

TEST(Jsonl, TakesBytesAsBase64) {
  const input_record record = read(R"({"key_base64":"AAEC","value_base64":"/w=="})");
  EXPECT_EQ(record.key, std::string("\0\1\2", 3));
  EXPECT_EQ(record.value, "\xff");
  EXPECT_EQ(read(R"({"value_base64":null})").value, std::nullopt);
}

TEST(Jsonl, KeepsRepeatedHeadersInOrder) {
  const std::vector<owned_header> expected = {{"a", "1"}, {"a", "2"}, {"b", std::string("\0", 1)}};
  EXPECT_EQ(read(R"({"headers":[{"key":"a","value":"1"},{"value":"2","key":"a"},)"
                 R"({"key":"b","value_base64":"AA=="}]})")
                .headers,
            expected);
  const std::vector<owned_header> twice = {{"a", "1"}, {"a", "2"}};
  EXPECT_EQ(read(R"({"headers":{"a":"1","a":"2"}})").headers, twice);
}

TEST(Jsonl, NamesTheColumnOfASyntaxError) {
  EXPECT_EQ(refusal(R"({"key":"k",})").column, 12U);
  EXPECT_EQ(refusal(R"({"key" "k"})").column, 10U);
  EXPECT_EQ(refusal(R"({"key":"k"} x)").column, 13U);
  EXPECT_EQ(refusal("{\"key\":\"a\xff\"}").column, 10U);
  EXPECT_GE(refusal(R"({"key":"k")").column, 10U);
}

TEST(Jsonl, NamesTheColumnOfAWrongMember) {
  EXPECT_EQ(refusal(R"({"key":"k", "vlaue":"v"})").column, 13U);
  EXPECT_NE(refusal(R"({"key":"k", "vlaue":"v"})").reason.find("vlaue"), std::string::npos);
  EXPECT_EQ(refusal(R"({"partition": "3"})").column, 15U);
  EXPECT_EQ(refusal(R"({"partition":7,"timestamp": -1})").column, 29U);
  EXPECT_EQ(refusal(R"({"value":{"a":1}})").column, 10U);
  EXPECT_EQ(refusal(R"({"value_base64":"a"})").column, 17U);
  EXPECT_EQ(refusal(R"({"value":"a","value":"b"})").column, 14U);
  EXPECT_EQ(refusal(R"({"key":"a","key_base64":"YQ=="})").column, 12U);
  EXPECT_EQ(refusal(R"({"headers":["a"]})").column, 13U);
}

TEST(Jsonl, RefusesWhatIsNoRecord) {
  for (const char* line :
       {"",
        "  ",
        "[]",
        "1",
        "null",
        "\"text\"",
        "{\"topic\":null}",
        "{\"partition\":1.5}",
        "{\"partition\":-1}",
        "{\"partition\":2147483648}",
        "{\"timestamp\":9223372036854775808}",
        "{\"key\":true}",
        "{\"headers\":[{\"value\":\"v\"}]}",
        "{\"headers\":[{\"key\":null}]}",
        "{\"headers\":{\"a\":1}}",
        "{\"headers\":[[\"a\"]]}",
        "{\"headers\":[[null,\"b\"]]}",
        "{\"headers\":[[\"a\",\"b\",\"c\"]]}",
        "{\"headers\":[[\"a\",1]]}",
        "{\"headers\":[[[\"a\"]]]}",
        "{\"headers\":[[{}]]}",
        "{\"value\":\"\\ud800\"}",
        "{\"headers\":[{\"key\":\"a\",\"value\":\"1\",\"value_base64\":\"MQ==\"}]}"}) {
    const refused answer = refusal(line);
    EXPECT_NE(answer.reason, "was read") << line;
    EXPECT_FALSE(answer.reason.empty()) << line;
    EXPECT_GE(answer.column, 1U) << line;
  }
}

TEST(Jsonl, SurvivesDeepNesting) {
  EXPECT_NE(refusal(std::string(100'000, '[')).reason, "was read");
  EXPECT_NE(refusal("{\"value\":" + std::string(100'000, '{')).reason, "was read");
}

TEST(Jsonl, KnowsABlankLine) {
  EXPECT_TRUE(is_blank(" \t\r"));
  EXPECT_TRUE(is_blank(""));
  EXPECT_FALSE(is_blank(" {"));
}

TEST(Base64, DecodesTheVectorsOfTheStandard) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
}

TEST(Base64, RefusesEverythingElse) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm-v", "Zm 9"})
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
}

}  // namespace
}  // namespace partita::cli
