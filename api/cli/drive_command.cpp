#include "api/cli/drive_command.hpp"

#include "api/cli/base64.hpp"
#include "api/cli/unrepeated_json.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

namespace partita::cli {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// A day: longer than any script waits, short enough for every clock.
constexpr std::int64_t milliseconds_max = 86'400'000;

struct verb_row {
  std::string_view word;
  drive_action action;
  std::span<const std::string_view> members;  // that it takes besides "do" and "await"
};

constexpr std::string_view record_members[] = {
    "name",         "topic",   "partition", "key",         "key_base64", "value",
    "value_base64", "headers", "timestamp", "deadline_ms", "timeout_ms"};
constexpr std::string_view batch_members[] = {"records", "timeout_ms"};
constexpr std::string_view name_members[] = {"name", "timeout_ms"};
constexpr std::string_view place_members[] = {"topic", "partition", "timeout_ms"};
constexpr std::string_view pause_members[] = {"topic", "partition", "abort_buffered", "timeout_ms"};
constexpr std::string_view recover_members[] = {"topic", "partition",        "key",
                                                "how",   "allow_duplicates", "timeout_ms"};
constexpr std::string_view wait_members[] = {"ms"};
constexpr std::string_view close_members[] = {"deadline_ms", "timeout_ms"};

constexpr std::array<verb_row, 13> verbs = {{
    {"produce", drive_action::produce, record_members},
    {"produce_batch", drive_action::produce_batch, batch_members},
    {"cancel", drive_action::cancel, name_members},
    {"await", drive_action::await, name_members},
    {"settle", drive_action::settle, name_members},
    {"flush", drive_action::flush, place_members},
    {"pause", drive_action::pause, pause_members},
    {"resume", drive_action::resume, place_members},
    {"recover", drive_action::recover, recover_members},
    {"status", drive_action::status, {}},
    {"wait", drive_action::wait, wait_members},
    {"close", drive_action::close, close_members},
    {"destroy", drive_action::destroy, {}},
}};

/// Reads members of one object. The first error stands.
class member_reader {
 public:
  member_reader(const json& object, std::string& error) : object_(object), error_(error) {}

  void text(const char* name, std::optional<std::string>& into) {
    const json* at = member(name);
    if (at == nullptr || at->is_null()) return;
    if (!at->is_string()) return refuse(name, "takes text");
    into = at->get<std::string>();
  }
  void base64(const char* name, std::optional<std::string>& into) {
    std::optional<std::string> coded;
    text(name, coded);
    if (!coded) return;
    if (into) return refuse(name, "stands besides its other form");
    into = decode_base64(*coded);
    if (!into) refuse(name, "is not base64");
  }
  void needed(const char* name, std::string& into) {
    std::optional<std::string> given;
    text(name, given);
    if (given && !given->empty())
      into = std::move(*given);
    else
      refuse(name, "is needed");
  }
  void number(const char* name, std::int64_t max, std::optional<std::int64_t>& into) {
    const json* at = member(name);
    if (at == nullptr || at->is_null()) return;
    const bool whole = at->is_number_integer() || at->is_number_unsigned();
    const bool fits = whole && (!at->is_number_unsigned() ||
                                at->get<std::uint64_t>() <= static_cast<std::uint64_t>(max));
    if (!fits || at->get<std::int64_t>() < 0 || at->get<std::int64_t>() > max)
      return refuse(name, "takes a number from 0 to " + std::to_string(max));
    into = at->get<std::int64_t>();
  }
  void duration(const char* name, std::optional<milliseconds>& into) {
    std::optional<std::int64_t> count;
    number(name, milliseconds_max, count);
    if (count) into = milliseconds(*count);
  }
  void partition(std::optional<partition_id>& into) {
    std::optional<std::int64_t> index;
    number("partition", std::numeric_limits<std::int32_t>::max(), index);
    if (index) into = partition_id(static_cast<std::int32_t>(*index));
  }
  void flag(const char* name, bool& into) {
    const json* at = member(name);
    if (at == nullptr || at->is_null()) return;
    if (!at->is_boolean()) return refuse(name, "takes true or false");
    into = at->get<bool>();
  }
  /// Pairs of name and value, the value text or null.
  void headers(std::vector<owned_header>& into) {
    const json* at = member("headers");
    if (at == nullptr || at->is_null()) return;
    if (!at->is_array()) return refuse("headers", "takes an array of pairs");
    for (const json& pair : *at) {
      const bool sound = pair.is_array() && pair.size() == 2 && pair[0].is_string() &&
                         (pair[1].is_string() || pair[1].is_null());
      if (!sound) return refuse("headers", R"(takes pairs: [["name","value"]])");
      std::optional<std::string> value;
      if (pair[1].is_string()) value = pair[1].get<std::string>();
      into.push_back({pair[0].get<std::string>(), std::move(value)});
    }
  }
  [[nodiscard]] const json* member(const char* name) const {
    const auto at = object_.find(name);
    return at == object_.end() ? nullptr : &*at;
  }
  void refuse(const char* name, const std::string& reason) {
    if (error_.empty()) error_ = "\"" + std::string(name) + "\" " + reason;
  }

