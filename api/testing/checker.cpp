#include <partita/testing/checker.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace partita::testing {
namespace {

// The content of a record as one string: what identity means here.
std::string content_of(const std::optional<std::string>& key,
                       const std::optional<std::string>& value,
                       const std::vector<owned_header>& headers) {
  std::string text;
  const auto add = [&](const std::optional<std::string>& part) {
    text += part ? std::to_string(part->size()) + ":" + *part : std::string{"-"};
    text += ',';
  };
  add(key);
  add(value);
  for (const auto& header : headers) {
    add(header.key);
    add(header.value);
  }
  return text;
}

struct place {
  std::size_t log;    // in the list of logs
  std::size_t index;  // in that log
};

// Topic, partition, offset.
using offset_place = std::pair<std::pair<std::string, std::int32_t>, std::int64_t>;

class checker {
 public:
  checker(const std::vector<produced_record>& records, const std::vector<partition_history>& logs,
          const check_options& options)
      : records_(records), logs_(logs), options_(options) {
    for (std::size_t i = 0; i < logs.size(); ++i)
      for (std::size_t k = 0; k < logs[i].log.size(); ++k) {
        const auto& record = logs[i].log[k];
        written_[{logs[i].topic, content_of(record.key, record.value, record.headers)}].push_back(
            {i, k});
      }
    if (!options.halted_keys_wait) return;
    for (const auto& record : records)
      if (record.record.key && has_failed(record))
        halted_.emplace(record.record.topic, *record.record.key);
  }

  std::vector<anomaly> run() {
    for (const auto& record : records_) check_answers(record);
    check_copies();
    if (options_.order) check_order();
    if (options_.order) check_sends();
    return std::move(found_);
  }

 private:
  static bool has_failed(const produced_record& record) {
    return record.failed_before ||
           (!record.answers.empty() && !record.answers.front().is_delivered());
  }

  // Wherever its partition is: a failure may not know it.
  [[nodiscard]] bool was_halted(const std::string& topic,
                                const std::optional<std::string>& key) const {
    return key && halted_.contains({topic, *key});
  }

  using content_key = std::pair<std::string, std::string>;  // topic, content

  // Where it was assigned to, or else where its answer says that it is.
  static partition_id place_of(const produced_record& record) {
    if (record.record.partition.known() || record.answers.empty()) return record.record.partition;
    const auto& answer = record.answers.front();
    return answer.is_delivered() ? answer.delivery()->partition : answer.failure()->partition;
  }

  static content_key key_of(const produced_record& record) {
    return {record.record.topic,
            content_of(record.record.key, record.record.value, record.record.headers)};
  }

  void add(anomaly_kind kind, const std::string& topic, partition_id partition, offset where,
           std::uint64_t order, const std::string& what) {
    std::string text = std::string{name(kind)} + " " + topic;
    if (partition.known()) text += "-" + std::to_string(partition.value);
    if (where.known()) text += " offset " + std::to_string(where.value);
    if (order != 0) text += " record " + std::to_string(order);
    found_.push_back({kind, topic, partition, where, order, text + ": " + what});
  }

  void add(anomaly_kind kind, const produced_record& record, offset where,
           const std::string& what) {
    add(kind, record.record.topic, place_of(record), where, record.order, what);
  }

  // What it says is wrong already: it is not missed a second time.
  void add_wrong(anomaly_kind kind, const produced_record& record, offset where,
                 const std::string& what) {
    add(kind, record, where, what);
    told_wrong_.insert(&record);
  }

  // I7, then what each answer claims.
  void check_answers(const produced_record& record) {
    if (record.answers.empty()) add(anomaly_kind::unanswered, record, {}, "no answer");
    if (record.answers.size() > 1)
      add(anomaly_kind::answered_twice, record, {},
          std::to_string(record.answers.size()) + " answers");
    if (record.answers.empty()) return;
    const auto& answer = record.answers.front();
    if (const auto* delivery = answer.delivery()) check_delivered(record, *delivery);
  }

  [[nodiscard]] const partition_history* log_of(const std::string& topic,
                                                partition_id partition) const {
    for (const auto& log : logs_)
      if (log.topic == topic && log.partition == partition) return &log;
    return nullptr;
  }

