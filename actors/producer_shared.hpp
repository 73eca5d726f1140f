// What all actors of one producer share: its memory account, its batches, its counters, its log.
//
// Threads: any; each member says how it is synchronised.
#pragma once

#include "actors/batch_pool.hpp"
#include "actors/budget.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

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

struct producer_shared {
  explicit producer_shared(std::uint64_t memory_bytes) : room(memory_bytes) {}

  budget room;         // synchronised by itself
  batch_pool batches;  // synchronised by itself
  log_sink log;        // constant after the start
  std::atomic<std::uint64_t> next_ticket{1};
  std::atomic<std::uint64_t> callback_exceptions{0};
  std::atomic<std::uint64_t> contradictions{0};
};

}  // namespace partita::actors
