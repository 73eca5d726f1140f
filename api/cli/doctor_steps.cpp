#include "api/cli/doctor_steps.hpp"

#include "api/cli/counted.hpp"

#include <partita/error.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace partita::cli {
namespace {

constexpr std::string_view scheme_end = "://";

using address_list = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

address_list addresses_of(const broker_address& at, int& failed) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  failed = ::getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &wanted, &found);
  return {failed == 0 ? found : nullptr, &::freeaddrinfo};
}

std::string numeric(const addrinfo& address) {
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(address.ai_addr, address.ai_addrlen, text.data(), text.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0)
    return "?";
  return text.data();
}

/// Empty: connected.
std::error_code try_to_connect(const addrinfo& address, std::chrono::milliseconds limit) {
  const auto last_failure = [] { return std::error_code(errno, std::generic_category()); };
  const int socket = ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                              address.ai_protocol);
  if (socket < 0) return last_failure();
  std::error_code result;
  if (::connect(socket, address.ai_addr, address.ai_addrlen) != 0) {
    pollfd waiting{socket, POLLOUT, 0};
    if (errno != EINPROGRESS) {
      result = last_failure();
    } else if (::poll(&waiting, 1, static_cast<int>(limit.count())) <= 0) {
      result = std::make_error_code(std::errc::timed_out);
    } else {
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
      result = {error, std::generic_category()};
    }
  }
  ::close(socket);
  return result;
}

step_verdict passed(std::string step, std::string saw) {
  return {std::move(step), true, std::move(saw), {}, exit_code::ok};
}

step_verdict failed_step(std::string step, std::string saw, std::string hint, exit_code code) {
  return {std::move(step), false, std::move(saw), std::move(hint), code};
}

std::string hint_for_silence(std::error_code error) {
  if (error == client_errc::not_kafka_tls)
    return "this port wants TLS, which this version does not speak: use a plaintext listener";
  if (error == client_errc::not_kafka_http || error == client_errc::not_kafka_ssh)
    return "another service has this port: take the port of the broker's listener";
  return "the port is open, but no Kafka broker answers: wrong port, a listener that wants TLS, or "
         "a broker that hangs";
}

step_verdict about_topic(const std::string& topic, const testing::read_end& end) {
  if (end.error == broker_errc::unknown_topic_or_partition)
    return failed_step("topic", end.text,
                       "create it; producing creates it only where the brokers allow that "
                       "(auto.create.topics.enable)",
                       exit_code::usage);
  if (is_denied(end.error))
    return failed_step("topic", end.text,
                       "the topic may not be seen: ask for the right to describe "
                       "and to write " +
                           topic,
                       exit_code::denied);
  return failed_step("topic", end.text, "what the broker says of this topic", exit_code::usage);
}

}  // namespace

std::string broker_address::shown() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
         std::to_string(port);
}

std::vector<broker_address> split_addresses(const std::string& bootstrap_servers) {
  std::vector<broker_address> all;
  std::string_view left = bootstrap_servers;
  while (!left.empty()) {
    std::string_view one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    if (const auto scheme = one.find(scheme_end); scheme != std::string_view::npos)
      one.remove_prefix(scheme + scheme_end.size());
    broker_address made;
    std::size_t colon = one.rfind(':');
    if (!one.empty() && one.front() == '[') {
      const std::size_t bracket = one.find(']');
      made.host = std::string(one.substr(1, bracket - 1));
      if (bracket + 1 == one.size()) colon = std::string_view::npos;
    } else {
      made.host = std::string(one.substr(0, colon));
    }
    if (colon != std::string_view::npos)
      std::from_chars(one.data() + colon + 1, one.data() + one.size(), made.port);
    if (made.host.empty()) continue;  // a comma too many
    const auto same = [&](const broker_address& each) {
      return each.host == made.host && each.port == made.port;
    };
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(made));
  }
  return all;
}

step_verdict look_up_name(const broker_address& at) {
  int failed = 0;
  const address_list found = addresses_of(at, failed);
  if (failed != 0)
    return failed_step("name", at.host + ": " + ::gai_strerror(failed),
                       "this machine does not know the name: look at its spelling, at DNS and at "
                       "/etc/hosts",
                       exit_code::unreachable);
  std::string saw = at.host + ":";
  std::set<std::string> known;
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next)
    if (known.insert(numeric(*one)).second) saw += " " + numeric(*one);
  return passed("name", saw);
}

step_verdict open_connection(const broker_address& at, std::chrono::milliseconds limit) {
  int failed = 0;
  const address_list found = addresses_of(at, failed);
  std::error_code last = client_errc::host_not_found;  // it was there a moment ago
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    last = try_to_connect(*one, limit);
    if (!last) return passed("connection", at.shown());
  }
  const bool refused = last == std::errc::connection_refused;
  return failed_step("connection", at.shown() + ": " + last.message(),
                     refused ? "nothing listens there: is the broker running, and is this the port "
                               "of its listener?"
                             : "no way to it: look at routes and firewalls",
                     exit_code::unreachable);
}

std::vector<step_verdict> ask_about_topic(const broker_address& at, const std::string& topic,
                                          std::chrono::milliseconds limit,
                                          testing::topic_description& found) {
  testing::log_reader reader(at.shown(), limit);
  const testing::read_end end = reader.describe(topic, found);
  if (!end.ok() && is_unreachable(end.error))
    return {failed_step("protocol", end.text, hint_for_silence(end.error), exit_code::unreachable)};
  std::vector<step_verdict> told = {passed("protocol", at.shown() + ": a Kafka broker")};
  told.push_back(
      end.ok()
          ? passed("topic", topic + ": " + counted(found.leaders.size(), "partition", "partitions"))
          : about_topic(topic, end));
  return told;
}

step_verdict reach_leaders(const testing::topic_description& found, const std::string& topic,
                           std::chrono::milliseconds limit) {
  std::set<std::pair<std::string, std::int32_t>> reached;
  for (const auto& each : found.leaders) {
    const std::string partition = topic + "-" + std::to_string(each.partition.value);
    if (!each.broker.known() || each.host.empty())
      return failed_step("leaders", partition + " has no leader",
                         "a broker is down, or an election goes on: look at the brokers",
                         exit_code::unreachable);
    if (!reached.insert({each.host, each.port}).second) continue;
    const broker_address at{each.host, static_cast<std::uint16_t>(each.port)};
    testing::log_reader reader(at.shown(), limit);
    testing::topic_description again;
    const testing::read_end end = reader.describe(topic, again);
    if (!end.ok() && is_unreachable(end.error))
      return failed_step("leaders",
                         "broker " + std::to_string(each.broker.value) + ", leader of " +
                             partition + ": " + end.text,
                         "this address comes from the broker: advertised.listeners has to name one "
                         "that this machine can reach",
                         exit_code::unreachable);
  }
  const bool one = reached.size() == 1;
  return passed("leaders", counted(reached.size(), "broker leads", "brokers lead") +
                               " partitions of " + topic +
                               (one ? ", and answers" : ", and answer"));
}

step_verdict judge_write_right(const testing::topic_description& found, const std::string& topic) {
  if (!found.may_be_written) return passed("write right", "the broker does not say");
  if (*found.may_be_written) return passed("write right", topic + " may be written");
  return failed_step("write right", topic + " may not be written",
                     "ask for the right to write (ACL operation WRITE) for this user",
                     exit_code::denied);
}

}  // namespace partita::cli
