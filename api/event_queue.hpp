// The queue behind an event_stream: partitions put events in, one reader takes them out.
//
// Invariants
// 1. At most `capacity` events; the oldest goes first, and is counted.
// 2. A reader that waits is answered exactly once: by an event, or by the end.
//
// Threads: any; a mutex, which is not held while a reader continues.
#pragma once

#include "actors/control_command.hpp"

#include <partita/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace partita::detail {

class event_queue final : public actors::partition_event_sink {
 public:
  using next_state = operation_state<std::optional<partition_event>>;

  event_queue(std::size_t capacity, callback_reporter& reporter);
  ~event_queue() override;

  void on_event(const partition_event& what) noexcept override;
  [[nodiscard]] bool ended() const noexcept override;
  void end() noexcept override;

  operation<std::optional<partition_event>> next();
  [[nodiscard]] std::uint64_t lost() const noexcept;

 private:
  void drop_abandoned() noexcept;

  const std::size_t capacity_;
  callback_reporter& reporter_;
  mutable std::mutex mutex_;
  std::deque<partition_event> events_;
  next_state* waiting_ = nullptr;
  std::uint64_t lost_ = 0;
  bool ended_ = false;
};

/// What an event_stream owns. (<memory> would cost each user of <partita/producer.hpp> compile
/// time.)
struct event_reader {
  std::shared_ptr<event_queue> queue;
};

}  // namespace partita::detail
