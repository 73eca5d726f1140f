// A broker that answers at once and keeps nothing, so that what is measured is the client.
//
//     null_broker [--brokers N] [--partitions N] [--delay-ms N] [--statistics FILE]
//
// Every topic exists. Base offsets rise per partition; an idempotent producer's sequences are
// checked, so a client that numbers wrongly is refused here too. What does not parse is counted and
// its connection closed. Through the statistics file one of the brokers can be silenced, and all of
// them told to rest. Prints "bootstrap HOST:PORT,..." once it listens, and ends with its parent.
// With a delay each answer leaves that much after its request came; requests overlap in it.
//
// It shares no code with the library: a fault there must not cancel out here.
#include "bench/broker_statistics.hpp"
#include "bench/null_broker_answers.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace partita::bench {
namespace {

constexpr std::size_t frame_size_max = std::size_t{64} << 20;

std::int64_t now_ns() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct delayed_answer {
  std::int64_t due_ns;
  std::string bytes;
};

struct connection {
  int socket;
  std::int32_t broker;
  std::vector<char> in = std::vector<char>(256 * 1024);
  std::size_t in_begin = 0, in_end = 0;
  std::string out;
  std::size_t out_begin = 0;
  bool wants_write = false;
  std::deque<delayed_answer> delayed;
};

struct settings {
  int brokers = 1;
  int partitions = 1;
  std::int64_t delay_ns = 0;
  const char* statistics = nullptr;
};

class null_broker {
 public:
  explicit null_broker(const settings& options) : options_(options) {
    if (options.statistics != nullptr) counters_ = map_statistics(options.statistics, true);
    if (counters_ == nullptr) counters_ = &own_counters_;
  }

  bool listen();
  void run();

 private:
  void accept_on(int listener, std::int32_t broker);
  bool read_from(connection& peer);
  bool take_frames(connection& peer);
  bool flush(connection& peer);
  int send_due();
  void close(int socket);

  settings options_;
  broker_statistics own_counters_;
  broker_statistics* counters_ = nullptr;
  int epoll_ = -1;
  std::vector<int> listeners_;
  std::vector<std::uint16_t> ports_;
  std::unordered_map<int, std::unique_ptr<connection>> connections_;
  std::optional<broker_answers> answers_;
};

bool null_broker::listen() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::string bootstrap;
  for (int i = 0; i < options_.brokers; ++i) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(socket, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(socket, 64) != 0 ||
        ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      return false;
    listeners_.push_back(socket);
    ports_.push_back(ntohs(address.sin_port));
    epoll_event interest{};
    interest.events = EPOLLIN;
    interest.data.fd = socket;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &interest);
    bootstrap += (i == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(ports_.back());
  }
  std::printf("bootstrap %s\n", bootstrap.c_str());
  std::fflush(stdout);
  answers_.emplace(ports_, options_.partitions, *counters_);
  return true;
}

