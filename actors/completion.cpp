#include "actors/completion.hpp"

#include <partita/contract.hpp>

namespace partita::actors {

namespace {

timestamp at_ms(std::int64_t milliseconds) {
  return timestamp{std::chrono::milliseconds{milliseconds}};
}

void count(const completion_answer& answer, std::size_t records,
           completion_observer& observer) noexcept {
  const auto add = [&](std::uint64_t& own, std::atomic<std::uint64_t> answer_counters::*all) {
    own += records;
    if (observer.total != nullptr)
      (observer.total->*all).fetch_add(records, std::memory_order_relaxed);
  };
  if (answer.is_delivered())
    add(observer.delivered, &answer_counters::delivered);
  else if (answer.failure()->fate == fate::not_written)
    add(observer.not_written, &answer_counters::not_written);
  else
    add(observer.unknown, &answer_counters::unknown);
}

}  // namespace

outcome completion_answer::for_entry(const completion_entry& entry) const {
  if (failure_ != nullptr) {
    failed copy = *failure_;
    if (copy.ticket.value != 0) copy.ticket.value += entry.position;
    if (copy.number.value != 0) copy.number.value += entry.ordinal_delta;
    return copy;
  }
  delivered copy{success_.partition, {}, {}};
  if (success_.base_offset.known())
    copy.offset = offset{success_.base_offset.value + entry.position};
  copy.timestamp = success_.log_append_time_ms >= 0
                       ? at_ms(success_.log_append_time_ms)
                       : at_ms(success_.base_timestamp_ms + entry.timestamp_delta_ms);
  return copy;
}

void completion_run::forward(std::size_t i, const completion_slot& receiver) const noexcept {
  if (receiver.target == nullptr) return;
  completion_entry entry = entries_[i];
  entry.target = receiver.target;
  entry.data = receiver.data;
  receiver.target->complete(completion_run({&entry, 1}, answer_, observer_));
}

void detail::report_exception(completion_observer& observer, std::exception_ptr what) noexcept {
  ++observer.exceptions;
  if (observer.on_exception != nullptr) observer.on_exception(observer.context, std::move(what));
}

void complete_all(std::span<const completion_entry> entries, const completion_answer& answer,
                  completion_observer& observer) noexcept {
  count(answer, entries.size(), observer);
  const instant began = observer.clock != nullptr ? observer.clock->now() : instant{};
  std::size_t first = 0;
  while (first < entries.size()) {
    completion_target* const target = entries[first].target;
    std::size_t end = first + 1;
    while (end < entries.size() && entries[end].target == target) ++end;
    if (target != nullptr) {
      ++observer.runs;
      target->complete(completion_run(entries.subspan(first, end - first), answer, observer));
    }
    first = end;
  }
  if (observer.clock == nullptr || observer.on_slow == nullptr) return;
  const duration took = observer.clock->now() - began;
  if (took >= slow_callbacks_after) observer.on_slow(observer.context, took);
}

}  // namespace partita::actors

namespace partita::detail {

void expect_callable(bool callable) {
  PARTITA_EXPECTS_OR_SAY(callable,
                         "a callback is a null pointer or an empty function: nobody would be told");
}

std::size_t run_size(const actors::completion_run& run) noexcept { return run.size(); }

std::uint64_t run_data(const actors::completion_run& run, std::size_t index) noexcept {
  return run.data(index);
}

void run_call(const actors::completion_run& run, std::size_t index,
              void (*code)(void* context, const outcome& answer), void* context) noexcept {
  auto guarded = [&](const outcome& answer) { code(context, answer); };
  run.call(guarded, index);
}

}  // namespace partita::detail
