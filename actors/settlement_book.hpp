// The records of one partition that were answered `unknown`, and what is known of them since.
//
// Invariants
// 1. A verdict follows from an answer to the batch, or from the log. A later one only replaces
//    "undecidable".
// 2. Whoever waits for a ticket is told once: at the verdict, when the entry is dropped, or at the
//    end.
// 3. It holds at most records_max records, each for at most `retention`; the oldest go first.
//
// Threads: owned by one partition. Time is an argument.
#pragma once

#include "actors/instant.hpp"
#include "actors/log_search.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

namespace partita::actors {

/// What is known about a batch of unknown fate.
enum class ticket_state : std::uint8_t { open, delivered, never_written, undecidable };

struct ticket_verdict {
  ticket_state state = ticket_state::open;
  partita::offset base_offset{};  ///< delivered: of the batch; not known() if nobody said
  std::int64_t log_append_time_ms = -1;
  std::error_code reason{};
  std::error_code cause{};
};

/// One record's answer.
struct ticket_answer {
  ticket_state state = ticket_state::open;
  partita::offset at{};
  std::int64_t timestamp_ms = -1;
  std::error_code reason{};
  std::error_code cause{};
};

/// settle(): owned by whoever asks; answered through the effects.
struct settle_command {
  std::uint64_t ticket = 0;
};

struct unknown_batch {
  std::uint64_t first_ticket = 0;
  log_target target;
  partita::offset from;              ///< it does not lie before this; not known(): anywhere
  std::optional<log_anchor> anchor;  ///< what ends there
  std::int64_t base_timestamp_ms = -1;
  std::vector<std::int32_t> timestamp_deltas_ms;  ///< one per ticket
  bool live = false;          ///< only some of its records were told; it is still being sent
  bool latecomer = false;     ///< an attempt got no answer: a broker may still execute it
  leader_epoch doubted_in;    ///< the oldest in which it may have been written
  bool halted_by_it = false;  ///< settled without being asked, while its partition is halted
  bool fenceable = true;      ///< its producer id is still in use

  std::optional<log_fence> fence;
  ticket_verdict verdict;
  instant look_at{};  ///< without a fence: when the log is worth another look
  duration look_pause{};
  instant expires{};
  std::vector<settle_command*> waiting;

  [[nodiscard]] std::size_t count() const noexcept { return timestamp_deltas_ms.size(); }
};

class settlement_book {
 public:
  struct limits {
    std::size_t records_max = 100'000;
    duration retention = std::chrono::hours(1);
  };
  /// Who is told: the answer of a command, that a batch is decided, that tickets are forgotten.
  struct listener {
    virtual void settled(settle_command& command, const ticket_answer& answer) = 0;
    virtual void batch_settled(const unknown_batch& batch) = 0;
    virtual void tickets_forgotten(std::uint64_t first) = 0;

   protected:
    ~listener() = default;
  };

  settlement_book(const limits& with, listener& to) : limits_(with), listener_(to) {}

  /// Somebody waits for a verdict, or a halted partition does.
  [[nodiscard]] bool wanted() const noexcept { return waiters_ > 0 || halting_ > 0; }
  [[nodiscard]] std::size_t records() const noexcept { return records_; }
  [[nodiscard]] std::deque<unknown_batch>& batches() noexcept { return batches_; }
  [[nodiscard]] const std::deque<unknown_batch>& batches() const noexcept { return batches_; }

  /// A batch ended unknown. Tickets rise.
  void keep(unknown_batch added, instant now);
  void ask(settle_command& command, instant now);
  /// Null: not kept.
  [[nodiscard]] unknown_batch* find(std::uint64_t ticket) noexcept;

  /// A batch of these numbers, which is kept here, was acknowledged after all.
  void written(const wire::batch_stamp& stamp, partita::offset at, std::int64_t log_append_time_ms);
  /// A batch of these numbers, which is kept here, is proven unwritten.
  void unwritten(const wire::batch_stamp& stamp);
  /// Any batch was acknowledged: from there on older epochs are shut out.
  void fence_by(const wire::batch_stamp& stamp, partita::offset at);
  /// No batch of the old producer id is sent any more: what has no fence gets none.
  void producer_id_changed(producer_id now_used) noexcept;
  void decide(unknown_batch& batch, const ticket_verdict& verdict);
  /// Offsets from before say nothing about the new log.
  void log_changed();
  /// Drops what is too old; answers who waits for it.
  void expire(instant now);
  /// When expire() has something to say to somebody.
  [[nodiscard]] std::optional<instant> next_expiry() const noexcept;
  /// Everybody who waits is told: undecidable, for this reason. Later questions too.
  void close(std::error_code why);

 private:
  void answer(settle_command& command, const unknown_batch& batch);
  void answer_all(unknown_batch& batch);
  void drop_front(std::error_code why);
  void not_to_be_fenced(unknown_batch& batch) noexcept;

  limits limits_;
  listener& listener_;
  std::deque<unknown_batch> batches_;  // in the order of their tickets
  std::size_t records_ = 0;
  std::size_t waiters_ = 0;   // commands
  std::size_t halting_ = 0;   // open batches that halted their partition
  std::size_t unfenced_ = 0;  // batches that can still get a fence
  std::error_code closed_;
};

}  // namespace partita::actors
