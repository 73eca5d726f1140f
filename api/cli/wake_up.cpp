#include "api/cli/wake_up.hpp"

#include <partita/contract.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace partita::cli {
namespace {

// Signal handlers reach nothing else.
std::atomic<int> signals{0};
std::atomic<int> signal_descriptor{-1};
static_assert(std::atomic<int>::is_always_lock_free);

struct sigaction old_interrupt;
struct sigaction old_terminate;

void ring(int descriptor) noexcept {
  const std::uint64_t one = 1;
  const ssize_t written = ::write(descriptor, &one, sizeof one);
  static_cast<void>(written);  // full means that it rings already
}

void on_signal(int) {
  const int saved = errno;
  // The second one is the last that is handled: a third ends the program whatever it is doing.
  if (signals.fetch_add(1) + 1 >= 2) {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
  }
  ring(signal_descriptor.load());
  errno = saved;
}

}  // namespace

wake_up::wake_up() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  PARTITA_ASSERT(descriptor_ >= 0);
  PARTITA_EXPECTS(signal_descriptor.load() == -1);
  signals = 0;
  signal_descriptor = descriptor_;
  struct sigaction action {};
  action.sa_handler = &on_signal;
  ::sigaction(SIGINT, &action, &old_interrupt);
  ::sigaction(SIGTERM, &action, &old_terminate);
}

wake_up::~wake_up() {
  ::sigaction(SIGINT, &old_interrupt, nullptr);
  ::sigaction(SIGTERM, &old_terminate, nullptr);
  signal_descriptor = -1;
  ::close(descriptor_);
}

void wake_up::wake() noexcept { ring(descriptor_); }

int wake_up::interrupts() const noexcept { return signals.load(); }

bool wake_up::wait(int readable, std::chrono::milliseconds longest) noexcept {
  pollfd watched[2] = {{descriptor_, POLLIN, 0}, {readable, POLLIN, 0}};  // -1 is ignored
  if (::poll(watched, 2, static_cast<int>(longest.count())) <= 0) return false;
  if (watched[0].revents != 0) {
    std::uint64_t count = 0;
    const ssize_t taken = ::read(descriptor_, &count, sizeof count);
    static_cast<void>(taken);
  }
  return watched[1].revents != 0;
}

}  // namespace partita::cli
