#include "peers/peer_process.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

namespace partita::peers {

peer_process::peer_process(const std::vector<std::string>& command) {
  int in[2];
  int out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) return;
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
  reader_ = std::thread([this] { read_all(); });
}

peer_process::~peer_process() {
  finish(std::chrono::milliseconds{100});
  if (reader_.joinable()) reader_.join();
  if (from_ >= 0) ::close(from_);
}

void peer_process::say(const std::string& line) {
  const std::string text = line + "\n";
  std::string_view left = text;
  while (!left.empty() && to_ >= 0) {
    const ssize_t written = ::write(to_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool peer_process::await(const std::string& name, std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [&] { return ended_ || outcomes_.contains(name); });
  return outcomes_.contains(name);
}

std::optional<peer_outcome> peer_process::outcome_of(const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto at = outcomes_.find(name);
  return at == outcomes_.end() ? std::nullopt : std::optional(at->second);
}

void peer_process::finish(std::chrono::milliseconds longest) {
  if (process_ < 0) return;
  if (to_ >= 0) ::close(to_);
  to_ = -1;
  {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, longest, [this] { return ended_; })) ::kill(process_, SIGKILL);
  }
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void peer_process::read_all() {
  std::string text;
  char chunk[4096];
  for (;;) {
    const ssize_t got = ::read(from_, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(chunk, static_cast<std::size_t>(got));
    for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
      take(text.substr(0, end));
  }
  std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void peer_process::take(const std::string& line) {
  const auto event = nlohmann::json::parse(line, nullptr, false);
  if (!event.is_object() || event.value("event", "") != "outcome") return;
  const auto number = [&](const char* name) {
    const auto at = event.find(name);
    return at != event.end() && at->is_number() ? at->get<std::int64_t>() : std::int64_t{-1};
  };
  const auto text = [&](const char* name) {
    const auto at = event.find(name);
    return at != event.end() && at->is_string() ? at->get<std::string>() : std::string();
  };
  std::lock_guard lock(mutex_);
  outcomes_[text("name")] = {text("outcome"), text("code"),
                             static_cast<std::int32_t>(number("partition")), number("offset")};
  changed_.notify_all();
}

}  // namespace partita::peers
