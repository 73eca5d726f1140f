// How far a source has been delivered: for programs that read positions from somewhere (offsets of
// a file, a queue, a change log), produce what they read to any partitions, and store where to go
// on.
//
//     partita::ack_watermark marks(first_position);
//     ...
//     if (!marks.begin(position)) ...          // too many are open: wait for answers
//     producer.produce(record, marks.watch(position));
//     ...
//     store(marks.watermark());                // nothing below it is open, failed or unknown
//
// Positions begin in rising order, gaps are allowed. A position whose record was not delivered
// holds the watermark until release() says that the application has dealt with it.
//
// Threads: any, one mutex for a few steps.
#pragma once

#include <partita/outcome.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace partita {

class ack_watermark {
 public:
  /// Everything below `start` is done. At most `open_max` positions lie above the watermark.
  explicit ack_watermark(std::int64_t start = 0, std::size_t open_max = 1'000'000) noexcept;
  ack_watermark(const ack_watermark&) = delete;
  ack_watermark& operator=(const ack_watermark&) = delete;

  /// The record of this position will be produced. False, and nothing is noted: too many are
  /// open, or the position is not above all that began before.
  [[nodiscard]] bool begin(std::int64_t position);
  /// Its answer. A delivered one lets the watermark pass; any other holds it. Of a position that
  /// has an answer or never began nothing is changed (false).
  bool note(std::int64_t position, const outcome& answer);
  /// A position that was held, or whose record will not be produced after all, holds it no more.
  /// False if there is no such position.
  bool release(std::int64_t position);

  /// A callback for produce() that notes the answer; this object must outlive it.
  [[nodiscard]] auto watch(std::int64_t position) {
    return [this, position](const outcome& answer) { note(position, answer); };
  }
  /// The same, and goes on to another callback.
  template <class Callback>
  [[nodiscard]] auto watch(std::int64_t position, Callback callback) {
    return [this, position, next = std::move(callback)](const outcome& answer) mutable {
      note(position, answer);
      next(answer);
    };
  }

  /// Every position that began below it was delivered or released: where to go on after a crash.
  [[nodiscard]] std::int64_t watermark() const;
  /// Positions above the watermark that were not delivered, in order, at most `count_max`.
  [[nodiscard]] std::vector<std::int64_t> held(std::size_t count_max = 100) const;
  /// How many lie at or above the watermark: open, held, or delivered behind one of those.
  [[nodiscard]] std::size_t pending() const;

 private:
  enum class standing : std::uint8_t { open, held, done };
  struct mark {
    std::int64_t position;
    standing state;
  };
  [[nodiscard]] mark* find(std::int64_t position);
  void advance();

  const std::size_t open_max_;
  mutable std::mutex mutex_;
  std::deque<mark> marks_;  // rising positions; the first one is not done
  std::int64_t next_;       // above everything that began
};

}  // namespace partita
