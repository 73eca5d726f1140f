#include "chaos/chaos_history.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <algorithm>
#include <iterator>
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

std::string place_of(const delivered& told) {
  return std::to_string(told.partition.value) + "/" +
         (told.offset ? std::to_string(told.offset->value) : "?");
}

std::string failure_text(const failed& failure) {
  std::string text = failure.fate == fate::unknown ? "unknown" : "not written";
  return text + " (" + failure.code.message() + ", because: " + failure.cause.message() + ")";
}

std::string verdict_text(const settlement& verdict) {
  if (const delivered* told = verdict.delivery()) return "delivered at " + place_of(*told);
  if (verdict.is_never_written()) return "never written";
  return "undecidable (" + verdict.undecided()->reason.message() + ")";
}

bool is_unknown(const outcome& answer) {
  return !answer.is_delivered() && answer.failure()->fate == fate::unknown;
}

bool agree(const settlement& one, const settlement& other) {
  if (!one.is_delivered() || !other.is_delivered())
    return one.is_never_written() && other.is_never_written();
  return one.delivery()->partition == other.delivery()->partition &&
         one.delivery()->offset == other.delivery()->offset;
}

/// What a producer with idempotence may say of a ticket that it gave. The log of a topic that was
/// never deleted does not lose what was acknowledged.
bool is_a_reason(std::error_code reason, bool deleted) {
  if (reason == client_errc::log_changed) return deleted;
  constexpr client_errc reasons[] = {
      client_errc::log_not_readable, client_errc::log_trimmed,         client_errc::log_too_long,
      client_errc::not_fenced,       client_errc::unsupported_version, client_errc::closed,
      client_errc::ticket_expired,
  };
  return std::find(std::begin(reasons), std::end(reasons), reason) != std::end(reasons);
}

/// Nothing is told of it, if it is right; else what is wrong.
std::string objection_to(const delivered& told, const std::vector<const foreign_record*>& copies) {
  const auto at = std::find_if(copies.begin(), copies.end(), [&](const foreign_record* written) {
    return written->partition == told.partition.value &&
           (!told.offset || written->offset == told.offset->value);
  });
  if (at == copies.end())
    return copies.empty() ? "the log does not hold it"
                          : "the log holds it at " + place_of(*copies[0]);
  if (told.timestamp && told.timestamp->time_since_epoch().count() != (*at)->timestamp_ms)
    return "the log holds it with another timestamp";
  return "";
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
  if (is_unknown(answer)) take_ticket(at, answer.failure()->ticket);
}

/// A batch that is tried again by a recovery, and is in doubt again, keeps its tickets.
void chaos_history::take_ticket(index at, ticket which) {
  if (which.value == 0) return remarks_.push_back({at, "no-ticket", "is unknown without a ticket"});
  const auto [known, is_new] = by_ticket_.try_emplace(which.value, at);
  if (known->second != at)
    remarks_.push_back({at, "shared-ticket", "has the ticket of " + entries_[known->second].value});
}

void chaos_history::settled(ticket which, const settlement& said) {
  std::lock_guard lock(mutex_);
  const auto known = by_ticket_.find(which.value);
  PARTITA_ASSERT(known != by_ticket_.end(), which.value);
  for (submission& each : entries_[known->second].submissions) {
    if (!each.answer || !is_unknown(*each.answer) || each.answer->failure()->ticket != which)
      continue;
    if (!each.verdict || !each.verdict->is_decided()) {
      each.verdict = said;
    } else if (!agree(*each.verdict, said) &&
               (said.is_decided() || said.undecided()->reason != client_errc::ticket_expired)) {
      remarks_.push_back({known->second, "verdict-changed",
                          "was " + verdict_text(*each.verdict) + " and is " + verdict_text(said)});
    }
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
        if (!each.verdict)
          ++counts.unsettled;
        else if (each.verdict->is_delivered())
          ++counts.settled_delivered;
        else if (each.verdict->is_never_written())
          ++counts.settled_never_written;
        else
          ++counts.undecidable[each.verdict->undecided()->reason.message()];
      }
    }
  }
  return counts;
}

void chaos_history::forget_topic(const std::string& topic) {
  std::lock_guard lock(mutex_);
  deleted_topics_.insert(topic);
  for (entry& one : entries_)
    if (one.topic == topic) one.may_be_gone = true;
}

std::vector<std::string> chaos_history::anomalies(
    const std::map<std::string, std::vector<foreign_record>>& logs) const {
  std::lock_guard lock(mutex_);
  findings found;
  std::vector<places> copies(entries_.size());
  for (const remark& each : remarks_) found.add(each.anomaly, entries_[each.at], each.text);
  for (const auto& [topic, log] : logs) check_log(topic, log, copies, found);
  for (index at = 0; at < entries_.size(); ++at) check_entry(entries_[at], copies[at], found);
  return std::move(found.lines);
}

/// Order per key, and nothing that nobody produced.
void chaos_history::check_log(const std::string& topic, const std::vector<foreign_record>& log,
                              std::vector<places>& copies, findings& found) const {
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
    copies[at->second].push_back(&written);
    if (one.key != written.key.value_or(""))
      found.add("wrong-content", one, "lies under key " + written.key.value_or("null"));
    if (one.key.empty()) continue;
    const auto [last, first] = latest.try_emplace({written.partition, one.key}, at->second);
    if (!first && last->second > at->second)
      found.add("nonmonotonic-send", one, "lies behind " + entries_[last->second].value);
    last->second = std::max(last->second, at->second);
  }
}

/// Copies in the log against what was said of the submissions, and of their tickets.
void chaos_history::check_entry(const entry& one, const places& copies, findings& found) const {
  bool may_be_there = false;
  std::string answers;
  const auto check_place = [&](const delivered& told, const char* word) {
    may_be_there = true;
    answers += word + place_of(told);
    const std::string objection = objection_to(told, copies);
    if (!objection.empty() && !one.may_be_gone)
      found.add("lost-write", one, "is" + answers + ", " + objection);
  };
  for (const submission& each : one.submissions) {
    if (!each.answer) {
      found.add("unanswered", one, "");
    } else if (const delivered* success = each.answer->delivery()) {
      check_place(*success, " delivered at ");
    } else {
      answers += " " + failure_text(*each.answer->failure());
      if (!is_unknown(*each.answer)) continue;
      if (!each.verdict) {
        may_be_there = true;
        found.add("unsettled", one, "is" + answers + ", and nobody was told what became of it");
      } else if (const delivered* told = each.verdict->delivery()) {
        check_place(*told, ", settled as delivered at ");
      } else {
        answers += ", settled as " + verdict_text(*each.verdict);
        if (each.verdict->is_never_written()) continue;
        may_be_there = true;
        if (!is_a_reason(each.verdict->undecided()->reason, deleted_topics_.contains(one.topic)))
          found.add("no-reason", one, "is" + answers);
      }
    }
  }
  if (copies.empty()) return;
  const std::string where = "at " + place_of(*copies[0]) + ", but is" + answers;
  if (copies.size() > 1)
    found.add("duplicate", one, std::to_string(copies.size()) + " copies, one " + where);
  else if (!may_be_there)
    found.add("G1a", one, "is in the log " + where);
}

}  // namespace partita::chaos
