#include "chaos/chaos_history.hpp"

#include <partita/error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace partita::chaos {
namespace {

testing::foreign_record written(std::int64_t at, std::string key, std::string value) {
  testing::foreign_record record;
  record.partition = 0;
  record.offset = at;
  record.key = std::move(key);
  record.value = std::move(value);
  return record;
}

delivered place(std::int64_t at) { return {0, offset(at), std::nullopt}; }
outcome delivered_at(std::int64_t at) { return place(at); }
outcome not_written() {
  failed answer{fate::not_written, make_error_code(client_errc::delivery_timeout)};
  answer.partition = 0;
  return answer;
}
outcome unknown(ticket which) {
  failed answer{fate::unknown, make_error_code(client_errc::delivery_timeout)};
  answer.partition = 0;
  answer.ticket = which;
  return answer;
}
settlement undecided(client_errc reason = client_errc::not_fenced) {
  return undecidable{make_error_code(reason), {}};
}

class ChaosHistory : public ::testing::Test {
 protected:
  chaos_history::index produced(const char* value, const outcome& answer) {
    const auto at = history.begin("t", "k", value);
    history.answered(at, answer);
    return at;
  }
  chaos_history::index settled(const char* value, ticket which, const settlement& verdict) {
    const auto at = produced(value, unknown(which));
    history.settled(which, verdict);
    return at;
  }
  /// The first word of each finding.
  std::string found(std::vector<testing::foreign_record> log) const {
    std::string words;
    for (const std::string& line : history.anomalies({{"t", std::move(log)}}))
      words += line.substr(0, line.find(':')) + " ";
    return words;
  }
  chaos_history history;
};

TEST_F(ChaosHistory, FindsNothingInATrueLog) {
  produced("a", delivered_at(0));
  produced("b", not_written());
  settled("c", {1}, undecided());
  settled("d", {2}, undecided());
  produced("e", delivered_at(2));
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "c"), written(2, "k", "e")}), "");
}

TEST_F(ChaosHistory, FindsWhatWasDeliveredAndIsNotThere) {
  produced("a", delivered_at(0));
  EXPECT_EQ(found({}), "lost-write ");
  EXPECT_EQ(found({written(1, "k", "a")}), "lost-write ") << "elsewhere";
}

TEST_F(ChaosHistory, FindsWhatWasNotWrittenAndIsThere) {
  produced("a", not_written());
  EXPECT_EQ(found({written(0, "k", "a")}), "G1a ");
}

TEST_F(ChaosHistory, FindsDuplicates) {
  produced("a", delivered_at(0));
  settled("b", {1}, undecided());
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "a")}), "duplicate ");
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "b"), written(2, "k", "b")}),
            "duplicate ");
}

TEST_F(ChaosHistory, FindsAnotherOrderWithinAKey) {
  produced("a", delivered_at(1));
  produced("b", delivered_at(0));
  EXPECT_EQ(found({written(0, "k", "b"), written(1, "k", "a")}), "nonmonotonic-send ");
}

TEST_F(ChaosHistory, FindsStrangersAndWrongKeys) {
  produced("a", delivered_at(0));
  EXPECT_EQ(found({written(0, "other", "a"), written(1, "k", "z")}), "wrong-content unseen ");
}

TEST_F(ChaosHistory, FindsAnotherTimestamp) {
  produced("a", delivered{0, offset(0), timestamp(std::chrono::milliseconds(7))});
  testing::foreign_record there = written(0, "k", "a");
  there.timestamp_ms = 7;
  EXPECT_EQ(found({there}), "");
  there.timestamp_ms = 8;
  EXPECT_EQ(found({there}), "lost-write ");
}

TEST_F(ChaosHistory, WhatIsSettledAsDeliveredLiesAtThatOffsetOnce) {
  settled("a", {1}, place(0));
  EXPECT_EQ(found({written(0, "k", "a")}), "");
  EXPECT_EQ(found({}), "lost-write ");
  EXPECT_EQ(found({written(1, "k", "a")}), "lost-write ");
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "a")}), "duplicate ");
}

TEST_F(ChaosHistory, WhatIsSettledAsDeliveredSomewhereIsThereOnce) {
  settled("a", {1}, delivered{0, std::nullopt, std::nullopt});
  EXPECT_EQ(found({written(5, "k", "a")}), "");
  EXPECT_EQ(found({}), "lost-write ");
}

TEST_F(ChaosHistory, WhatIsSettledAsNeverWrittenIsNotThere) {
  settled("a", {1}, never_written{});
  EXPECT_EQ(found({}), "");
  EXPECT_EQ(found({written(0, "k", "a")}), "G1a ");
  history.forget_topic("t");
  EXPECT_EQ(found({written(0, "k", "a")}), "G1a ") << "never, in whatever log";
}

