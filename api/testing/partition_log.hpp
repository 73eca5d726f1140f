// The log of one replica: batches as they were appended, and the producers it remembers from them.
//
// Invariants
// 1. Offsets are dense as they are written: a batch starts where the one before it ended. Cleaning
//    leaves gaps.
// 2. Batches never change; replicas share them. What cleaning leaves of one has its serial, so "has
//    the same batch" is equality of serials.
// 3. Moving the start up keeps producer state (KIP-360); truncation rebuilds it from what is left.
//
// Threads: pure, one owner.
#pragma once

#include "api/testing/batch_bytes.hpp"
#include "api/testing/producer_state.hpp"

#include <partita/testing/cluster.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

namespace partita::testing {

struct stored_batch {
  batch_header header;  ///< as stored: with its final place, epoch and timestamps
  std::vector<std::byte> bytes;
  std::uint64_t serial = 0;  ///< of the batch that was written; one of its partition has it

  [[nodiscard]] std::int64_t first_offset() const noexcept { return header.base_offset; }
  [[nodiscard]] std::int64_t last_offset() const noexcept {
    return header.base_offset + header.last_offset_delta;
  }
  [[nodiscard]] batch_tuple tuple() const noexcept {
    return {header.producer_id, header.producer_epoch, header.base_sequence,
            header.last_sequence()};
  }
};

/// A transaction that was aborted: where it began, and its marker.
struct aborted_transaction {
  std::int64_t producer_id = -1;
  std::int64_t first_offset = -1;
  std::int64_t last_offset = -1;
};

using batch_pointer = std::shared_ptr<const stored_batch>;

class partition_log {
 public:
  [[nodiscard]] std::int64_t start() const noexcept { return start_; }
  [[nodiscard]] std::int64_t end() const noexcept { return end_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool ever_written() const noexcept { return end_ > 0; }
  [[nodiscard]] const std::deque<batch_pointer>& batches() const noexcept { return batches_; }
  [[nodiscard]] producer_state& producers() noexcept { return producers_; }
  [[nodiscard]] const producer_state& producers() const noexcept { return producers_; }

  [[nodiscard]] const std::vector<aborted_transaction>& aborted() const noexcept {
    return aborted_;
  }
  /// Where the oldest open transaction began; end() while none is open.
  [[nodiscard]] std::int64_t first_unstable() const noexcept;

  /// The batch starts at end(), or behind a gap. Followers store what the leader has, without any
  /// check.
  void append(batch_pointer batch);
  /// Forgets everything and goes on at `offset`.
  void begin_at(std::int64_t offset);
  /// The first batch that holds `offset` or something after it; batches().size() if none.
  [[nodiscard]] std::size_t find(std::int64_t offset) const noexcept;
  /// Moves the start up; whole batches below it are dropped.
  void delete_before(std::int64_t offset);
  /// Compacts what lies below `before`, and returns what was removed. What is known of producers
  /// stays.
  std::vector<log_record> clean(std::int64_t before);
  /// Drops every batch that reaches `offset` or beyond.
  void truncate(std::int64_t offset);
  /// Up to there this log holds what `leader` holds.
  [[nodiscard]] std::int64_t common_end(const partition_log& leader) const noexcept;
  /// Makes this log a prefix of `leader` and says how many batches were dropped.
  std::size_t truncate_to_common(const partition_log& leader);

 private:
  void remember(const stored_batch& batch);

  std::deque<batch_pointer> batches_;
  std::int64_t start_ = 0;
  std::int64_t end_ = 0;
  std::int64_t bytes_ = 0;
  producer_state producers_;
  std::vector<aborted_transaction> aborted_;
  std::set<std::uint64_t> cleaned_;  // serials of batches of which nothing is left
};

}  // namespace partita::testing
