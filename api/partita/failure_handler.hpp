// The application's word on a failure, before anything behind it moves.
//
//     config.failure_handler = [](const partita::failure_view& failed) {
//       return failed.failure().code == partita::broker_errc::message_too_large
//                  ? partita::failure_verdict::skip
//                  : partita::failure_verdict::use_policy;
//     };
//
// Order: the handler runs in the partition's turn, before the halt, before the records' own
// callbacks, and before any later command of the partition. What it does to its own partition
// (produce, pause, halt, recover) comes before everything that is already queued there.
// Thread: the partition's lane; it must not block. Partitions on several lanes may call it at once.
// Errors: a handler that throws, or asks for what can not be done, is counted in status() and
// logged, and the configured policy acts in its place.
#pragma once

#include <partita/outcome.hpp>
#include <partita/record.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace partita {

enum class failure_verdict : std::uint8_t {
  use_policy,  ///< what on_failure says for the topic
  skip,
  halt_key,
  halt_partition,
  fail_following,
  /// Only where the fate is not_written: to the front, unanswered, with all of the producer's
  /// delivery.timeout.ms before them again (also where a record had one of its own).
  retry,
};

class record_visitor;

template <class F>
concept record_callable =
    !std::is_same_v<std::remove_cvref_t<F>, record_visitor> &&
    !std::is_function_v<std::remove_reference_t<F>> && std::is_invocable_v<F&, const record&>;

/// Refers to a callable that looks at records one by one; used during a call only. (<functional>
/// would make a third more text of what the users of this header compile.)
class record_visitor {
 public:
  template <record_callable F>
  record_visitor(F&& visit) noexcept
      : visit_(const_cast<void*>(static_cast<const void*>(&visit))),
        call_([](void* visit, const record& one) {
          (*static_cast<std::remove_reference_t<F>*>(visit))(one);
        }) {}

  void operator()(const record& one) const { call_(visit_, one); }

 private:
  void* visit_;
  void (*call_)(void*, const record&);
};

/// Records that failed together, and what lies behind them. Valid during the call only.
class failure_view {
 public:
  /// Of each of the records. It has no ticket yet.
  [[nodiscard]] virtual const failed& failure() const noexcept = 0;
  [[nodiscard]] virtual std::size_t count() const noexcept = 0;
  /// The failed records in order. One that was refused because of its size has no value and no
  /// headers here.
  virtual void for_each(record_visitor visit) const = 0;
  /// Records of the partition that were accepted after the failed ones and have no answer yet.
  [[nodiscard]] virtual std::size_t behind_count() const noexcept = 0;
  /// These, in order. Reading them costs a copy of their bytes.
  virtual void for_each_behind(record_visitor visit) const = 0;

 protected:
  ~failure_view() = default;
};

class failure_handler;

template <class F>
concept failure_judge = !std::is_same_v<F, failure_handler> &&
                        std::is_invocable_r_v<failure_verdict, F&, const failure_view&>;

/// Any callable that takes a const failure_view& and returns a verdict; copies share it. Null when
/// made of nothing, of nullptr, or of a null pointer or empty std::function.
class failure_handler {
 public:
  failure_handler() noexcept = default;
  failure_handler(std::nullptr_t) noexcept {}
  template <failure_judge F>
  failure_handler(F judge) {
    if constexpr (requires { judge == nullptr; })
      if (judge == nullptr) return;
    held_ = new holder_of<F>(std::move(judge));
  }
  failure_handler(const failure_handler& other) noexcept : held_(other.held_) {
    if (held_ != nullptr) held_->copies.fetch_add(1, std::memory_order_relaxed);
  }
  failure_handler(failure_handler&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  failure_handler& operator=(failure_handler other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~failure_handler() {
    if (held_ != nullptr && held_->copies.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete held_;
  }

  explicit operator bool() const noexcept { return held_ != nullptr; }
  /// Not on a null one.
  failure_verdict operator()(const failure_view& failed) const { return held_->judge(failed); }

 private:
  struct holder {
    virtual ~holder() = default;
    virtual failure_verdict judge(const failure_view& failed) = 0;
    std::atomic<std::size_t> copies{1};
  };
  template <class F>
  struct holder_of final : holder {
    explicit holder_of(F&& given) : callable(std::move(given)) {}
    failure_verdict judge(const failure_view& failed) override { return callable(failed); }
    F callable;
  };

  holder* held_ = nullptr;
};

}  // namespace partita
