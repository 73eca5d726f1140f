#include "api/cli/dead_letter_file.hpp"

#include "api/cli/base64.hpp"
#include "api/cli/delivery_ledger.hpp"
#include "api/cli/jsonl.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace partita::cli {
namespace {

using letter_json = nlohmann::ordered_json;

std::error_code system_error_now() noexcept { return {errno, std::generic_category()}; }

bool is_text(const std::string& bytes) {
  try {
    static_cast<void>(letter_json(bytes).dump());
    return true;
  } catch (const letter_json::exception&) {
    return false;  // not UTF-8
  }
}

void put_bytes(letter_json& into, const std::string& name,
               const std::optional<std::string>& bytes) {
  if (!bytes)
    into[name] = nullptr;
  else if (is_text(*bytes))
    into[name] = *bytes;
  else
    into[name + "_base64"] = encode_base64(*bytes);
}

}  // namespace

std::string dead_letter_line(const input_record& content, const failed& why,
                             const std::string& source) {
  letter_json line;
  if (content.topic) line["topic"] = *content.topic;
  if (content.key) put_bytes(line, "key", content.key);
  put_bytes(line, "value", content.value);
  for (const owned_header& each : content.headers) {
    letter_json header{{"key", each.key}};
    put_bytes(header, "value", each.value);
    line["headers"].push_back(std::move(header));
  }
  if (content.partition) line["partition"] = content.partition->value;
  if (content.timestamp) line["timestamp"] = content.timestamp->time_since_epoch().count();
  line["outcome"] = why.fate == fate::unknown ? "unknown" : "not_written";
  line["reason"] = describe(why);
  line["source"] = source;
  return line.dump(-1, ' ', false, letter_json::error_handler_t::replace) + "\n";
}

dead_letter_file::~dead_letter_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string dead_letter_file::open(const std::string& path) {
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) return path + ": " + system_error_now().message();
  std::string error = mend_tail();
  return error.empty() ? error : path + ": " + error;
}

/// What follows the last line feed is a line that was not finished, or one that only lacks the line
/// feed, or nothing of ours.
std::string dead_letter_file::mend_tail() {
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0) return system_error_now().message();
  if (!S_ISREG(about.st_mode)) return {};
  std::string tail;
  off_t at = about.st_size;
  while (at > 0 && tail.find('\n') == std::string::npos) {
    char chunk[4096];
    const off_t from = std::max<off_t>(0, at - static_cast<off_t>(sizeof chunk));
    const ssize_t count = ::pread(descriptor_, chunk, static_cast<std::size_t>(at - from), from);
    if (count < 0 && errno == EINTR) continue;
    if (count != at - from) return count < 0 ? system_error_now().message() : "changes meanwhile";
    tail.insert(0, chunk, static_cast<std::size_t>(count));
    at = from;
  }
  const std::size_t feed = tail.rfind('\n');
  if (feed != std::string::npos) tail.erase(0, feed + 1);
  if (tail.empty()) return {};
  input_record whole;
  if (!parse_jsonl(tail, whole)) {
    const std::error_code error = append("\n");
    return error ? error.message() : std::string();
  }
  if (tail.front() != '{') return "its last line is no dead letter, and has no line feed";
  torn_bytes_ = tail.size();
  const off_t kept = about.st_size - static_cast<off_t>(tail.size());
  return ::ftruncate(descriptor_, kept) == 0 ? std::string() : system_error_now().message();
}

std::error_code dead_letter_file::append(const std::string& line) {
  std::string_view left = line;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return written < 0 ? system_error_now() : std::error_code(EIO, std::generic_category());
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace partita::cli
