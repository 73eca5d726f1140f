// What happens to a producer's partitions, as a stream to be awaited.
//
//     partita::event_stream events = producer.events();
//     while (auto event = co_await events.next())
//       if (event->change == partita::partition_change::halted) alert(*event);
//
// Order: the events of one partition come in the order in which they happened.
// Thread: one at a time. A coroutine that waits continues on the partition's lane, inside its turn.
// Lifetime: may outlive the producer; the stream then ends.
// Errors: none. A stream that is not read in time loses its oldest events and says how many.
#pragma once

#include <partita/control.hpp>
#include <partita/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace partita {

namespace detail {
struct event_reader;
class event_queue;
}  // namespace detail

class event_stream {
 public:
  /// By producer::events(). Owns the reader.
  explicit event_stream(detail::event_reader* reader) noexcept : reader_(reader) {}
  event_stream(event_stream&& other) noexcept : reader_(std::exchange(other.reader_, nullptr)) {}
  event_stream& operator=(event_stream other) noexcept {
    std::swap(reader_, other.reader_);
    return *this;
  }
  ~event_stream();

  /// The next event; none: the producer is gone. One call at a time.
  [[nodiscard]] operation<std::optional<partition_event>> next();
  /// Events that were dropped because the stream was full.
  [[nodiscard]] std::uint64_t lost() const;

 private:
  [[nodiscard]] detail::event_queue& queue() const;
  detail::event_reader* reader_;
};

}  // namespace partita
