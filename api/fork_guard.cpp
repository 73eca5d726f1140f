#include "api/fork_guard.hpp"

#include <pthread.h>

#include <mutex>

namespace partita::detail {

/// Those of this process. Locked while it forks, so that the child finds the list whole.
class fork_guards {
 public:
  static fork_guards& all() {
    // Never destroyed: a process may fork while it ends.
    static auto* const guards = new fork_guards;
    return *guards;
  }

  void add(fork_guard& guard) {
    const std::lock_guard lock(mutex_);
    guard.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &guard;
    first_ = &guard;
  }
  void remove(fork_guard& guard) {
    const std::lock_guard lock(mutex_);
    (guard.previous_ == nullptr ? first_ : guard.previous_->next_) = guard.next_;
    if (guard.next_ != nullptr) guard.next_->previous_ = guard.previous_;
  }

 private:
  fork_guards() {
    pthread_atfork([] { all().mutex_.lock(); }, [] { all().mutex_.unlock(); },
                   [] { all().begin_child(); });
  }

  void begin_child() noexcept {
    for (fork_guard* each = first_; each != nullptr; each = each->next_) {
      each->in_child_.store(true, std::memory_order_relaxed);
      each->shut_.store(true, std::memory_order_release);
    }
    first_ = nullptr;  // what the child makes itself is its own
    mutex_.unlock();
  }

  std::mutex mutex_;
  fork_guard* first_ = nullptr;
};

fork_guard::fork_guard(std::atomic<bool>& shut) : shut_(shut) { fork_guards::all().add(*this); }

fork_guard::~fork_guard() { fork_guards::all().remove(*this); }

}  // namespace partita::detail
