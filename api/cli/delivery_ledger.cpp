#include "api/cli/delivery_ledger.hpp"

#include "api/cli/exit_code.hpp"

#include <partita/error.hpp>

#include <algorithm>
#include <utility>

namespace partita::cli {
namespace {

constexpr std::size_t reasons_max = 20;

/// Without the number of attempts and sizes: equal reasons are counted together.
std::string reason_of(const failed& failure) {
  std::string text = failure.code.message();
  if (failure.cause && failure.cause != failure.code) text += " (" + failure.cause.message() + ")";
  return text;
}

}  // namespace

std::string describe(const failed& failure) {
  std::string text = reason_of(failure);
  if (!failure.detail.empty()) text += ": " + failure.detail;
  if (failure.attempts > 1) text += ", after " + std::to_string(failure.attempts) + " attempts";
  return text;
}

delivery_ledger::topic_entry& delivery_ledger::topic(std::string_view name) {
  std::lock_guard lock(mutex_);
  for (topic_entry& each : topics_)
    if (each.name == name) return each;
  return topics_.emplace_back(topic_entry{this, std::string(name), {}});
}

void delivery_ledger::answered(topic_entry& topic, const outcome& answer) {
  count(topic, answer);
  if (after_answer_ != nullptr) after_answer_(context_);
}

void delivery_ledger::count(topic_entry& topic, const outcome& answer) {
  const delivered* success = answer.delivery();
  const failed* failure = answer.failure();
  const partition_id partition = success != nullptr ? success->partition : failure->partition;
  std::lock_guard lock(mutex_);
  partition_counts& at = topic.partitions[partition.value];
  at.partition = partition;
  if (success != nullptr) {
    ++counts_.delivered;
    ++at.counts.delivered;
    if (success->offset) {
      if (!at.first.known() || *success->offset < at.first) at.first = *success->offset;
      at.last = std::max(at.last, *success->offset);
    }
    return;
  }
  const bool unknown = failure->fate == fate::unknown;
  ++(unknown ? counts_.unknown : counts_.not_written);
  ++(unknown ? at.counts.unknown : at.counts.not_written);
  note_failure(*failure);
}

void delivery_ledger::note_failure(const failed& failure) {
  if (failure.code == client_errc::halted) halted_ = true;
  if (is_denied(failure.code) || is_denied(failure.cause)) denied_ = true;
  if (failure.fate == fate::not_written &&
      (is_unreachable(failure.code) || is_unreachable(failure.cause)))
    unreachable_ = true;
  const bool unknown = failure.fate == fate::unknown;
  std::string text = reason_of(failure);
  const auto known = std::find_if(reasons_.begin(), reasons_.end(), [&](const auto& each) {
    return each.unknown == unknown && each.text == text;
  });
  if (known != reasons_.end())
    ++known->count;
  else if (reasons_.size() < reasons_max)
    reasons_.push_back({std::move(text), unknown, 1, failure.detail});
  else
    ++(unknown ? other_unknown_ : other_not_written_);
}

tally delivery_ledger::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

ledger_view delivery_ledger::view() const {
  std::lock_guard lock(mutex_);
  ledger_view seen{counts_, {}, reasons_, halted_, denied_, unreachable_};
  if (other_not_written_ > 0) seen.reasons.push_back({"others", false, other_not_written_, {}});
  if (other_unknown_ > 0) seen.reasons.push_back({"others", true, other_unknown_, {}});
  for (const topic_entry& topic : topics_)
    for (const auto& [index, counts] : topic.partitions) {
      seen.partitions.push_back(counts);
      seen.partitions.back().topic = topic.name;
    }
  std::sort(seen.partitions.begin(), seen.partitions.end(), [](const auto& a, const auto& b) {
    return a.topic != b.topic ? a.topic < b.topic : a.partition < b.partition;
  });
  return seen;
}

}  // namespace partita::cli
