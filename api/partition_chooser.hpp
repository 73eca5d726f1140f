// Chooses partitions for the records of one topic: as the record says, by its key, by the
// application's partitioner, or without a key.
//
// Keyless records stick to one partition for some bytes and then go to another (KIP-794), so that
// batches fill. With the adaptive choice a partition's chance falls with its queue, so that a slow
// broker is not fed at the speed of a fast one.
//
// Invariants
// 1. A keyed choice depends on the key and the count alone, never on availability: a key must not
//    move because a broker is away.
// 2. A keyless choice is an available partition whenever there is one.
// 3. With one thread and one seed the choices are the same in every run.
//
// Threads: choose() may be called by any number of threads at once and takes no lock. The state of
// stickiness is one word; a thread that loses the race for it often goes on without being counted.
#pragma once

#include <partita/config.hpp>
#include <partita/ids.hpp>
#include <partita/partitioner.hpp>
#include <partita/record.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace partita {

/// What a chooser needs of a producer_config.
struct chooser_settings {
  partitioner_kind kind = partitioner_kind::murmur2_random;
  const partitioner* custom = nullptr;  ///< not owned
  bool ignore_keys = false;
  bool adaptive = true;
  std::size_t sticky_bytes = 64 * 1024;
};

[[nodiscard]] chooser_settings chooser_settings_of(const producer_config& config) noexcept;

struct partition_choice {
  partition_id partition;  ///< known() if there is no error
  client_errc error{};     ///< invalid_partition or partitioner_failed
};

class partition_chooser {
 public:
  /// Draws come from the seed; give each topic another one.
  partition_chooser(const chooser_settings& settings, std::uint64_t seed) noexcept;

  /// `size` is what the record adds to its batch.
  [[nodiscard]] partition_choice choose(const record& record, std::size_t size,
                                        const partition_view& partitions) noexcept;

 private:
  std::int32_t choose_sticky(std::size_t size, const partition_view& partitions) noexcept;
  std::int32_t choose_random(const partition_view& partitions) noexcept;
  std::int32_t choose_next(const partition_view& partitions) noexcept;
  std::int32_t choose_short_queue(const partition_view& partitions) noexcept;
  std::uint64_t draw() noexcept;

  const chooser_settings settings_;
  std::atomic<std::uint64_t> random_;     // state of a splitmix64 generator, which is a counter
  std::atomic<std::uint64_t> sticky_{0};  // (partition + 1) << 32 | bytes that went there
  std::atomic<std::uint64_t> turn_{0};
};

}  // namespace partita
