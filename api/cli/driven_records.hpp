// The records of a drive by the names that its script gave them, and what became of each.
//
// The producer hands records back as bytes, without the script's names. They are found again by
// their content: of several equal ones the oldest that was not handed back yet.
//
// Invariants
// 1. A name is taken once; what was delivered keeps its name and loses its content.
// 2. Reports of recoveries can come in any order: what was delivered stays delivered, and a record
//    is known by its number from its first failure on.
//
// Threads: any; one mutex.
#pragma once

#include "api/cli/drive_command.hpp"
#include "api/cli/drive_event.hpp"

#include <partita/outcome.hpp>
#include <partita/produce_options.hpp>
#include <partita/record.hpp>
#include <partita/recovery.hpp>

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace partita::cli {

class driven_records {
 public:
  /// Where a record stands in the order of the script.
  using position = std::size_t;

  /// Empty: the name is taken. `handle` names the record to the producer, where it has one.
  [[nodiscard]] std::optional<position> add(named_record&& given, record_handle handle = {});
  [[nodiscard]] std::optional<position> find(std::string_view name) const;

  void answered(position at, const outcome& answer);
  [[nodiscard]] bool is_answered(position at) const;
  /// Of a record whose last answer was `unknown`.
  [[nodiscard]] std::optional<ticket> ticket_of(position at) const;
  [[nodiscard]] std::string name(position at) const;
  /// Stable: entries never move. Its content is gone once it was delivered.
  [[nodiscard]] const named_record& record(position at) const;
  [[nodiscard]] record_handle handle(position at) const;
  [[nodiscard]] drive_counts counts() const;

  /// The names of records that were handed back, in the same order. "?" where none fits.
  [[nodiscard]] std::vector<std::string> names_of(std::span<const owned_record> returned);
  /// Which records a recovery of this place sent again; empty where none fits.
  [[nodiscard]] std::vector<std::optional<position>> sent_again(
      const drive_place& place, std::span<const resubmitted_record> again) const;

 private:
  struct entry {
    named_record record;
    record_handle handle;
    std::optional<failed> failure{};
    bool answered = false;
    bool delivered = false;
    bool returned = false;
  };

  using numbered_place =
      std::tuple<std::optional<std::string>, std::optional<partition_id>, record_number>;

  mutable std::mutex mutex_;
  std::deque<entry> entries_;
  std::unordered_map<std::string, position> names_;
  std::map<numbered_place, position> numbered_;
  drive_counts counts_;
};

}  // namespace partita::cli
