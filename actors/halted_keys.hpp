// The keys that are halted in a partition, each from the record on that failed.
//
// Invariants
// 1. A key is here once. Halted again, the earlier of the two places counts.
// 2. At most keys_max; whoever wants to add one more halts the whole partition (L8).
//
// Threads: owned by one partition. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

namespace partita::actors {

struct halted_key {
  std::uint64_t from = 0;  ///< records with this ordinal or a later one do not pass
  std::error_code cause;
  std::string key;  ///< for people and status(); cut off when it is long
};

class halted_keys {
 public:
  static constexpr std::size_t keys_max = 10'000;
  static constexpr std::size_t key_bytes_max = 1'024;

  [[nodiscard]] bool empty() const noexcept { return keys_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  [[nodiscard]] bool full() const noexcept { return keys_.size() >= keys_max; }
  /// Null: not halted. A hash of 0 stands for no key, which is never halted.
  [[nodiscard]] const halted_key* find(std::uint32_t hash) const;
  /// A record with this key and ordinal does not pass.
  [[nodiscard]] bool holds(std::uint32_t hash, std::uint64_t ordinal) const;

  /// True: it was not halted before.
  bool add(std::uint32_t hash, std::uint64_t from, std::error_code cause, std::string_view key);
  void remove(std::uint32_t hash) { keys_.erase(hash); }
  void clear() { keys_.clear(); }

  [[nodiscard]] const std::map<std::uint32_t, halted_key>& all() const noexcept { return keys_; }

 private:
  std::map<std::uint32_t, halted_key> keys_;
};

}  // namespace partita::actors
