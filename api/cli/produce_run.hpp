// One run of `partita produce`: reads, produces, and waits for the answers.
//
// Invariants
// 1. Reading never outruns buffer.memory: a record that finds no room waits here, not in memory.
// 2. Whatever ends the reading (end of input, a bad line, -c, Ctrl-C), what was accepted before is
//    flushed.
// 3. Ctrl-C bounds the flush by the interrupt timeout; a second one ends the producer at once,
//    which answers what is left truthfully.
// 4. With on.failure=halt_partition the first failure ends the reading (CLI-04).
//
// Threads: run() on the main thread; answers come on lanes.
#pragma once

#include "api/cli/dead_letter_file.hpp"
#include "api/cli/delivery_ledger.hpp"
#include "api/cli/input_file.hpp"
#include "api/cli/input_record.hpp"
#include "api/cli/line_input.hpp"
#include "api/cli/open_records.hpp"
#include "api/cli/produce_options.hpp"
#include "api/cli/produce_summary.hpp"
#include "api/cli/progress.hpp"
#include "api/cli/wake_up.hpp"

#include <partita/producer.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

namespace partita::cli {

class produce_run {
 public:
  /// `letters` is open where failed records are to be kept.
  produce_run(const produce_options& options, input_file& input, dead_letter_file& letters,
              progress_display& display);

  /// `config` has been validated.
  run_summary run(const producer_config& config);

 private:
  enum class ending : std::uint8_t {
    none,
    end_of_input,
    halted,
    bad_line,
    limit_reached,
    interrupted
  };

  void read_all();
  void take_lines();
  void take_line(const line_input::line& line);
  [[nodiscard]] std::optional<input_error> parse(const line_input::line& line,
                                                 input_record& into) const;
  void refuse(std::uint64_t line, const input_error& error);
  void produce(const input_record& what, std::uint64_t line);
  [[nodiscard]] std::unique_ptr<input_record> kept(const record& what) const;
  [[nodiscard]] admission offer(const record& what, open_records::entry& entry);
  [[nodiscard]] bool wait_for_older();
  [[nodiscard]] bool ends_by_failure();
  void take_answered();
  static void after_answer(void* self) noexcept;
  static void after_failure(void* self) noexcept;
  void flush();
  void look_for_halts();
  void ask_why(run_facts& facts, run_summary& summary);
  void show_progress();
  [[nodiscard]] std::chrono::milliseconds elapsed() const;

  const produce_options& options_;
  input_file& input_;
  dead_letter_file& letters_;
  progress_display& display_;
  line_input lines_;
  wake_up waker_;
  delivery_ledger ledger_{&after_answer, this};
  open_records open_{&after_failure, this};
  delivery_ledger::topic_entry* last_topic_ = nullptr;
  bool stops_at_failure_ = false;
  std::uint64_t first_failed_line_ = 0;
  std::error_code letter_error_;
  std::atomic<bool> waits_for_room_{false};
  std::atomic<bool> flushed_{false};
  std::atomic<bool> status_told_{false};
  producer_status status_;
  ending ending_ = ending::none;
  bool bad_input_ = false;
  /// This program never recovers what is halted: nothing is left but what waits for that.
  std::atomic<bool> stuck_{false};
  std::atomic<bool> looking_{false};
  std::uint64_t accepted_ = 0;
  std::uint64_t bad_lines_ = 0;
  std::vector<header> headers_;
  std::chrono::steady_clock::time_point begin_;
  std::unique_ptr<producer> producer_;  // first to go: its callbacks use the rest
};

}  // namespace partita::cli
