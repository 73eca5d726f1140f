#include "chaos/chaos_history.hpp"

#include <partita/error.hpp>

#include <gtest/gtest.h>

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

outcome delivered_at(std::int64_t at) { return delivered{0, offset(at), std::nullopt}; }
outcome failure(fate what) {
  failed answer{what, make_error_code(client_errc::delivery_timeout)};
  answer.partition = 0;
  return answer;
}

class ChaosHistory : public ::testing::Test {
 protected:
  chaos_history::index produced(const char* value, const outcome& answer) {
    const auto at = history.begin("t", "k", value);
    history.answered(at, answer);
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
  produced("b", failure(fate::not_written));
  produced("c", failure(fate::unknown));
  produced("d", failure(fate::unknown));
  produced("e", delivered_at(2));
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "c"), written(2, "k", "e")}), "");
}

TEST_F(ChaosHistory, FindsWhatWasDeliveredAndIsNotThere) {
  produced("a", delivered_at(0));
  EXPECT_EQ(found({}), "lost-write ");
  EXPECT_EQ(found({written(1, "k", "a")}), "lost-write G1a ");
}

TEST_F(ChaosHistory, FindsWhatWasNotWrittenAndIsThere) {
  produced("a", failure(fate::not_written));
  EXPECT_EQ(found({written(0, "k", "a")}), "G1a ");
}

TEST_F(ChaosHistory, FindsDuplicates) {
  produced("a", delivered_at(0));
  produced("b", failure(fate::unknown));
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

TEST_F(ChaosHistory, HoldsASettlementToItsWord) {
  const auto a = produced("a", failure(fate::unknown));
  const auto b = produced("b", failure(fate::unknown));
  history.settled(a, settled_as::delivered, offset(0));
  history.settled(b, settled_as::never_written, std::nullopt);
  EXPECT_EQ(found({written(0, "k", "a")}), "");
  EXPECT_EQ(found({written(1, "k", "a")}), "lost-write G1a ");
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "b")}), "G1a ");
}

TEST_F(ChaosHistory, ASubmissionMoreMayBeACopyMore) {
  const auto a = produced("a", failure(fate::unknown));
  history.resubmit(a);
  EXPECT_EQ(history.open(), 1U);
  history.answered(a, delivered_at(1));
  EXPECT_EQ(found({written(0, "k", "a"), written(1, "k", "a")}), "");
  EXPECT_EQ(found({written(0, "k", "a")}), "lost-write ");
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