void null_broker::run() {
  epoll_event events[64];
  for (;;) {
    const int timeout_us = send_due();
    const timespec wait{timeout_us / 1'000'000, (timeout_us % 1'000'000) * 1000L};
    const int count = ::epoll_pwait2(epoll_, events, 64, timeout_us < 0 ? nullptr : &wait, nullptr);
    if (count < 0 && errno != EINTR) return;
    while (counters_->held.load(std::memory_order_relaxed) != 0) {
      const timespec moment{0, 200'000};
      ::nanosleep(&moment, nullptr);
    }
    for (int i = 0; i < count; ++i) {
      const int socket = events[i].data.fd;
      std::size_t listener = 0;
      while (listener < listeners_.size() && listeners_[listener] != socket) ++listener;
      if (listener < listeners_.size()) {
        accept_on(socket, static_cast<std::int32_t>(listener));
        continue;
      }
      const auto found = connections_.find(socket);
      if (found == connections_.end()) continue;
      connection& peer = *found->second;
      bool alive = true;
      if ((events[i].events & EPOLLOUT) != 0) alive = flush(peer);
      if (alive && (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
        alive = read_from(peer);
      if (!alive) close(socket);
    }
  }
}

void null_broker::accept_on(int listener, std::int32_t broker) {
  const int socket = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket < 0) return;
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.fd = socket;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &interest);
  auto peer = std::make_unique<connection>();
  peer->socket = socket;
  peer->broker = broker;
  connections_.emplace(socket, std::move(peer));
}

void null_broker::close(int socket) {
  ::close(socket);
  connections_.erase(socket);
}

bool null_broker::read_from(connection& peer) {
  if (peer.in_end == peer.in.size()) {
    if (peer.in_begin > 0) {
      std::memmove(peer.in.data(), peer.in.data() + peer.in_begin, peer.in_end - peer.in_begin);
      peer.in_end -= std::exchange(peer.in_begin, 0);
    } else {
      peer.in.resize(peer.in.size() * 2);
    }
  }
  const ssize_t got =
      ::recv(peer.socket, peer.in.data() + peer.in_end, peer.in.size() - peer.in_end, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  peer.in_end += static_cast<std::size_t>(got);
  return take_frames(peer) && flush(peer);
}

bool null_broker::take_frames(connection& peer) {
  while (peer.in_end - peer.in_begin >= 4) {
    const char* const begin = peer.in.data() + peer.in_begin;
    const auto size = static_cast<std::uint32_t>(reader(begin, 4).i32());
    if (size > frame_size_max) {
      counters_->broken.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    if (peer.in_end - peer.in_begin - 4 < size) break;
    if (counters_->silent_broker.load(std::memory_order_relaxed) == peer.broker) {
      peer.in_begin += size + 4;
      continue;
    }
    std::string delayed;
    std::string& out = options_.delay_ns > 0 ? delayed : peer.out;
    const std::size_t start = out.size();
    out.append(4, '\0');
    if (!answers_->answer(peer.broker, begin + 4, size, out)) {
      counters_->broken.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    if (out.size() == start + 4) {
      out.resize(start);  // acks=0: nothing is answered
    } else {
      const std::uint32_t length = htobe32(static_cast<std::uint32_t>(out.size() - start - 4));
      std::memcpy(out.data() + start, &length, 4);
    }
    if (!delayed.empty())
      peer.delayed.push_back({now_ns() + options_.delay_ns, std::move(delayed)});
    peer.in_begin += size + 4;
  }
  if (peer.in_begin == peer.in_end) peer.in_begin = peer.in_end = 0;
  return true;
}

/// Sends the answers whose time has come; microseconds until the next one, or -1.
int null_broker::send_due() {
  if (options_.delay_ns == 0) return -1;
  const std::int64_t now = now_ns();
  std::int64_t next = -1;
  std::vector<int> dead;
  for (auto& [socket, peer] : connections_) {
    while (!peer->delayed.empty() && peer->delayed.front().due_ns <= now) {
      peer->out += peer->delayed.front().bytes;
      peer->delayed.pop_front();
    }
    if (!flush(*peer)) dead.push_back(socket);
    if (peer->delayed.empty()) continue;
    const std::int64_t wait = peer->delayed.front().due_ns - now;
    if (next < 0 || wait < next) next = wait;
  }
  for (const int socket : dead) close(socket);
  return next < 0 ? -1 : static_cast<int>((next + 999) / 1000);
}

bool null_broker::flush(connection& peer) {
  while (peer.out_begin < peer.out.size()) {
    const ssize_t sent = ::send(peer.socket, peer.out.data() + peer.out_begin,
                                peer.out.size() - peer.out_begin, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return false;
    if (sent < 0) break;
    peer.out_begin += static_cast<std::size_t>(sent);
  }
  const bool left = peer.out_begin < peer.out.size();
  if (!left) {
    peer.out.clear();
    peer.out_begin = 0;
  }
  if (left != peer.wants_write) {
    peer.wants_write = left;
    epoll_event interest{};
    interest.events = left ? EPOLLIN | EPOLLOUT : EPOLLIN;
    interest.data.fd = peer.socket;
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, peer.socket, &interest);
  }
  return true;
}

}  // namespace
}  // namespace partita::bench

int main(int argc, char** argv) {
  partita::bench::settings options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--brokers")
      options.brokers = std::atoi(argv[i + 1]);
    else if (name == "--partitions")
      options.partitions = std::atoi(argv[i + 1]);
    else if (name == "--delay-ms")
      options.delay_ns = std::atoll(argv[i + 1]) * 1'000'000;
    else if (name == "--statistics")
      options.statistics = argv[i + 1];
    else {
      std::fprintf(stderr, "null_broker: what is %s?\n", argv[i]);
      return 2;
    }
  }
  if (options.brokers < 1 || options.partitions < 1 || options.delay_ns < 0) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  partita::bench::null_broker broker(options);
  if (!broker.listen()) {
    std::perror("null_broker");
    return 1;
  }
  broker.run();
  return 1;
}
