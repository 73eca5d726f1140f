#include "api/cli/drive_event.hpp"

#include "api/cli/driven_records.hpp"
#include "api/cli/error_name.hpp"

#include <partita/error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace partita::cli {
namespace {

using namespace std::chrono_literals;

failed failure_of(fate what, std::error_code code) {
  failed failure{what, code};
  failure.topic = "t";
  failure.partition = 1;
  return failure;
}

TEST(ErrorName, IsOneWord) {
  EXPECT_EQ(error_name(make_error_code(client_errc::delivery_timeout)), "delivery_timeout");
  EXPECT_EQ(error_name(make_error_code(broker_errc::message_too_large)), "MESSAGE_TOO_LARGE");
  EXPECT_EQ(error_name({}), "");
  EXPECT_EQ(error_name(std::make_error_code(std::errc::timed_out)).substr(0, 8), "generic:");
}

TEST(DriveEvent, TellsADelivery) {
  EXPECT_EQ(outcome_event(12300us, "A", delivered{0, offset(5), std::nullopt}, false),
            R"({"event":"outcome","name":"A","t_ms":12.3,"outcome":"delivered","partition":0,)"
            R"("offset":5})"
            "\n");
  EXPECT_EQ(outcome_event(0us, "A", delivered{0, std::nullopt, std::nullopt}, true),
            R"({"event":"outcome","name":"A","t_ms":0.0,"outcome":"delivered","partition":0,)"
            R"("offset":null,"resubmitted":true})"
            "\n");
}

TEST(DriveEvent, TellsAFailure) {
  failed failure = failure_of(fate::unknown, make_error_code(client_errc::delivery_timeout));
  failure.cause = make_error_code(broker_errc::request_timed_out);
  failure.ended_by = limit::delivery_timeout;
  failure.attempts = 3;
  EXPECT_EQ(outcome_event(1ms, "A", failure, false),
            R"({"event":"outcome","name":"A","t_ms":1.0,"outcome":"unknown","topic":"t",)"
            R"("partition":1,"code":"delivery_timeout","cause":"REQUEST_TIMED_OUT",)"
            R"("limit":"delivery_timeout","attempts":3})"
            "\n");
  failed large = failure_of(fate::not_written, make_error_code(client_errc::record_too_large));
  large.detail = "the record takes 5 bytes of memory; buffer.memory is 4";
  EXPECT_NE(outcome_event(1ms, "A", large, false)
                .find(R"("attempts":0,"detail":"the record takes 5 bytes of memory; )"),
            std::string::npos);
  const failed early{fate::not_written, make_error_code(client_errc::buffer_full)};
  EXPECT_EQ(outcome_event(1ms, "A", early, false),
            R"({"event":"outcome","name":"A","t_ms":1.0,"outcome":"not_written","topic":"",)"
            R"("partition":null,"code":"buffer_full","cause":null,"limit":null,"attempts":0})"
            "\n");
}

TEST(DriveEvent, IsOneLineWhateverTheTextHolds) {
  const std::string line = error_event(0us, 7, "", "line\nbreak \xff");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.substr(0, 53), R"({"event":"error","t_ms":0.0,"line":7,"do":null,"messa)");
}

named_record named(std::string name, std::string value) {
  named_record record;
  record.name = std::move(name);
  record.content.topic = "t";
  record.content.value = std::move(value);
  return record;
}

owned_record returned(std::string value) {
  owned_record record;
  record.topic = "t";
  record.value = std::move(value);
  record.partition = 1;
  return record;
}

TEST(DrivenRecords, TakesANameOnce) {
  driven_records records;
  EXPECT_EQ(records.add(named("A", "1")), 0U);
  EXPECT_EQ(records.add(named("A", "2")), std::nullopt);
  EXPECT_EQ(records.counts().produced, 1U);
  EXPECT_EQ(records.find("A"), 0U);
  EXPECT_EQ(records.find("B"), std::nullopt);
}

