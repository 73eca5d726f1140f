// Looking for batches in a log, step by step; then every step with a failure or a lie in its place.
#include "actors/log_search.hpp"

#include "wire/crc32c.hpp"
#include "wire/messages/list_offsets.hpp"
#include "wire/record_batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::actors {
namespace {

constexpr std::int64_t first_time = 1'700'000'000'000;

void put_big_endian(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i)
    bytes[at + static_cast<std::size_t>(i)] =
        static_cast<std::byte>(value >> (8U * static_cast<unsigned>(size - 1 - i)));
}

void seal_again(std::vector<std::byte>& batch) {
  put_big_endian(batch, 17, wire::crc32c(std::span(batch).subspan(21)), 4);
}

/// A batch as a log holds it.
std::vector<std::byte> stored(std::int64_t offset, wire::batch_stamp stamp, int count = 1,
                              std::int64_t time = first_time) {
  wire::batch_builder builder;
  for (int i = 0; i < count; ++i) {
    const record one{.topic = "t", .value = "v"};
    std::vector<std::byte> tail(wire::record_tail_size(one));
    wire::encode_record_tail(one, tail.data());
    builder.append(time, tail);
  }
  std::vector<std::byte> bytes = builder.seal(stamp).bytes().flatten();
  put_big_endian(bytes, 0, static_cast<std::uint64_t>(offset), 8);
  return bytes;
}

std::vector<std::byte> stamped_by_broker(std::vector<std::byte> batch, std::int64_t time) {
  batch[22] |= std::byte{0x08};
  put_big_endian(batch, 35, static_cast<std::uint64_t>(time), 8);
  seal_again(batch);
  return batch;
}

constexpr wire::batch_stamp ours{4242, 0, 7};
constexpr wire::batch_stamp younger{4242, 0, 9};
constexpr wire::batch_stamp fence{4242, 1, 0};
constexpr wire::batch_stamp foreign{99, 0, 7};

log_question ask_for(std::vector<log_target> targets, std::int64_t from) {
  log_question question;
  question.token = 5;
  question.targets = std::move(targets);
  question.from = from;
  question.epoch = 3;
  return question;
}

log_target target(wire::batch_stamp stamp = ours, std::int32_t count = 2) {
  return {stamp, count, first_time};
}

/// A log that answers: what a leader would.
struct leader_log {
  std::vector<std::vector<std::byte>> batches;
  std::int64_t start = 0;
  std::int64_t high_watermark = -1;  ///< -1: its end
  std::size_t per_answer = 2;
  int waits = 0;
  int fetches = 0;
  int listings = 0;

  static wire::batch_header header_of(const std::vector<std::byte>& batch) {
    return *wire::parse_batch_header(batch);
  }
  [[nodiscard]] std::int64_t end() const {
    return batches.empty() ? start : header_of(batches.back()).last_offset() + 1;
  }
  search_step answer(log_search& search, const ask_offset& asked) {
    ++listings;
    if (asked.log_end) return search.offset_answered(broker_errc::none, end());
    if (asked.timestamp == wire::earliest_offset)
      return search.offset_answered(broker_errc::none, start);
    for (const auto& each : batches)
      if (header_of(each).max_timestamp >= asked.timestamp)
        return search.offset_answered(broker_errc::none, header_of(each).base_offset);
    return search.offset_answered(broker_errc::none, offset());
  }
  search_step answer(log_search& search, const ask_records& asked) {
    ++fetches;
    const std::int64_t visible = high_watermark < 0 ? end() : high_watermark;
    if (asked.from.value < start || asked.from.value > end())
      return search.records_answered(broker_errc::offset_out_of_range, offset(), {});
    std::vector<std::byte> bytes;
    std::size_t taken = 0;
    for (const auto& each : batches) {
      const auto header = header_of(each);
      if (header.last_offset() < asked.from.value || taken == per_answer) continue;
      if (header.last_offset() >= visible) break;
      bytes.insert(bytes.end(), each.begin(), each.end());
      ++taken;
    }
    return search.records_answered(broker_errc::none, start, bytes);
  }
};

