// The records of a run in the order of its input, from the moment they are offered until all in
// front of them are answered: where the input stands, and what failed, in order.
//
// Invariants
// 1. What is taken off comes in the order of the input, each record once, after its answer.
// 2. A record stays where it is until it is taken: its callback carries one pointer to it.
// 3. There is a limit to records and to the bytes that are kept of them; at the limit the reader
//    waits for the oldest answer.
//
// Threads: answer() on lanes; the rest on the main thread. It outlives the producer.
#pragma once

#include "api/cli/delivery_ledger.hpp"
#include "api/cli/input_record.hpp"

#include <partita/outcome.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace partita::cli {

class open_records {
 public:
  using hook = void (*)(void* context) noexcept;
  /// `on_failure` is called on the lane after an answer that is not `delivered`.
  open_records(hook on_failure, void* context) noexcept
      : on_failure_(on_failure), context_(context) {}

  class entry {
   public:
    entry(open_records& owner, delivery_ledger::topic_entry& topic, std::uint64_t line)
        : owner_(owner), topic_(topic), line_(line) {}

    void answer(const outcome& told);
    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }
    [[nodiscard]] const input_record* content() const noexcept { return content_.get(); }
    /// Null: delivered.
    [[nodiscard]] const failed* failure() const noexcept { return failure_.get(); }

   private:
    friend class open_records;
    open_records& owner_;
    delivery_ledger::topic_entry& topic_;
    std::uint64_t line_;
    std::size_t bytes_ = 0;
    std::unique_ptr<input_record> content_;
    std::unique_ptr<failed> failure_;
    std::atomic<bool> answered_{false};
  };

  /// Before it is offered: the answer may come before the call returns.
  entry& add(delivery_ledger::topic_entry& topic, std::uint64_t line,
             std::unique_ptr<input_record> content);
  /// The last one was not accepted.
  void withdraw_last();
  [[nodiscard]] bool is_full() const noexcept;
  /// Some record failed; one that asked for no acknowledgement and got none did not. Any thread.
  [[nodiscard]] bool any_failed() const noexcept { return any_failed_.load(); }

  /// Calls `see` with each that is answered and has nothing unanswered in front of it.
  template <class See>
  void take_answered(See see) {
    while (!entries_.empty() && entries_.front().answered_.load(std::memory_order_acquire)) {
      see(static_cast<const entry&>(entries_.front()));
      bytes_ -= entries_.front().bytes_;
      entries_.pop_front();
    }
  }

 private:
  const hook on_failure_;
  void* const context_;
  std::deque<entry> entries_;
  std::size_t bytes_ = 0;
  std::atomic<bool> any_failed_{false};
};

}  // namespace partita::cli
