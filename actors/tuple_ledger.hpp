// The tuples a partition has handed to the transport, checked before every write (L1, L9, I3, I12).
//
// A broker compares (producer id, epoch, sequences) only: other bytes under a used tuple are
// acknowledged with the first batch's offset and dropped (franz-go #1217). Offsets can not show
// that, so the ledger refuses the write itself.
//
// Invariants
// 1. Entries are in the order of their first write. Outstanding ones are never forgotten; of the
//    others (settled, abandoned) at least the newest five are kept.
// 2. No two entries of one (id, epoch) overlap in sequences; a released entry is gone.
// 3. Acknowledged offset ranges of one topic incarnation are disjoint and ordered as first written.
//    Another one begins with a topic that is made again, and when the application goes on with a
//    log that lost acknowledged records.
//
// Threads: owned by one partition. No allocation; under 512 bytes.
#pragma once

#include "actors/producer_stamp.hpp"

#include <partita/ids.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace partita::actors {

/// A numbered batch: its stamp, its records, and the checksum that covers both.
struct batch_tuple {
  batch_stamp stamp;
  std::int32_t count = 0;
  std::uint32_t crc32c = 0;
  friend bool operator==(const batch_tuple&, const batch_tuple&) noexcept = default;
};

enum class ledger_answer : std::uint8_t {
  ok,
  contradiction,   ///< halt the partition; never report success
  full,            ///< more batches outstanding than a partition may have: send nothing
  not_remembered,  ///< settled() only: an abandoned batch that has left the ledger, or never
                   ///< written
};

class tuple_ledger {
 public:
  static constexpr std::size_t outstanding_max = 7;  ///< five in flight and a margin
  static constexpr std::size_t ended_min = 5;        ///< the size of a broker's own memory

  /// May these bytes go out under this tuple? Yes for the identical bytes again, and for new bytes
  /// that continue the newest epoch's numbering or open a newer epoch (or another id) at sequence
  /// 0.
  [[nodiscard]] ledger_answer check_before_write(const batch_tuple& tuple) const;

  /// The tuple goes to the transport. check_before_write must have agreed. Repeated on each
  /// attempt.
  void record_sent(const batch_tuple& tuple);

  /// Every attempt is proven unwritten: the tuple may be used again. Release whatever of the epoch
  /// is to be released before the next write. No effect on what is not outstanding.
  void release_unwritten(const batch_tuple& tuple);

  /// Given up in doubt. It stays known while there is room, and may still be retried or settled. No
  /// effect on what is not outstanding: a batch whose write was refused is given up like any other.
  void abandoned(const batch_tuple& tuple);

  /// Acknowledged at this offset (none: not known). A contradiction changes nothing, but where it
  /// claims to lie is remembered for begin_anew().
  [[nodiscard]] ledger_answer settled(const batch_tuple& tuple, partita::offset base_offset);

  /// The topic was recreated: offsets of the old log say nothing about the new one.
  void new_incarnation();

  /// Some success would be in order if the log had lost what was acknowledged before.
  [[nodiscard]] bool another_log_suspected() const noexcept { return claimed_end_.known(); }
  /// It is believed: the log is another one, and what contradicted lies in it. So what is
  /// acknowledged from now on lies behind that, though before what the old log held.
  void begin_anew();

  [[nodiscard]] std::size_t outstanding() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  enum class standing : std::uint8_t { outstanding, settled, abandoned };

  struct entry {
    producer_id id;
    partita::offset base_offset;
    sequence base;
    std::int32_t count = 0;
    std::uint32_t crc32c = 0;
    producer_epoch epoch;
    standing state = standing::outstanding;
    std::uint8_t incarnation = 0;
  };
  static constexpr std::size_t capacity = outstanding_max + ended_min;
  static constexpr std::size_t absent = capacity;

  [[nodiscard]] std::size_t find(const batch_tuple& tuple) const noexcept;
  [[nodiscard]] bool is_next(const batch_tuple& tuple) const noexcept;
  [[nodiscard]] bool continues(const batch_tuple& tuple) const;
  [[nodiscard]] bool ordered(std::size_t at, partita::offset base_offset) const noexcept;
  void erase(std::size_t at) noexcept;
  void make_room();

  std::array<entry, capacity> entries_{};
  std::int64_t remembered_records_ = 0;
  std::uint8_t size_ = 0;
  std::uint8_t incarnation_ = 0;
  /// First offset behind the acknowledged batches that were forgotten, in this incarnation.
  partita::offset floor_;
  /// First offset behind what was acknowledged against the order, since the last beginning.
  partita::offset claimed_end_;
};

static_assert(sizeof(tuple_ledger) <= 512, "ten thousand idle partitions pay for each byte");

}  // namespace partita::actors
