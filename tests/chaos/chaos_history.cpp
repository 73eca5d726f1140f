#include "chaos/chaos_history.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::chaos {

using testing::foreign_record;

struct chaos_history::findings {
  static constexpr std::size_t lines_max = 50;
  std::vector<std::string> lines;

  void add(const char* anomaly, const entry& one, const std::string& text) {
    if (lines.size() < lines_max)
      lines.push_back(std::string(anomaly) + ": " + one.topic + " " + one.value + " (key " +
                      one.key + ") " + text);
  }
};

namespace {

std::string place_of(const foreign_record& written) {
  return std::to_string(written.partition) + "/" + std::to_string(written.offset);
}

std::string failure_text(const failed& failure) {
  std::string text = failure.fate == fate::unknown ? "unknown" : "not written";
  return text + " (" + failure.code.message() + ", because: " + failure.cause.message() + ")";
}

}  // namespace

chaos_history::index chaos_history::begin(std::string topic, std::string key, std::string value) {
  std::lock_guard lock(mutex_);
  const index at = entries_.size();
  const bool is_new = by_value_.emplace(value, at).second;
  PARTITA_ASSERT(is_new);
  entry& one = entries_.emplace_back();
  one.topic = std::move(topic);
  one.key = std::move(key);
  one.value = std::move(value);
  one.submissions.emplace_back();
  ++open_;
  return at;
}

void chaos_history::resubmit(index at) {
  std::lock_guard lock(mutex_);
  entries_[at].submissions.emplace_back();
  ++open_;
}

void chaos_history::answered(index at, const outcome& answer) {
  std::lock_guard lock(mutex_);
  submission& last = entries_[at].submissions.back();
  PARTITA_ASSERT(!last.answer.has_value(), at);
  last.answer = answer;
  --open_;
}

void chaos_history::settled(index at, settled_as verdict, std::optional<partita::offset> offset) {
  std::lock_guard lock(mutex_);
  for (submission& each : entries_[at].submissions) {
    if (!each.answer || each.answer->is_delivered()) continue;
    if (each.answer->failure()->fate != fate::unknown) continue;
    each.settled = verdict;
    each.settled_offset = offset;
  }
}

std::string chaos_history::value(index at) const {
  std::lock_guard lock(mutex_);
  return entries_[at].value;
}

std::uint64_t chaos_history::open() const {
  std::lock_guard lock(mutex_);
  return open_;
}

chaos_counts chaos_history::counts() const {
  std::lock_guard lock(mutex_);
  chaos_counts counts;
  counts.produced = entries_.size();
  for (const entry& one : entries_) {
    counts.resubmitted += one.submissions.size() - 1;
    for (const submission& each : one.submissions) {
      if (!each.answer) {
        ++counts.unanswered;
      } else if (each.answer->is_delivered()) {
        ++counts.delivered;
      } else if (each.answer->failure()->fate == fate::not_written) {
        ++counts.not_written;
      } else {
        ++counts.unknown;
        if (each.settled == settled_as::delivered) ++counts.settled_delivered;
        if (each.settled == settled_as::never_written) ++counts.settled_never_written;
        if (each.settled == settled_as::undecided) ++counts.undecided;
      }
    }
  }
  return counts;
}

void chaos_history::forget_topic(const std::string& topic) {
  std::lock_guard lock(mutex_);
  for (entry& one : entries_)
    if (one.topic == topic) one.may_be_gone = true;
}

std::vector<std::string> chaos_history::anomalies(
    const std::map<std::string, std::vector<foreign_record>>& logs) const {
  std::lock_guard lock(mutex_);
  findings found;
  std::vector<std::vector<const foreign_record*>> places(entries_.size());
  for (const auto& [topic, log] : logs) check_log(topic, log, places, found);
  for (index at = 0; at < entries_.size(); ++at) check_entry(entries_[at], places[at], found);
  return std::move(found.lines);
}

/// Order per key, and nothing that nobody produced.
void chaos_history::check_log(const std::string& topic, const std::vector<foreign_record>& log,
                              std::vector<std::vector<const foreign_record*>>& places,
                              findings& found) const {
  std::map<std::pair<std::int32_t, std::string>, index> latest;
  for (const foreign_record& written : log) {
    const auto at = by_value_.find(written.value.value_or(""));
    if (at == by_value_.end() || entries_[at->second].topic != topic) {
      if (found.lines.size() < findings::lines_max)
        found.lines.push_back("unseen: " + topic + " " + place_of(written) +
                              " holds what nobody produced");
      continue;
    }
    const entry& one = entries_[at->second];
    places[at->second].push_back(&written);
    if (one.key != written.key.value_or(""))
      found.add("wrong-content", one, "lies under key " + written.key.value_or("null"));
    if (one.key.empty()) continue;
    const auto [last, first] = latest.try_emplace({written.partition, one.key}, at->second);
    if (!first && last->second > at->second)
      found.add("nonmonotonic-send", one, "lies behind " + entries_[last->second].value);
    last->second = std::max(last->second, at->second);
  }
}

/// Copies in the log against what was said of the submissions.
void chaos_history::check_entry(const entry& one, const std::vector<const foreign_record*>& places,
                                findings& found) const {
  std::vector<const foreign_record*> unexplained = places;
  std::size_t allowed = 0;
  std::string answers;
  const auto take = [&](partition_id partition, std::optional<partita::offset> offset) {
    const auto at = std::find_if(unexplained.begin(), unexplained.end(), [&](const auto* written) {
      return (!partition.known() || written->partition == partition.value) &&
             (!offset || written->offset == offset->value);
    });
    if (at == unexplained.end()) return false;
    unexplained.erase(at);
    return true;
  };
  for (const submission& each : one.submissions) {
    if (!each.answer) {
      found.add("unanswered", one, "");
      continue;
    }
    if (const delivered* success = each.answer->delivery()) {
      answers += " delivered at " + std::to_string(success->partition.value) + "/" +
                 (success->offset ? std::to_string(success->offset->value) : "?");
      if (!take(success->partition, success->offset) && !one.may_be_gone)
        found.add("lost-write", one,
                  "is" + answers +
                      (places.empty() ? ", the log does not hold it"
                                      : ", the log holds it at " + place_of(*places[0])));
      continue;
    }
    const failed& failure = *each.answer->failure();
    answers += " " + failure_text(failure);
    if (failure.fate == fate::not_written) continue;
    if (each.settled == settled_as::undecided) ++allowed;
    if (each.settled == settled_as::delivered && !take(failure.partition, each.settled_offset) &&
        !one.may_be_gone)
      found.add("lost-write", one, "was settled as delivered, the log does not hold it there");
  }
  if (unexplained.size() <= allowed) return;
  const std::string where = "at " + place_of(*unexplained[0]) + ", but is" + answers;
  if (places.size() > 1)
    found.add("duplicate", one, std::to_string(places.size()) + " copies, one " + where);
  else
    found.add("G1a", one, "is in the log " + where);
}

}  // namespace partita::chaos
