// From the answer of a batch to the outcomes of its records: runs of records with the same target.
//
// Invariants
// 1. Every entry is handed to its target exactly once, in the order of the entries.
// 2. User code is called in one place only, call_guarded(): an exception is counted and reported,
//    the next record's code is called all the same.
//
// Threads: the turn that completes. A target may be used by several lanes at a time.
#pragma once

#include "actors/environment.hpp"
#include "actors/instant.hpp"

#include <partita/completion.hpp>
#include <partita/contract.hpp>
#include <partita/ids.hpp>
#include <partita/outcome.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>

namespace partita::actors {

/// What is kept of a record once its bytes are in a batch.
struct completion_entry {
  completion_target* target;        ///< null: nobody wants to know
  std::uint64_t data;               ///< the target's
  std::uint32_t position;           ///< of the record in its batch
  std::int32_t timestamp_delta_ms;  ///< to the batch's base timestamp
  std::int32_t deadline_delta_ms;   ///< to the deadline of the batch's first record
  std::uint32_t key_hash;
  std::uint32_t ordinal_delta = 0;  ///< to the batch's first record: others may have been taken out
  bool answered = false;            ///< by itself, before its batch
};
static_assert(sizeof(completion_entry) == 40);

/// The shared part of a success.
struct delivered_run {
  partition_id partition;
  offset base_offset;                    ///< not known(): the broker did not say
  std::int64_t base_timestamp_ms = 0;    ///< of the batch
  std::int64_t log_append_time_ms = -1;  ///< >= 0: the topic uses LogAppendTime
};

/// The shared answer: a success or a failure, never neither.
class completion_answer {
 public:
  completion_answer(const delivered_run& success) noexcept : success_(success) {}  // NOLINT
  /// `failure` must live until complete_all() returns. Its ticket and number are the first
  /// record's: the one at `position` has ticket + position and number + ordinal_delta, so that each
  /// can be settled by itself and found again. Zero stays zero.
  completion_answer(const failed& failure) noexcept : failure_(&failure) {}  // NOLINT
  completion_answer(failed&&) = delete;

  [[nodiscard]] bool is_delivered() const noexcept { return failure_ == nullptr; }
  /// Null if delivered.
  [[nodiscard]] const failed* failure() const noexcept { return failure_; }
  [[nodiscard]] outcome for_entry(const completion_entry& entry) const;

 private:
  delivered_run success_{};
  const failed* failure_ = nullptr;
};

/// What all actors of a producer answered together.
struct answer_counters {
  std::atomic<std::uint64_t> delivered{0};
  std::atomic<std::uint64_t> not_written{0};
  std::atomic<std::uint64_t> unknown{0};

  [[nodiscard]] tally read() const noexcept {
    return {delivered.load(std::memory_order_relaxed), not_written.load(std::memory_order_relaxed),
            unknown.load(std::memory_order_relaxed)};
  }
};

/// Counts and reports; one per lane or actor. Plain members: it belongs to one turn at a time.
struct completion_observer {
  std::uint64_t delivered = 0;
  std::uint64_t not_written = 0;
  std::uint64_t unknown = 0;
  std::uint64_t runs = 0;
  std::uint64_t exceptions = 0;
  answer_counters* total = nullptr;  ///< counted there too
  void (*on_exception)(void* context, std::exception_ptr what) noexcept = nullptr;
  /// User code of one call to complete_all() took that long. Measured with the clock, if there is
  /// one.
  void (*on_slow)(void* context, duration took) noexcept = nullptr;
  const clock_source* clock = nullptr;
  void* context = nullptr;
};

class tracked_record;

/// The pair that a record carries.
struct completion_slot {
  completion_target* target = nullptr;
  std::uint64_t data = 0;
  tracked_record* tracked = nullptr;  ///< the target, if it is one
};

/// Callbacks that hold a lane up for longer are counted and reported.
inline constexpr duration slow_callbacks_after = std::chrono::milliseconds(100);
namespace detail {
void report_exception(completion_observer& observer, std::exception_ptr what) noexcept;
}  // namespace detail

/// Calls user code. What it throws is counted and reported, and ends here.
template <class Code>
void call_guarded(completion_observer& observer, Code&& code) noexcept {
  try {
    code();
  } catch (...) {
    detail::report_exception(observer, std::current_exception());
  }
}

/// Consecutive entries with the same target. Valid during complete() only.
class completion_run {
 public:
  completion_run(std::span<const completion_entry> entries, const completion_answer& answer,
                 completion_observer& observer) noexcept
      : entries_(entries), answer_(answer), observer_(observer) {}

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] const completion_entry& entry(std::size_t i) const noexcept { return entries_[i]; }
  [[nodiscard]] std::uint64_t data(std::size_t i) const noexcept { return entries_[i].data; }
  [[nodiscard]] bool is_delivered() const noexcept { return answer_.is_delivered(); }
  [[nodiscard]] outcome at(std::size_t i) const { return answer_.for_entry(entries_[i]); }

  /// Hands entry `i` on to whom it was meant for.
  void forward(std::size_t i, const completion_slot& receiver) const noexcept;

  /// Calls user code with the outcome of entry `i`, guarded.
  template <class Code>
  void call(Code& code, std::size_t i) const noexcept {
    call_guarded(observer_, [&] { code(at(i)); });
  }

 private:
  std::span<const completion_entry> entries_;
  const completion_answer& answer_;
  completion_observer& observer_;
};

/// Hands every entry to its target, run by run.
void complete_all(std::span<const completion_entry> entries, const completion_answer& answer,
                  completion_observer& observer) noexcept;

namespace detail {

template <class Callback>
inline constexpr bool fits_in_data = std::is_trivially_copyable_v<Callback> &&
                                     sizeof(Callback) <= sizeof(std::uint64_t);

/// One stateless object per closure type: records with the same code form a run.
template <class Callback>
class callback_target final : public completion_target {
 public:
  void complete(const completion_run& run) noexcept override {
    for (std::size_t i = 0; i < run.size(); ++i) {
      if constexpr (fits_in_data<Callback>) {
        alignas(Callback) std::byte place[sizeof(Callback)];
        const std::uint64_t data = run.data(i);
        std::memcpy(place, &data, sizeof(Callback));
        run.call(*reinterpret_cast<Callback*>(place), i);
      } else {
        auto* boxed = reinterpret_cast<Callback*>(static_cast<std::uintptr_t>(run.data(i)));
        run.call(*boxed, i);
        delete boxed;
      }
    }
  }

  static callback_target& instance() noexcept {
    static constinit callback_target only;
    return only;
  }
};

}  // namespace detail

/// A target that calls `callback(outcome)` once. Small trivially copyable closures need no memory,
/// others one allocation; either way the slot must be completed exactly once.
template <class Callback>
[[nodiscard]] completion_slot make_callback_slot(Callback callback) {
  completion_slot slot{&detail::callback_target<Callback>::instance(), 0};
  if constexpr (detail::fits_in_data<Callback>)
    std::memcpy(&slot.data, &callback, sizeof(Callback));
  else
    slot.data = reinterpret_cast<std::uintptr_t>(new Callback(std::move(callback)));
  return slot;
}

}  // namespace partita::actors