log_findings run(log_search& search, leader_log& log, search_step step) {
  for (int steps = 0; steps < 100; ++steps) {
    if (auto* end = std::get_if<log_findings>(&step)) return *end;
    if (auto* asked = std::get_if<ask_offset>(&step)) {
      step = log.answer(search, *asked);
    } else if (auto* read = std::get_if<ask_records>(&step)) {
      step = log.answer(search, *read);
    } else {
      if (++log.waits == 3) log.high_watermark = -1;  // the followers have caught up
      step = search.waited();
    }
  }
  ADD_FAILURE() << "a search without end";
  return {};
}

log_findings run(const log_question& question, leader_log& log) {
  log_search search(question);
  return run(search, log, search.begin());
}

TEST(LogSearch, FindsABatchByItsStamp) {
  leader_log log{
      {stored(10, {4242, 0, 6}), stored(11, foreign, 2), stored(13, ours, 2), stored(15, younger)}};
  const log_findings end = run(ask_for({target()}, 11), log);
  EXPECT_EQ(end.token, 5U);
  EXPECT_EQ(end.end, search_end::decided);
  ASSERT_TRUE(end.found.at(0));
  EXPECT_EQ(end.found[0]->base_offset, offset(13));
  EXPECT_EQ(end.found[0]->log_append_time_ms, -1);
}

log_question behind_an_anchor() {
  log_question question = ask_for({target()}, 12);
  question.anchor = log_anchor{{4242, 0, 5}, 10};
  return question;
}

TEST(LogSearch, ALogThatHoldsWhatWasAcknowledgedBeforeIsBelieved) {
  leader_log log{{stored(8, foreign, 2), stored(10, {4242, 0, 5}, 2), stored(12, foreign)}};
  EXPECT_EQ(run(behind_an_anchor(), log).end, search_end::decided);
}

// Six were acknowledged, the tail was lost, and others have written as much since: what is looked
// for may lie before the question.
TEST(LogSearch, ALostTailThatWasFilledAgainProvesNothing) {
  leader_log log{{stored(8, ours, 2), stored(10, foreign, 2), stored(12, foreign)}};
  const log_findings end = run(behind_an_anchor(), log);
  EXPECT_FALSE(end.found.at(0));
  EXPECT_EQ(end.end, search_end::undecidable);
  EXPECT_EQ(end.reason, client_errc::log_changed);
}

TEST(LogSearch, AFenceProvesNothingInALogThatWasFilledAgain) {
  leader_log log{{stored(8, ours, 2), stored(10, foreign, 2), stored(12, fence)}};
  log_question question = behind_an_anchor();
  question.fence = log_fence{fence, 12};
  EXPECT_EQ(run(question, log).reason, client_errc::log_changed);
}

TEST(LogSearch, AnAnchorThatWasTrimmedAwayLeavesItUndecided) {
  leader_log log{{stored(12, foreign), stored(13, foreign)}, 12};
  EXPECT_EQ(run(behind_an_anchor(), log).reason, client_errc::log_trimmed);
}

TEST(LogSearch, WhatIsFoundBehindAMissingAnchorIsThereAllTheSame) {
  leader_log log{{stored(10, foreign, 2), stored(12, ours, 2)}};
  ASSERT_TRUE(run(behind_an_anchor(), log).found.at(0));
}

// Nothing was acknowledged before it, so nobody knows where the log began then.
TEST(LogSearch, ATrimmedLogMayHaveHeldTheFirstBatch) {
  const log_question question = ask_for({target()}, -1);
  leader_log young{{stored(5, foreign)}, 5};
  EXPECT_EQ(run(question, young).reason, client_errc::log_trimmed);
  leader_log empty{{}, 5};
  EXPECT_EQ(run(question, empty).reason, client_errc::log_trimmed);
  leader_log whole{{stored(0, foreign)}};
  EXPECT_EQ(run(question, whole).end, search_end::decided) << "nothing was ever trimmed";
  leader_log old{{stored(5, foreign, 1, first_time - 3'600'000), stored(6, foreign)}, 5};
  EXPECT_EQ(run(question, old).end, search_end::decided) << "what is older is still there";
  leader_log only_old{{stored(5, foreign, 1, first_time - 3'600'000)}, 5};
  EXPECT_EQ(run(question, only_old).end, search_end::decided);
}

