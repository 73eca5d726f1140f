#include "api/cli/outcome_history.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace partita::cli {
namespace {

using testing::anomaly_kind;

std::string read(outcome_history& history, const std::string& commands,
                 const std::string& outcomes) {
  std::istringstream first{commands};
  if (auto wrong = history.read_commands(first); !wrong.empty()) return wrong;
  std::istringstream second{outcomes};
  return history.read_outcomes(second, "t");
}

const std::string two_commands =
    R"({"do":"produce","name":"A","topic":"t","partition":0,"key":"k","value":"a"})"
    "\n"
    R"({"do":"flush"})"
    "\n"
    R"({"do":"produce","name":"B","topic":"t","partition":0,"value":"b"})";

TEST(OutcomeHistory, JoinsCommandsAndOutcomesByName) {
  outcome_history history;
  EXPECT_EQ(read(history, two_commands, R"({"event":"outcome","name":"B","outcome":"not_written"}
{"event":"flushed"}
{"event":"outcome","name":"A","outcome":"delivered","partition":0,"offset":7})"),
            "");
  ASSERT_EQ(history.records().size(), 2U);
  const auto& a = history.records()[0];
  EXPECT_EQ(a.record.value, "a");
  EXPECT_EQ(a.record.key, "k");
  ASSERT_EQ(a.answers.size(), 1U);
  EXPECT_EQ(a.answers[0].delivery()->offset, offset{7});
  EXPECT_EQ(history.records()[1].answers[0].failure()->fate, fate::not_written);
}

TEST(OutcomeHistory, SettlementAndResubmissionReplaceWhatWasSaid) {
  outcome_history history;
  EXPECT_EQ(read(history, two_commands, R"({"event":"outcome","name":"A","outcome":"unknown"}
{"event":"settled","name":"A","verdict":"never_written"}
{"event":"outcome","name":"B","outcome":"not_written"}
{"event":"outcome","name":"B","outcome":"delivered","partition":0,"offset":1,"resubmitted":true})"),
            "");
  EXPECT_EQ(history.records()[0].answers.size(), 1U);
  EXPECT_EQ(history.records()[0].answers[0].failure()->fate, fate::not_written);
  EXPECT_EQ(history.records()[1].answers.size(), 1U);
  EXPECT_TRUE(history.records()[1].answers[0].is_delivered());
}

TEST(OutcomeHistory, ASecondAnswerStaysOne) {
  outcome_history history;
  EXPECT_EQ(read(history, two_commands,
                 R"({"event":"outcome","name":"A","outcome":"delivered","partition":0,"offset":0}
{"event":"outcome","name":"A","outcome":"delivered","partition":0,"offset":1})"),
            "");
  EXPECT_EQ(history.records()[0].answers.size(), 2U);
}

TEST(OutcomeHistory, KnowsWhatFailedBefore) {
  outcome_history history;
  EXPECT_EQ(read(history, "",
                 R"({"event":"outcome","name":"A","outcome":"not_written"}
{"event":"outcome","name":"B","outcome":"delivered","partition":0,"offset":0}
{"event":"outcome","name":"A","resubmitted":true,"outcome":"delivered","partition":0,"offset":1})"),
            "");
  EXPECT_TRUE(history.records()[0].failed_before);
  EXPECT_EQ(history.records()[0].answers.size(), 1U);
  EXPECT_FALSE(history.records()[1].failed_before);
}

TEST(OutcomeHistory, OutcomesCanDescribeTheirRecords) {
  outcome_history history;
  EXPECT_EQ(read(history, "",
                 R"({"event":"outcome","name":"A","outcome":"delivered","partition":0,"offset":0}
{"event":"outcome","name":"B","topic":"u","value":null,"key":"x","outcome":"unknown"})"),
            "");
  EXPECT_EQ(history.records()[0].record.topic, "t");
  EXPECT_EQ(history.records()[0].record.value, "A");
  EXPECT_EQ(history.records()[1].record.topic, "u");
  EXPECT_EQ(history.records()[1].record.value, std::nullopt);
}

TEST(OutcomeHistory, NamesTheLineThatIsWrong) {
  outcome_history history;
  EXPECT_EQ(read(history, "", "{\"event\":\"outcome\",\"name\":\"A\",\"outcome\":\"lost\"}"),
            "line 1: \"lost\" is no outcome");
  EXPECT_EQ(read(history, "", "\n{\"event\":\"outcome\"}"), "line 2: no name");
  EXPECT_EQ(read(history, "", "x"), "line 1: not JSON: invalid literal; last read: 'x'");
  EXPECT_EQ(read(history, "", "[]"), "line 1: not a JSON object");
  EXPECT_EQ(read(history, "", R"({"event":"x"}
{"event":"outcome","name":"A","outcome":"not_written","outcome":"delivered","offset":0})"),
            "line 2: column 55: \"outcome\" twice");
  for (const char* nonsense : {"\"x\"", "1e30", "2.5", "-99", "true", "[]"})
    EXPECT_EQ(read(history, "",
                   std::string{R"({"event":"outcome","name":"A","outcome":"delivered",)"} +
                       R"("partition":0,"offset":)" + nonsense + "}"),
              "line 1: \"offset\" is neither null nor a whole number from 0 on")
        << nonsense;
}

TEST(OutcomeHistory, RecordsOfOneCallAreKnownAsSuch) {
  outcome_history history;
  std::istringstream commands{
      R"({"do":"produce_batch","records":[{"name":"A","topic":"t","value":"a"},)"
      R"({"name":"B","topic":"t","value":"b"}]})"
      "\n"
      R"({"do":"produce","name":"C","topic":"t","value":"c"})"};
  EXPECT_EQ(history.read_commands(commands), "");
  EXPECT_NE(history.records()[0].send, 0U);
  EXPECT_EQ(history.records()[0].send, history.records()[1].send);
  EXPECT_EQ(history.records()[2].send, 0U);
}

TEST(OutcomeHistory, ARepeatedNameIsNoRecordAsForDrive) {
  outcome_history history;
  EXPECT_EQ(
      read(history,
           R"({"do":"produce","name":"A","topic":"t","value":"a"}
{"do":"produce","name":"A","topic":"t","value":"again"}
{"do":"produce_batch","records":[{"name":"B","topic":"t"},{"name":"A","topic":"t"}]}
{"do":"produce_batch","records":[{"name":"C","topic":"t","value":"c"},{"name":"C","topic":"t"}]})",
           R"({"event":"outcome","name":"A","outcome":"delivered","partition":0,"offset":0})"),
      "");
  ASSERT_EQ(history.records().size(), 2U);
  EXPECT_EQ(history.records()[0].record.value, "a");
  EXPECT_EQ(history.records()[0].answers.size(), 1U);
  EXPECT_EQ(history.records()[1].record.value, "c");
  const std::vector<std::string> notes = {
      "line 2: the name A is taken; this record was not produced",
      "line 3: the name A is taken; none of them was produced",
      "line 4: the name C is taken; this record was not produced"};
  EXPECT_EQ(history.notes(), notes);
}

