// What one replica of a partition remembers of its producers (kafka-semantics: dedup window,
// epochs).
//
// Invariants
// 1. At most five batches per producer id; storing a batch of another epoch empties the window
// first.
// 2. Nothing is remembered of a batch that was not appended (KAFKA-6683).
// 3. Only (id, epoch, base sequence, last sequence) is compared, never content.
//
// Threads: pure, one owner.
#pragma once

#include <partita/error.hpp>
#include <partita/ids.hpp>
#include <partita/testing/cluster.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace partita::testing {

/// One remembered batch, as Kafka keeps it: everything counts back from the last record.
struct batch_metadata {
  std::int32_t last_sequence = -1;
  std::int64_t last_offset = -1;
  std::int32_t offset_delta = 0;
  std::int64_t timestamp_ms = -1;

  [[nodiscard]] std::int32_t first_sequence() const noexcept;
  [[nodiscard]] std::int64_t first_offset() const noexcept { return last_offset - offset_delta; }
};

struct producer_entry {
  std::int16_t epoch = -1;
  std::int64_t last_timestamp_ms = -1;
  std::int64_t transaction_start = -1;  ///< offset of the first batch of the open transaction
  std::int32_t coordinator_epoch = -1;  ///< of the last marker
  std::deque<batch_metadata> window;    ///< oldest first, at most five
};

/// The tuple of a batch that asks to be appended.
struct batch_tuple {
  std::int64_t producer_id = -1;
  std::int16_t epoch = -1;
  std::int32_t base_sequence = -1;
  std::int32_t last_sequence = -1;
};

class producer_state {
 public:
  static constexpr std::size_t window_max = 5;

  /// The remembered batch that this one repeats, if any, among the newest `depth`.
  [[nodiscard]] const batch_metadata* find_duplicate(const batch_tuple& tuple,
                                                     std::size_t depth = window_max) const noexcept;

  /// Whether the tuple may follow what is remembered: none, 45, 47 or (before 2.5) 59.
  [[nodiscard]] broker_errc check(const batch_tuple& tuple, bool ever_written,
                                  emulation version) const noexcept;

  void remember(const batch_tuple& tuple, std::int64_t first_offset, std::int64_t last_offset,
                std::int64_t max_timestamp_ms);

  /// The producer's transaction starts there, if none is open.
  void begin_transaction(std::int64_t producer_id, std::int64_t offset);
  /// A marker: of a newer epoch it empties the window. Returns where the transaction began; -1:
  /// none was open.
  std::int64_t end_transaction(std::int64_t producer_id, std::int16_t epoch,
                               std::int32_t coordinator_epoch, std::int64_t timestamp_ms);
  /// Null: nothing is known.
  [[nodiscard]] const producer_entry* find(std::int64_t producer_id) const noexcept;

  /// Drops producers whose newest *record timestamp* is that old, however active they are.
  void expire(std::int64_t now_ms, std::int64_t limit_ms);
  /// A restart: snapshots hold one batch per producer.
  void keep_last_batches();
  void clear() noexcept { producers_.clear(); }

  [[nodiscard]] const std::map<std::int64_t, producer_entry>& producers() const noexcept {
    return producers_;
  }

 private:
  std::map<std::int64_t, producer_entry> producers_;  // ordered: answers list ids in one order
};

}  // namespace partita::testing
