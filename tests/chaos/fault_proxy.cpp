#include "chaos/fault_proxy.hpp"

#include "chaos/frame_sockets.hpp"
#include "wire/frame.hpp"
#include "wire/messages/produce.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

namespace partita::chaos {
namespace {

using namespace std::chrono_literals;

constexpr std::int16_t produce_key = 0;
constexpr std::chrono::seconds held_wait_max = 20s;
constexpr std::chrono::minutes answers_wait_max{1};

}  // namespace

/// One connection through the proxy. Sockets are only shut down while threads use them, and closed
/// when both have ended.
struct fault_proxy::link {
  /// An answer that is owed to the client, in the order of the requests.
  struct owed {
    std::int16_t api_key;
    std::int16_t version;
    chosen_fault fault;
    bytes instead;  // not asked of the broker: this is the answer
  };

  ~link() {
    ::close(client);
    ::close(broker);
  }
  void cut() const {
    ::shutdown(client, SHUT_RDWR);
    ::shutdown(broker, SHUT_RDWR);
  }

  int client = -1;
  int broker = -1;
  std::size_t index = 0;
  std::uint64_t number = 0;
  std::mutex mutex;
  std::deque<owed> answers;
  bool muted = false;  // nothing goes to the client any more
  bool deaf = false;   // the asking thread's
};

fault_proxy::fault_proxy(std::vector<proxy_route> routes, std::uint64_t seed) : seed_(seed) {
  for (const proxy_route& route : routes) {
    auto& made = *gates_.emplace_back(std::make_unique<gate>());
    made.route = route;
    made.listener = listen_on(route.listen);
    if (made.listener < 0)
      failure_ = "port " + std::to_string(route.listen) + ": " + std::strerror(errno);
  }
  if (!failure_.empty()) return;
  for (std::size_t i = 0; i < gates_.size(); ++i)
    gates_[i]->acceptor = std::thread([this, i] { accept_all(i); });
}

fault_proxy::~fault_proxy() {
  ends_ = true;
  for (const auto& each : gates_) ::shutdown(each->listener, SHUT_RDWR);
  for (const auto& each : gates_)
    if (each->acceptor.joinable()) each->acceptor.join();
  for (const auto& each : gates_) ::close(each->listener);
  std::unique_lock lock(mutex_);
  for (const auto& each : links_) each->cut();
  ended_.wait(lock, [this] { return threads_ == 0; });
}

void fault_proxy::accept_all(std::size_t broker) {
  gate& at = *gates_[broker];
  while (!ends_) {
    const int client = ::accept4(at.listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) {
      if (ends_) return;
      continue;
    }
    ++at.attempts;
    send_at_once(client);
    const int upstream = at.open ? connect_to(at.route.broker) : -1;
    if (upstream < 0) {
      ::close(client);
      continue;
    }
    auto made = std::make_shared<link>();
    made->client = client;
    made->broker = upstream;
    made->index = broker;
    {
      std::lock_guard lock(mutex_);
      made->number = ++connections_;
      links_.push_back(made);
    }
    spawn(&fault_proxy::carry_requests, made);
    spawn(&fault_proxy::carry_answers, made);
  }
}

void fault_proxy::spawn(void (fault_proxy::*work)(const std::shared_ptr<link>&),
                        std::shared_ptr<link> of) {
  {
    std::lock_guard lock(mutex_);
    ++threads_;
  }
  std::thread([this, work, of = std::move(of)]() mutable {
    (this->*work)(of);
    of->cut();
    std::lock_guard lock(mutex_);
    std::erase(links_, of);
    of.reset();
    --threads_;
    ended_.notify_all();
  }).detach();
}

void fault_proxy::carry_requests(const std::shared_ptr<link>& of) {
  fault_chooser chooser(seed_ + of->number * 7919);
  bytes request;
  while (read_frame(of->client, request))
    if (!pass_request(*of, std::move(request), chooser)) return;
}

bool fault_proxy::pass_request(link& of, bytes request, fault_chooser& chooser) {
  if (of.deaf) return true;
  const request_view seen = look_at(request);
  chosen_fault chosen;
  if (seen.api_key == produce_key) chosen = next_fault(chooser);
  note(chosen.fault);
  link::owed owed{seen.api_key, seen.version, chosen, {}};
  switch (chosen.fault) {
    case frame_fault::swallow:
      of.deaf = true;
      return true;
    case frame_fault::cut_before:
      return false;
    case frame_fault::cut_inside:
      write_torn_frame(of.broker, request);
      return false;
    case frame_fault::execute_late:
      execute_later(gates_[of.index]->route.broker, std::move(request), chosen.wait);
      return false;
    case frame_fault::error_instead: {
      owed.instead = refusal_of(request, chosen.code);
      if (owed.instead.empty()) return false;
      std::lock_guard lock(of.mutex);
      if (of.muted) return true;
      // Out of turn it would overtake the answers before it: those it is put behind.
      if (!of.answers.empty()) {
        of.answers.push_back(std::move(owed));
        return true;
      }
      return write_all(of.client, owed.instead);
    }
    default:
      break;
  }
  {
    std::lock_guard lock(of.mutex);
    of.answers.push_back(std::move(owed));
  }
  return write_frame(of.broker, request);
}

void fault_proxy::carry_answers(const std::shared_ptr<link>& of) {
  bytes answer;
  while (read_frame(of->broker, answer))
    if (!pass_answer(*of, answer)) return;
}

bool fault_proxy::pass_answer(link& of, const bytes& answer) {
  // It stays in the line until it is written: an answer of ours that found the line empty would be
  // written into the middle of this one.
  link::owed owed{};
  {
    std::lock_guard lock(of.mutex);
    while (of.muted && !of.answers.empty() && !of.answers.front().instead.empty())
      of.answers.pop_front();
    if (of.answers.empty()) return false;  // a broker that answers what nobody asked
    owed = of.answers.front();
    if (owed.fault.fault == frame_fault::mute) of.muted = true;
    if (of.muted) of.answers.pop_front();
  }
  if (owed.api_key == produce_key) note_answer(answer, owed.version);
  if (of.muted) return true;
  bytes changed;
  switch (owed.fault.fault) {
    case frame_fault::drop_answer:
      return false;
    case frame_fault::delay:
      std::this_thread::sleep_for(owed.fault.wait);
      break;
    case frame_fault::error_after:
      changed = with_code(answer, owed.version, owed.fault.code);
      break;
    default:
      break;
  }
  if (changed.empty() ? !write_frame(of.client, answer) : !write_all(of.client, changed))
    return false;
  std::lock_guard lock(of.mutex);
  of.answers.pop_front();
  while (!of.answers.empty() && !of.answers.front().instead.empty()) {
    if (!write_all(of.client, of.answers.front().instead)) return false;
    of.answers.pop_front();
  }
  return true;
}

void fault_proxy::execute_later(std::uint16_t broker, bytes request,
                                std::chrono::milliseconds wait) {
  {
    std::lock_guard lock(mutex_);
    ++threads_;
    ++held_;
  }
  std::thread([this, broker, request = std::move(request), wait] {
    std::this_thread::sleep_for(wait);
    const auto give_up = std::chrono::steady_clock::now() + held_wait_max;
    int upstream = -1;
    while (upstream < 0 && !ends_ && std::chrono::steady_clock::now() < give_up) {
      upstream = connect_to(broker);
      if (upstream < 0) std::this_thread::sleep_for(100ms);
    }
    if (upstream >= 0) {
      const timeval limit{30, 0};
      ::setsockopt(upstream, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      bytes answer;
      if (write_frame(upstream, request)) read_frame(upstream, answer);
      ::close(upstream);
    }
    std::lock_guard lock(mutex_);
    --threads_;
    --held_;
    ended_.notify_all();
  }).detach();
}

void fault_proxy::script(std::deque<chosen_fault> faults, chosen_fault rest) {
  std::lock_guard lock(mutex_);
  scripted_ = true;
  script_ = std::move(faults);
  rest_ = rest;
}

chosen_fault fault_proxy::next_fault(fault_chooser& chooser) {
  std::lock_guard lock(mutex_);
  if (!scripted_) return chooser.choose(per_mille_);
  if (script_.empty()) return rest_;
  const chosen_fault next = script_.front();
  script_.pop_front();
  return next;
}

void fault_proxy::note_answer(const bytes& answer, std::int16_t version) {
  std::lock_guard lock(mutex_);
  if (!scripted_) return;
  const auto told =
      wire::decode_response<wire::produce_response>(version, std::span(answer).subspan(4));
  if (!told.ok()) return;
  for (const auto& topic : told.value.topics)
    for (const auto& partition : topic.partitions)
      answers_.push_back({partition.index, partition.error_code, partition.base_offset});
  answered_.notify_all();
}

bool fault_proxy::await_answers(const std::function<bool(const answers&)>& are_so) {
  std::unique_lock lock(mutex_);
  return answered_.wait_for(lock, answers_wait_max, [&] { return are_so(answers_); });
}

fault_proxy::answers fault_proxy::answers_so_far() {
  std::lock_guard lock(mutex_);
  return answers_;
}

void fault_proxy::cut(std::size_t broker) {
  std::lock_guard lock(mutex_);
  for (const auto& each : links_)
    if (each->index == broker) each->cut();
}

void fault_proxy::admit(std::size_t broker, bool open) { gates_[broker]->open = open; }

void fault_proxy::quiet() {
  per_mille_ = 0;
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return held_ == 0; });
}

}  // namespace partita::chaos