TEST(OutcomeHistory, ALineThatDriveRefusesIsNoRecordAndNoEnd) {
  outcome_history history;
  EXPECT_EQ(
      read(history,
           R"({"do":"produce","topic":"t","value":"no name"}
{"do":"produce","name":"B","value":"no topic"}
{"do":"produce","name":"C","topic":"t","value":3}
{"do":"produce_batch","records":[{"name":"D","topic":"t"},{"name":"E","topic":"t","valeu":"e"}]}
not JSON
{"do":"flush","unknown":1}
{"do":"produce","name":"A","topic":"t","value":"a"}
{"do":"destroy"}
{"do":"produce","name":"F","topic":"t","value":"f"})",
           R"({"event":"outcome","name":"A","outcome":"delivered","partition":0,"offset":0})"),
      "");
  ASSERT_EQ(history.records().size(), 1U);
  EXPECT_EQ(history.records()[0].record.value, "a");
  EXPECT_EQ(history.records()[0].answers.size(), 1U);
  ASSERT_EQ(history.notes().size(), 6U);
  EXPECT_EQ(history.notes()[0], "line 1: \"name\" is needed; nothing was produced");
  EXPECT_EQ(history.notes()[1], "line 2: \"topic\" is needed; nothing was produced");
  EXPECT_EQ(history.notes()[2], "line 3: \"value\" takes text; nothing was produced");
  EXPECT_EQ(history.notes()[3], "line 4: record 1: unknown member \"valeu\"; nothing was produced");
  EXPECT_EQ(history.notes()[4].find("line 5: not JSON: "), 0U);
  EXPECT_EQ(history.notes()[5], "line 9: the producer was destroyed; nothing was produced");
}

}  // namespace
}  // namespace partita::cli
