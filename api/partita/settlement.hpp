// What became of a record whose fate was unknown, as far as evidence tells.
//
// Invariants
// 1. delivered: an answer of the broker, or the log itself, shows the record at that offset.
// 2. never_written: the log was read up to a newer record that shuts out what is older, and the
//    record is not there. It never will be.
// 3. There is no guess: what is not proven is undecidable, with the reason.
#pragma once

#include <partita/outcome.hpp>

#include <system_error>
#include <utility>
#include <variant>

namespace partita {

/// The record is not in the log, and never will be.
struct never_written {};

/// It can not be told (any more).
struct undecidable {
  /// log_not_readable, log_trimmed, log_changed, log_too_long, not_fenced, not_numbered,
  /// unsupported_version; closed when the producer ended first; ticket_unknown, ticket_foreign,
  /// ticket_expired.
  std::error_code reason{};
  std::error_code cause{};  ///< what the broker said, if it did
};

/// The answer to settle().
class [[nodiscard]] settlement {
 public:
  settlement(partita::delivered verdict) : verdict_(std::move(verdict)) {}    // NOLINT: by intent
  settlement(partita::never_written verdict) : verdict_(verdict) {}           // NOLINT
  settlement(partita::undecidable verdict) : verdict_(std::move(verdict)) {}  // NOLINT

  [[nodiscard]] bool is_delivered() const noexcept { return verdict_.index() == 0; }
  [[nodiscard]] bool is_never_written() const noexcept { return verdict_.index() == 1; }
  [[nodiscard]] bool is_decided() const noexcept { return verdict_.index() != 2; }

  /// Null unless delivered.
  [[nodiscard]] const partita::delivered* delivery() const noexcept {
    return std::get_if<0>(&verdict_);
  }
  /// Null when decided.
  [[nodiscard]] const partita::undecidable* undecided() const noexcept {
    return std::get_if<2>(&verdict_);
  }

 private:
  std::variant<partita::delivered, partita::never_written, partita::undecidable> verdict_;
};

}  // namespace partita
