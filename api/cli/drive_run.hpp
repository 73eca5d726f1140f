// One run of `partita drive`: a script in, events out.
//
// Invariants
// 1. Commands are carried out in the order of the lines. Only `await`, `wait`, `status` and what
//    says "await":true hold up the next line.
// 2. An event is written before the next line is read, and in the order in which things happened.
// 3. Lanes never write: a reader that is slow delays the script, not the producer.
// 4. The end of the input closes the producer, with the delivery timeout as its deadline, and then
//    destroys it: only a settlement can be open by then, and is told `closed`.
//
// Threads: run() on the main thread; answers come on lanes.
#pragma once

#include "api/cli/drive_command.hpp"
#include "api/cli/drive_event.hpp"
#include "api/cli/driven_records.hpp"
#include "api/cli/exit_code.hpp"
#include "api/cli/input_file.hpp"
#include "api/cli/line_input.hpp"
#include "api/cli/wake_up.hpp"

#include <partita/producer.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace partita::cli {

class drive_run {
 public:
  explicit drive_run(input_file& input);

  /// `config` has been validated.
  exit_code run(const producer_config& config);
  /// Why events could not be written; the script was not read any further.
  [[nodiscard]] std::error_code output_error() const noexcept { return output_error_; }

 private:
  struct detached;

  void read_all();
  void take_lines();
  void take_line(const line_input::line& line);
  void carry_out(drive_command& command);

  void produce(named_record& given, const drive_command& command);
  detached produce_one(driven_records::position at);
  void produce_batch(drive_command& command);
  void cancel(const drive_command& command);
  void settle(const drive_command& command);
  void flush(const drive_command& command);
  void pause(const drive_command& command);
  void resume(const drive_command& command);
  void recover(const drive_command& command);
  void recovered(const recovery_report& report, const drive_command& command, std::uint64_t line);
  void status(drive_command& command);
  void watch();
  void close(std::chrono::milliseconds deadline, bool wait_for_it);
  void destroy();
  void await_record(const drive_command& command);

  /// Counts an operation until `then` has run, and waits for it where the command says so.
  template <class Result, class Then>
  void follow(operation<Result>&& work, const drive_command& command, Then then);
  void wait_or_complain(const drive_command& command, const std::function<bool()>& done);
  /// False: the time passed, or the user wants to end.
  bool wait_until(const std::function<bool()>& done, std::chrono::milliseconds longest);

  void answered(driven_records::position at, const outcome& answer, bool resubmitted);
  void tell(const std::function<std::string(drive_time)>& event);
  void complain(const drive_command& command, std::string_view message);
  void complain(std::uint64_t line, std::string_view verb, std::string_view message);
  void write_events();
  [[nodiscard]] bool ends_early() const noexcept {
    return waker_.interrupts() > 0 || (reading_ && output_error_);
  }

  input_file& input_;
  line_input lines_;
  wake_up waker_;
  driven_records records_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::milliseconds close_deadline_{0};
  std::uint64_t line_ = 0;
  bool closed_ = false;
  bool reading_ = true;
  bool input_error_ = false;
  std::error_code output_error_;
  std::atomic<std::uint64_t> pending_{0};  // operations that end by themselves, and did not yet
  std::mutex mutex_;
  std::string events_;
  std::optional<event_stream> partition_events_;
  std::unique_ptr<producer> producer_;  // first to go: its callbacks use the rest
};

}  // namespace partita::cli
