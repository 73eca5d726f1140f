// What a single produce call can ask for besides the record: its own limits, and ways to cancel it.
//
// Cancelling touches one record and no neighbour. A record no byte of which was sent is taken out
// and ends not_written, code cancelled. Of a batch that was sent the answer is given at once as
// unknown, with a ticket, and the batch goes on: it may be written. An answer that was read before
// the cancellation is looked at wins. Cancelling twice, after the answer, or a record of a closed
// producer does nothing.
//
// Threads: values. A cancellation may come from any thread, also from inside a callback; the record
// is then answered on its lane, never inside the call that cancels.
#pragma once

#include <partita/duration.hpp>

#include <optional>
#include <stop_token>
#include <utility>

namespace partita {

/// Names a record from before it is produced, for producer.cancel(). One that was made by default
/// names nothing. Copies name the same record; given to several records it names them all.
class record_handle {
 public:
  record_handle() noexcept : source_(std::nostopstate) {}
  [[nodiscard]] static record_handle make() { return record_handle(std::stop_source()); }

  [[nodiscard]] explicit operator bool() const noexcept { return source_.stop_possible(); }
  [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }
  /// False if it was cancelled before, or names nothing.
  bool cancel() noexcept { return source_.request_stop(); }

  friend bool operator==(const record_handle&, const record_handle&) noexcept = default;

 private:
  explicit record_handle(std::stop_source source) noexcept : source_(std::move(source)) {}
  std::stop_source source_;
};

struct produce_options {
  /// Cancels the record, wherever it is.
  std::stop_token cancellation{};
  /// The same for producer.cancel().
  record_handle handle{};
  /// Cancels the record only until it is admitted, which means: while it waits for room in
  /// buffer.memory or for its topic's partitions. A stop after that does nothing.
  std::stop_token admission_cancellation{};
  /// In place of delivery.timeout.ms; counts from the admission. More than 12 days counts as 12
  /// days. Zero or less has passed already: the record ends as at its deadline, and is never sent.
  std::optional<std::chrono::milliseconds> delivery_timeout{};
  /// In place of max.block.ms. Zero or less does not wait.
  std::optional<std::chrono::milliseconds> admission_timeout{};

  /// Whether anything is asked for at all.
  [[nodiscard]] bool any() const noexcept {
    return cancellation.stop_possible() || handle || admission_cancellation.stop_possible() ||
           delivery_timeout || admission_timeout;
  }
};

}  // namespace partita
