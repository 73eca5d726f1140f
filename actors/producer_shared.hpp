// What all actors of one producer share: its memory account, its batches, its counters, its log.
//
// Threads: any; each member says how it is synchronised.
#pragma once

#include "actors/batch_pool.hpp"
#include "actors/budget.hpp"
#include "actors/completion.hpp"
#include "actors/environment.hpp"
#include "actors/event_hub.hpp"
#include "actors/ticket_directory.hpp"

#include <partita/failure_handler.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace partita::actors {

/// Syslog's levels, as far as they are used.
enum class log_level : int { error = 3, warning = 4, notice = 5, info = 6, debug = 7 };

struct log_sink {
  void (*write)(void* context, int level, std::string_view line) = nullptr;
  void* context = nullptr;
  int level_max = 6;

  /// The text is only built when the level is wanted: pass a callable that returns it.
  template <class Text>
  void operator()(log_level level, Text&& text) const {
    if (write != nullptr && static_cast<int>(level) <= level_max)
      write(context, static_cast<int>(level), printable(text()));
  }

 private:
  /// Peers' words are part of some lines: no control characters, and not without end.
  static std::string printable(std::string line) {
    constexpr std::size_t length_max = 1000;
    if (line.size() > length_max) line.resize(length_max);
    for (char& each : line)
      if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) each = '?';
    return line;
  }
};

/// The text, and what the code means where the text does not say it already.
[[nodiscard]] inline std::string with_message(const std::string& text, std::error_code code) {
  const std::string meaning = code.message();
  return text.find(meaning) != std::string::npos ? text : text + " (" + meaning + ")";
}

class partition_actor;

struct producer_shared {
  explicit producer_shared(std::uint64_t memory_bytes) : room(memory_bytes) {}

  budget room;            // synchronised by itself
  batch_pool batches;     // synchronised by itself
  log_sink log;           // constant after the start
  event_hub events;       // synchronised by itself
  failure_handler judge;  // constant after the start; null: the policy decides
  std::atomic<std::uint64_t> impossible_verdicts{0};
  ticket_directory tickets;  // synchronised by itself
  std::atomic<std::uint64_t> callback_exceptions{0};
  std::atomic<std::uint64_t> contradictions{0};
  std::atomic<std::uint64_t> rebootstraps{0};
  std::atomic<std::uint64_t> slow_callbacks{0};
  std::atomic<std::int64_t> slow_logged_ns{std::numeric_limits<std::int64_t>::min()};
  const clock_source* clock = nullptr;  // constant after the start
  /// A partition holds less than before; null: nobody wants to know. Constant after the start.
  void (*on_room)(void* context, const partition_actor& of) noexcept = nullptr;
  void* room_context = nullptr;

  answer_counters answered;  // of the records that a route or a partition had

  /// A callback threw; `of` is a producer_shared. For observers.
  static void note_exception(void* of, std::exception_ptr what) noexcept;
  /// A callback held a lane up. One line a minute.
  void note_slow_callback(duration took) noexcept;
  /// For an actor or a call that answers records; reports what user code does.
  [[nodiscard]] completion_observer observe() noexcept;
};

inline completion_observer producer_shared::observe() noexcept {
  completion_observer observer;
  observer.total = &answered;
  observer.context = this;
  observer.clock = clock;
  observer.on_slow = [](void* context, duration took) noexcept {
    static_cast<producer_shared*>(context)->note_slow_callback(took);
  };
  observer.on_exception = &note_exception;
  return observer;
}

inline void producer_shared::note_exception(void* of, std::exception_ptr) noexcept {
  auto& shared = *static_cast<producer_shared*>(of);
  shared.callback_exceptions.fetch_add(1, std::memory_order_relaxed);
  shared.log(log_level::error, [] { return "a callback threw; the exception was dropped"; });
}

inline void producer_shared::note_slow_callback(duration took) noexcept {
  slow_callbacks.fetch_add(1, std::memory_order_relaxed);
  constexpr std::int64_t minute_ns = 60'000'000'000;
  const std::int64_t now_ns = clock->now().time_since_epoch().count();
  std::int64_t last = slow_logged_ns.load(std::memory_order_relaxed);
  if (last != std::numeric_limits<std::int64_t>::min() && now_ns - last < minute_ns) return;
  if (!slow_logged_ns.compare_exchange_strong(last, now_ns, std::memory_order_relaxed)) return;
  log(log_level::warning, [&] {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
    return "callbacks held a lane up for " + std::to_string(ms) +
           " ms by the clock (they waited, worked, or got no processor); nothing else of it runs "
           "meanwhile";
  });
}

}  // namespace partita::actors
