#include "api/cli/demo_input.hpp"

#include "api/cli/input_file.hpp"
#include "api/cli/jsonl.hpp"
#include "api/cli/line_input.hpp"

#include <filesystem>
#include <utility>

namespace partita::cli {
namespace {

constexpr std::size_t file_bytes_max = 16 * 1024 * 1024;

std::string read_whole(const std::string& path, std::string& text) {
  input_file file;
  std::error_code error = file.open(path);
  std::string chunk(64 * 1024, '\0');
  while (!error && text.size() <= file_bytes_max) {
    const std::size_t count = file.read(chunk.data(), chunk.size(), error);
    if (count == 0 && !error) return {};
    text.append(chunk, 0, count);
  }
  return path + ": " + (error ? error.message() : std::string("more than 16 MiB"));
}

}  // namespace

std::string find_demo_file() {
  namespace fs = std::filesystem;
  const fs::path shipped = fs::path("examples") / "data" / "orders.jsonl";
  std::error_code ignored;
  if (fs::exists(shipped, ignored)) return shipped.string();
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  // build/release/partita
  const fs::path in_tree = program.parent_path().parent_path().parent_path() / shipped;
  return fs::exists(in_tree, ignored) ? in_tree.string() : std::string();
}

std::string read_demo_file(const std::string& path, const std::string& topic,
                           const std::string& run, std::vector<testing::produced_record>& records,
                           std::size_t& bytes) {
  std::string text;
  if (std::string error = read_whole(path, text); !error.empty()) return error;
  bytes = text.size();
  line_input lines("\n", file_bytes_max);
  lines.append(text);
  lines.finish();
  line_input::line line;
  while (lines.next(line)) {
    if (is_blank(line.bytes)) continue;
    input_record read;
    if (const auto error = parse_jsonl(line.bytes, read))
      return path + ":" + std::to_string(line.number) + ":" + std::to_string(error->column) + ": " +
             error->reason;
    testing::produced_record& made = records.emplace_back();
    made.record.topic = topic;
    made.record.key = std::move(read.key);
    made.record.value = std::move(read.value);
    made.record.headers = std::move(read.headers);
    made.record.headers.push_back({"demo", run + ":" + std::to_string(line.number)});
    made.client_timestamp = read.timestamp.has_value();
    if (read.timestamp) made.record.timestamp = *read.timestamp;
    made.order = records.size();
  }
  return records.empty() ? path + ": no records" : std::string();
}

}  // namespace partita::cli