TEST(DrivenRecords, CountsARecordOnceHoweverOftenItIsAnswered) {
  driven_records records;
  const auto at = records.add(named("A", "1"));
  EXPECT_FALSE(records.is_answered(*at));
  EXPECT_EQ(records.counts().open(), 1U);
  records.answered(*at, failure_of(fate::not_written, make_error_code(client_errc::aborted)));
  records.answered(*at, delivered{1, offset(0), std::nullopt});
  EXPECT_TRUE(records.is_answered(*at));
  EXPECT_EQ(records.counts().answered, (tally{0, 1, 0}));
  EXPECT_EQ(records.counts().open(), 0U);
}

TEST(DrivenRecords, FindsTheNamesOfWhatComesBack) {
  driven_records records;
  for (const auto& [name, value] : {std::pair("A", "same"), {"B", "other"}, {"C", "same"}})
    ASSERT_TRUE(records.add(named(name, value)));
  const std::vector<owned_record> back = {returned("same"), returned("other"), returned("same"),
                                          returned("same"), returned("never")};
  EXPECT_EQ(records.names_of(back), (std::vector<std::string>{"A", "B", "C", "?", "?"}));
}

TEST(DrivenRecords, ADeliveredRecordDoesNotComeBack) {
  driven_records records;
  ASSERT_TRUE(records.add(named("A", "same")));
  ASSERT_TRUE(records.add(named("B", "same")));
  records.answered(0, delivered{1, offset(0), std::nullopt});
  EXPECT_EQ(records.names_of(std::vector<owned_record>{returned("same")}),
            std::vector<std::string>{"B"});
}

TEST(DrivenRecords, KnowsByItsNumberWhatWasSentAgain) {
  driven_records records;
  for (const char* name : {"third", "refused", "elsewhere", "first", "delivered"})
    ASSERT_TRUE(records.add(named(name, name)));
  const auto numbered = [](std::uint64_t number, partition_id partition) {
    failed answer = failure_of(fate::not_written, make_error_code(broker_errc::invalid_record));
    answer.number = {number};
    answer.partition = partition;
    return answer;
  };
  records.answered(0, numbered(3, 1));
  records.answered(1, failure_of(fate::not_written, make_error_code(client_errc::halted)));
  records.answered(2, numbered(2, 2));
  records.answered(3, numbered(1, 1));
  records.answered(4, delivered{1, offset(0), std::nullopt});
  const drive_place place{"t", partition_id(1), std::nullopt};
  const outcome again = delivered{1, offset(7), std::nullopt};
  const std::vector<resubmitted_record> report{{{1}, again}, {{2}, again}, {{3}, again}};
  using positions = std::vector<std::optional<driven_records::position>>;
  EXPECT_EQ(records.sent_again(place, report), (positions{3, std::nullopt, 0}));
}

// A recovery reports when the last of its records has ended: a younger one may have sent a record
// again and reported its delivery before.
TEST(DrivenRecords, KnowsWhatAnOlderRecoveryReportsAfterAYoungerOne) {
  driven_records records;
  ASSERT_TRUE(records.add(named("A", "same")));
  ASSERT_TRUE(records.add(named("B", "same")));
  failed first = failure_of(fate::not_written, make_error_code(broker_errc::invalid_record));
  first.number = {4};
  records.answered(0, first);
  const drive_place place{"t", partition_id(1), std::nullopt};
  const std::vector<resubmitted_record> younger{{{4}, delivered{1, offset(7), std::nullopt}}};
  const std::vector<resubmitted_record> older{{{4}, first}};
  using positions = std::vector<std::optional<driven_records::position>>;
  ASSERT_EQ(records.sent_again(place, younger), positions{0});
  records.answered(0, younger.front().answer);
  EXPECT_EQ(records.sent_again(place, older), positions{0});
  records.answered(0, older.front().answer);
  // It is not handed back, for it was delivered.
  EXPECT_EQ(records.names_of(std::vector<owned_record>{returned("same")}),
            std::vector<std::string>{"B"});
}

}  // namespace
}  // namespace partita::cli
