// The oracle: O1 to O10 of the catalogue, as far as a stage can see them, and the play of a row.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>

namespace partita::testing {
namespace {

// Codes that brokers raise only before the append (catalogue, 0.3).
bool refuses(broker_errc code) {
  constexpr std::array codes = {2,  10, 17, 18, 19, 21, 29, 31, 32, 35,  43, 45,
                                47, 48, 49, 51, 53, 59, 76, 87, 90, 100, 120};
  return std::find(codes.begin(), codes.end(), static_cast<int>(code)) != codes.end();
}

bool was_refused(const attempt_note& attempt) {
  return attempt.answered && refuses(*attempt.answered) && attempt.base_offset < 0;
}

std::int64_t number_from(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

}  // namespace

// O4, second half: of a halted partition nothing newer is sent. What was handed to the network
// before the halt may still arrive, and what was produced before a record that was refused at once
// goes on.
void stage::watch_halt(const attempt_note& seen) {
  if (!simulated() || !halts_watched_ || seen.topic != "t") return;
  const auto halted = halted_since_.find(seen.partition);
  if (halted == halted_since_.end() || !seen.first_of_batch) return;
  if (seen.at <= halted->second.since + 2 * links_.latency_max + 2ms) return;
  const auto sent = by_name_.find(seen.names.front());
  if (sent != by_name_.end() && sent->second->noted.order >= halted->second.order)
    violations_.push_back("O4: " + seen.names.front() + " was sent although p" +
                          std::to_string(seen.partition) + " is halted");
}

// O6 and O8: one content per place in the numbering, unless the first one was refused throughout.
void stage::check_tuples() {
  struct used {
    std::string name;
    std::uint64_t content;
    bool refused;
  };
  std::map<std::pair<std::pair<std::string, std::int32_t>, batch_tuple>, used> places;
  for (const attempt_note& each : attempts_) {
    if (each.tuple.sequence < 0) continue;
    for (std::size_t i = 0; i < each.names.size(); ++i) {
      batch_tuple place = each.tuple;
      place.sequence = static_cast<std::int32_t>(
          (std::int64_t{place.sequence} + static_cast<std::int64_t>(i)) % (std::int64_t{1} << 31));
      const auto [at, fresh] =
          places.emplace(std::make_pair(std::make_pair(each.topic, each.partition), place),
                         used{each.names[i], each.content, was_refused(each)});
      if (fresh) continue;
      used& before = at->second;
      const bool same = before.name == each.names[i] && before.content == each.content;
      if (!same && !before.refused) {
        ADD_FAILURE() << "O6: sequence " << place.sequence << " of epoch " << place.epoch << " on p"
                      << each.partition << " carried " << before.name << ", then " << each.names[i];
      }
      before = {each.names[i], each.content, (same ? before.refused : true) && was_refused(each)};
    }
  }
}

// O10: no loop is faster than twenty attempts a second.
void stage::check_pace() {
  std::map<std::string, std::vector<std::chrono::nanoseconds>> times;
  for (const attempt_note& each : attempts_)
    if (!each.names.empty()) times[each.names.front()].push_back(each.at);
  for (const auto& [name, at] : times)
    for (std::size_t i = 20; i < at.size(); ++i)
      if (at[i] - at[i - 20] < 1s) {
        ADD_FAILURE() << "O10: " << name << " was sent more than 20 times in a second";
        break;
      }
}

// O5, and that an unknown fate needs an attempt.
void stage::check_answers() {
  for (const staged_record& each : records_) {
    EXPECT_EQ(each.answers.size(), 1U) << "O5: answers of " << each.name;
    if (each.answers.empty()) continue;
    if (simulated()) {
      EXPECT_LE(each.answered_at - each.produced_at, each.limit + 1s)
          << "O5: " << each.name << " was answered late";
    }
    const failed* why = each.answers.front().failure();
    if (why != nullptr && why->fate == fate::unknown) {
      EXPECT_GT(why->attempts, 0) << "O3: " << each.name << " is unknown without an attempt";
    }
  }
}

// O1, O2, O3, O7, O8 by the public checker.
void stage::check_log() {
  if (!log_checked_) return;
  std::vector<produced_record> all;
  for (const staged_record& each : records_) all.push_back(each.noted);
  check_options options;
  options.order = false;
  std::string found;
  for (const anomaly& each : check(all, read_logs(cluster(), all), options)) {
    if (copies_allowed_ && each.kind == anomaly_kind::duplicate_write) continue;
    found += each.text + "\n";
  }
  EXPECT_EQ(found, "");
}

// O4: the order of admission, per partition, or per key where only keys halt.
void stage::check_order() {
  if (!log_checked_ || copies_allowed_) return;
  const bool by_key = config_.on_failure == failure_policy::halt_key;
  std::map<std::string, const staged_record*> by_value;
  std::set<std::string> topics;
  for (const staged_record& each : records_) {
    by_value.emplace(*each.noted.record.value, &each);
    topics.insert(each.noted.record.topic);
  }
  for (const std::string& topic : topics)
    for (std::int32_t p = 0; cluster().view(topic, p); ++p) {
      std::map<std::string, const staged_record*> last;
      for (const log_record& each : cluster().log(topic, p)) {
        const auto found = each.value ? by_value.find(*each.value) : by_value.end();
        if (found == by_value.end()) continue;
        const staged_record*& before = last[by_key ? each.key.value_or("") : ""];
        const bool keyless = by_key && !each.key;
        if (before != nullptr && !keyless && before->noted.order > found->second->noted.order) {
          ADD_FAILURE() << "O4: " << found->second->name << " lies behind " << before->name
                        << " in p" << p;
        }
        before = found->second;
      }
    }
}

void stage::finish() {
  start();
  rule();
  cluster().clear_faults();
  if (simulated()) ok_all();
  await_all();
  if (simulated()) run(60s);  // every held frame has run by then
  if (producer_ != nullptr) {
    const producer_status last = whole_status();
    if (!contradiction_allowed_) {
      EXPECT_EQ(last.contradictions, 0U) << "L9: a contradiction";
    }
    for (const partition_status& each : last.partitions)
      if (each.topic == "t") {
        halted_since_.erase(each.partition.value);
        static_cast<void>(get(producer().recover("t", each.partition, recovery::discard)));
      }
    EXPECT_EQ(whole_status().buffered_bytes, 0U) << "O9: memory is not given back";
  }
  check_answers();
  check_log();
  check_order();
  check_tuples();
  check_pace();
  for (const std::string& each : violations_) ADD_FAILURE() << each;
}

std::string stage::story() {
  const std::lock_guard hold(lock_);
  std::string text;
  for (const std::string& each : story_) text += each + "\n";
  return text;
}

void play(void (*scenario)(stage&), const play_options& options) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const int usual = std::max(1, options.seeds / 10);
#else
  const int usual = options.seeds;
#endif
  const auto first = static_cast<std::uint64_t>(number_from("PARTITA_SEED", 1));
  const auto seeds = static_cast<std::uint64_t>(number_from("PARTITA_SEEDS", usual));
  const auto run = [&](std::uint64_t seed, stage_place place) {
    stage set(seed, place);
    scenario(set);
    if (!::testing::Test::HasFatalFailure()) set.finish();
    if (::testing::Test::HasFailure()) {
      const char* where = place == stage_place::loopback ? "loopback" : "simulated";
      GTEST_LOG_(INFO) << where << ", PARTITA_SEED=" << seed << " PARTITA_SEEDS=1\n" << set.story();
    }
  };
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    run(seed, stage_place::simulated);
    if (::testing::Test::HasFailure()) return;
  }
  if (options.loopback && std::getenv("PARTITA_NO_LOOPBACK") == nullptr)
    run(first, stage_place::loopback);
}

}  // namespace partita::testing
