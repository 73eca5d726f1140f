#include "api/testing/mock_state.hpp"

#include "actors/refused_record.hpp"
#include "api/callback_scope.hpp"
#include "api/record_check.hpp"
#include "api/topic_name.hpp"

#include <partita/partitioner.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>

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

client_errc mock_state::check(const record& what, const produce_options& asked) const noexcept {
  if (!is_topic_name(what.topic)) return client_errc::invalid_topic;
  const detail::record_limits limits{options.max_request_size_bytes,
                                     std::numeric_limits<std::uint64_t>::max()};
  return detail::check_record(what, detail::size_of(what), limits, asked.delivery_timeout);
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
  if (held.reported != nullptr) report_answer(held, with);
  owe(std::exchange(held.answered, {}), std::move(with));
}

void mock_state::deliver(std::size_t index) {
  const auto& record = records[index].noted.record;
  partition& where = of(record);
  const delivered made{record.partition, offset{where.next_offset++}, record.timestamp};
  where.written.emplace(made.offset->value, index);
  answer(index, made);
}

/// True: the record is to be kept for recover().
bool mock_state::halt_by_policy(const owned_record& record, std::error_code code) {
  const bool whole = options.on_failure == failure_policy::halt_partition;
  if (!whole && (options.on_failure != failure_policy::halt_key || !record.key)) return false;
  halt({record.topic, record.partition.value}, whole ? std::nullopt : record.key, code);
  return true;
}

/// The failure takes effect first: the halt, or the end of what lies behind.
void mock_state::fail(std::size_t index, fate what, std::error_code code) {
  const owned_record record = records[index].noted.record;
  const auto at = std::find(waiting.begin(), waiting.end(), index);
  const std::vector<std::size_t> behind(std::next(at), waiting.end());
  if (halt_by_policy(record, code)) of(record).failed.push_back(index);
  outcome told = failure(record, what, code, {}, records[index].number);
  if (const auto named = told.failure()->ticket; named.value != 0)
    doubts[named.value] = {.index = index, .at = {of(record).next_offset++}};
  answer(index, std::move(told));
  if (options.on_failure != failure_policy::fail_following) return;
  for (const auto other : behind) {
    const auto& follower = records[other].noted.record;
    if (follower.topic == record.topic && follower.partition == record.partition)
      answer(other, failure(follower, fate::not_written, client_errc::earlier_failed, code,
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

/// As Kafka's Java producer, but a record without key is never spread.
owned_record mock_state::placed(const record& from) const {
  owned_record record = copy_of(from);
  if (!from.partition)
    record.partition =
        partition_of_key(partitioner_kind::murmur2_random, record.key, options.partitions)
            .value_or(partition_id{0});
  return record;
}

void mock_state::refuse(const owned_record& copy, const record& from, callback answered,
                        client_errc code, std::error_code cause) {
  outcome told = failure(copy, fate::not_written, code, cause);
  failed named = *told.failure();
  named.ended_by = actors::limit_of(code);
  if (code == client_errc::record_too_large)
    named.detail = actors::too_large_text(actors::refused_size{detail::size_of(from).tail},
                                          options.max_request_size_bytes, 0);
  owe(std::move(answered), std::move(named));
}

/// It halts by the policy, and is not kept: recover() has nothing to do with it.
void mock_state::fail_unbuffered(const owned_record& copy, const record& from, callback answered,
                                 client_errc code) {
  static_cast<void>(halt_by_policy(copy, code));
  partition& where = of(copy);
  ++where.answered.not_written;
  where.last_error = code;
  refuse(copy, from, std::move(answered), code);
}

std::optional<std::size_t> mock_state::admit(const record& from, const produce_options& asked,
                                             without_room otherwise, callback answered) {
  owned_record record = placed(from);
  const auto refuse_it = [&](client_errc code, std::error_code cause = {}) {
    refuse(record, from, std::move(answered), code, cause);
    return std::nullopt;
  };
  if (closed) return refuse_it(client_errc::closed);
  client_errc wrong = check(from, asked);
  if (wrong == client_errc::invalid_topic) return refuse_it(wrong);
  const bool full = wrong == client_errc{} && otherwise != without_room::take && !has_room();
  if (full && otherwise == without_room::refuse) return refuse_it(client_errc::buffer_full);
  if (!known(record.partition)) return refuse_it(client_errc::invalid_partition);
  if (const auto why = refusal(record)) {
    ++of(record).answered.not_written;
    return refuse_it(client_errc::halted, *why);
  }
  if (full) wrong = client_errc::admission_timeout;
  if (wrong != client_errc{}) {
    fail_unbuffered(record, from, std::move(answered), wrong);
    return std::nullopt;
  }
  const auto index = records.size();
  records.push_back({{std::move(record), {}}, std::move(answered), {index + 1}});
  waiting.push_back(index);
  if (options.auto_complete && !of(records[index].noted.record).paused) deliver(index);
  return index;
}

void mock_state::refuse_all(std::span<const record> all, client_errc code,
                            const std::function<callback(std::size_t index)>& answered) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const owned_record record = placed(all[i]);
    const bool in_turn = code == client_errc::admission_timeout && known(record.partition) &&
                         detail::check_contents(all[i]) != client_errc::invalid_topic;
    if (!in_turn)
      refuse(record, all[i], answered(i), code);
    else if (const auto why = refusal(record))
      refuse(record, all[i], answered(i), client_errc::halted, *why);
    else
      fail_unbuffered(record, all[i], answered(i), code);
  }
}

bool mock_state::tells_here() const noexcept {
  return std::find(telling_.begin(), telling_.end(), std::this_thread::get_id()) != telling_.end();
}

void mock_state::tell_owed(std::unique_lock<std::mutex>& held) {
  if (tells_here()) return;
  const auto self = std::this_thread::get_id();
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
      const detail::callback_scope inside;
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