TEST(LogSearch, AGapInTheOffsetsWasCompactedAndProvesNothing) {
  leader_log log{{stored(10, foreign), stored(11, foreign), stored(14, foreign)}};
  EXPECT_EQ(run(ask_for({target()}, 11), log).reason, client_errc::log_trimmed);
}

TEST(LogSearch, ABatchThatTheCleanerHasThinnedOutIsFound) {
  std::vector<std::byte> thin = stored(11, ours, 2);
  put_big_endian(thin, 57, 1, 4);
  put_big_endian(thin, 35, static_cast<std::uint64_t>(first_time - 5), 8);
  seal_again(thin);
  leader_log log{{thin}};
  EXPECT_TRUE(run(ask_for({target()}, 11), log).found.at(0));
}

TEST(LogSearch, SEQ_20_FindsSeveralInOnePass) {
  leader_log log{{stored(10, ours, 2), stored(12, foreign), stored(13, younger)}};
  const log_findings end = run(ask_for({target(), target(younger, 1)}, 10), log);
  EXPECT_EQ(end.end, search_end::decided);
  ASSERT_TRUE(end.found.at(0) && end.found.at(1));
  EXPECT_EQ(end.found[1]->base_offset, offset(13));
}

TEST(LogSearch, SaysWhetherAnythingOfTheLeadersOwnEpochIsCommitted) {
  const auto in_epoch = [](std::vector<std::byte> batch, std::uint64_t epoch) {
    put_big_endian(batch, 12, epoch, 4);
    return batch;
  };
  leader_log log{{in_epoch(stored(10, foreign), 2)}};
  EXPECT_FALSE(run(ask_for({target()}, 10), log).saw_epoch);
  log.batches.push_back(in_epoch(stored(11, younger), 3));
  EXPECT_TRUE(run(ask_for({target()}, 10), log).saw_epoch);
  EXPECT_FALSE(run(ask_for({target()}, 12), log).saw_epoch) << "it was not read";
}

TEST(LogSearch, SaysAbsentOnlyAtTheLogsEnd) {
  leader_log log{{stored(10, foreign), stored(11, younger), stored(12, foreign)}};
  log.per_answer = 1;
  const log_findings end = run(ask_for({target()}, 10), log);
  EXPECT_EQ(end.end, search_end::decided);
  EXPECT_FALSE(end.found.at(0));
  EXPECT_EQ(log.fetches, 3);
}

TEST(LogSearch, WithoutALeadersEpochNothingIsAbsent) {
  leader_log log{{stored(10, ours, 2), stored(12, foreign)}};
  log_question question = ask_for({target(), target(younger, 1)}, 10);
  question.epoch = leader_epoch();
  const log_findings end = run(question, log);
  EXPECT_EQ(end.end, search_end::undecidable);
  EXPECT_EQ(end.reason, client_errc::unsupported_version);
  EXPECT_TRUE(end.found.at(0)) << "what is there is there";
}

// ListOffsets does not name the topic by its id: the log that it tells of may be that of a topic
// made again. Found by the histories, which were told that a record in the old log was never
// written.
TEST(LogSearch, AnEmptyRangeIsReadAllTheSame) {
  leader_log log{{stored(10, foreign)}};
  const log_findings end = run(ask_for({target()}, 11), log);
  EXPECT_EQ(end.end, search_end::decided);
  EXPECT_FALSE(end.found.at(0));
  EXPECT_EQ(log.fetches, 1);

  log_search search(ask_for({target()}, 0));
  static_cast<void>(search.begin());
  ASSERT_TRUE(std::holds_alternative<ask_records>(search.offset_answered(broker_errc::none, 0)));
  const auto step = search.records_answered(broker_errc::unknown_topic_id, offset(), {});
  const auto* none = std::get_if<log_findings>(&step);
  ASSERT_NE(none, nullptr);
  EXPECT_EQ(none->end, search_end::interrupted);
}

