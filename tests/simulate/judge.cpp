#include "tests/simulate/judge.hpp"

#include <algorithm>

namespace partita::simulate {
namespace {

std::string text_of(std::int64_t value) { return std::to_string(value); }

const failed* failure_of(const record_life& one) {
  return one.answers.empty() ? nullptr : one.answers.front().failure();
}

bool is_unknown(const record_life& one) {
  const failed* failure = failure_of(one);
  return failure != nullptr && failure->fate == fate::unknown;
}

std::string seconds_of(virtual_time::duration time) {
  return text_of(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

void judge::add(int invariant, const char* anomaly, const subject& whose, std::uint64_t order,
                const std::string& what) {
  std::string text = "producer " + text_of(whose.number()) + " record " +
                     text_of(static_cast<std::int64_t>(order));
  if (order < whose.records().size()) {
    const record_life& one = whose.records()[order];
    text += " partition " + text_of(one.where.first) + "/" + text_of(one.where.second);
    if (const failed* failure = failure_of(one))
      text += (failure->fate == fate::unknown ? " (unknown, " : " (not written, ") +
              failure->code.message() + ")";
    else if (!one.answers.empty())
      text += " (delivered)";
  }
  found_.push_back({invariant, anomaly, text + ": " + what});
}

std::vector<finding> judge::verdict() {
  read_logs();
  for (account& each : accounts_) {
    check_resubmissions(each);
    for (const record_life& one : each.whose->records()) check_record(each, one);
    check_offsets(each);
    check_order(each);
    check_times(each);
    check_closings(each);
    for (const std::string& complaint : each.whose->complaints())
      found_.push_back({6, "int-send-skip", complaint});
  }
  return std::move(found_);
}

// I11 and I1 at once: what lies in the logs is what was produced, byte for byte, where it was meant
// to be.
void judge::read_logs() {
  for (const auto& each : subjects_)
    accounts_.push_back({each.get(),
                         std::vector<std::vector<copy>>(each->records().size()),
                         std::vector<std::vector<std::int64_t>>(each->records().size()),
                         {}});
  for (const auto& [where, lives] : logs_)
    for (std::size_t life = 0; life < lives.size(); ++life)
      for (const testing::log_record& held : lives[life]) {
        const auto named = subject::named_by(held.value.value_or(""));
        const bool known =
            named && named->first >= 0 &&
            static_cast<std::size_t>(named->first) < accounts_.size() &&
            named->second <
                accounts_[static_cast<std::size_t>(named->first)].whose->records().size();
        if (!known) {
          found_.push_back({11, "unknown-record",
                            "nobody produced what lies at offset " + text_of(held.offset.value)});
          continue;
        }
        account& whose = accounts_[static_cast<std::size_t>(named->first)];
        const record_life& one = whose.whose->records()[named->second];
        if (one.where != where)
          add(11, "misrouted", *whose.whose, one.order, "lies in another partition");
        if (held.key != one.key || held.value != one.value || !held.headers.empty())
          add(1, "inconsistent-offsets", *whose.whose, one.order, "the log holds it changed");
        whose.copies[named->second].push_back({where, life, held.offset.value, held.producer_id});
      }
}

/// Whether nothing there may be written twice, by resubmission or by a retry without a sequence.
bool judge::once_at(const account& at, place where) {
  const auto& all = at.whose->resubmissions();
  return at.whose->config().enable_idempotence &&
         std::none_of(all.begin(), all.end(), [&](const resubmission& each) {
           return each.where == where && each.duplicates_allowed;
         });
}

// What recover(resubmit) sent again is named by its first answer's number: ascending, all of it
// ahead of the recovery in its partition, and there where it is said to be. What turned out to be
// in the log keeps its place there. Where keys were halted each has an order of its own: a batch
// that may be written stays whole, though others' records lie between its own.
void judge::check_resubmissions(account& at) {
  std::map<std::pair<place, record_number>, std::uint64_t> orders;
  for (const record_life& one : at.whose->records())
    if (const failed* first = failure_of(one))
      orders.emplace(std::pair{one.where, first->number}, one.order);
  for (const resubmission& again : at.whose->resubmissions()) {
    const bool by_key = at.whose->ordered_by_key(again.where);
    std::map<std::string, std::uint64_t> lasts;
    for (const auto& [number, answer] : again.records) {
      const auto named = orders.find({again.where, number});
      if (named == orders.end()) {
        add(1, "wrong-answer", *at.whose, at.whose->records().size(),
            "the report of a recovery has a number that no record there was told");
        continue;
      }
      const record_life& found = at.whose->records()[named->second];
      if (!may_come_before(found, again.before)) {
        add(1, "wrong-answer", *at.whose, found.order,
            "in the report of a recovery that was asked for before it");
        continue;
      }
      const delivered* success = answer.delivery();
      if (success == nullptr ? answer.failure()->fate == fate::unknown : !success->offset)
        ++at.loose[found.order];
      if (success == nullptr || !success->offset) continue;
      check_resubmitted(at, again, found, success->offset->value);
      const bool one_life = logs_.at(again.where).size() == 1;
      if (found.from_callback || !one_life) continue;
      const auto last = lasts.find(by_key ? found.key.value_or("") : "");
      if (last != lasts.end() && found.order < last->second)
        add(6, "int-send-skip", *at.whose, found.order,
            "resubmitted behind record " + text_of(static_cast<std::int64_t>(last->second)));
      if (success->offset->value >= again.log_before)
        lasts[by_key ? found.key.value_or("") : ""] = found.order;
    }
  }
}

void judge::check_resubmitted(account& at, const resubmission& again, const record_life& one,
                              std::int64_t offset) {
  const auto& copies = at.copies[one.order];
  at.expected[one.order].push_back(offset);
  if (std::none_of(copies.begin(), copies.end(), [&](const copy& each) {
        return each.offset == offset && each.where == one.where;
      }))
    add(1, "lost-write", *at.whose, one.order,
        "resubmitted and delivered at offset " + text_of(offset) + ", and not there");
  if (copies.size() > 1 && once_at(at, again.where))
    add(4, "duplicate", *at.whose, one.order,
        "resubmitted, delivered at offset " + text_of(offset) + ", and in the log before");
}

void judge::check_record(account& at, const record_life& one) {
  if (one.answers.empty()) return add(7, "unanswered", *at.whose, one.order, "no answer");
  if (one.answers.size() > 1)
    add(7, "answered-twice", *at.whose, one.order,
        text_of(static_cast<std::int64_t>(one.answers.size())) + " answers");
  const delivered* success = one.answers.front().delivery();
  // Without idempotence one answer from a leader of yesterday ends it: it can not be asked again.
  const bool acknowledged = at.whose->config().enable_idempotence;
  if (one.must_arrive && success == nullptr && acknowledged)
    add(14, "unseen", *at.whose, one.order, "produced after the last fault, and not delivered");
  if (one.behind_halt && (success != nullptr || is_unknown(one)))
    add(6, "int-send-skip", *at.whose, one.order, "passed a halted partition");
  if (success != nullptr && success->partition.value != one.where.second)
    add(11, "misrouted", *at.whose, one.order, "answered for another partition");
  const auto& copies = at.copies[one.order];
  if (success != nullptr && success->offset) {
    const bool there = std::any_of(copies.begin(), copies.end(), [&](const copy& each) {
      return each.offset == success->offset->value && each.where == one.where;
    });
    if (!there)
      add(1, "lost-write", *at.whose, one.order,
          "delivered at offset " + text_of(success->offset->value) + ", and " +
              (copies.empty() ? std::string("nowhere in the log")
                              : "at " + text_of(copies.front().offset)));
  } else if (success != nullptr && copies.empty()) {
    add(1, "lost-write", *at.whose, one.order, "delivered, and nowhere in the log");
  }
  check_settlement(at, one);
  const bool shown_absent = one.settled && one.settled->is_never_written();
  check_copies(at, one, success != nullptr || (is_unknown(one) && !shown_absent));
}

// I1 and I2 of what became of it later.
void judge::check_settlement(account& at, const record_life& one) {
  if (one.settlement_asked && !one.settled)
    add(7, "unanswered", *at.whose, one.order, "nobody said what became of it");
  const delivered* found = one.settled ? one.settled->delivery() : nullptr;
  if (found == nullptr || !found->offset) return;
  const auto& copies = at.copies[one.order];
  if (std::none_of(copies.begin(), copies.end(), [&](const copy& each) {
        return each.offset == found->offset->value && each.where == one.where;
      }))
    add(1, "lost-write", *at.whose, one.order,
        "settled as delivered at offset " + text_of(found->offset->value) + ", and not there");
}

// I2 and I4: how often it may be there.
void judge::check_copies(account& at, const record_life& one, bool may_lie_somewhere) {
  std::size_t left = at.copies[one.order].size();
  for (const std::int64_t told : at.expected[one.order])
    left -= std::min<std::size_t>(
        left, std::count_if(at.copies[one.order].begin(), at.copies[one.order].end(),
                            [&](const copy& each) { return each.offset == told; }));
  if (may_lie_somewhere && left > 0) --left;
  if (const auto loose = at.loose.find(one.order); loose != at.loose.end())
    left -= std::min(left, loose->second);
  if (left == 0) return;
  std::string where;
  for (const copy& each : at.copies[one.order]) where += " " + text_of(each.offset);
  if (may_lie_somewhere)
    add(4, "duplicate", *at.whose, one.order, "more than once, at offsets" + where);
  else
    add(2, "G1a", *at.whose, one.order, "in the log at offset" + where);
}

// I3: what was told, whatever the log says.
void judge::check_offsets(const account& at) {
  std::map<place, std::int64_t> last;
  std::map<std::pair<place, std::int64_t>, std::uint64_t> told;
  for (const record_life& one : at.whose->records()) {
    if (one.answers.empty() || logs_.at(one.where).size() > 1) continue;
    const delivered* success = one.answers.front().delivery();
    if (success == nullptr || !success->offset) continue;
    const std::int64_t offset = success->offset->value;
    if (!told.emplace(std::pair{one.where, offset}, one.order).second)
      add(3, "inconsistent-offsets", *at.whose, one.order,
          "offset " + text_of(offset) + " was told twice");
    if (one.from_callback || at.whose->ordered_by_key(one.where)) continue;
    const auto [before, first] = last.emplace(one.where, offset);
    if (!first && offset < before->second)
      add(3, "inconsistent-offsets", *at.whose, one.order,
          "told offset " + text_of(offset) + " behind " + text_of(before->second));
    before->second = std::max(before->second, offset);
  }
}

// I5: in each log the order of produce(). A record that may lie twice has no place of its own. What
// was in doubt is shut out by a newer epoch of its own producer id, not by another id.
void judge::check_order(const account& at) {
  struct standing {
    std::int64_t offset;
    const record_life* what;
    producer_id id;
    bool doubted;
  };
  for (const auto& [where, lives] : logs_)
    for (std::size_t life = 0; life < lives.size(); ++life) {
      // All under one name, or each key's under its own.
      const bool by_key = at.whose->ordered_by_key(where);
      std::map<std::string, std::vector<standing>> seen;
      for (const record_life& one : at.whose->records()) {
        if (one.where != where || one.from_callback) continue;
        const bool doubted = is_unknown(one) || at.loose.contains(one.order);
        if (doubted && !at.whose->config().enable_idempotence) continue;
        if (at.copies[one.order].size() != 1 || at.copies[one.order].front().life != life) continue;
        const copy& only = at.copies[one.order].front();
        seen[by_key ? one.key.value_or("") : ""].push_back({only.offset, &one, only.id, doubted});
      }
      for (auto& [key, list] : seen) {
        std::sort(list.begin(), list.end(),
                  [](const standing& a, const standing& b) { return a.offset < b.offset; });
        const standing* last = nullptr;
        for (const standing& each : list) {
          const bool passed = last != nullptr && each.what->order < last->what->order;
          if (passed && each.doubted && each.id != last->id) continue;
          if (passed)
            add(5, "nonmonotonic-send", *at.whose, each.what->order,
                "at offset " + text_of(each.offset) + " behind record " +
                    text_of(static_cast<std::int64_t>(last->what->order)));
          last = &each;
        }
      }
    }
}

void judge::check_times(const account& at) {
  for (const record_life& one : at.whose->records())
    if (!one.answers.empty() && one.answered > one.bound)
      add(8, "late-answer", *at.whose, one.order,
          "answered " + seconds_of(one.answered - one.produced) + " after produce(), bound " +
              seconds_of(one.bound - one.produced));
}

void judge::check_closings(const account& at) {
  const auto none = at.whose->records().size();
  for (const closing_life& one : at.whose->closings()) {
    if (!one.done && at.whose->alive())
      add(8, "late-close", *at.whose, none, "close() did not return");
    else if (one.done && *one.done > one.bound)
      add(8, "late-close", *at.whose, none,
          "close() returned " + seconds_of(*one.done - one.bound) + " too late");
  }
  for (const record_life& one : at.whose->records()) {
    const failed* failure = failure_of(one);
    if (failure != nullptr && failure->code == make_error_code(client_errc::handed_back) &&
        !one.handed_back)
      add(6, "int-send-skip", *at.whose, one.order, "said to be handed back, and was not");
  }
}

}  // namespace partita::simulate
