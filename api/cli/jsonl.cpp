#include "api/cli/jsonl.hpp"

#include "api/cli/json_reason.hpp"
#include "api/cli/jsonl_builder.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <iterator>

namespace partita::cli {
namespace {

/// Counts what the parser has taken, because its events do not say where they are.
class counting_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  counting_iterator(const char* at, std::size_t* taken) noexcept : at_(at), taken_(taken) {}
  reference operator*() const noexcept { return *at_; }
  counting_iterator& operator++() noexcept {
    ++at_;
    if (taken_ != nullptr) ++*taken_;
    return *this;
  }
  counting_iterator operator++(int) noexcept {
    counting_iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const counting_iterator& a, const counting_iterator& b) noexcept {
    return a.at_ == b.at_;
  }
  friend bool operator!=(const counting_iterator& a, const counting_iterator& b) noexcept {
    return a.at_ != b.at_;
  }

 private:
  const char* at_;
  std::size_t* taken_;
};

}  // namespace

bool is_blank(std::string_view line) noexcept {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::optional<input_error> parse_jsonl(std::string_view line, input_record& record) {
  if (const std::size_t at = line.find('\0'); at != line.npos)
    return input_error{at + 1, nul_byte_reason};
  std::size_t taken = 0;
  jsonl_builder builder(line, taken, record);
  const counting_iterator begin(line.data(), &taken);
  const counting_iterator end(line.data() + line.size(), nullptr);
  const bool read =
      nlohmann::json::sax_parse(begin, end, &builder, nlohmann::json::input_format_t::json, true);
  if (!read && !builder.error()) return input_error{1, "not a record"};
  return builder.error();
}

}  // namespace partita::cli
