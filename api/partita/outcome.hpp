// What becomes of a record: delivered, or failed with a fate.
//
// Invariants
// 1. An outcome always holds an answer: there is no empty and no default-success state.
// 2. fate::not_written means that the record is not in the log and never will be; nothing of it is
//    sent later. Everything less certain is fate::unknown.
// 3. No error of a failure has the message of a success: where none is told, the message says so.
#pragma once

#include <partita/duration.hpp>
#include <partita/error.hpp>
#include <partita/ids.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace partita {

/// Milliseconds since the Unix epoch, as Kafka stamps records.
using timestamp = std::chrono::time_point<std::chrono::system_clock, std::chrono::milliseconds>;

/// Names a record whose fate is unknown; unique within its producer. Value 0 names nothing.
struct ticket {
  std::uint64_t value = 0;
  friend constexpr bool operator==(ticket, ticket) noexcept = default;
};

/// Names a record that its partition took, among those of the same partition and producer: its
/// failure has it, and what recover() says of it later. Value 0 names nothing.
struct record_number {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(record_number, record_number) noexcept = default;
};

/// The log holds the record.
struct delivered {
  partition_id partition{};
  /// Where it lies. Absent where the broker does not say (DUPLICATE_SEQUENCE_NUMBER); never
  /// invented.
  std::optional<partita::offset> offset{};
  /// The broker's time when the topic uses LogAppendTime, else the record's own.
  std::optional<partita::timestamp> timestamp{};
};

enum class fate : std::uint8_t {
  not_written,  ///< not in the log, and never will be
  unknown,      ///< in the log zero or one times
};

/// Which limit ended the record, if one did.
enum class limit : std::uint8_t {
  none,
  delivery_timeout,
  admission_timeout,
  metadata_timeout,
  close_deadline
};

/// The record was not acknowledged.
struct failed {
  partita::fate fate = partita::fate::unknown;
  std::error_code code = no_error_told();  ///< why it ended
  /// The last error underneath (what the broker or the network said), if any: `if (cause)`.
  std::error_code cause = no_error_told();
  limit ended_by = limit::none;
  std::string topic{};
  partition_id partition{};  ///< not known() when the record never got one
  int attempts = 0;          ///< how often its batch was handed to a connection
  partita::ticket ticket{};  ///< set when the fate is unknown
  std::string detail{};      ///< in words, where there are any: what the broker said, or sizes
  record_number number{};    ///< known where recover() may have to do with it
};

namespace detail {

/// For invariant 3, whatever the codes were made from.
[[nodiscard]] inline failed without_success(failed answer) noexcept {
  if (!answer.code) answer.code = no_error_told();
  if (!answer.cause) answer.cause = no_error_told();
  return answer;
}

}  // namespace detail

/// The answer to one record, given exactly once.
class [[nodiscard]] outcome {
 public:
  outcome(partita::delivered answer) : answer_(std::move(answer)) {}  // NOLINT: implicit by intent
  outcome(partita::failed answer)                                     // NOLINT
      : answer_(detail::without_success(std::move(answer))) {}

  [[nodiscard]] bool is_delivered() const noexcept { return answer_.index() == 0; }
  explicit operator bool() const noexcept { return is_delivered(); }

  /// Null unless delivered.
  [[nodiscard]] const partita::delivered* delivery() const noexcept {
    return std::get_if<0>(&answer_);
  }
  /// Null if delivered.
  [[nodiscard]] const partita::failed* failure() const noexcept { return std::get_if<1>(&answer_); }

 private:
  std::variant<partita::delivered, partita::failed> answer_;
};

/// How many records ended which way.
struct [[nodiscard]] tally {
  std::uint64_t delivered = 0;
  std::uint64_t not_written = 0;
  std::uint64_t unknown = 0;

  [[nodiscard]] std::uint64_t total() const noexcept { return delivered + not_written + unknown; }
  [[nodiscard]] bool all_delivered() const noexcept { return not_written == 0 && unknown == 0; }

  tally& operator+=(const tally& other) noexcept {
    delivered += other.delivered;
    not_written += other.not_written;
    unknown += other.unknown;
    return *this;
  }
  friend bool operator==(const tally&, const tally&) noexcept = default;
};

}  // namespace partita
