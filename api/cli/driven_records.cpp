#include "api/cli/driven_records.hpp"

#include <partita/contract.hpp>

#include <utility>

namespace partita::cli {
namespace {

bool equal(const input_record& given, const owned_record& returned) {
  return given.topic == returned.topic && given.key == returned.key &&
         given.value == returned.value && given.headers == returned.headers &&
         (!given.partition || *given.partition == returned.partition) &&
         (!given.timestamp || *given.timestamp == returned.timestamp);
}

}  // namespace

std::optional<driven_records::position> driven_records::add(named_record&& given,
                                                            record_handle handle) {
  std::lock_guard lock(mutex_);
  const auto [at, is_new] = names_.try_emplace(given.name, entries_.size());
  if (!is_new) return std::nullopt;
  entries_.push_back({std::move(given), std::move(handle)});
  ++counts_.produced;
  return at->second;
}

std::optional<driven_records::position> driven_records::find(std::string_view name) const {
  std::lock_guard lock(mutex_);
  const auto at = names_.find(std::string(name));
  return at == names_.end() ? std::nullopt : std::optional(at->second);
}

void driven_records::answered(position at, const outcome& answer) {
  std::lock_guard lock(mutex_);
  entry& one = entries_[at];
  const failed* failure = answer.failure();
  if (!one.answered) {
    tally& counts = counts_.answered;
    ++(failure == nullptr               ? counts.delivered
       : failure->fate == fate::unknown ? counts.unknown
                                        : counts.not_written);
  }
  one.answered = true;
  if (failure != nullptr && failure->number != record_number{})
    numbered_[{failure->topic, failure->partition, failure->number}] = at;
  if (answer.is_delivered()) {
    one.delivered = true;
    one.failure.reset();
    one.record.content = {};
    one.handle = {};
  } else if (!one.delivered) {  // the report of an older recovery may come after a younger one's
    one.failure = *failure;
  }
}

std::optional<ticket> driven_records::ticket_of(position at) const {
  std::lock_guard lock(mutex_);
  const std::optional<failed>& failure = entries_[at].failure;
  if (!failure || failure->fate != fate::unknown) return std::nullopt;
  return failure->ticket;
}

bool driven_records::is_answered(position at) const {
  std::lock_guard lock(mutex_);
  return entries_[at].answered;
}

std::string driven_records::name(position at) const {
  std::lock_guard lock(mutex_);
  return entries_[at].record.name;
}

const named_record& driven_records::record(position at) const {
  std::lock_guard lock(mutex_);
  return entries_[at].record;
}

record_handle driven_records::handle(position at) const {
  std::lock_guard lock(mutex_);
  return entries_[at].handle;
}

drive_counts driven_records::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

std::vector<std::string> driven_records::names_of(std::span<const owned_record> returned) {
  std::lock_guard lock(mutex_);
  // By value and key, so that a long hand-back is not compared with every record of the script.
  std::unordered_map<std::string, std::deque<position>> candidates;
  const auto signature = [](const auto& record) {
    return record.key.value_or("") + '\n' + record.value.value_or("");
  };
  if (!returned.empty())
    for (position at = 0; at < entries_.size(); ++at)
      if (!entries_[at].delivered && !entries_[at].returned)
        candidates[signature(entries_[at].record.content)].push_back(at);
  std::vector<std::string> names;
  for (const owned_record& each : returned) {
    names.emplace_back("?");
    for (const position at : candidates[signature(each)]) {
      entry& one = entries_[at];
      if (one.returned || !equal(one.record.content, each)) continue;
      one.returned = true;
      names.back() = one.record.name;
      break;
    }
  }
  return names;
}

std::vector<std::optional<driven_records::position>> driven_records::sent_again(
    const drive_place& place, std::span<const resubmitted_record> again) const {
  std::lock_guard lock(mutex_);
  std::vector<std::optional<position>> found;
  for (const resubmitted_record& each : again) {
    const auto at = numbered_.find({place.topic, place.partition, each.number});
    found.push_back(at == numbered_.end() ? std::nullopt : std::optional(at->second));
  }
  return found;
}

}  // namespace partita::cli
