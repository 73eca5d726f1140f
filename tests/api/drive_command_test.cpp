#include "api/cli/drive_command.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace partita::cli {
namespace {

using namespace std::chrono_literals;

drive_command read(std::string_view line) {
  drive_command command;
  EXPECT_EQ(parse_drive_command(line, command), "") << line;
  return command;
}

std::string refusal(std::string_view line) {
  drive_command command;
  return parse_drive_command(line, command);
}

TEST(DriveCommand, ReadsEveryMemberOfARecord) {
  const drive_command command =
      read(R"({"do":"produce","name":"A","topic":"t","partition":2,"key":"k1","value":"v",)"
           R"("headers":[["h","x"],["h",null]],"timestamp":1764000000000,"deadline_ms":3000})");
  EXPECT_EQ(command.verb, "produce");
  EXPECT_EQ(command.action, drive_action::produce);
  ASSERT_EQ(command.records.size(), 1U);
  const named_record& record = command.records[0];
  EXPECT_EQ(record.name, "A");
  EXPECT_EQ(record.content.topic, "t");
  EXPECT_EQ(record.content.partition, partition_id(2));
  EXPECT_EQ(record.content.key, "k1");
  EXPECT_EQ(record.content.value, "v");
  EXPECT_EQ(record.content.timestamp->time_since_epoch().count(), 1'764'000'000'000);
  EXPECT_EQ(record.deadline, 3000ms);
  const std::vector<owned_header> headers = {{"h", "x"}, {"h", std::nullopt}};
  EXPECT_EQ(record.content.headers, headers);
  EXPECT_FALSE(command.wait_for_it);
}

TEST(DriveCommand, TellsNullFromEmptyAndTakesBytesAsBase64) {
  const auto content = [](std::string_view line) { return read(line).records[0].content; };
  EXPECT_EQ(content(R"({"do":"produce","name":"A","topic":"t"})").value, std::nullopt);
  EXPECT_EQ(content(R"({"do":"produce","name":"A","topic":"t","key":null})").key, std::nullopt);
  EXPECT_EQ(content(R"({"do":"produce","name":"A","topic":"t","key":""})").key, "");
  EXPECT_EQ(content(R"({"do":"produce","name":"A","topic":"t","value_base64":"AAE="})").value,
            std::string("\0\1", 2));
}

TEST(DriveCommand, ReadsABatchInItsOrder) {
  const drive_command command =
      read(R"({"do":"produce_batch","await":true,"records":[{"name":"A","topic":"t","value":"1"},)"
           R"({"name":"B","topic":"u","deadline_ms":5}]})");
  EXPECT_TRUE(command.wait_for_it);
  ASSERT_EQ(command.records.size(), 2U);
  EXPECT_EQ(command.records[0].name, "A");
  EXPECT_EQ(command.records[1].name, "B");
  EXPECT_EQ(command.records[1].content.topic, "u");
  EXPECT_EQ(command.records[1].deadline, 5ms);
}

TEST(DriveCommand, ReadsTheOtherCommands) {
  EXPECT_EQ(read(R"({"do":"await","name":"A","timeout_ms":50})").timeout, 50ms);
  EXPECT_EQ(read(R"({"do":"cancel","name":"A"})").name, "A");
  EXPECT_EQ(read(R"({"do":"settle","name":"A"})").action, drive_action::settle);
  EXPECT_EQ(read(R"({"do":"flush"})").topic, std::nullopt);
  EXPECT_EQ(read(R"({"do":"flush","topic":"t","partition":0})").partition, partition_id(0));
  EXPECT_TRUE(
      read(R"({"do":"pause","topic":"t","partition":0,"abort_buffered":true})").abort_buffered);
  EXPECT_EQ(read(R"({"do":"resume","topic":"t","partition":1})").partition, partition_id(1));
  EXPECT_EQ(read(R"({"do":"wait","ms":7})").pause_of_script, 7ms);
  EXPECT_EQ(read(R"({"do":"close","deadline_ms":9})").deadline, 9ms);
  EXPECT_EQ(read(R"({"do":"status"})").action, drive_action::status);
  EXPECT_EQ(read(R"({"do":"destroy"})").action, drive_action::destroy);
  const drive_command recover = read(R"({"do":"recover","topic":"t","partition":0,"key":"k",)"
                                     R"("how":"take","allow_duplicates":true})");
  EXPECT_EQ(recover.how, recovery::take);
  EXPECT_EQ(recover.key, "k");
  EXPECT_TRUE(recover.allow_duplicates);
  EXPECT_EQ(read(R"({"do":"recover","topic":"t","partition":0})").how, recovery::resubmit);
}

TEST(DriveCommand, KeepsTheVerbOfALineThatIsWrong) {
  drive_command command;
  EXPECT_NE(parse_drive_command(R"({"do":"pause","topic":"t"})", command), "");
  EXPECT_EQ(command.verb, "pause");
}

TEST(DriveCommand, RefusesWhatItDoesNotUnderstand) {
  EXPECT_NE(refusal("{").find("not JSON"), std::string::npos);
  EXPECT_EQ(refusal("[]"), "not an object");
  EXPECT_EQ(refusal("{}"), "\"do\" is needed");
  EXPECT_EQ(refusal(R"({"do":7})"), "\"do\" takes text");
  EXPECT_EQ(refusal(R"({"do":"produse"})"), "no command \"produse\"");
  EXPECT_EQ(refusal(R"({"do":"produce","name":"A","topic":"t","vlaue":"v"})"),
            "unknown member \"vlaue\"");
  EXPECT_EQ(refusal(R"({"do":"flush","ms":3})"), "unknown member \"ms\"");
  EXPECT_EQ(refusal(R"({"do":"produce","topic":"t"})"), "\"name\" is needed");
  EXPECT_EQ(refusal(R"({"do":"produce","name":"A"})"), "\"topic\" is needed");
  EXPECT_EQ(refusal(R"({"do":"pause","topic":"t"})"), "\"partition\" is needed");
  EXPECT_EQ(refusal(R"({"do":"flush","partition":1})"), "\"topic\" is needed with a partition");
  EXPECT_EQ(refusal(R"({"do":"wait"})"), "\"ms\" is needed");
  EXPECT_EQ(refusal(R"({"do":"await"})"), "\"name\" is needed");
  EXPECT_EQ(refusal(R"({"do":"recover","topic":"t","partition":0,"how":"maybe"})"),
            "\"how\" takes resubmit, discard or take");
}

TEST(DriveCommand, RefusesValuesOfTheWrongKind) {
  const auto produce = [](std::string_view member) {
    return refusal(R"({"do":"produce","name":"A","topic":"t",)" + std::string(member) + "}");
  };
  const std::string partition = "\"partition\" takes a number from 0 to 2147483647";
  EXPECT_EQ(produce(R"("partition":-1)"), partition);
  EXPECT_EQ(produce(R"("partition":2147483648)"), partition);
  EXPECT_EQ(produce(R"("partition":18446744073709551615)"), partition);
  EXPECT_EQ(produce(R"("partition":1.5)"), partition);
  EXPECT_EQ(produce(R"("partition":"1")"), partition);
  EXPECT_EQ(produce(R"("value":7)"), "\"value\" takes text");
  EXPECT_EQ(produce(R"("value":"a","value_base64":"AA==")"),
            "\"value_base64\" stands besides its other form");
  EXPECT_EQ(produce(R"("value_base64":"?")"), "\"value_base64\" is not base64");
  EXPECT_EQ(produce(R"("headers":{"h":"v"})"), "\"headers\" takes an array of pairs");
  EXPECT_EQ(produce(R"("headers":[["h"]])"), R"("headers" takes pairs: [["name","value"]])");
  EXPECT_EQ(produce(R"("deadline_ms":86400001)"),
            "\"deadline_ms\" takes a number from 0 to 86400000");
  EXPECT_EQ(produce(R"("timestamp":-5)"),
            "\"timestamp\" takes a number from 0 to 9223372036854775807");
  EXPECT_EQ(refusal(R"({"do":"pause","topic":"t","partition":0,"abort_buffered":1})"),
            "\"abort_buffered\" takes true or false");
}

TEST(DriveCommand, NamesTheRecordOfABatchThatIsWrong) {
  EXPECT_EQ(refusal(R"({"do":"flush","topic":"t" , "topic":"u"})"), "column 29: \"topic\" twice");
  EXPECT_EQ(refusal(R"({"do":"produce_batch","records":[{"name":"A","topic":"t"},)"
                    R"({"name":"B","topic":"t","name":"C"}]})"),
            "column 83: \"name\" twice");
  EXPECT_EQ(refusal(R"({"do":"produce","name":"A","topic":"t","partition":1,"partition":1})"),
            "column 54: \"partition\" twice");
  EXPECT_EQ(refusal(R"({"do":"flush","do":"close")"), "column 15: \"do\" twice")
      << "what is wrong first";
  EXPECT_EQ(refusal(R"({"do":"produce_batch","records":[]})"),
            "\"records\" takes an array of records");
  EXPECT_EQ(refusal(R"({"do":"produce_batch","records":[{"name":"A","topic":"t"},{"name":"B"}]})"),
            "record 1: \"topic\" is needed");
  EXPECT_EQ(refusal(R"({"do":"produce_batch","records":[{"name":"A","topic":"t","x":1}]})"),
            "record 0: unknown member \"x\"");
  EXPECT_EQ(refusal(R"({"do":"produce_batch","records":[3]})"), "record 0: not an object");
}

}  // namespace
}  // namespace partita::cli