TEST(LogSearch, WaitsForTheHighWatermarkBeforeItSaysAbsent) {
  leader_log log{{stored(10, foreign), stored(11, ours, 2)}};
  log.high_watermark = 11;
  const log_findings end = run(ask_for({target()}, 10), log);
  EXPECT_EQ(log.waits, 3);
  ASSERT_TRUE(end.found.at(0)) << "written, but not yet to be read";
  EXPECT_EQ(end.found[0]->base_offset, offset(11));
}

TEST(LogSearch, AFenceIsTheEnd) {
  leader_log log{{stored(10, foreign), stored(11, fence), stored(12, ours, 2)}};
  log_question question = ask_for({target()}, 10);
  question.fence = log_fence{fence, 11};
  const log_findings end = run(question, log);
  EXPECT_EQ(end.end, search_end::decided);
  EXPECT_FALSE(end.found.at(0)) << "what lies behind the fence is not what was asked for";
  EXPECT_EQ(log.listings, 0) << "the fence tells where to stop";
}

TEST(LogSearch, WaitsUntilTheFenceCanBeSeen) {
  leader_log log{{stored(10, ours, 2), stored(12, fence)}};
  log.high_watermark = 10;
  log_question question = ask_for({target()}, 10);
  question.fence = log_fence{fence, 12};
  const log_findings end = run(question, log);
  EXPECT_EQ(log.waits, 3);
  ASSERT_TRUE(end.found.at(0));
}

TEST(LogSearch, AFenceThatIsGoneDecidesNothing) {
  for (const std::int64_t place : {12, 11}) {  // something else lies there, or nothing
    leader_log log{{stored(10, foreign), stored(place, foreign, 2)}};
    log_question question = ask_for({target()}, 10);
    question.fence = log_fence{fence, 12};
    const log_findings end = run(question, log);
    EXPECT_EQ(end.end, search_end::undecidable);
    EXPECT_EQ(end.reason, client_errc::log_changed);
  }
}

TEST(LogSearch, WhatWasTrimmedIsNotAbsent) {
  leader_log log{{stored(20, foreign), stored(21, foreign)}};
  log.start = 20;
  const log_findings end = run(ask_for({target()}, 10), log);
  EXPECT_EQ(end.end, search_end::undecidable);
  EXPECT_EQ(end.reason, client_errc::log_trimmed);
}

TEST(LogSearch, WhatIsFoundInATrimmedLogIsFound) {
  leader_log log{{stored(20, ours, 2)}};
  log.start = 20;
  const log_findings end = run(ask_for({target()}, 10), log);
  EXPECT_EQ(end.end, search_end::decided);
  EXPECT_TRUE(end.found.at(0));
}

TEST(LogSearch, LOSS_07_ALogShorterThanWhatWasAcknowledgedDecidesNothing) {
  leader_log log{{stored(5, ours, 2)}};
  const log_findings end = run(ask_for({target()}, 13), log);
  EXPECT_EQ(end.end, search_end::undecidable);
  EXPECT_EQ(end.reason, client_errc::log_changed);
}

TEST(LogSearch, SEQ_17_AnotherBatchUnderTheSameNumbersIsNotOurs) {
  leader_log log{{stored(10, ours, 3), stored(13, ours, 2, first_time + 1)}};
  const log_findings end = run(ask_for({target()}, 10), log);
  EXPECT_EQ(end.end, search_end::decided);
  EXPECT_FALSE(end.found.at(0)) << "another count, another time";
}

TEST(LogSearch, ABrokersTimestampIsToldAndNotCompared) {
  leader_log log{{stamped_by_broker(stored(10, ours, 2), first_time + 77)}};
  const log_findings end = run(ask_for({target()}, 10), log);
  ASSERT_TRUE(end.found.at(0));
  EXPECT_EQ(end.found[0]->log_append_time_ms, first_time + 77);
}

// Where to begin is not known