  // I1: exactly that record at exactly that offset, in the partition it was assigned (I11).
  void check_delivered(const produced_record& record, const delivered& answer) {
    if (record.record.partition.known() && record.record.partition != answer.partition)
      add(anomaly_kind::misrouted, record, {},
          "answered for partition " + std::to_string(answer.partition.value));
    if (!answer.offset) {
      if (!written_.contains(key_of(record)))
        add_wrong(anomaly_kind::lost_write, record, {}, "delivered, and nowhere in the log");
      return;
    }
    const offset_place told{{record.record.topic, answer.partition.value}, answer.offset->value};
    if (!told_.insert(told).second)
      add(anomaly_kind::offset_twice, record, *answer.offset, "another record got this offset");
    if (was_halted(record.record.topic, record.record.key)) told_of_halted_.insert(told);
    const auto* log = log_of(record.record.topic, answer.partition);
    const log_record* held = nullptr;
    if (log != nullptr && *answer.offset < log->start) return;
    if (log != nullptr && log->read_to && *answer.offset >= *log->read_to) {
      add(anomaly_kind::unseen, record, *answer.offset, "the log was not read so far");
      return;
    }
    if (log != nullptr) {
      const auto at = std::lower_bound(
          log->log.begin(), log->log.end(), *answer.offset,
          [](const log_record& candidate, offset wanted) { return candidate.offset < wanted; });
      if (at != log->log.end() && at->offset == *answer.offset) held = &*at;
    }
    if (held == nullptr) {
      add_wrong(anomaly_kind::lost_write, record, *answer.offset,
                "delivered, and nothing is there");
      return;
    }
    const bool same = content_of(held->key, held->value, held->headers) == key_of(record).second &&
                      (!record.client_timestamp || options_.log_append_time ||
                       held->timestamp == record.record.timestamp);
    if (!same && written_.contains(key_of(record)))
      add_wrong(anomaly_kind::wrong_content, record, *answer.offset, "another record is there");
    else if (!same)
      add_wrong(anomaly_kind::lost_write, record, *answer.offset,
                "delivered, and another record is there");
    if (answer.timestamp && same && *answer.timestamp != held->timestamp)
      add(anomaly_kind::wrong_content, record, *answer.offset, "the log has another timestamp");
  }

  // I2, I4 and what nobody produced, by counting copies of each content.
  void check_copies() {
    std::map<content_key, std::vector<const produced_record*>> produced;
    for (const auto& record : records_) produced[key_of(record)].push_back(&record);
    for (const auto& [key, list] : produced) {
      const auto at = written_.find(key);
      const std::size_t copies = at == written_.end() ? 0 : at->second.size();
      std::size_t least = 0;
      std::size_t most = 0;
      for (const auto* record : list) {
        if (record->answers.empty()) {
          ++most;
          continue;
        }
        const auto& answer = record->answers.front();
        if (answer.is_delivered() && !told_wrong_.contains(record) &&
            !out_of_sight(key.first, *answer.delivery()))
          ++least;
        if (answer.is_delivered() || answer.failure()->fate == fate::unknown) ++most;
      }
      if (copies > most) {
        const auto& seen = at->second.back();
        add(most == 0 ? anomaly_kind::phantom_write : anomaly_kind::duplicate_write, *list.front(),
            logs_[seen.log].log[seen.index].offset,
            std::to_string(copies) + " copies where " + std::to_string(most) + " may be");
      }
      if (copies < least)
        add(anomaly_kind::lost_write, *list.front(), {},
            std::to_string(copies) + " copies where " + std::to_string(least) + " are delivered");
    }
    check_places(produced);
    if (options_.others_may_write) return;
    for (const auto& [key, places] : written_)
      if (!produced.contains(key))
        add(anomaly_kind::unknown_record, key.first, logs_[places.front().log].partition,
            logs_[places.front().log].log[places.front().index].offset, 0, "nobody produced it");
  }

  // Deleted since, or beyond what was read.
  [[nodiscard]] bool out_of_sight(const std::string& topic, const delivered& answer) const {
    const auto* log = log_of(topic, answer.partition);
    if (log == nullptr) return false;
    if (!answer.offset) return log->start.value > 0 || log->read_to.has_value();
    return *answer.offset < log->start || (log->read_to && *answer.offset >= *log->read_to);
  }

