#include "api/cli/progress.hpp"

#include "api/cli/delivery_ledger.hpp"
#include "api/cli/produce_summary.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace partita::cli {
namespace {

using namespace std::chrono_literals;

std::size_t columns(const std::string& text) {
  std::size_t count = 0;
  bool escape = false;
  for (const char c : text) {
    if (c == '\x1b') escape = true;
    if (!escape) ++count;
    if (escape && c == 'm') escape = false;
  }
  return count;
}

progress_view half_way() {
  return {
      .bytes_read = 50, .bytes_total = 100, .accepted = 30, .answered = {20, 0, 0}, .elapsed = 2s};
}

TEST(Progress, WritesCountsWithThreeDigits) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1.00 k");
  EXPECT_EQ(format_count(12'345), "12.3 k");
  EXPECT_EQ(format_count(999'499), "999 k");
  EXPECT_EQ(format_count(999'600), "1.00 M");
  EXPECT_EQ(format_count(4'560'000'000), "4.56 G");
}

TEST(Progress, ShowsShareRateAndWhatIsUnanswered) {
  EXPECT_EQ(format_line(half_way()), " 50 %  20 delivered  10/s  10 unanswered");
  EXPECT_EQ(format_bar(half_way(), 200, false),
            "[############------------]  50 %  20 delivered  10/s  10 unanswered");
}

TEST(Progress, NamesFailuresOnlyWhereThereAreAny) {
  progress_view view = half_way();
  EXPECT_EQ(format_line(view).find("unknown"), std::string::npos);
  view.answered = {20, 3, 2};
  EXPECT_NE(format_line(view).find("3 not written"), std::string::npos);
  EXPECT_NE(format_line(view).find("2 unknown"), std::string::npos);
}

TEST(Progress, NeverIsWiderThanTheTerminal) {
  for (std::size_t width = 0; width < 120; ++width)
    EXPECT_LT(columns(format_bar(half_way(), width, width % 2 == 0)),
              std::max<std::size_t>(width, 1))
        << width;
}

TEST(Progress, UsesColorOnlyWhenAsked) {
  EXPECT_EQ(format_bar(half_way(), 200, false).find('\x1b'), std::string::npos);
  EXPECT_NE(format_bar(half_way(), 200, true).find('\x1b'), std::string::npos);
}

TEST(Progress, DoesWithoutABarWhenTheSizeIsUnknown) {
  progress_view view = half_way();
  view.bytes_total.reset();
  EXPECT_EQ(format_bar(view, 200, false), "50B read  20 delivered  10/s  10 unanswered");
}

TEST(Progress, SurvivesAGrownFileAndNoTime) {
  progress_view view = half_way();
  view.bytes_read = 500;
  view.elapsed = 0ms;
  EXPECT_NE(format_bar(view, 200, false).find("100 %"), std::string::npos);
  view.bytes_total = 0;
  EXPECT_NE(format_line(view).find("100 %"), std::string::npos);
}

failed refusal(partition_id partition, fate fate, std::error_code code,
               std::error_code cause = {}) {
  return {.fate = fate, .code = code, .cause = cause, .topic = "t", .partition = partition};
}

TEST(DeliveryLedger, CountsPerPartitionAndKeepsTheRangeOfOffsets) {
  delivery_ledger ledger;
  auto& topic = ledger.topic("t");
  EXPECT_EQ(&ledger.topic("t"), &topic);
  ledger.answered(topic, delivered{1, offset(7), {}});
  ledger.answered(topic, delivered{1, offset(5), {}});
  ledger.answered(topic, delivered{1, std::nullopt, {}});
  ledger.answered(topic, refusal(0, fate::unknown, client_errc::answer_lost));
  const ledger_view view = ledger.view();
  EXPECT_EQ(view.counts, (tally{3, 0, 1}));
  ASSERT_EQ(view.partitions.size(), 2U);
  EXPECT_EQ(view.partitions[0].counts, (tally{0, 0, 1}));
  EXPECT_FALSE(view.partitions[0].first.known());
  EXPECT_EQ(view.partitions[1].first, offset(5));
  EXPECT_EQ(view.partitions[1].last, offset(7));
}

TEST(DeliveryLedger, NoticesHaltsRefusalsAndUnreachableClusters) {
  delivery_ledger ledger;
  auto& topic = ledger.topic("t");
  ledger.answered(topic, refusal(0, fate::not_written, client_errc::halted));
  EXPECT_TRUE(ledger.view().halted);
  EXPECT_FALSE(ledger.view().denied);
  ledger.answered(topic, refusal(0, fate::not_written, client_errc::delivery_timeout,
                                 broker_errc::topic_authorization_failed));
  EXPECT_TRUE(ledger.view().denied);
  // A lost answer says that somebody was there.
  ledger.answered(topic, refusal(0, fate::unknown, client_errc::delivery_timeout,
                                 client_errc::connection_closed));
  EXPECT_FALSE(ledger.view().unreachable);
  ledger.answered(topic, refusal(-1, fate::not_written, client_errc::metadata_timeout,
                                 client_errc::connection_refused));
  EXPECT_TRUE(ledger.view().unreachable);
}

TEST(DeliveryLedger, BoundsTheReasonsButNotTheirCounts) {
  delivery_ledger ledger;
  auto& topic = ledger.topic("t");
  for (int code = 1000; code < 1100; ++code)
    for (int i = 0; i < 2; ++i)
      ledger.answered(topic, refusal(0, fate::not_written, {code, broker_category()}));
  const ledger_view view = ledger.view();
  EXPECT_LE(view.reasons.size(), 22U);
  std::uint64_t sum = 0;
  for (const failure_reason& each : view.reasons) sum += each.count;
  EXPECT_EQ(sum, 200U);
  EXPECT_EQ(view.reasons.back().text, "others");
}

TEST(ProduceSummary, SaysAllCountsInBothForms) {
  delivery_ledger ledger;
  auto& topic = ledger.topic("t");
  ledger.answered(topic, delivered{2, offset(9), {}});
  ledger.answered(topic, refusal(2, fate::unknown, client_errc::answer_lost));
  run_summary summary;
  summary.ledger = ledger.view();
  summary.accepted = 2;
  summary.bad_lines = 1;
  summary.exit_code = exit_code::unknown;
  const std::string text = summary_text(summary, true);
  EXPECT_EQ(text.find("2 records in 0.00 s: 1 delivered, 0 not written, 1 unknown, 1 bad line"),
            0U);
  EXPECT_NE(text.find("t[2]: 1 delivered at offsets 9 to 9, 1 unknown"), std::string::npos);

  const auto json = nlohmann::json::parse(summary_json(summary));
  EXPECT_EQ(json["delivered"], 1);
  EXPECT_EQ(json["unknown"], 1);
  EXPECT_EQ(json["bad_lines"], 1);
  EXPECT_EQ(json["exit_code"], 3);
  EXPECT_EQ(json["partitions"][0]["last_offset"], 9);
  EXPECT_EQ(json["reasons"][0]["fate"], "unknown");
}

}  // namespace
}  // namespace partita::cli