TEST(LogSearch, BeginsWhereTheTimestampsSay) {
  leader_log log{{stored(0, foreign, 1, first_time - 9'000'000),
                  stored(1, foreign, 1, first_time - 9'000'000), stored(2, foreign),
                  stored(3, younger)}};
  log.per_answer = 3;
  log_search search(ask_for({target()}, -1));
  const search_step first = search.begin();
  EXPECT_EQ(std::get<ask_offset>(first).timestamp, first_time - 600'000);
  const log_findings end = run(search, log, first);
  EXPECT_EQ(end.end, search_end::decided);
  EXPECT_FALSE(end.found.at(0));
  EXPECT_EQ(log.fetches, 1) << "not from the log's start";
}

// It lay in the gap, perhaps: what is young begins behind it.
TEST(LogSearch, AGapBeforeThePlaceThatTheTimestampsSayProvesNothing) {
  leader_log log{{stored(1, foreign, 1, first_time - 9'000'000), stored(4, foreign)}};
  const log_findings end = run(ask_for({target()}, -1), log);
  EXPECT_EQ(end.end, search_end::undecidable);
  EXPECT_EQ(end.reason, client_errc::log_trimmed);
}

TEST(LogSearch, DoesNotBelieveTimestampsOfABrokersClock) {
  // Written by a broker whose clock is an hour behind, so that the timestamps skip it.
  leader_log log{{stamped_by_broker(stored(1, ours, 2), first_time - 3'600'000),
                  stamped_by_broker(stored(3, foreign), first_time)}};
  const log_findings end = run(ask_for({target()}, -1), log);
  ASSERT_TRUE(end.found.at(0));
  EXPECT_EQ(end.found[0]->base_offset, offset(1));
}

TEST(LogSearch, NothingThatYoungMeansTheWholeLog) {
  leader_log log{{stamped_by_broker(stored(1, ours, 2), first_time - 3'600'000)}};
  const log_findings end = run(ask_for({target()}, -1), log);
  EXPECT_TRUE(end.found.at(0));
}

TEST(LogSearch, AFenceBeforeThePlaceThatTheTimestampsSayMeansTheWholeLog) {
  leader_log log{{stored(1, ours, 2), stored(3, fence, 1, first_time - 9'000'000),
                  stored(4, foreign, 1, first_time + 1)}};
  log.batches[0] = stamped_by_broker(log.batches[0], first_time - 9'000'000);
  log_question question = ask_for({target()}, -1);
  question.fence = log_fence{fence, 3};
  const log_findings end = run(question, log);
  EXPECT_EQ(end.end, search_end::decided);
  EXPECT_TRUE(end.found.at(0));
}

TEST(LogSearch, StopsAtItsLimit) {
  leader_log log{{stored(10, foreign), stored(11, foreign), stored(12, foreign)}};
  log.per_answer = 1;
  log_search search(ask_for({target()}, 10), {.bytes_max = 100});
  const log_findings end = run(search, log, search.begin());
  EXPECT_EQ(end.end, search_end::undecidable);
  EXPECT_EQ(end.reason, client_errc::log_too_long);
  EXPECT_EQ(log.fetches, 2);
}

// Each step refused

TEST(LogSearch, WithoutTheRightToReadNothingIsDecided) {
  for (const bool at_offsets : {true, false}) {
    log_search search(ask_for({target()}, 10));
    search_step step = search.begin();
    if (at_offsets) {
      step = search.offset_answered(broker_errc::topic_authorization_failed, offset());
    } else {
      step = search.offset_answered(broker_errc::none, 20);
      step = search.records_answered(broker_errc::topic_authorization_failed, offset(), {});
    }
    const auto& end = std::get<log_findings>(step);
    EXPECT_EQ(end.end, search_end::undecidable);
    EXPECT_EQ(end.reason, client_errc::log_not_readable);
    EXPECT_EQ(end.cause, broker_errc::topic_authorization_failed);
  }
}

TEST(LogSearch, ALeaderThatMovedIsWorthAnotherTry) {
  for (const broker_errc code :
       {broker_errc::not_leader_or_follower, broker_errc::fenced_leader_epoch,
        broker_errc::unknown_leader_epoch, broker_errc::unknown_topic_or_partition,
        broker_errc::unknown_server_error, static_cast<broker_errc>(78)}) {
    log_search offsets(ask_for({target()}, -1));
    (void)offsets.begin();
    const search_step refused = offsets.offset_answered(code, offset());
    EXPECT_EQ(std::get<log_findings>(refused).end, search_end::interrupted);
    log_search records(ask_for({target()}, 10));
    (void)records.begin();
    (void)records.offset_answered(broker_errc::none, 20);
    const search_step refused_too = records.records_answered(code, offset(), {});
    EXPECT_EQ(std::get<log_findings>(refused_too).end, search_end::interrupted);
    EXPECT_EQ(std::get<log_findings>(refused_too).cause, code);
  }
}

TEST(LogSearch, WhatWasFoundBeforeAFailureStaysFound) {
  log_search search(ask_for({target(), target(younger, 1)}, 10));
  (void)search.begin();
  (void)search.offset_answered(broker_errc::none, 20);
  (void)search.records_answered(broker_errc::none, 0, stored(10, ours, 2));
  const log_findings end =
      search.abandoned(search_end::interrupted, client_errc::connection_closed);
  EXPECT_TRUE(end.found.at(0));
  EXPECT_FALSE(end.found.at(1));
}

// Lies

search_step reading(log_search& search) {
  (void)search.begin();
  return search.offset_answered(broker_errc::none, 20);
}

void expect_distrust(std::vector<std::byte> bytes, const char* what) {
  log_search search(ask_for({target()}, 10));
  (void)reading(search);
  const search_step step = search.records_answered(broker_errc::none, 0, bytes);
  const auto* end = std::get_if<log_findings>(&step);
  ASSERT_NE(end, nullptr) << what;
  EXPECT_EQ(end->end, search_end::interrupted) << what;
  EXPECT_EQ(end->reason, client_errc::malformed_answer) << what;
  EXPECT_FALSE(end->found.at(0)) << what;
}

TEST(LogSearch, BytesThatAreNoBatchesProveNothing) {
  expect_distrust(std::vector<std::byte>(200, std::byte{0x41}), "garbage");
  auto damaged = stored(10, ours, 2);
  damaged.back() ^= std::byte{1};
  expect_distrust(damaged, "a wrong checksum");
  auto old_magic = stored(10, ours, 2);
  old_magic[16] = std::byte{1};
  expect_distrust(old_magic, "another format");
  auto cut = stored(10, ours, 2);
  cut.resize(cut.size() - 1);
  expect_distrust(cut, "half a batch alone");
  expect_distrust(stored(3, ours, 2), "a batch that lies before what was asked for");
  auto negative = stored(-5, ours, 2);
  expect_distrust(negative, "a negative offset");
  auto shrunk = stored(10, ours, 2);
  put_big_endian(shrunk, 23, static_cast<std::uint32_t>(-7), 4);
  seal_again(shrunk);
  expect_distrust(shrunk, "a negative range of offsets");
  expect_distrust(stored(std::numeric_limits<std::int64_t>::max(), ours, 2), "an offset overflow");
}

TEST(LogSearch, AnOffsetThatIsNoneProvesNothing) {
  log_search search(ask_for({target()}, 10));
  (void)search.begin();
  const search_step step = search.offset_answered(broker_errc::none, offset());
  EXPECT_EQ(std::get<log_findings>(step).end, search_end::interrupted);
}

TEST(LogSearch, ABrokerThatSaysOutOfRangeForEverEndsTheSearch) {
  log_search search(ask_for({target()}, 10));
  (void)reading(search);
  search_step step = search.records_answered(broker_errc::offset_out_of_range, offset(), {});
  EXPECT_EQ(std::get<ask_offset>(step).timestamp, wire::earliest_offset);
  step = search.offset_answered(broker_errc::none, 12);
  ASSERT_TRUE(std::holds_alternative<ask_records>(step));
  step = search.records_answered(broker_errc::offset_out_of_range, offset(), {});
  step = search.offset_answered(broker_errc::none, 12);
  EXPECT_EQ(std::get<log_findings>(step).end, search_end::undecidable);
}

TEST(LogSearch, ATransactionMarkerIsNoBatchOfOurs) {
  auto marker = stored(10, ours, 2);
  marker[22] |= std::byte{0x20};
  seal_again(marker);
  leader_log log{{marker}};
  const log_findings end = run(ask_for({target()}, 10), log);
  EXPECT_EQ(end.end, search_end::decided);
  EXPECT_FALSE(end.found.at(0));
}

}  // namespace
}  // namespace partita::actors