  // I5 within one call: between two neighbours of a produce_batch() lies nothing else of this
  // history. What others wrote may lie there, and what waited for the end of a halt.
  void check_sends() {
    using send_place = std::tuple<std::uint64_t, std::string, std::int32_t>;
    std::map<send_place, std::vector<const produced_record*>> sends;
    for (const auto& record : records_)
      if (record.send != 0 && !record.answers.empty() &&
          !was_halted(record.record.topic, record.record.key))
        if (const auto* answer = record.answers.front().delivery(); answer && answer->offset)
          sends[{record.send, record.record.topic, answer->partition.value}].push_back(&record);
    for (auto& [where, members] : sends) {
      const auto at = [](const produced_record* one) {
        return *one->answers.front().delivery()->offset;
      };
      std::sort(members.begin(), members.end(),
                [&](const auto* left, const auto* right) { return at(left) < at(right); });
      for (std::size_t i = 1; i < members.size(); ++i)
        for (auto between = at(members[i - 1]).value + 1; between < at(members[i]).value; ++between)
          if (const offset_place seen{{std::get<1>(where), std::get<2>(where)}, between};
              told_.contains(seen) && !told_of_halted_.contains(seen)) {
            add(anomaly_kind::int_send_skip, *members[i], between, "inside another call's records");
            break;
          }
    }
  }

  // I11: what was assigned to a partition lies in that one.
  void check_places(const std::map<content_key, std::vector<const produced_record*>>& produced) {
    for (const auto& [key, list] : produced) {
      const auto at = written_.find(key);
      if (at == written_.end() || list.size() != 1 || !list.front()->record.partition.known())
        continue;
      for (const auto& seen : at->second)
        if (logs_[seen.log].partition != list.front()->record.partition)
          add(anomaly_kind::misrouted, *list.front(), logs_[seen.log].log[seen.index].offset,
              "written to partition " + std::to_string(logs_[seen.log].partition.value));
    }
  }

  // I5: in each log, the order of produce(); of a key that was halted, among its own records.
  // Contents that were produced twice have no order of their own.
  void check_order() {
    std::map<content_key, std::optional<std::uint64_t>> orders;
    for (const auto& record : records_) {
      const auto [at, fresh] = orders.emplace(key_of(record), record.order);
      if (!fresh) at->second.reset();
    }
    for (const auto& log : logs_) {
      std::optional<std::uint64_t> last_of_all;
      std::map<std::string, std::optional<std::uint64_t>> last_of_key;
      for (const auto& record : log.log) {
        const auto found =
            orders.find({log.topic, content_of(record.key, record.value, record.headers)});
        if (found == orders.end() || !found->second) continue;
        const auto order = *found->second;
        auto& last = was_halted(log.topic, record.key) ? last_of_key[*record.key] : last_of_all;
        if (last && order < *last)
          add(anomaly_kind::nonmonotonic_send, log.topic, log.partition, record.offset, order,
              "behind record " + std::to_string(*last));
        if (!last || order > *last) last = order;
      }
    }
  }

  const std::vector<produced_record>& records_;
  const std::vector<partition_history>& logs_;
  const check_options& options_;
  std::map<content_key, std::vector<place>> written_;
  std::set<offset_place> told_;
  std::set<offset_place> told_of_halted_;
  std::set<std::pair<std::string, std::string>> halted_;  // topic, key
  std::set<const produced_record*> told_wrong_;
  std::vector<anomaly> found_;
};

}  // namespace

std::string_view name(anomaly_kind kind) noexcept {
  switch (kind) {
    case anomaly_kind::lost_write:
      return "lost-write";
    case anomaly_kind::wrong_content:
      return "inconsistent-offsets";
    case anomaly_kind::phantom_write:
      return "G1a";
    case anomaly_kind::duplicate_write:
      return "duplicate";
    case anomaly_kind::nonmonotonic_send:
      return "nonmonotonic-send";
    case anomaly_kind::unanswered:
      return "unanswered";
    case anomaly_kind::answered_twice:
      return "answered-twice";
    case anomaly_kind::misrouted:
      return "misrouted";
    case anomaly_kind::unknown_record:
      return "unknown-record";
    case anomaly_kind::offset_twice:
      return "offset-twice";
    case anomaly_kind::unseen:
      return "unseen";
    case anomaly_kind::int_send_skip:
      return "int-send-skip";
  }
  return "anomaly";
}

std::vector<partition_history> read_logs(const cluster& cluster,
                                         const std::vector<produced_record>& records) {
  std::set<std::string> topics;
  for (const auto& record : records) topics.insert(record.record.topic);
  std::vector<partition_history> logs;
  for (const auto& topic : topics)
    for (std::int32_t i = 0; cluster.view(topic, i); ++i)
      logs.push_back({topic, i, cluster.log(topic, i)});
  return logs;
}

std::vector<anomaly> check(const std::vector<produced_record>& records,
                           const std::vector<partition_history>& logs,
                           const check_options& options) {
  return checker{records, logs, options}.run();
}

std::string report(const std::vector<anomaly>& anomalies) {
  std::string text;
  for (const auto& one : anomalies) text += one.text + "\n";
  return text;
}

}  // namespace partita::testing
