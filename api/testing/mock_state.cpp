#include "api/testing/mock_state.hpp"

#include <partita/partitioner.hpp>

#include <algorithm>
#include <chrono>

namespace partita::testing {
namespace {

owned_record copy_of(const record& from) {
  owned_record made;
  made.topic = std::string{from.topic};
  if (from.key) made.key = std::string{*from.key};
  if (from.value) made.value = std::string{*from.value};
  for (const auto& header : from.headers) {
    auto& copied = made.headers.emplace_back();
    copied.key = std::string{header.key};
    if (header.value) copied.value = std::string{*header.value};
  }
  if (from.partition) made.partition = *from.partition;
  made.timestamp = from.timestamp.value_or(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()));
  return made;
}

void count(tally& all, const outcome& one) {
  const auto* failure = one.failure();
  if (failure == nullptr)
    ++all.delivered;
  else if (failure->fate == fate::not_written)
    ++all.not_written;
  else
    ++all.unknown;
}

}  // namespace

outcome mock_state::failure(const owned_record& record, fate what, std::error_code code,
                            std::error_code cause, record_number number) {
  failed made;
  made.fate = what;
  made.code = code;
  made.cause = cause;
  made.topic = record.topic;
  made.partition = record.partition;
  made.attempts = what == fate::unknown ? 1 : 0;
  if (what == fate::unknown) made.ticket = {++last_ticket_};
  made.number = number;
  return made;
}

void mock_state::owe(callback answered, outcome answer) {
  if (!answered) return;
  owed.push_back(
      [answered = std::move(answered), answer = std::move(answer)] { answered(answer); });
}

/// Answers a record that was taken, and whoever waits for it among others.
void mock_state::answer(std::size_t index, outcome with) {
  std::erase(waiting, index);
  held_record& held = records[index];
  partition& where = of(held.noted.record);
  count(where.answered, with);
  if (const auto* failure = with.failure()) where.last_error = failure->code;
  held.noted.answer.emplace(with);
  for (barrier& one : barriers)
    if (std::erase(one.waits_for, index) > 0) count(one.answered, with);
  // A registration waits for its own callback, which waits for the lock: it ends outside.
  if (!held.cancellations.empty())
    owed.push_back([done = std::make_shared<std::vector<std::unique_ptr<stop_registration>>>(
                        std::exchange(held.cancellations, {}))] { done->clear(); });
  owe(std::exchange(held.answered, {}), std::move(with));
}

void mock_state::deliver(std::size_t index) {
  const auto& record = records[index].noted.record;
  partition& where = of(record);
  const delivered made{record.partition, offset{where.next_offset++}, record.timestamp};
  where.written.push_back(index);
  answer(index, made);
}

/// The failure takes effect first: the halt, or the end of what lies behind.
void mock_state::fail(std::size_t index, fate what, std::error_code code) {
  const owned_record record = records[index].noted.record;
  const place where{record.topic, record.partition.value};
  const bool keeps = options.on_failure == failure_policy::halt_partition ||
                     (options.on_failure == failure_policy::halt_key && record.key);
  if (keeps) {
    const bool whole = options.on_failure == failure_policy::halt_partition;
    halt(where, whole ? std::nullopt : record.key, code);
    partitions[where].failed.push_back(index);
  }
  outcome told = failure(record, what, code, {}, records[index].number);
  if (const auto named = told.failure()->ticket; named.value != 0)
    doubts[named.value].index = index;
  answer(index, std::move(told));
  if (options.on_failure != failure_policy::fail_following) return;
  for (const auto other : std::vector<std::size_t>(waiting.begin(), waiting.end())) {
    const auto& behind = records[other].noted.record;
    if (other > index && behind.topic == record.topic && behind.partition == record.partition)
      answer(other, failure(behind, fate::not_written, client_errc::earlier_failed, code,
                            records[other].number));
  }
}

void mock_state::end(std::size_t index, std::error_code code) {
  const owned_record record = records[index].noted.record;
  answer(index, failure(record, fate::not_written, code));
}

/// Why a new record of this partition is refused, if it is.
std::optional<std::error_code> mock_state::refusal(const owned_record& record) {
  const partition& where = of(record);
  if (where.halted) return where.halted;
  if (!record.key) return std::nullopt;
  const auto key = where.halted_keys.find(*record.key);
  if (key == where.halted_keys.end()) return std::nullopt;
  return key->second;
}

std::optional<std::size_t> mock_state::next() {
  for (const auto index : waiting) {
    const auto& record = records[index].noted.record;
    if (!of(record).paused && !refusal(record)) return index;
  }
  return std::nullopt;
}

void mock_state::go_on() {
  if (!options.auto_complete) return;
  while (const auto index = next()) deliver(*index);
}

std::optional<std::size_t> mock_state::admit(const record& from, callback answered) {
  auto record = copy_of(from);
  // As Kafka's Java producer, but a record without key is never spread.
  if (!record.partition.known())
    record.partition =
        partition_of_key(partitioner_kind::murmur2_random, record.key, options.partitions)
            .value_or(partition_id{0});
  const auto refuse = [&](client_errc code, std::error_code cause = {}) {
    owe(std::move(answered), failure(record, fate::not_written, code, cause));
    return std::nullopt;
  };
  if (closed) return refuse(client_errc::closed);
  if (!known(record.partition)) return refuse(client_errc::invalid_partition);
  if (waiting.size() >= options.records_max) return refuse(client_errc::buffer_full);
  if (const auto why = refusal(record)) return refuse(client_errc::halted, *why);
  const auto index = records.size();
  records.push_back({{std::move(record), {}}, std::move(answered), {index + 1}, {}});
  waiting.push_back(index);
  if (options.auto_complete && !of(records[index].noted.record).paused) deliver(index);
  return index;
}

void mock_state::tell_owed(std::unique_lock<std::mutex>& held) {
  const auto self = std::this_thread::get_id();
  if (std::find(telling_.begin(), telling_.end(), self) != telling_.end()) return;
  telling_.push_back(self);
  for (;;) {
    auto calls = std::exchange(owed, {});
    for (auto at = barriers.begin(); at != barriers.end();) {
      if (!at->waits_for.empty()) {
        ++at;
        continue;
      }
      calls.push_back([over = *at] {
        over.state->result.emplace(over.answered);
        over.state->open();
        over.state->release();
      });
      at = barriers.erase(at);
    }
    if (calls.empty()) break;
    held.unlock();
    std::uint64_t thrown = 0;
    for (auto& each : calls) {
      try {
        each();
      } catch (...) {
        ++thrown;
      }
    }
    calls.clear();
    held.lock();
    callback_exceptions += thrown;
  }
  std::erase(telling_, self);
}

}  // namespace partita::testing