 private:
  const json& object_;
  std::string& error_;
};

bool contains(std::span<const std::string_view> names, std::string_view wanted) noexcept {
  for (const std::string_view each : names)
    if (each == wanted) return true;
  return false;
}

std::string unknown_member(const json& object, std::span<const std::string_view> known,
                           bool of_command) {
  for (const auto& [name, value] : object.items())
    if (!contains(known, name) && !(of_command && (name == "do" || name == "await")))
      return "unknown member \"" + name + "\"";
  return {};
}

std::string read_record(const json& object, named_record& into) {
  std::string error;
  member_reader read(object, error);
  read.needed("name", into.name);
  read.text("topic", into.content.topic);
  if (!into.content.topic) read.refuse("topic", "is needed");
  read.text("key", into.content.key);
  read.base64("key_base64", into.content.key);
  read.text("value", into.content.value);
  read.base64("value_base64", into.content.value);
  read.headers(into.content.headers);
  read.partition(into.content.partition);
  std::optional<std::int64_t> time;
  read.number("timestamp", std::numeric_limits<std::int64_t>::max(), time);
  if (time) into.content.timestamp = partita::timestamp(milliseconds(*time));
  read.duration("deadline_ms", into.deadline);
  return error;
}

std::string read_batch(const json& object, std::vector<named_record>& into) {
  const auto records = object.find("records");
  if (records == object.end() || !records->is_array() || records->empty())
    return "\"records\" takes an array of records";
  for (const json& each : *records) {
    const std::string where = "record " + std::to_string(into.size()) + ": ";
    if (!each.is_object()) return where + "not an object";
    const std::span<const std::string_view> known(record_members);
    std::string error = unknown_member(each, known.first(known.size() - 1), false);
    if (error.empty()) error = read_record(each, into.emplace_back());
    if (!error.empty()) return where + error;
  }
  return {};
}

bool read_recovery(const std::string& word, recovery& into) noexcept {
  if (word == "resubmit")
    into = recovery::resubmit;
  else if (word == "discard")
    into = recovery::discard;
  else if (word == "take")
    into = recovery::take;
  else
    return false;
  return true;
}

bool needs_place(drive_action action) noexcept {
  return action == drive_action::pause || action == drive_action::resume ||
         action == drive_action::recover;
}

bool needs_name(drive_action action) noexcept {
  return action == drive_action::await || action == drive_action::cancel ||
         action == drive_action::settle;
}

std::string read_members(const json& object, drive_command& into) {
  std::string error;
  member_reader read(object, error);
  read.flag("await", into.wait_for_it);
  read.duration("timeout_ms", into.timeout);
  if (needs_name(into.action)) read.needed("name", into.name);
  read.text("topic", into.topic);
  read.partition(into.partition);
  if (needs_place(into.action) && (!into.topic || !into.partition))
    read.refuse(into.topic ? "partition" : "topic", "is needed");
  if (into.partition && !into.topic) read.refuse("topic", "is needed with a partition");
  read.text("key", into.key);
  read.flag("abort_buffered", into.abort_buffered);
  read.flag("allow_duplicates", into.allow_duplicates);
  if (into.action == drive_action::close) read.duration("deadline_ms", into.deadline);
  std::optional<std::string> how;
  read.text("how", how);
  if (how && !read_recovery(*how, into.how)) read.refuse("how", "takes resubmit, discard or take");
  std::optional<milliseconds> pause;
  read.duration("ms", pause);
  if (into.action == drive_action::wait && !pause) read.refuse("ms", "is needed");
  into.pause_of_script = pause.value_or(milliseconds{0});
  return error;
}

}  // namespace

std::string parse_drive_command(std::string_view line, drive_command& command) {
  json object;
  std::string error = parse_unrepeated(line, object);
  if (!error.empty()) return error;
  if (!object.is_object()) return "not an object";
  member_reader(object, error).needed("do", command.verb);
  if (!error.empty()) return error;
  const verb_row* verb = nullptr;
  for (const verb_row& each : verbs)
    if (each.word == command.verb) verb = &each;
  if (verb == nullptr) return "no command \"" + command.verb + "\"";
  command.action = verb->action;
  error = unknown_member(object, verb->members, true);
  if (error.empty() && command.action == drive_action::produce)
    error = read_record(object, command.records.emplace_back());
  if (error.empty() && command.action == drive_action::produce_batch)
    error = read_batch(object, command.records);
  return error.empty() ? read_members(object, command) : error;
}

}  // namespace partita::cli
