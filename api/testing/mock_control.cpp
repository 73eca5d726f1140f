// Halts, recovery, settlement, status and events of the mock.
#include "api/testing/mock_state.hpp"

#include <algorithm>
#include <iterator>

namespace partita::testing {

void mock_state::tell(partition_change change, const place& where, std::error_code code,
                      std::vector<std::string> keys) {
  std::erase_if(streams, [](const auto& each) { return each->ended(); });
  if (streams.empty()) return;
  partition_event event;
  event.change = change;
  event.topic = where.first;
  event.partition = where.second;
  event.code = code;
  event.keys = std::move(keys);
  owed.push_back([event = std::move(event), to = streams] {
    for (const auto& each : to) each->on_event(event);
  });
}

void mock_state::halt(const place& where, const std::optional<std::string>& key,
                      std::error_code cause) {
  partition& at = partitions[where];
  if (key ? !at.halted_keys.emplace(*key, cause).second : at.halted.has_value()) return;
  if (!key) at.halted = cause;
  tell(partition_change::halted, where, cause,
       key ? std::vector{*key} : std::vector<std::string>{});
}

/// They are new submissions that lie before everything that waits.
void mock_state::resubmit(std::span<const std::size_t> indexes,
                          const std::shared_ptr<resubmission>& into) {
  std::vector<std::size_t> again;
  for (const std::size_t index : indexes) {
    const record_number number = records[index].number;
    again.push_back(records.size());
    held_record& made = records.emplace_back();
    made.noted.record = records[index].noted.record;
    made.number = number;
    made.reported = into;
    made.reported_at = into->records.size();
    into->records.push_back({number, {}});
  }
  into->open = again.size();
  waiting.insert(waiting.begin(), again.begin(), again.end());
}

/// The last one ends the recovery.
void mock_state::report_answer(held_record& of, const outcome& with) {
  const std::shared_ptr<resubmission> work = std::exchange(of.reported, {});
  work->records[of.reported_at].answer.emplace(with);
  if (--work->open > 0) return;
  for (auto& each : work->records)
    work->made.resubmitted.push_back({each.number, std::move(*each.answer)});
  work->state->result.emplace(std::move(work->made));
  owe_opening(*work->state);
  work->state->release();
}

operation<recovery_report> mock_state::recover(const place& where,
                                               const std::optional<std::string>& key, recovery how,
                                               recover_options allowed) {
  recovery_report made;
  const auto found = partitions.find(where);
  if (found == partitions.end()) return finished(std::move(made));
  partition& at = found->second;
  made.was_halted = key ? at.halted_keys.contains(*key) : at.halted || !at.halted_keys.empty();
  if (!made.was_halted) return finished(std::move(made));
  const auto concerns = [&](std::size_t index) {
    return !key || records[index].noted.record.key == key;
  };
  std::vector<std::size_t> touched;
  std::copy_if(at.failed.begin(), at.failed.end(), std::back_inserter(touched), concerns);
  std::erase_if(at.failed, concerns);
  if (how == recovery::take)
    for (const auto index : waiting) {
      const auto& record = records[index].noted.record;
      if (record.topic == where.first && record.partition.value == where.second &&
          concerns(index) && refusal(record))
        touched.push_back(index);
    }
  std::sort(touched.begin(), touched.end(),
            [&](std::size_t a, std::size_t b) { return records[a].number < records[b].number; });
  if (key)
    at.halted_keys.erase(*key);
  else
    at.halted_keys.clear();
  if (!key) at.halted.reset();
  tell(partition_change::resumed, where, {}, key ? std::vector{*key} : std::vector<std::string>{});
  std::vector<std::size_t> again;
  for (const auto index : touched) {
    if (how == recovery::take && !records[index].noted.answer)
      answer(index, failure(owned_record{records[index].noted.record}, fate::not_written,
                            client_errc::handed_back, {}, records[index].number));
    const failed told = *records[index].noted.answer->failure();
    if (how == recovery::take)
      made.taken.push_back({records[index].noted.record, told});
    else if (how == recovery::discard)
      ++made.discarded;
    else if (told.fate == fate::unknown && !allowed.allow_duplicates)
      made.left_out.push_back(told);
    else
      again.push_back(index);
  }
  if (again.empty()) return finished(std::move(made));
  auto* state = detail::begun_operation<recovery_report>(reporter.get());
  operation<recovery_report> under_way{*state};
  state->retain();
  const auto work = std::make_shared<resubmission>();
  work->made = std::move(made);
  work->state = state;
  resubmit(again, work);
  return under_way;
}

producer_status mock_state::status() const {
  producer_status made;
  made.callback_exceptions = callback_exceptions;
  for (const auto& [where, at] : partitions) {
    partition_status& one = made.partitions.emplace_back();
    one.topic = where.first;
    one.partition = where.second;
    one.state = closed      ? partition_state::closing
                : at.halted ? partition_state::halted
                : at.paused ? partition_state::paused
                            : partition_state::normal;
    if (at.halted) one.halt_cause = *at.halted;
    one.failed_records_kept = at.failed.size();
    one.halted_keys = at.halted_keys.size();
    for (const auto& [key, cause] : at.halted_keys)
      if (one.some_halted_keys.size() < 10) one.some_halted_keys.push_back({key, cause});
    if (!at.written.empty()) one.last_offset = at.written.rbegin()->first;
    one.answered = at.answered;
    one.last_error = at.last_error;
    for (const auto index : waiting) {
      const auto& record = records[index].noted.record;
      if (record.topic != where.first || record.partition.value != where.second) continue;
      ++one.buffered_records;
      if (at.halted || (record.key && at.halted_keys.contains(*record.key))) ++one.held_records;
    }
    for (const auto& [ticket, doubt] : doubts) {
      const auto& record = records[doubt.index].noted.record;
      if (record.topic == where.first && record.partition.value == where.second) ++one.tickets_kept;
    }
  }
  return made;
}

bool mock_state::decide(ticket which, const std::function<settlement(const doubt& of)>& verdict) {
  const auto found = doubts.find(which.value);
  if (found == doubts.end() || found->second.verdict) return false;
  doubt& one = found->second;
  one.verdict.emplace(verdict(one));
  for (auto* state : std::exchange(one.asked, {}))
    owed.push_back([state, told = *one.verdict] {
      state->result.emplace(told);
      state->open();
      state->release();
    });
  return true;
}

void mock_state::end_settlements() {
  for (auto& [which, doubt] : doubts)
    if (!doubt.verdict)
      static_cast<void>(decide(
          {which}, [](const auto&) -> settlement { return undecidable{client_errc::closed}; }));
}

}  // namespace partita::testing
