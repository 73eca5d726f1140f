#include "tests/simulate/crew.hpp"

#include "tests/simulate/story.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace partita::simulate {
namespace {

constexpr int cpu_seconds_max = 10;          // a thousand times what a history takes
constexpr std::size_t message_bytes = 2048;  // below PIPE_BUF: written in one piece

/// What a process leaves for its parent, also when it dies.
struct board {
  std::uint64_t histories;
  std::uint64_t digest;
  std::uint64_t current;
  std::int64_t cpu_us;
  coverage seen;
  char breach[400];
};

/// In memory that all processes share.
struct shared_boards {
  std::atomic<std::uint64_t> stop_after;
  board of[64];
};

board* own_board = nullptr;

void note_breach(const contract_breach& breach) {
  int used = std::snprintf(own_board->breach, sizeof own_board->breach, "%s:%d %s(%s) %s",
                           breach.file, breach.line, breach.kind, breach.condition, breach.names);
  for (const long long value : breach.values) {
    if (used < 0 || static_cast<std::size_t>(used) >= sizeof own_board->breach) break;
    used +=
        std::snprintf(own_board->breach + used,
                      sizeof own_board->breach - static_cast<std::size_t>(used), " %lld", value);
  }
  std::abort();
}

std::int64_t own_cpu_us() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1'000'000LL + used.ru_utime.tv_usec +
         used.ru_stime.tv_usec;
}

/// Counted in CPU time: a busy machine makes no history hang.
void limit_cpu(int seconds) {
  const itimerval once{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &once, nullptr);
}

struct message {
  std::uint64_t seed;
  std::int32_t invariant;
  char anomaly[40];
  char text[message_bytes - 56];
};
static_assert(sizeof(message) <= message_bytes);

void send(int pipe, std::uint64_t seed, const finding& what) {
  message out{};
  out.seed = seed;
  out.invariant = what.invariant;
  std::snprintf(out.anomaly, sizeof out.anomaly, "%s", what.anomaly.c_str());
  std::snprintf(out.text, sizeof out.text, "%s", what.text.c_str());
  if (write(pipe, &out, sizeof out) != static_cast<ssize_t>(sizeof out)) _exit(3);
}

/// Every `stride`-th seed from `from` on.
[[noreturn]] void work(const crew_task& task, shared_boards& shared, board& mine, int pipe,
                       std::uint64_t from, std::uint64_t stride) {
  own_board = &mine;
  set_contract_handler(&note_breach);
  const std::int64_t before = mine.cpu_us;
  for (std::uint64_t seed = from; seed <= task.last; seed += stride) {
    if (seed > shared.stop_after.load()) break;
    mine.current = seed;
    limit_cpu(cpu_seconds_max);
    const auto history = draw_plan(seed, task.profile);
    const story_end end = run_story(*history, mine.seen);
    mine.digest += end.trace_hash ^ (seed * 0x9e3779b97f4a7c15U);
    ++mine.histories;
    mine.cpu_us = before + own_cpu_us();
    if (end.findings.empty()) continue;
    for (const finding& each : end.findings) send(pipe, seed, each);
    if (!task.stop_at_first) continue;
    std::uint64_t known = shared.stop_after.load();
    while (seed < known && !shared.stop_after.compare_exchange_weak(known, seed)) {
    }
  }
  _exit(0);
}

class crew {
 public:
  crew(const crew_task& task, const std::function<void(const crew_finding&)>& told)
      : task_(task), told_(told), jobs_(std::clamp(task.jobs, 1, 64)), pids_(jobs_, -1) {
    void* const memory = mmap(nullptr, sizeof(shared_boards), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || pipe(pipe_) != 0) {
      std::perror("simulate");
      std::exit(2);
    }
    shared_ = new (memory) shared_boards{};
    shared_->stop_after = ~std::uint64_t{0};
  }
  ~crew() {
    munmap(shared_, sizeof(shared_boards));
    close(pipe_[0]);
  }

  crew_end run() {
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < jobs_; ++i) start(i, task_.first + i);
    while (alive_ > 0) {
      collect();
      reap();
    }
    close(pipe_[1]);
    collect();
    for (std::size_t i = 0; i < jobs_; ++i) {
      const board& each = shared_->of[i];
      end_.histories += each.histories;
      end_.digest += each.digest;
      end_.cpu_seconds += static_cast<double>(each.cpu_us) / 1e6;
      end_.seen.add(each.seen);
    }
    end_.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::stable_sort(
        end_.findings.begin(), end_.findings.end(),
        [](const crew_finding& one, const crew_finding& other) { return one.seed < other.seed; });
    if (task_.stop_at_first && !end_.findings.empty()) {
      const std::uint64_t smallest = end_.findings.front().seed;
      std::erase_if(end_.findings, [&](const crew_finding& each) { return each.seed > smallest; });
    }
    end_.seeds_with_findings = seeds_.size();
    return std::move(end_);
  }

 private:
  void start(std::size_t index, std::uint64_t from) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      close(pipe_[0]);
      work(task_, *shared_, shared_->of[index], pipe_[1], from, jobs_);
    }
    pids_[index] = child;
    ++alive_;
  }

  void take(const crew_finding& one) {
    seeds_.insert(one.seed);
    if (end_.findings.size() < findings_max) end_.findings.push_back(one);
    told_(one);
  }

  /// Reads what there is; while children live, waits a little for it.
  void collect() {
    const bool last = alive_ == 0;
    for (;;) {
      if (!last) {
        fd_set readable;
        FD_ZERO(&readable);
        FD_SET(pipe_[0], &readable);
        timeval wait{0, 20'000};
        if (select(pipe_[0] + 1, &readable, nullptr, nullptr, &wait) <= 0) return;
      }
      message in{};
      std::size_t got = 0;
      while (got < sizeof in) {
        const ssize_t part = read(pipe_[0], reinterpret_cast<char*>(&in) + got, sizeof in - got);
        if (part <= 0) return;
        got += static_cast<std::size_t>(part);
      }
      take({in.seed, {in.invariant, in.anomaly, in.text}});
    }
  }

  void reap() {
    for (std::size_t i = 0; i < jobs_; ++i) {
      if (pids_[i] < 0) continue;
      int status = 0;
      if (waitpid(pids_[i], &status, WNOHANG) <= 0) continue;
      pids_[i] = -1;
      --alive_;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      board& dead = shared_->of[i];
      const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
      std::string text = dead.breach[0] != '\0' ? dead.breach
                         : WIFSIGNALED(status)
                             ? std::string("signal ") + strsignal(WTERMSIG(status))
                             : "exit code " + std::to_string(WEXITSTATUS(status));
      dead.breach[0] = '\0';
      ++dead.histories;
      take({dead.current, {13, hung ? "hang" : "crash", text}});
      if (task_.stop_at_first) {
        std::uint64_t known = shared_->stop_after.load();
        while (dead.current < known &&
               !shared_->stop_after.compare_exchange_weak(known, dead.current)) {
        }
      }
      if (dead.current + jobs_ <= task_.last) start(i, dead.current + jobs_);
    }
  }

  const crew_task& task_;
  const std::function<void(const crew_finding&)>& told_;
  const std::size_t jobs_;
  std::vector<pid_t> pids_;
  shared_boards* shared_ = nullptr;
  int pipe_[2] = {-1, -1};
  std::size_t alive_ = 0;
  std::set<std::uint64_t> seeds_;
  crew_end end_;
};

}  // namespace

crew_end run_crew(const crew_task& task, const std::function<void(const crew_finding&)>& told) {
  return crew(task, told).run();
}

}  // namespace partita::simulate
