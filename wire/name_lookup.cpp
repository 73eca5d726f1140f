#include "wire/name_lookup.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace partita::wire {
namespace {

namespace asio = boost::asio;

constexpr std::size_t host_bytes_max = 253;  // of a DNS name in text

look_up_result not_found(std::string_view host, std::string_view why, std::error_code cause = {}) {
  look_up_result result;
  result.failure = {client_errc::host_not_found, cause, std::string(host) + ": "};
  result.failure.text += why;
  return result;
}

bool wanted(address_family family, bool is_v4) {
  return family == address_family::any || (family == address_family::v4) == is_v4;
}

bool is_localhost(std::string_view host) {
  constexpr std::string_view name = "localhost";
  if (!host.empty() && host.back() == '.') host.remove_suffix(1);
  return std::equal(host.begin(), host.end(), name.begin(), name.end(), [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  });
}

int family_number(address_family family) {
  if (family == address_family::v4) return AF_INET;
  return family == address_family::v6 ? AF_INET6 : AF_UNSPEC;
}

// getaddrinfo's own errors, for the cause of a failure.
class look_up_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "getaddrinfo"; }
  std::string message(int value) const override { return ::gai_strerror(value); }
};

std::error_code look_up_error(int status) {
  // Never destroyed: a look-up's thread may outlive main().
  static const look_up_category& category = *new look_up_category;
  if (status == EAI_SYSTEM) return {errno, std::system_category()};
  return {status, category};
}

look_up_result ask_system(const std::string& host, address_family family) {
  addrinfo hints{};
  hints.ai_family = family_number(family);
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (status != 0) {
    const std::error_code cause = look_up_error(status);
    return not_found(host, cause.message(), cause);
  }
  look_up_result result;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    std::array<char, NI_MAXHOST> text;
    if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      result.addresses.emplace_back(text.data());
    }
  }
  ::freeaddrinfo(found);
  return result;
}

// Drops doubles (one address is listed once per protocol) and what exceeds the limit.
look_up_result tidied(const std::string& host, look_up_result result, std::size_t addresses_max) {
  std::vector<std::string> kept;
  for (std::string& address : result.addresses) {
    if (kept.size() == addresses_max) break;
    if (std::find(kept.begin(), kept.end(), address) == kept.end()) {
      kept.push_back(std::move(address));
    }
  }
  result.addresses = std::move(kept);
  if (result.addresses.empty() && !result.failure.code) return not_found(host, "no addresses");
  return result;
}

// The application's signal handlers must not run on a thread it does not know.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

// One name being looked up. The loop's thread gives it up by clearing `waiting`; after that the
// look-up's thread touches neither the loop, which may be gone, nor the callback.
struct job {
  job(asio::io_context& on, std::string name, std::function<void(const look_up_result&)> call)
      : loop(on), host(std::move(name)), callback(std::move(call)), keep_loop(on.get_executor()) {}

  asio::io_context& loop;
  const std::string host;

  // The loop's thread only.
  std::function<void(const look_up_result&)> callback;
  asio::executor_work_guard<asio::io_context::executor_type> keep_loop;

  std::mutex mutex;
  bool waiting = true;

  void give_up() {
    {
      const std::lock_guard lock(mutex);
      waiting = false;
    }
    callback = nullptr;
    keep_loop.reset();
  }

  bool given_up() {
    const std::lock_guard lock(mutex);
    return !waiting;
  }
};

// From any thread. The lock keeps the loop alive: who destroys it gave the job up before.
void post_result(const std::shared_ptr<job>& of, look_up_result result) {
  const std::lock_guard lock(of->mutex);
  if (!of->waiting) return;
  asio::post(of->loop, [of, result = std::move(result)] {
    if (of->given_up()) return;
    const auto callback = std::move(of->callback);
    of->give_up();
    callback(result);
  });
}

}  // namespace

std::optional<look_up_result> look_up_inline(std::string_view host, address_family family) {
  if (host.empty() || host.size() > host_bytes_max || host.find('\0') != host.npos) {
    return not_found(host.substr(0, host_bytes_max), "not a host name");
  }
  look_up_result result;
  if (is_localhost(host)) {
    // RFC 6761: localhost is always the loopback. IPv4 first, as most brokers in tests listen
    // there.
    if (wanted(family, true)) result.addresses.emplace_back("127.0.0.1");
    if (wanted(family, false)) result.addresses.emplace_back("::1");
    return result;
  }
  std::string_view bare = host;
  if (bare.size() > 2 && bare.front() == '[' && bare.back() == ']') {
    bare = bare.substr(1, bare.size() - 2);
  }
  boost::system::error_code code;
  const asio::ip::address address = asio::ip::make_address(std::string(bare), code);
  if (code) return std::nullopt;
  if (!wanted(family, address.is_v4())) return not_found(host, "not of the wanted address family");
  result.addresses.push_back(address.to_string());
  return result;
}

struct name_lookup::shared {
  asio::io_context& loop;
  const name_lookup_options options;

  mutable std::mutex mutex;
  std::deque<std::shared_ptr<job>> waiting = {};
  std::size_t running = 0;

  // What a look-up thread does: its own name, then those that wait, then it ends.
  void work(std::shared_ptr<job> current) {
    while (current != nullptr) {
      if (!current->given_up()) {
        look_up_result result = options.resolve ? options.resolve(current->host, options.family)
                                                : ask_system(current->host, options.family);
        post_result(current, tidied(current->host, std::move(result), options.addresses_max));
      }
      const std::lock_guard lock(mutex);
      if (waiting.empty()) {
        --running;
        return;
      }
      current = std::move(waiting.front());
      waiting.pop_front();
    }
  }
};

class name_lookup::pending final : public pending_look_up {
 public:
  pending(std::shared_ptr<shared> owner, std::shared_ptr<job> work)
      : owner_(std::move(owner)), job_(std::move(work)) {}

  ~pending() override {
    job_->give_up();
    const std::lock_guard lock(owner_->mutex);
    std::erase(owner_->waiting, job_);
  }

 private:
  std::shared_ptr<shared> owner_;
  std::shared_ptr<job> job_;
};

name_lookup::name_lookup(asio::io_context& loop, name_lookup_options options) {
  PARTITA_EXPECTS(options.look_ups_max > 0, options.look_ups_max);
  PARTITA_EXPECTS(options.addresses_max > 0, options.addresses_max);
  shared_.reset(new shared{loop, std::move(options), {}});
}

name_lookup::~name_lookup() = default;

std::unique_ptr<pending_look_up> name_lookup::look_up(
    std::string host, std::function<void(const look_up_result&)> callback) {
  PARTITA_EXPECTS(callback != nullptr);
  auto added = std::make_shared<job>(shared_->loop, std::move(host), std::move(callback));
  auto handle = std::make_unique<pending>(shared_, added);
  if (auto known = look_up_inline(added->host, shared_->options.family)) {
    post_result(added, std::move(*known));
    return handle;
  }
  const std::lock_guard lock(shared_->mutex);
  if (shared_->running == shared_->options.look_ups_max) {
    if (shared_->waiting.size() < shared_->options.look_ups_waiting_max) {
      shared_->waiting.push_back(added);
    } else {
      post_result(added, not_found(added->host, "too many names are being looked up"));
    }
    return handle;
  }
  try {
    const signals_blocked during_start;
    std::thread([owner = shared_, added] { owner->work(added); }).detach();
    ++shared_->running;
  } catch (const std::system_error& refused) {
    post_result(added, not_found(added->host, "no thread for the look-up", refused.code()));
  }
  return handle;
}

std::size_t name_lookup::running() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->running;
}

}  // namespace partita::wire
