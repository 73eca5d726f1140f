// Faults of a simulated broker: what happens to one produce attempt.
//
// Invariants
// 1. Executing and answering are chosen independently, so every pair of {appended, not appended}
//    and {any answer, no answer} can be asked for (the fault matrix).
// 2. A fault that appends does so by the broker's ordinary checks: a batch those refuse is not
//    appended.
//
// Threads: plain values; give them to cluster::inject from any thread.
#pragma once

#include <partita/error.hpp>
#include <partita/ids.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace partita::testing {

/// What becomes of the batch.
enum class execution : std::uint8_t {
  append,  ///< handed to the broker's ordinary checks and, if they pass, to the log
  skip,    ///< never looked at
};

/// What the client gets to see.
enum class reply : std::uint8_t {
  truthful,      ///< what the broker found; after a skip: `code` if set, else a forged success
  error,         ///< `code` for the partition, whatever the broker found
  close_before,  ///< the connection ends without an answer
  close_after,   ///< the answer, then the end of the connection
  reset,         ///< the connection ends by RST without an answer
  never,         ///< no answer; the connection stays open and blocked, as behind a stuck handler
  lost,          ///< the answer is lost on the way, as every later one of the connection; what
                 ///< arrives on it is executed
  wrong_correlation_id,  ///< the answer under another id
  truncated,             ///< a frame whose body ends too early
  garbage,               ///< a frame of random bytes (by the cluster's seed)
  cut_answer,            ///< the first bytes of the answer, then the connection ends by RST
};

/// Answers whose entries are not those that were asked for.
enum class answer_shape : std::uint8_t {
  usual,
  left_out,         ///< the partition is missing
  twice,            ///< it is there twice: as it should be, and with code 29
  other_partition,  ///< besides, one that nobody asked about
  other_topic,      ///< besides, a topic (by name and id) that nobody asked about
};

/// One fault. The first `skip_first` matching attempts pass untouched, the next `times` are hit.
struct fault {
  // Where: unset members match everything.
  std::string topic{};
  std::optional<partition_id> partition{};
  std::optional<broker_id> broker{};
  std::string value{};  ///< only attempts of batches that hold a record of this value
  int skip_first = 0;
  int times = 1;

  // What.
  testing::execution execution = testing::execution::append;
  testing::reply reply = testing::reply::truthful;
  broker_errc code = broker_errc::none;  ///< for reply::error
  bool real_offset = false;  ///< for reply::error: the base offset of the append, not -1
  std::optional<partita::offset> base_offset{};  ///< told whatever is true, in a success too
  /// How many bytes of the answer are left by truncated (behind its head) and cut_answer (of the
  /// whole frame); unset: the seed decides.
  std::optional<std::size_t> cut_at{};
  answer_shape shape = answer_shape::usual;
  std::chrono::milliseconds execute_after{0};  ///< the batch is executed this much later
  /// The connection ends by RST as soon as the request was seen; the frame is executed even so.
  bool cut_first = false;
  /// The batch is executed when cluster::release_held() says so, even if its connection is gone.
  bool held = false;
  std::chrono::milliseconds answer_after{0};  ///< the answer is sent this much after the execution
  std::chrono::milliseconds throttle{0};      ///< throttle_time_ms of the answer
};

/// Random faults: each produce request of the cluster draws once per member, by the cluster's seed.
/// Probabilities are in [0, 1]; 0 switches a fault off.
struct fault_mix {
  double lose_request = 0;        ///< not executed, the connection ends
  double lose_answer = 0;         ///< executed, the connection ends without an answer
  double close_after_answer = 0;  ///< executed and answered, then the connection ends
  double refuse = 0;              ///< not appended, answered with a code that says so
  double append_then_error = 0;   ///< appended, answered with a code that leaves doubt
  double delay = 0;               ///< answered late, up to `delay_max`
  double never_answer = 0;        ///< executed, no answer, the connection stays open
  double corrupt_answer = 0;      ///< wrong id, truncated or garbage
  double execute_late = 0;  ///< the connection ends, the batch is executed up to `delay_max` later
  double disturb_others = 0;  ///< a request of another API is refused, cut or never answered
  std::chrono::milliseconds delay_max{5000};
};

}  // namespace partita::testing
