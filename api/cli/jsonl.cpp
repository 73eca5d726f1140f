#include "api/cli/jsonl.hpp"

#include "api/cli/counting_iterator.hpp"
#include "api/cli/json_reason.hpp"
#include "api/cli/jsonl_builder.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>

namespace partita::cli {

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
