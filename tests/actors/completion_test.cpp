#include "actors/completion.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace partita::actors {
namespace {

class recording_target final : public completion_target {
 public:
  void complete(const completion_run& run) noexcept override {
    runs.push_back(run.size());
    for (std::size_t i = 0; i < run.size(); ++i) {
      data.push_back(run.data(i));
      outcomes.push_back(run.at(i));
    }
  }
  std::vector<std::size_t> runs;
  std::vector<std::uint64_t> data;
  std::vector<outcome> outcomes;
};

completion_entry entry(completion_target* target, std::uint64_t data, std::uint32_t position,
                       std::int32_t timestamp_delta = 0) {
  return {target, data, position, timestamp_delta, 0, 0};
}

completion_entry entry(completion_slot slot, std::uint32_t position) {
  return entry(slot.target, slot.data, position);
}

TEST(Completion, SplitsIntoRunsOfTheSameTargetAndKeepsTheOrder) {
  recording_target first, second;
  completion_observer observer;
  const completion_entry entries[] = {
      entry(&first, 1, 0),  entry(&first, 2, 1),  entry(&second, 3, 2),
      entry(nullptr, 4, 3), entry(&second, 5, 4), entry(&first, 6, 5),
  };

  complete_all(entries, delivered_run{.partition = 3, .base_offset = 100}, observer);

  EXPECT_EQ(first.runs, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(first.data, (std::vector<std::uint64_t>{1, 2, 6}));
  EXPECT_EQ(second.runs, (std::vector<std::size_t>{1, 1}));
  EXPECT_EQ(observer.runs, 4U);
  EXPECT_EQ(observer.delivered, 6U) << "also counts the record that nobody asked about";
}

TEST(Completion, GivesEveryRecordItsOwnOffsetAndTime) {
  recording_target target;
  completion_observer observer;
  const completion_entry entries[] = {entry(&target, 0, 0, 5), entry(&target, 0, 4, -7)};

  complete_all(entries,
               delivered_run{.partition = 3, .base_offset = 100, .base_timestamp_ms = 1000},
               observer);

  EXPECT_EQ(target.outcomes[0].delivery()->offset, offset{100});
  EXPECT_EQ(target.outcomes[1].delivery()->offset, offset{104});
  EXPECT_EQ(target.outcomes[0].delivery()->timestamp, timestamp{std::chrono::milliseconds{1005}});
  EXPECT_EQ(target.outcomes[1].delivery()->timestamp, timestamp{std::chrono::milliseconds{993}});
}

TEST(Completion, InventsNoOffset) {
  recording_target target;
  completion_observer observer;
  const completion_entry entries[] = {entry(&target, 0, 9)};

  complete_all(entries, delivered_run{.partition = 3, .base_offset = {}}, observer);

  ASSERT_TRUE(target.outcomes[0].is_delivered());
  EXPECT_FALSE(target.outcomes[0].delivery()->offset.has_value());
}

TEST(Completion, TheBrokersTimeReplacesTheRecordsOwn) {
  recording_target target;
  completion_observer observer;
  const completion_entry entries[] = {entry(&target, 0, 0, 5)};

  complete_all(
      entries,
      delivered_run{
          .partition = 3, .base_offset = 1, .base_timestamp_ms = 1000, .log_append_time_ms = 777},
      observer);

  EXPECT_EQ(target.outcomes[0].delivery()->timestamp, timestamp{std::chrono::milliseconds{777}});
}

TEST(Completion, AFailureIsSharedAndEachRecordHasItsTicketAndNumber) {
  recording_target target;
  completion_observer observer;
  completion_entry entries[] = {entry(&target, 0, 0), entry(&target, 0, 1)};
  entries[1].ordinal_delta = 3;  // some between them were taken out
  const failed unknown{.fate = fate::unknown,
                       .code = client_errc::delivery_timeout,
                       .cause = {},
                       .topic = "orders",
                       .ticket = {50},
                       .number = {7}};

  complete_all(entries, unknown, observer);

  EXPECT_EQ(target.outcomes[0].failure()->number, record_number{7});
  EXPECT_EQ(target.outcomes[1].failure()->number, record_number{10});
  EXPECT_EQ(target.outcomes[0].failure()->ticket, ticket{50});
  EXPECT_EQ(target.outcomes[1].failure()->ticket, ticket{51});
  EXPECT_EQ(target.outcomes[1].failure()->topic, "orders");
  EXPECT_EQ(observer.unknown, 2U);
  EXPECT_EQ(observer.delivered, 0U);
}

TEST(Completion, ARecordThatWasNotWrittenHasNoTicket) {
  recording_target target;
  completion_observer observer;
  const completion_entry entries[] = {entry(&target, 0, 3)};
  const failed refused{.fate = fate::not_written, .code = client_errc::closed, .cause = {}};

  complete_all(entries, refused, observer);

  EXPECT_EQ(target.outcomes[0].failure()->ticket, ticket{});
  EXPECT_EQ(target.outcomes[0].failure()->number, record_number{});
  EXPECT_EQ(observer.not_written, 1U);
}

TEST(Completion, SmallCallbacksNeedNoMemoryAndFormOneRun) {
  std::vector<std::int64_t> offsets;
  completion_observer observer;
  std::vector<completion_entry> entries;
  for (std::uint32_t i = 0; i < 4; ++i)
    entries.push_back(entry(make_callback_slot([&offsets](const outcome& answer) {
                              offsets.push_back(answer.delivery()->offset->value);
                            }),
                            i));

  complete_all(entries, delivered_run{.partition = 0, .base_offset = 10}, observer);

  EXPECT_EQ(offsets, (std::vector<std::int64_t>{10, 11, 12, 13}));
  EXPECT_EQ(observer.runs, 1U);
}

TEST(Completion, LargerCallbacksAreCalledOnceAndDestroyed) {
  auto alive = std::make_shared<int>(0);
  completion_observer observer;
  const completion_entry entries[] = {
      entry(make_callback_slot(
                [alive, text = std::string("a long closure")](const outcome&) { ++*alive; }),
            0)};
  EXPECT_EQ(alive.use_count(), 2);

  complete_all(entries, delivered_run{.partition = 0, .base_offset = 10}, observer);

  EXPECT_EQ(*alive, 1);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(Completion, AnExceptionIsReportedAndTheNextRecordIsAnswered) {
  std::vector<std::uint32_t> called;
  struct hook_log {
    std::vector<std::string> texts;
  } log;
  completion_observer observer;
  observer.context = &log;
  observer.on_exception = [](void* context, std::exception_ptr what) noexcept {
    try {
      std::rethrow_exception(what);
    } catch (const std::exception& error) {
      static_cast<hook_log*>(context)->texts.emplace_back(error.what());
    }
  };
  std::vector<completion_entry> entries;
  for (std::uint32_t i = 0; i < 3; ++i)
    entries.push_back(entry(make_callback_slot([&called, i](const outcome&) {
                              called.push_back(i);
                              if (i == 1) throw std::runtime_error("of the user");
                            }),
                            i));

  complete_all(entries, delivered_run{.partition = 0, .base_offset = 10}, observer);

  EXPECT_EQ(called, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(observer.exceptions, 1U);
  EXPECT_EQ(log.texts, std::vector<std::string>{"of the user"});
}

/// Moves on by what the callback is said to take.
class steps final : public clock_source {
 public:
  [[nodiscard]] instant now() const noexcept override { return at; }
  [[nodiscard]] timestamp wall_now() const noexcept override { return {}; }
  instant at{std::chrono::hours(1)};
};

TEST(Completion, ReportsCodeThatHoldsTheLaneUp) {
  steps clock;
  std::vector<duration> slow;
  completion_observer observer;
  observer.clock = &clock;
  observer.context = &slow;
  observer.on_slow = [](void* context, duration took) noexcept {
    static_cast<std::vector<duration>*>(context)->push_back(took);
  };
  const auto take = [&](duration each) {
    const auto code = [&clock, each](const outcome&) { clock.at += each; };
    const completion_entry entries[] = {entry(make_callback_slot(code), 0),
                                        entry(make_callback_slot(code), 1)};
    complete_all(entries, delivered_run{.partition = 0, .base_offset = 1}, observer);
  };

  take(std::chrono::milliseconds(49));
  EXPECT_TRUE(slow.empty());
  take(std::chrono::milliseconds(50));
  EXPECT_EQ(slow, (std::vector<duration>{std::chrono::milliseconds(100)}));
}

}  // namespace
}  // namespace partita::actors
