#include "api/cli/command_object.hpp"

namespace partita::cli {

const nlohmann::json* command_object::take(const char* name) {
  const auto found = object_.find(name);
  if (found == object_.end()) return nullptr;
  read_.insert(name);
  return &*found;
}

std::string command_object::text(const char* name, std::optional<std::string> otherwise) {
  const auto* found = take(name);
  if (found != nullptr && found->is_string()) return found->get<std::string>();
  if (found != nullptr) {
    refuse(std::string{name} + ": not a text");
  } else if (!otherwise) {
    refuse(std::string{name} + ": missing");
  }
  return otherwise.value_or("");
}

bool command_object::flag(const char* name, bool otherwise) {
  const auto* found = take(name);
  if (found == nullptr) return otherwise;
  if (found->is_boolean()) return found->get<bool>();
  refuse(std::string{name} + ": not true or false");
  return otherwise;
}

double command_object::share(const char* name) {
  const auto* found = take(name);
  if (found == nullptr) return 0;
  const double value = found->is_number() ? found->get<double>() : -1;
  if (value >= 0 && value <= 1) return value;
  refuse(std::string{name} + ": not between 0 and 1");
  return 0;
}

std::chrono::milliseconds command_object::duration(const char* name) {
  constexpr std::int64_t longest = std::int64_t{1} << 40;
  return std::chrono::milliseconds{integer(name, 0, longest, 0)};
}

nlohmann::json command_object::object(const char* name) {
  const auto* found = take(name);
  if (found == nullptr) return nlohmann::json::object();
  if (found->is_object()) return *found;
  refuse(std::string{name} + ": not an object");
  return nlohmann::json::object();
}

std::int64_t command_object::integer(const char* name, std::int64_t least, std::int64_t most,
                                     std::optional<std::int64_t> otherwise) {
  const auto* found = take(name);
  if (found == nullptr) {
    if (!otherwise) refuse(std::string{name} + ": missing");
    return otherwise.value_or(0);
  }
  const bool whole = found->is_number_integer() &&
                     (!found->is_number_unsigned() ||
                      found->get<std::uint64_t>() <=
                          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const auto value = whole ? found->get<std::int64_t>() : 0;
  if (whole && value >= least && value <= most) return value;
  refuse(std::string{name} + ": not a whole number from " + std::to_string(least) + " to " +
         std::to_string(most));
  return 0;
}

void command_object::finish() {
  for (const auto& [name, value] : object_.items())
    if (!read_.contains(name)) refuse(name + ": unknown");
}

}  // namespace partita::cli
