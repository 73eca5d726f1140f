#include "api/cli/unrepeated_json.hpp"

#include "api/cli/counting_iterator.hpp"
#include "api/cli/json_reason.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace partita::cli {
namespace {

using nlohmann::json;

/// Sees the parser's events, and where each began: behind what was read before, and separators.
class repetition_watch {
 public:
  repetition_watch(std::string_view line, const std::size_t& taken) : line_(line), taken_(taken) {}

  void see(json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) names_.emplace_back();
    if (event == json::parse_event_t::object_end) names_.pop_back();
    if (event == json::parse_event_t::key) see_name(parsed.get_ref<const std::string&>());
    read_ = taken_;
  }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }

 private:
  void see_name(const std::string& name) {
    if (names_.back().insert(name).second || !error_.empty()) return;
    error_ = "column " + std::to_string(line_.find('"', read_) + 1) + ": \"" + name + "\" twice";
  }

  const std::string_view line_;
  const std::size_t& taken_;
  std::size_t read_ = 0;
  std::vector<std::set<std::string>> names_;  // of the objects that are open
  std::string error_;
};

}  // namespace

std::string parse_unrepeated(std::string_view line, json& into) {
  if (line.find('\0') != line.npos) return std::string("not JSON: ") + nul_byte_reason;
  std::size_t taken = 0;
  repetition_watch watch(line, taken);
  const auto see = [&](int, json::parse_event_t event, json& parsed) {
    watch.see(event, parsed);
    return true;
  };
  try {
    into = json::parse(counting_iterator(line.data(), &taken),
                       counting_iterator(line.data() + line.size(), nullptr), see);
  } catch (const json::exception& error) {
    return watch.error().empty() ? "not JSON: " + json_reason(error) : watch.error();
  }
  return watch.error();
}

}  // namespace partita::cli
