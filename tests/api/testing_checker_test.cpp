#include <partita/testing/checker.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace partita::testing {
namespace {

partita::timestamp at(std::int64_t ms) { return partita::timestamp{std::chrono::milliseconds{ms}}; }

produced_record produced(std::uint64_t order, std::string value) {
  produced_record made;
  made.record.topic = "t";
  made.record.key = "k";
  made.record.value = std::move(value);
  made.record.partition = 0;
  made.record.timestamp = at(5);
  made.order = order;
  return made;
}

produced_record with(produced_record record, outcome answer) {
  record.answers.push_back(std::move(answer));
  return record;
}

outcome delivered_at(std::int64_t offset) {
  return delivered{.partition = 0, .offset = partita::offset{offset}, .timestamp = {}};
}

outcome failed_as(partita::fate fate) {
  return failed{.fate = fate, .code = {}, .cause = {}, .topic = "t", .partition = 0, .ticket = {}};
}

log_record written(std::int64_t offset, std::string value) {
  log_record made;
  made.offset = offset;
  made.key = "k";
  made.value = std::move(value);
  made.timestamp = at(5);
  return made;
}

std::vector<anomaly_kind> kinds(const std::vector<produced_record>& records,
                                std::vector<log_record> log, const check_options& options = {}) {
  std::vector<anomaly_kind> found;
  for (const auto& one : check(records, {{"t", 0, std::move(log)}}, options))
    found.push_back(one.kind);
  return found;
}

using list = std::vector<anomaly_kind>;

TEST(Checker, SaysNothingOfAPartitionOrAnOffsetThatIsNotKnown) {
  produced_record nowhere = produced(1, "a");
  nowhere.record.partition = {};
  const auto unanswered = check({nowhere}, {{"t", 0, {}}});
  ASSERT_EQ(unanswered.size(), 1U);
  EXPECT_EQ(unanswered[0].text, "unanswered t record 1: no answer");
  const auto lost = check({with(nowhere, delivered_at(4))}, {{"t", 0, {}}});
  ASSERT_FALSE(lost.empty());
  EXPECT_EQ(lost[0].text, "lost-write t-0 offset 4 record 1: delivered, and nothing is there");
  EXPECT_EQ(lost[0].partition, partition_id(0));
}

TEST(Checker, FindsNothingInATruthfulHistory) {
  const std::vector<produced_record> records = {
      with(produced(1, "a"), delivered_at(0)), with(produced(2, "b"), failed_as(fate::not_written)),
      with(produced(3, "c"), failed_as(fate::unknown)),
      with(produced(4, "d"), failed_as(fate::unknown))};
  EXPECT_EQ(kinds(records, {written(0, "a"), written(1, "c")}), list{});
}

TEST(Checker, FindsADeliveredRecordThatIsNowhere) {
  const auto found = kinds({with(produced(1, "a"), delivered_at(0))}, {});
  EXPECT_EQ(found, list{anomaly_kind::lost_write}) << "told once";
}

TEST(Checker, FindsARecordThatLiesElsewhere) {
  EXPECT_EQ(
      kinds({with(produced(1, "a"), delivered_at(1)), with(produced(2, "b"), delivered_at(1))},
            {written(0, "a"), written(1, "b")}),
      (list{anomaly_kind::wrong_content, anomaly_kind::offset_twice}));
}

TEST(Checker, FindsAnAcknowledgementThatNamesAnotherRecord) {
  const auto found =
      kinds({with(produced(1, "a"), delivered_at(0)), with(produced(2, "b"), delivered_at(0))},
            {written(0, "a")});
  EXPECT_EQ(found, (list{anomaly_kind::offset_twice, anomaly_kind::lost_write}));
}

TEST(Checker, FindsANotWrittenRecordInTheLog) {
  EXPECT_EQ(kinds({with(produced(1, "a"), failed_as(fate::not_written))}, {written(0, "a")}),
            list{anomaly_kind::phantom_write});
}

TEST(Checker, FindsDuplicatesOfDeliveredAndOfUnknownRecords) {
  EXPECT_EQ(kinds({with(produced(1, "a"), delivered_at(0))}, {written(0, "a"), written(1, "a")}),
            list{anomaly_kind::duplicate_write});
  EXPECT_EQ(
      kinds({with(produced(1, "a"), failed_as(fate::unknown))}, {written(0, "a"), written(1, "a")}),
      list{anomaly_kind::duplicate_write});
}

TEST(Checker, FindsReordering) {
  const std::vector<produced_record> records = {with(produced(1, "a"), delivered_at(1)),
                                                with(produced(2, "b"), delivered_at(0))};
  EXPECT_EQ(kinds(records, {written(0, "b"), written(1, "a")}),
            list{anomaly_kind::nonmonotonic_send});
  EXPECT_EQ(kinds(records, {written(0, "b"), written(1, "a")}, {.order = false}), list{});
}

// halt_key: A fails, B of another key goes on, A is sent again, and C that was held comes behind
// it.
TEST(Checker, AHaltedKeyHasTheOrderOfItsOwnRecords) {
  const auto of_key = [](auto record, const char* key) {
    if constexpr (requires { record.record; })
      record.record.key = key;
    else
      record.key = key;
    return record;
  };
  auto a = with(produced(1, "a"), delivered_at(1));
  a.failed_before = true;
  const auto b = of_key(with(produced(2, "b"), delivered_at(0)), "other");
  const auto c = with(produced(3, "c"), delivered_at(2));
  const auto d = of_key(with(produced(4, "d"), delivered_at(3)), "other");
  const std::vector<log_record> right = {of_key(written(0, "b"), "other"), written(1, "a"),
                                         written(2, "c"), of_key(written(3, "d"), "other")};
  const check_options waits{.halted_keys_wait = true};
  EXPECT_EQ(kinds({a, b, c, d}, right, waits), list{});
  EXPECT_EQ(kinds({a, b, c, d}, right), list{anomaly_kind::nonmonotonic_send});

  // Within the halted key, and among the others, overtaking is one.
  auto late = with(produced(1, "a"), delivered_at(2));
  late.failed_before = true;
  EXPECT_EQ(kinds({late, b, with(produced(3, "c"), delivered_at(1)), d},
                  {of_key(written(0, "b"), "other"), written(1, "c"), written(2, "a"),
                   of_key(written(3, "d"), "other")},
                  waits),
            list{anomaly_kind::nonmonotonic_send});
  auto early = d;
  early.order = 1;
  EXPECT_EQ(kinds({a, b, c, early}, right, waits), list{anomaly_kind::nonmonotonic_send});
}

// The same inside one produce_batch(), and between two records of another one.
TEST(Checker, ACallIsNotMixedWithAnotherByARecordThatWaitedForItsHalt) {
  auto a = with(produced(1, "a"), delivered_at(2));
  a.failed_before = true;
  std::vector<produced_record> records = {a, with(produced(2, "b"), delivered_at(0)),
                                          with(produced(3, "c"), delivered_at(1)),
                                          with(produced(4, "d"), delivered_at(3))};
  records[1].record.key = records[2].record.key = records[3].record.key = "other";
  records[0].send = records[1].send = 7;
  records[2].send = records[3].send = 8;
  std::vector<log_record> log = {written(0, "b"), written(1, "c"), written(2, "a"),
                                 written(3, "d")};
  log[0].key = log[1].key = log[3].key = "other";
  EXPECT_EQ(kinds(records, log, {.halted_keys_wait = true}), list{});
}

TEST(Checker, FindsMissingAndRepeatedAnswers) {
  EXPECT_EQ(kinds({produced(1, "a")}, {}), list{anomaly_kind::unanswered});
  EXPECT_EQ(
      kinds({with(with(produced(1, "a"), delivered_at(0)), delivered_at(0))}, {written(0, "a")}),
      list{anomaly_kind::answered_twice});
}

TEST(Checker, FindsRecordsThatNobodyProduced) {
  EXPECT_EQ(kinds({}, {written(0, "x")}), list{anomaly_kind::unknown_record});
  EXPECT_EQ(kinds({}, {written(0, "x")}, {.others_may_write = true}), list{});
}

TEST(Checker, FindsAWrongTimestamp) {
  auto record = written(0, "a");
  record.timestamp = at(6);
  const std::vector<produced_record> records = {with(produced(1, "a"), delivered_at(0))};
  EXPECT_EQ(kinds(records, {record}), list{anomaly_kind::wrong_content});
  EXPECT_EQ(kinds(records, {record}, {.log_append_time = true}), list{});
}

TEST(Checker, FindsAMisroutedRecord) {
  const std::vector<produced_record> records = {with(produced(1, "a"), failed_as(fate::unknown))};
  const auto found = check(records, {{"t", 0, {}}, {"t", 1, {written(0, "a")}}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().kind, anomaly_kind::misrouted);
  EXPECT_NE(report(found).find("misrouted t-0 offset 0 record 1"), std::string::npos);
}

TEST(Checker, DoesNotJudgeWhatWasDeletedOrNotRead) {
  const std::vector<produced_record> records = {with(produced(1, "a"), delivered_at(0)),
                                                with(produced(2, "b"), delivered_at(1)),
                                                with(produced(3, "c"), delivered_at(2))};
  partition_history log{"t", 0, {written(1, "b")}};
  log.start = 1;
  log.read_to = offset{2};
  const auto found = check(records, {log});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, anomaly_kind::unseen);
  EXPECT_EQ(name(found[0].kind), "unseen");
  EXPECT_EQ(found[0].offset, offset{2});
}

TEST(Checker, SeesARecordInsideAnotherCallsRecords) {
  auto first = produced(1, "a");
  auto second = produced(2, "b");
  first.send = second.send = 9;
  const auto stranger = produced(3, "c");
  const std::vector<produced_record> records = {
      with(first, delivered_at(0)), with(second, delivered_at(2)), with(stranger, delivered_at(1))};
  EXPECT_EQ(kinds(records, {written(0, "a"), written(1, "c"), written(2, "b")}),
            (list{anomaly_kind::nonmonotonic_send, anomaly_kind::int_send_skip}));
  // What another producer wrote may lie there.
  EXPECT_EQ(kinds({records[0], records[1]}, {written(0, "a"), written(1, "x"), written(2, "b")},
                  {.others_may_write = true}),
            list{});
}

}  // namespace
}  // namespace partita::testing