TEST_F(ChaosHistory, WhatCannotBeDecidedMayBeThereOnceAndHasAReason) {
  settled("a", {1}, undecided(client_errc::not_fenced));
  settled("b", {2}, undecided(client_errc::closed));
  EXPECT_EQ(found({written(0, "k", "a")}), "");
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "a")}), "duplicate ");
  const auto reasons = history.counts().undecidable;
  EXPECT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons.at(make_error_code(client_errc::closed).message()), 1U);
}

TEST_F(ChaosHistory, ATicketThatWasGivenIsNotForeign) {
  settled("a", {1}, undecided(client_errc::ticket_unknown));
  settled("b", {2}, undecided(client_errc::ticket_foreign));
  settled("c", {3}, undecidable{});
  EXPECT_EQ(found({}), "no-reason no-reason no-reason ");
}

TEST_F(ChaosHistory, OnlyADeletedTopicLosesWhatWasAcknowledged) {
  settled("a", {1}, undecided(client_errc::log_changed));
  EXPECT_EQ(found({}), "no-reason ");
  history.forget_topic("t");
  EXPECT_EQ(found({}), "");
}

TEST_F(ChaosHistory, MissesNoSettlement) {
  produced("a", unknown({1}));
  EXPECT_EQ(found({}), "unsettled ");
  EXPECT_EQ(history.counts().unsettled, 1U);
  history.settled({1}, never_written{});
  EXPECT_EQ(found({}), "");
  EXPECT_EQ(history.counts().unsettled, 0U);
}

TEST_F(ChaosHistory, FindsUnknownRecordsWithoutATicketOfTheirOwn) {
  produced("a", unknown({}));
  settled("b", {1}, never_written{});
  settled("c", {1}, never_written{});
  EXPECT_EQ(found({}), "no-ticket shared-ticket unsettled unsettled ");
}

TEST_F(ChaosHistory, AVerdictStands) {
  settled("a", {1}, undecided());
  history.settled({1}, place(0));
  history.settled({1}, place(0));
  history.settled({1}, undecided(client_errc::ticket_expired));
  EXPECT_EQ(found({written(0, "k", "a")}), "");
  EXPECT_EQ(history.counts().settled_delivered, 1U);
  history.settled({1}, place(1));
  EXPECT_EQ(found({written(0, "k", "a")}), "verdict-changed ");
  history.settled({1}, never_written{});
  history.settled({1}, undecided(client_errc::log_changed));
  EXPECT_EQ(found({written(0, "k", "a")}), "verdict-changed verdict-changed verdict-changed ");
}

TEST_F(ChaosHistory, ASubmissionMoreIsNoCopyMore) {
  const auto a = settled("a", {1}, place(1));
  history.resubmit(a);
  EXPECT_EQ(history.open(), 1U);
  history.answered(a, delivered_at(1));
  EXPECT_EQ(found({written(1, "k", "a")}), "") << "both speak of one batch";
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "a")}), "duplicate ");
  EXPECT_EQ(found({written(0, "k", "a")}), "lost-write lost-write ");
}

TEST_F(ChaosHistory, WhatWasNeverWrittenMayBeSubmittedAgain) {
  const auto a = settled("a", {1}, never_written{});
  history.resubmit(a);
  history.answered(a, delivered_at(0));
  const auto b = produced("b", not_written());
  history.resubmit(b);
  history.answered(b, unknown({2}));
  history.settled({2}, never_written{});
  EXPECT_EQ(found({written(0, "k", "a")}), "");
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "b")}), "G1a ");
}

TEST_F(ChaosHistory, ABatchThatIsTriedAgainMayKeepItsTicket) {
  const auto a = produced("a", unknown({1}));
  history.resubmit(a);
  history.answered(a, unknown({1}));
  history.settled({1}, place(0));
  EXPECT_EQ(found({written(0, "k", "a")}), "");
  EXPECT_EQ(history.counts().settled_delivered, 2U);
}

TEST_F(ChaosHistory, ADeletedTopicTakesItsRecordsAlong) {
  produced("a", delivered_at(0));
  history.forget_topic("t");
  produced("b", delivered_at(0));
  EXPECT_EQ(found({written(0, "k", "b")}), "");
  EXPECT_EQ(found({}), "lost-write ");
}

TEST_F(ChaosHistory, MissesNoAnswer) {
  history.begin("t", "k", "a");
  EXPECT_EQ(found({}), "unanswered ");
}

}  // namespace
}  // namespace partita::chaos
