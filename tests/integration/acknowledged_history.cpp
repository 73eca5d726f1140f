#include "integration/acknowledged_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <sstream>
#include <thread>

namespace partita::testing {
namespace {

std::string shown(const std::optional<std::string>& bytes) {
  if (!bytes) return "null";
  return bytes->size() <= 40 ? "'" + *bytes + "'" : std::to_string(bytes->size()) + " bytes";
}

/// Headers as kcat prints them.
std::string kcat_headers(const std::vector<owned_header>& headers) {
  std::string text;
  for (const owned_header& header : headers) {
    if (!text.empty()) text += ",";
    text += header.key + "=" + header.value.value_or("NULL");
  }
  return text;
}

std::string content_of(const std::optional<std::string>& key,
                       const std::optional<std::string>& value, const std::string& headers) {
  const auto part = [](const std::optional<std::string>& bytes) {
    return bytes ? std::to_string(bytes->size()) + ":" + *bytes : std::string("-");
  };
  return part(key) + part(value) + headers;
}

/// Enough to see what is wrong, not ten thousand lines.
std::string first_lines(const std::string& text) {
  std::size_t end = 0;
  for (int line = 0; line < 20 && end < text.size(); ++line) end = text.find('\n', end) + 1;
  if (end == text.size()) return text;
  return text.substr(0, end) + "and " +
         std::to_string(std::count(text.begin(), text.end(), '\n') - 20) + " more\n";
}

std::int64_t milliseconds_of(timestamp time) { return time.time_since_epoch().count(); }

std::string described(const history_entry& entry, std::size_t index) {
  return "record " + std::to_string(index) + " (key " + shown(entry.key) + ", value " +
         shown(entry.value) + ")";
}

}  // namespace

std::size_t acknowledged_history::unanswered() const {
  const std::lock_guard lock(mutex_);
  return entries_.size() - answered_;
}

std::size_t acknowledged_history::add(history_entry entry) {
  const std::string content = content_of(entry.key, entry.value, kcat_headers(entry.headers));
  const std::lock_guard lock(mutex_);
  const std::size_t index = entries_.size();
  entries_.push_back(std::move(entry));
  const bool is_new = by_content_.emplace(content, index).second;
  EXPECT_TRUE(is_new) << described(entries_[index], index) << " was produced before";
  return index;
}

void acknowledged_history::produce(producer& producer, history_entry entry,
                                   std::size_t unanswered_max) {
  while (unanswered() > unanswered_max) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  const std::size_t index = add(std::move(entry));
  const history_entry& kept = entries_[index];
  std::vector<header> headers;
  for (const owned_header& header : kept.headers) headers.push_back({header.key, header.value});
  producer.produce({.topic = topic_,
                    .key = kept.key,
                    .value = kept.value,
                    .headers = headers,
                    .partition = kept.partition,
                    .timestamp = kept.timestamp},
                   [this, index](const outcome& answer) { answered(index, answer); });
}

void acknowledged_history::answered(std::size_t index, const outcome& answer) {
  const std::lock_guard lock(mutex_);
  if (entries_[index].answers.empty()) ++answered_;
  entries_[index].answers.push_back(answer);
}

std::string acknowledged_history::differences(const std::vector<foreign_record>& log,
                                              bool one_order) const {
  std::ostringstream found;
  std::vector<std::vector<const foreign_record*>> places(entries_.size());
  std::map<std::pair<std::int32_t, std::string>, std::size_t> latest;
  for (const foreign_record& written : log) {
    const auto entry = by_content_.find(content_of(written.key, written.value, written.headers));
    if (entry == by_content_.end()) {
      found << "never produced: partition " << written.partition << " offset " << written.offset
            << " key " << shown(written.key) << " value " << shown(written.value) << " headers "
            << written.headers << "\n";
      continue;
    }
    const std::size_t index = entry->second;
    places[index].push_back(&written);
    const std::string lane = one_order ? "" : written.key.value_or("");
    const auto [last, is_first] = latest.try_emplace({written.partition, lane}, index);
    if (!is_first && last->second > index) {
      found << described(entries_[index], index) << " lies behind record " << last->second << "\n";
    }
    last->second = index;
  }

  std::set<std::pair<std::int32_t, std::int64_t>> told;
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    const history_entry& entry = entries_[index];
    const std::string name = described(entry, index);
    if (entry.answers.size() != 1) {
      found << name << " has " << entry.answers.size() << " answers\n";
      continue;
    }
    const std::size_t copies = places[index].size();
    if (const failed* failure = entry.answers[0].failure()) {
      const bool is_unknown = failure->fate == fate::unknown;
      if (copies > (is_unknown ? 1U : 0U)) {
        found << name << (is_unknown ? " is unknown" : " is not written") << " ("
              << failure->code.message() << ") and lies in the log " << copies << " times\n";
      }
      continue;
    }
    const delivered& delivery = *entry.answers[0].delivery();
    if (copies != 1) {
      found << name << " is delivered and lies in the log " << copies << " times\n";
      continue;
    }
    const foreign_record& written = *places[index][0];
    if (delivery.partition.value != written.partition ||
        (delivery.offset && delivery.offset->value != written.offset)) {
      found << name << " lies at " << written.partition << "/" << written.offset
            << ", the answer says " << delivery.partition.value << "/"
            << (delivery.offset ? delivery.offset->value : -1) << "\n";
    }
    if (delivery.offset &&
        !told.insert({delivery.partition.value, delivery.offset->value}).second) {
      found << name << " was told an offset that another one was told, too\n";
    }
    if (entry.partition && entry.partition->value != written.partition) {
      found << name << " was meant for partition " << entry.partition->value << "\n";
    }
    if (entry.timestamp && milliseconds_of(*entry.timestamp) != written.timestamp_ms) {
      found << name << " was given another timestamp than " << written.timestamp_ms << "\n";
    }
    if (delivery.timestamp && milliseconds_of(*delivery.timestamp) != written.timestamp_ms) {
      found << name << " has timestamp " << written.timestamp_ms << ", the answer says "
            << milliseconds_of(*delivery.timestamp) << "\n";
    }
    if (!delivery.timestamp) found << name << " was told no timestamp\n";
  }
  return first_lines(found.str());
}

std::vector<std::string> acknowledged_history::console_lines(
    const std::string& timestamp_type) const {
  std::vector<std::string> lines;
  for (const history_entry& entry : entries_) {
    const delivered* delivery = entry.answers.empty() ? nullptr : entry.answers[0].delivery();
    if (delivery == nullptr || !delivery->offset || !delivery->timestamp) continue;
    std::string headers;
    for (const owned_header& header : entry.headers) {
      if (!headers.empty()) headers += ",";
      headers += header.key + ":" + header.value.value_or("null");
    }
    lines.push_back(timestamp_type + ":" + std::to_string(milliseconds_of(*delivery->timestamp)) +
                    "\tPartition:" + std::to_string(delivery->partition.value) +
                    "\tOffset:" + std::to_string(delivery->offset->value) + "\t" +
                    (headers.empty() ? "NO_HEADERS" : headers) + "\t" + entry.key.value_or("null") +
                    "\t" + entry.value.value_or("null"));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

tally acknowledged_history::tallied() const {
  tally counted;
  for (const history_entry& entry : entries_) {
    for (const outcome& answer : entry.answers) {
      if (answer.is_delivered()) {
        ++counted.delivered;
      } else if (answer.failure()->fate == fate::unknown) {
        ++counted.unknown;
      } else {
        ++counted.not_written;
      }
    }
  }
  return counted;
}

}  // namespace partita::testing
