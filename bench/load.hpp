// What the measuring programs share: the same records for every client, the pace at which they are
// produced, and what a run costs.
//
// Invariants
// 1. Every client gets the same keys and values in the same order.
// 2. Results are lines "NAME VALUE" on stdout; compare reads them.
//
// Threads: one.
#pragma once

#include "bench/broker_statistics.hpp"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace partita::bench {

inline constexpr std::size_t key_size = 16;

/// Records from a pool that is larger than the caches next to the core, JSON-like, with keys.
class load {
 public:
  explicit load(std::size_t value_size) : keys_(pool), values_(values_of(value_size)) {
    for (std::size_t i = 0; i < pool; ++i) {
      char text[32];
      std::snprintf(text, sizeof text, "customer-%07zu", i);
      keys_[i] = text;
    }
    std::uint32_t state = 12345;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      std::string& value = values_[i] = "{\"order\":" + std::to_string(i) + ",\"text\":\"";
      while (value.size() + 2 < value_size) {
        state = state * 1664525U + 1013904223U;
        value.push_back(static_cast<char>('a' + (state >> 27U) % 26));
      }
      value += "\"}";
      value.resize(value_size, ' ');
    }
  }
  [[nodiscard]] const std::string& key(std::uint64_t i) const { return keys_[spread(i)]; }
  [[nodiscard]] const std::string& value(std::uint64_t i) const {
    return values_[i % values_.size()];
  }

 private:
  static constexpr std::size_t pool = 4096;
  /// A power of two. Large values are fewer: together 16 MiB, but not below 16 of them.
  static std::size_t values_of(std::size_t value_size) {
    std::size_t count = pool;
    while (count > 16 && count * value_size > (std::size_t{16} << 20)) count /= 2;
    return count;
  }
  static std::size_t spread(std::uint64_t i) { return i * 2654435761U % pool; }

  std::vector<std::string> keys_, values_;
};

struct moment {
  std::chrono::steady_clock::time_point wall;
  double cpu_seconds;
  std::uint64_t allocations;
};

/// Counted by libheap_counter.so when it is preloaded, else 0.
inline std::uint64_t allocations_now() noexcept {
  using counter = std::uint64_t (*)();
  static const auto count =
      reinterpret_cast<counter>(::dlsym(RTLD_DEFAULT, "partita_bench_allocations"));
  return count == nullptr ? 0 : count();
}

inline moment now() noexcept {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {std::chrono::steady_clock::now(), seconds(used.ru_utime) + seconds(used.ru_stime),
          allocations_now()};
}

/// With all digits of a count.
inline void tell(const char* name, double value) { std::printf("%s %.12g\n", name, value); }

/// The cost of `records` records between two moments, per record.
inline void tell_cost(const moment& from, const moment& to, std::uint64_t records) {
  const double count = static_cast<double>(records);
  tell("cpu_ns", (to.cpu_seconds - from.cpu_seconds) * 1e9 / count);
  tell("records_per_second", count / std::chrono::duration<double>(to.wall - from.wall).count());
  tell("allocations", static_cast<double>(to.allocations - from.allocations) / count);
}

/// As PREFIXp50_us and PREFIXp99_us.
inline void tell_percentiles(std::vector<double>& microseconds, const std::string& prefix = {}) {
  if (microseconds.empty()) return;
  std::sort(microseconds.begin(), microseconds.end());
  const auto at = [&](double share) {
    return microseconds[static_cast<std::size_t>(share *
                                                 static_cast<double>(microseconds.size() - 1))];
  };
  tell((prefix + "p50_us").c_str(), at(0.5));
  tell((prefix + "p99_us").c_str(), at(0.99));
}

/// Resident memory of this process.
inline double resident_bytes() {
  unsigned long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// The most that was resident of this process since it began.
inline double peak_resident_bytes() {
  unsigned long kilobytes = 0;
  if (std::FILE* const file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::sscanf(line, "VmHWM: %lu", &kilobytes) == 1) break;
    std::fclose(file);
  }
  return static_cast<double>(kilobytes) * 1024;
}

/// What the client took at most, beyond what was resident before it was made.
inline void tell_memory(double resident_before) {
  tell("memory_bytes", std::max(0.0, peak_resident_bytes() - resident_before));
}

/// Calls produce(i) for 0 <= i < count at a steady rate: once a millisecond what is due by then.
/// tick() comes after each such burst.
template <class Produce, class Tick>
void at_rate(std::uint64_t per_second, std::uint64_t count, Produce&& produce, Tick&& tick) {
  const auto start = std::chrono::steady_clock::now();
  auto next = start;
  for (std::uint64_t made = 0; made < count; next += std::chrono::milliseconds(1)) {
    std::this_thread::sleep_until(next);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const auto due =
        static_cast<std::uint64_t>(elapsed.count() * static_cast<double>(per_second)) + 1;
    for (; made < std::min(due, count); ++made) produce(made);
    tick();
  }
}

/// What the broker saw between two looks, in steady state.
class broker_watch {
 public:
  explicit broker_watch(const char* file) : seen_(map_statistics(file, false)) { begin(); }
  [[nodiscard]] bool usable() const noexcept { return seen_ != nullptr; }

  void begin() noexcept {
    if (seen_ == nullptr) return;
    start_ = std::chrono::steady_clock::now();
    requests_ = seen_->produce_requests;
    batches_ = seen_->batches;
    records_ = seen_->records;
  }
  /// One of the brokers answers nothing from now on; -1: all do.
  void silence(std::int64_t broker) noexcept { seen_->silent_broker = broker; }
  /// All of the brokers rest until this is called with false.
  void hold(bool held) noexcept { seen_->held = held ? 1 : 0; }
  [[nodiscard]] std::uint64_t records() const noexcept { return seen_->records - records_; }
  [[nodiscard]] double seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void tell_counts() const {
    const double batches = static_cast<double>(seen_->batches - batches_);
    tell("requests_per_second",
         static_cast<double>(seen_->produce_requests - requests_) / seconds());
    tell("records_per_batch", static_cast<double>(records()) / std::max(batches, 1.0));
    tell("batches_per_request",
         batches / std::max(1.0, static_cast<double>(seen_->produce_requests - requests_)));
    tell("refused", static_cast<double>(seen_->out_of_sequence + seen_->broken));
  }
  /// Of one partition, whose answers take `delay_seconds`.
  void tell_pipelining(double delay_seconds) const {
    tell("batches_per_round_trip",
         static_cast<double>(seen_->batches - batches_) / (seconds() / delay_seconds));
  }

 private:
  broker_statistics* seen_;
  std::chrono::steady_clock::time_point start_;
  std::uint64_t requests_ = 0, batches_ = 0, records_ = 0;
};

/// "--name value" pairs.
class arguments {
 public:
  arguments(int count, char** values) : values_(values + 1, values + count) {}
  [[nodiscard]] const char* text(std::string_view name, const char* fallback) const {
    for (std::size_t i = 0; i + 1 < values_.size(); ++i)
      if (values_[i] == name) return values_[i + 1];
    return fallback;
  }
  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t fallback) const {
    const char* const found = text(name, nullptr);
    return found == nullptr ? fallback : std::strtoull(found, nullptr, 10);
  }

 private:
  std::vector<const char*> values_;
};

}  // namespace partita::bench
