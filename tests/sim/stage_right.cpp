// The "Right" line of a row, and what a scenario can ask about the past.
#include "tests/sim/stage.hpp"
#include "tests/sim/stage_script.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace partita::testing {
namespace {

std::string name_in(const std::optional<std::string>& value) {
  return value ? value->substr(0, value->find('@')) : std::string("null");
}

constexpr std::uint64_t digest_start = 0xcbf29ce484222325U;

std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t sum = digest_start;
  for (const std::byte each : bytes)
    sum = (sum ^ std::to_integer<std::uint64_t>(each)) * 0x100000001b3U;
  return sum;
}

}  // namespace

staged_record& stage::record(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) throw std::invalid_argument("scenario: no record " + name);
  return *found->second;
}

std::string stage::letter(const std::string& name) {
  const std::lock_guard hold(lock_);
  const staged_record& found = record(name);
  if (found.answers.empty()) return "open";
  if (found.answers.front().is_delivered()) return "D";
  return found.answers.front().failure()->fate == fate::unknown ? "U" : "N";
}

void stage::right(std::string_view line) {
  for (const std::string& item : split(line, ',')) {
    const std::size_t equals = item.find('=');
    const std::string left = trim(item.substr(0, equals));
    const std::vector<std::string> allowed = split(item.substr(equals + 1), '|');
    const bool is_log = left.starts_with("log");
    std::string found;
    if (is_log) {
      const int partition = left == "log" ? 0 : std::stoi(left.substr(5));
      found = log(partition);
    } else {
      if (allowed.empty() || allowed[0] != "open") await(left);
      found = letter(left);
    }
    const bool right = (allowed.empty() && found.empty()) ||
                       std::find(allowed.begin(), allowed.end(), found) != allowed.end();
    EXPECT_TRUE(right) << left << " is '" << found << "', right is " << item;
  }
}

const failed& stage::failure(const std::string& name) {
  await(name);
  const std::lock_guard hold(lock_);
  static const failed none{fate::unknown, {}, {}};
  const staged_record& found = record(name);
  if (found.answers.empty()) return none;
  const failed* why = found.answers.front().failure();
  EXPECT_NE(why, nullptr) << name << " was delivered";
  return why == nullptr ? none : *why;
}

const delivered& stage::delivery(const std::string& name) {
  await(name);
  const std::lock_guard hold(lock_);
  static const delivered none{};
  const staged_record& found = record(name);
  if (found.answers.empty()) return none;
  const delivered* where = found.answers.front().delivery();
  EXPECT_NE(where, nullptr) << name << " failed";
  return where == nullptr ? none : *where;
}

std::string stage::log(partition_id partition, const std::string& topic) {
  std::string names;
  const auto warm = warm_end_.find({topic, partition.value});
  for (const log_record& each : cluster().log(topic, partition)) {
    if (warm != warm_end_.end() && each.offset.value < warm->second) continue;
    if (!names.empty()) names += ' ';
    names += name_in(each.value);
  }
  return names;
}

std::string stage::names_of(const std::vector<taken_record>& taken) {
  std::string names;
  for (const taken_record& each : taken)
    names += (names.empty() ? "" : " ") + name_in(each.record.value);
  return names;
}

std::vector<attempt_note> stage::attempts(const std::string& name) {
  const std::lock_guard hold(lock_);
  std::vector<attempt_note> found;
  for (const attempt_note& each : attempts_)
    if (std::find(each.names.begin(), each.names.end(), name) != each.names.end())
      found.push_back(each);
  return found;
}

std::vector<attempt_note> stage::all_attempts(partition_id partition) {
  const std::lock_guard hold(lock_);
  std::vector<attempt_note> found;
  for (const attempt_note& each : attempts_)
    if (each.at >= started_at_ && each.topic == "t" && each.partition == partition.value)
      found.push_back(each);
  return found;
}

batch_tuple stage::tuple(const std::string& name) {
  const std::vector<attempt_note> all = attempts(name);
  EXPECT_FALSE(all.empty()) << name << " was never sent";
  return all.empty() ? batch_tuple{} : all.back().tuple;
}

bool stage::same_bytes(const std::string& name) {
  const std::vector<attempt_note> all = attempts(name);
  return std::all_of(all.begin(), all.end(), [&](const attempt_note& each) {
    return each.content == all.front().content && each.tuple == all.front().tuple;
  });
}

std::chrono::nanoseconds stage::took(const std::string& name) {
  await(name);
  const std::lock_guard hold(lock_);
  return record(name).answered_at - record(name).produced_at;
}

// --- what the broker sees
// -------------------------------------------------------------------------

std::optional<fault> stage::on_seen(const produce_attempt& attempt) {
  const std::lock_guard hold(lock_);
  attempt_note seen;
  seen.number = attempt.number;
  seen.request = attempt.request;
  seen.connection = attempt.connection;
  seen.at = world_->now();
  seen.broker = attempt.broker.value;
  seen.topic = attempt.topic;
  seen.partition = attempt.partition.value;
  seen.tuple = {attempt.producer_id.value, attempt.producer_epoch.value,
                attempt.base_sequence.value};
  seen.content = digest(attempt.bytes);
  seen.size = attempt.bytes.size();
  const line* hit = nullptr;
  const line* general = nullptr;
  for (const log_record& each : attempt.records) {
    seen.names.push_back(name_in(each.value));
    const auto found = by_name_.find(seen.names.back());
    if (found == by_name_.end()) continue;
    const int number = ++found->second->attempts;
    seen.first_of_batch = seen.first_of_batch || number == 1;
    for (const line& scripted : script_) {
      if (scripted.name != found->first) continue;
      if (scripted.attempt == number) hit = &scripted;
      if (scripted.attempt == 0) general = &scripted;
    }
  }
  if (hit == nullptr) hit = general;
  std::string text =
      "b" + std::to_string(seen.broker) + " p" + std::to_string(seen.partition) + " sees [";
  for (const std::string& name : seen.names) text += name + " ";
  text += "] epoch " + std::to_string(seen.tuple.epoch) + " seq " +
          std::to_string(seen.tuple.sequence) + (hit == nullptr ? "" : " (scripted)");
  note(text);
  watch_halt(seen);
  attempts_.push_back(std::move(seen));
  changed_.notify_all();
  if (hit == nullptr) return std::nullopt;
  return hit->fault;
}

void stage::on_executed(const attempt_result& result) {
  const std::lock_guard hold(lock_);
  // From the newest: there are many, and it is one of the last.
  const auto found = std::find_if(attempts_.rbegin(), attempts_.rend(),
                                  [&](const auto& each) { return each.number == result.number; });
  if (found == attempts_.rend()) return;
  found->executed = true;
  found->appended = result.appended;
  changed_.notify_all();
}

void stage::on_answered(const attempt_answer& answer) {
  const std::lock_guard hold(lock_);
  const auto found = std::find_if(attempts_.rbegin(), attempts_.rend(),
                                  [&](const auto& each) { return each.number == answer.number; });
  if (found == attempts_.rend()) return;
  found->answered = answer.code;
  found->base_offset = answer.base_offset.value;
  note("  answers " + std::to_string(static_cast<int>(answer.code)) + " base " +
       std::to_string(answer.base_offset.value));
  changed_.notify_all();
}

}  // namespace partita::testing
