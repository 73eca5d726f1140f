// How answers reach application code: runs of records that share a target. A leaf that lets the
// templates of <partita/producer.hpp> implement targets without seeing the library's inside.
//
// Threads: the lane that answers; a target may be used by several lanes at a time.
#pragma once

#include <partita/callable.hpp>
#include <partita/outcome.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace partita::actors {

class completion_run;

/// Receives outcomes. It outlives every record that names it.
class completion_target {
 public:
  virtual void complete(const completion_run& run) noexcept = 0;

 protected:
  ~completion_target() = default;
};

}  // namespace partita::actors

namespace partita {

/// What can be called with a record's answer.
template <class Callback>
concept outcome_callback = requires(std::decay_t<Callback>& callback, const outcome& answer) {
  callback(answer);
};

/// What can be called with the answers of several records, each with its place among them.
template <class Callback>
concept indexed_outcome_callback = requires(std::decay_t<Callback>& callback, std::size_t index,
                                            const outcome& answer) {
  callback(index, answer);
};

}  // namespace partita

namespace partita::detail {

[[nodiscard]] std::size_t run_size(const actors::completion_run& run) noexcept;
[[nodiscard]] std::uint64_t run_data(const actors::completion_run& run, std::size_t index) noexcept;
/// Calls user code with the outcome of one record, guarded: an exception is counted and dropped.
void run_call(const actors::completion_run& run, std::size_t index,
              void (*code)(void* context, const outcome& answer), void* context) noexcept;

/// A callback as a record carries it: who calls it, and what it captured.
struct callback_ref {
  actors::completion_target* target;
  std::uint64_t captured;                         ///< the closure itself, or where it was boxed
  void (*drop)(std::uint64_t captured) noexcept;  ///< frees a box; null if there is none
};

/// Closures of one type are all called through one stateless target, so that neighbours form a run.
template <class Callback>
class callback_target final : public actors::completion_target {
 public:
  /// Small closures travel in the record; others take one allocation.
  static constexpr bool fits =
      sizeof(Callback) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<Callback>;

  void complete(const actors::completion_run& run) noexcept override {
    const std::size_t size = run_size(run);
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t captured = run_data(run, i);
      if constexpr (fits) {
        alignas(Callback) unsigned char place[sizeof(Callback)];
        std::memcpy(place, &captured, sizeof(Callback));
        run_call(run, i, &call, place);
      } else {
        auto* boxed = reinterpret_cast<Callback*>(static_cast<std::uintptr_t>(captured));
        run_call(run, i, &call, boxed);
        delete boxed;
      }
    }
  }

  template <class Source>
  static callback_ref make(Source&& source) {
    static constinit callback_target only;
    if constexpr (fits) {
      const Callback closure(std::forward<Source>(source));
      callback_ref made{&only, 0, nullptr};
      std::memcpy(&made.captured, &closure, sizeof(Callback));
      return made;
    } else {
      auto* boxed = new Callback(std::forward<Source>(source));
      return {&only, reinterpret_cast<std::uintptr_t>(boxed), [](std::uint64_t captured) noexcept {
                delete reinterpret_cast<Callback*>(static_cast<std::uintptr_t>(captured));
              }};
    }
  }

 private:
  static void call(void* closure, const outcome& answer) {
    (*static_cast<Callback*>(closure))(answer);
  }
};

template <class Callback>
callback_ref make_callback(Callback&& callback) {
  expect_not_empty(callback);
  return callback_target<std::decay_t<Callback>>::make(std::forward<Callback>(callback));
}

/// One closure for the records of a call: called for each, then deleted.
class indexed_callback {
 public:
  virtual ~indexed_callback() = default;
  virtual void call(std::size_t index, const outcome& answer) = 0;
};

template <class Callback>
class boxed_indexed_callback final : public indexed_callback {
 public:
  template <class Source>
  explicit boxed_indexed_callback(std::in_place_t, Source&& source)
      : closure_(std::forward<Source>(source)) {}
  void call(std::size_t index, const outcome& answer) override { closure_(index, answer); }

 private:
  Callback closure_;
};

/// The caller's. No smart pointer: this header is included where <memory> is not wanted.
template <class Callback>
[[nodiscard]] indexed_callback* make_indexed_callback(Callback&& callback) {
  expect_not_empty(callback);
  return new boxed_indexed_callback<std::decay_t<Callback>>(std::in_place,
                                                            std::forward<Callback>(callback));
}

}  // namespace partita::detail
