// Hands answers over to an executor of the application's: one post per run of records, not one per
// record. The part of <partita/asio.hpp> that needs no Asio.
//
// Invariants
// 1. Of one sink at most one drain is posted or running, so handlers that share an executor are
//    called in the order of their answers.
// 2. A handler is called once, or destroyed uncalled when its execution context ends. Its record is
//    answered later all the same: the sink lives until the last of them was.
// 3. Nothing touches the execution context after shut_down() returned.
//
// Threads: start() and complete() from any; drain() on the execution context.
#pragma once

#include <partita/completion.hpp>
#include <partita/fwd.hpp>
#include <partita/outcome.hpp>
#include <partita/produce_options.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace partita::detail {

class handler_sink;

/// A record's handler until it is called. Implemented by the templates of <partita/asio.hpp>.
class waiting_handler {
 public:
  waiting_handler() noexcept;
  virtual ~waiting_handler();
  waiting_handler(const waiting_handler&) = delete;
  waiting_handler& operator=(const waiting_handler&) = delete;

  /// Posts `sink.drain()` to the execution context.
  virtual void post_drain(handler_sink& sink) = 0;
  /// Deletes this object, then calls the handler on its own executor.
  virtual void call(outcome answer) = 0;
  /// Destroys the handler and lets go of its executor.
  virtual void drop_handler() noexcept = 0;

 private:
  friend class handler_sink;
  enum class phase : std::uint8_t { waiting, answered, dropping, dropped };
  waiting_handler* next_ = nullptr;
  waiting_handler* previous_ = nullptr;
  phase phase_ = phase::waiting;
  std::optional<outcome> answer_;
};

/// The sink of one execution context. Made with new; it deletes itself.
class handler_sink final : public actors::completion_target {
 public:
  /// Produces the record; `handler` is called with its answer. Never calls it before returning.
  void start(producer& owner, const record& what, const produce_options& options,
             waiting_handler& handler);
  void complete(const actors::completion_run& run) noexcept override;
  /// Calls the handlers of what was answered so far. When one of them throws, the others are called
  /// by the next drain.
  void drain();
  /// The execution context ends.
  void shut_down() noexcept;

 private:
  struct list {
    waiting_handler* first = nullptr;
    waiting_handler* last = nullptr;
    void append(waiting_handler& node) noexcept;
    void remove(waiting_handler& node) noexcept;
    waiting_handler* pop() noexcept;
    void prepend(list& others) noexcept;
  };
  ~handler_sink() = default;
  void complete_shut(const actors::completion_run& run,
                     std::unique_lock<std::mutex>& lock) noexcept;
  void after_drain(list& left);

  std::mutex mutex_;
  list waiting_;             // for their answers
  list answered_;            // to be called
  std::size_t holders_ = 1;  // the execution context, and each record without an answer
  bool draining_ = false;
  bool shut_ = false;
};

/// For handlers without an executor: called like callbacks, on the lane that answers.
void start_inline(producer& owner, const record& what, const produce_options& options,
                  waiting_handler& handler);

}  // namespace partita::detail
