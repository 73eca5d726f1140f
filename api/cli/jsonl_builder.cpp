#include "api/cli/jsonl_builder.hpp"

#include "api/cli/base64.hpp"
#include "api/cli/json_reason.hpp"

#include <chrono>
#include <limits>
#include <utility>

namespace partita::cli {
namespace {

bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

/// Notes at its end up to where the line was read, so that the next event knows where it began.
struct jsonl_builder::mark {
  explicit mark(jsonl_builder& owner) : owner(owner) {}
  ~mark() { owner.done_ = owner.taken_; }
  mark(const mark&) = delete;
  mark& operator=(const mark&) = delete;
  jsonl_builder& owner;
};

jsonl_builder::member jsonl_builder::member_named(std::string_view name) noexcept {
  constexpr std::pair<std::string_view, member> names[] = {{"topic", member::topic},
                                                           {"key", member::key},
                                                           {"key_base64", member::key_base64},
                                                           {"value", member::value},
                                                           {"value_base64", member::value_base64},
                                                           {"headers", member::headers},
                                                           {"partition", member::partition},
                                                           {"timestamp", member::timestamp},
                                                           {"outcome", member::outcome},
                                                           {"reason", member::reason},
                                                           {"source", member::source}};
  for (const auto& [known, which] : names)
    if (name == known) return which;
  return member::none;
}

/// The column of the token that is being handled: behind what was read before, and separators.
std::size_t jsonl_builder::column() const noexcept {
  std::size_t at = done_;
  while (at < line_.size() && (is_space(line_[at]) || line_[at] == ',' || line_[at] == ':')) ++at;
  return at + 1;
}

std::string jsonl_builder::expected() const {
  if (place_ == place::outside) return "expected an object";
  if (place_ != place::record) return "expected text or null";
  switch (current_) {
    case member::topic:
      return "expected text";
    case member::headers:
      return "expected an object or an array of headers";
    case member::partition:
      return "expected a partition: 0 to 2147483647";
    case member::timestamp:
      return "expected milliseconds since 1970";
    case member::key_base64:
    case member::value_base64:
      return "expected base64 or null";
    default:
      return "expected text or null (JSON as a value goes in quotes)";
  }
}

bool jsonl_builder::refuse(std::string reason) {
  error_ = input_error{column(), std::move(reason)};
  return false;
}

bool jsonl_builder::enter(place next) noexcept {
  place_ = next;
  return true;
}

template <class Action>
bool jsonl_builder::scalar(Action action) {
  const mark here(*this);
  if (place_ == place::outside) return refuse("expected an object");
  if (place_ == place::header_array)
    return refuse(R"(expected a header: ["name","value"] or {"key":"name","value":"text"})");
  return action();
}

bool jsonl_builder::null() {
  return scalar([this] { return text(std::nullopt); });
}

bool jsonl_builder::boolean(bool) {
  return scalar([this] { return refuse(expected()); });
}

bool jsonl_builder::number_integer(json::number_integer_t number) {
  return scalar([&] { return integer(number); });
}

bool jsonl_builder::number_unsigned(json::number_unsigned_t number) {
  constexpr auto max =
      static_cast<json::number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
  return scalar([&] {
    return number > max ? refuse(expected()) : integer(static_cast<std::int64_t>(number));
  });
}

bool jsonl_builder::number_float(json::number_float_t, const std::string&) {
  return scalar([this] { return refuse(expected()); });
}

bool jsonl_builder::string(std::string& read) {
  return scalar([&] { return text(std::move(read)); });
}

bool jsonl_builder::binary(json::binary_t&) { return false; }

bool jsonl_builder::start_object(std::size_t) {
  const mark here(*this);
  switch (place_) {
    case place::outside:
      return enter(place::record);
    case place::record:
      if (current_ == member::headers) return enter(place::header_object);
      return refuse(expected());
    case place::header_array:
      record_.headers.emplace_back();
      item_has_key_ = item_has_value_ = false;
      return enter(place::header_item);
    default:
      return refuse(expected());
  }
}

bool jsonl_builder::key(std::string& name) {
  const mark here(*this);
  if (place_ == place::header_object) {
    record_.headers.push_back({std::move(name), std::nullopt});
    return true;
  }
  if (place_ == place::header_item) return header_item_key(name);
  const member which = member_named(name);
  if (which == member::none) return refuse("unknown member \"" + name + "\"");
  return begin(which, name);
}

bool jsonl_builder::end_object() {
  const mark here(*this);
  switch (place_) {
    case place::header_object:
      return enter(place::record);
    case place::header_item:
      if (!item_has_key_) return refuse("a header needs a \"key\"");
      return enter(place::header_array);
    default:
      return enter(place::after);
  }
}

bool jsonl_builder::start_array(std::size_t) {
  const mark here(*this);
  if (place_ == place::record && current_ == member::headers) return enter(place::header_array);
  if (place_ != place::header_array) return refuse(expected());
  record_.headers.emplace_back();
  pair_texts_ = 0;
  return enter(place::header_pair);
}

bool jsonl_builder::end_array() {
  const mark here(*this);
  if (place_ == place::header_array) return enter(place::record);
  if (pair_texts_ != 2) return refuse("a header is a pair: [\"name\",\"value\"]");
  return enter(place::header_array);
}

bool jsonl_builder::parse_error(std::size_t position, const std::string&,
                                const json::exception& what) {
  if (error_) return false;
  error_ = input_error{position == 0 ? 1 : position, json_reason(what)};
  if (line_.find_first_not_of(" \t\r\n") == std::string_view::npos) error_->reason = "no object";
  return false;
}

bool jsonl_builder::begin(member which, const std::string& name) {
  const auto bit = [](member each) { return 1U << static_cast<unsigned>(each); };
  if ((seen_ & bit(which)) != 0) return refuse("\"" + name + "\" twice");
  seen_ |= bit(which);
  const unsigned keys = bit(member::key) | bit(member::key_base64);
  const unsigned values = bit(member::value) | bit(member::value_base64);
  if ((seen_ & keys) == keys || (seen_ & values) == values)
    return refuse("\"" + name + "\" besides its other form");
  current_ = which;
  return true;
}

bool jsonl_builder::header_item_key(const std::string& name) {
  bool& seen = name == "key" ? item_has_key_ : item_has_value_;
  const bool is_base64 = name == "value_base64";
  if (name != "key" && name != "value" && !is_base64)
    return refuse("unknown member \"" + name + "\" of a header");
  if (seen && name != "key" && is_base64 != item_value_base64_)
    return refuse("\"" + name + "\" besides its other form");
  if (seen) return refuse("\"" + name + "\" twice");
  seen = true;
  item_key_ = name == "key";
  item_base64_ = is_base64;
  if (!item_key_) item_value_base64_ = is_base64;
  return true;
}

bool jsonl_builder::text(std::optional<std::string> read) {
  if (place_ == place::header_object) {
    record_.headers.back().value = std::move(read);
    return true;
  }
  if (place_ == place::header_item) return header_item_text(std::move(read));
  if (place_ == place::header_pair) return header_pair_text(std::move(read));
  switch (current_) {
    case member::topic:
      if (!read) return refuse(expected());
      record_.topic = std::move(read);
      return true;
    case member::key:
      record_.key = std::move(read);
      return true;
    case member::value:
      record_.value = std::move(read);
      return true;
    case member::key_base64:
      return decoded(std::move(read), record_.key);
    case member::value_base64:
      return decoded(std::move(read), record_.value);
    case member::headers:
    case member::partition:
    case member::timestamp:
      return !read || refuse(expected());  // null: as if absent
    case member::outcome:
    case member::reason:
    case member::source:
      return true;
    case member::none:
      break;
  }
  return refuse("expected a member");
}

bool jsonl_builder::header_item_text(std::optional<std::string> read) {
  owned_header& header = record_.headers.back();
  if (item_base64_) return decoded(std::move(read), header.value);
  if (!item_key_) {
    header.value = std::move(read);
    return true;
  }
  if (!read) return refuse("the key of a header can't be null");
  header.key = std::move(*read);
  return true;
}

bool jsonl_builder::header_pair_text(std::optional<std::string> read) {
  owned_header& header = record_.headers.back();
  switch (++pair_texts_) {
    case 1:
      if (!read) return refuse("the name of a header can't be null");
      header.key = std::move(*read);
      return true;
    case 2:
      header.value = std::move(read);
      return true;
    default:
      return refuse("a header is a pair: [\"name\",\"value\"]");
  }
}

bool jsonl_builder::decoded(std::optional<std::string> read, std::optional<std::string>& into) {
  if (read && !(into = decode_base64(*read))) return refuse("not base64");
  return true;
}

bool jsonl_builder::integer(std::int64_t number) {
  if (place_ == place::record && current_ == member::partition) {
    if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) return refuse(expected());
    record_.partition = partition_id(static_cast<std::int32_t>(number));
    return true;
  }
  if (place_ == place::record && current_ == member::timestamp) {
    if (number < 0) return refuse(expected());
    record_.timestamp = partita::timestamp(std::chrono::milliseconds(number));
    return true;
  }
  return refuse(expected());
}

}  // namespace partita::cli
