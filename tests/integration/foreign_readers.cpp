#include "integration/foreign_readers.hpp"

#include "integration/kafka_cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <unistd.h>

namespace partita::testing {
namespace {

const std::string script = PARTITA_SOURCE_DIR "/tests/integration/kafka_cluster.sh";

/// Walks the text that kcat printed by the format of kcat_read().
class printed_records {
 public:
  explicit printed_records(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty() || broken_; }
  bool broken() const { return broken_; }

  foreign_record next() {
    foreign_record read;
    read.partition = static_cast<std::int32_t>(number());
    read.offset = number();
    read.timestamp_ms = number();
    const std::int64_t key_size = number();
    const std::int64_t value_size = number();
    read.headers = until('\n');
    read.key = bytes(key_size);
    read.value = bytes(value_size);
    broken_ = broken_ || !until('\n').empty();
    return read;
  }

 private:
  std::string until(char end) {
    const std::size_t length = rest_.find(end);
    if (length == std::string_view::npos) {
      broken_ = true;
      return {};
    }
    const std::string taken(rest_.substr(0, length));
    rest_.remove_prefix(length + 1);
    return taken;
  }

  std::int64_t number() {
    const std::string word = until(' ');
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    broken_ = broken_ || error != std::errc{} || end != word.data() + word.size();
    return value;
  }

  /// kcat prints the length -1 for null.
  std::optional<std::string> bytes(std::int64_t size) {
    if (size < 0) return std::nullopt;
    if (static_cast<std::uint64_t>(size) > rest_.size()) {
      broken_ = true;
      return std::nullopt;
    }
    const std::string taken(rest_.substr(0, static_cast<std::size_t>(size)));
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return taken;
  }

  std::string_view rest_;
  bool broken_ = false;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string kcat_consume_all(const std::string& bootstrap, const std::string& topic,
                             const std::string& output, const std::string& arguments) {
  const command_result result =
      run_command("timeout 180 kcat -C -q -e -o beginning -X check.crcs=true -b " + bootstrap +
                  " -t " + shell_quoted(topic) + " " + arguments + " " + output);
  EXPECT_EQ(result.exit_code, 0) << "kcat -C -t " << topic;
  return result.output;
}

}  // namespace

scratch_directory::scratch_directory() {
  path_ = (std::filesystem::temp_directory_path() / "partita-test-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr) std::abort();
}

scratch_directory::~scratch_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string scratch_directory::write(const std::string& name, const std::string& content) const {
  const std::string file = path_ + "/" + name;
  std::ofstream(file, std::ios::binary) << content;
  return file;
}

std::vector<foreign_record> kcat_read(const std::string& bootstrap, const std::string& topic,
                                      const std::string& arguments) {
  const std::string text =
      kcat_consume_all(bootstrap, topic, "-f '%p %o %T %K %S %h\\n%k%s\\n'", arguments);
  std::vector<foreign_record> records;
  printed_records printed(text);
  while (!printed.done()) records.push_back(printed.next());
  EXPECT_FALSE(printed.broken()) << "kcat's output can not be read after record " << records.size();
  return records;
}

std::vector<std::string> kcat_read_json(const std::string& bootstrap, const std::string& topic) {
  return lines_of(kcat_consume_all(bootstrap, topic, "-J", ""));
}

bool kcat_write(const std::string& bootstrap, const std::string& topic, const std::string& input,
                const std::string& arguments) {
  const scratch_directory scratch;
  const std::string file = scratch.write("lines", input);
  return run_command("timeout 120 kcat -P -b " + bootstrap + " -t " + shell_quoted(topic) + " " +
                     arguments + " <" + shell_quoted(file))
             .exit_code == 0;
}

std::vector<std::string> console_read(const std::string& version, const std::string& bootstrap,
                                      const std::string& topic, std::size_t count,
                                      const std::string& arguments) {
  const scratch_directory scratch;
  const std::string quiet = scratch.write("log4j.properties", "log4j.rootLogger=ERROR\n");
  const std::string jars = run_command(shell_quoted(script) + " fetch " + version).output;
  const std::string root = jars.substr(0, jars.find('\n'));
  std::ifstream list(root + "/complete");
  std::string class_path;
  for (std::string checksum, jar; list >> checksum >> jar;) class_path += root + "/" + jar + ":";
  const bool is_scala_tool = version.starts_with("2.");
  std::string command =
      "java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp " + shell_quoted(class_path) +
      " -Dorg.slf4j.simpleLogger.defaultLogLevel=error -Dlog4j.configuration=file:" + quiet +
      (is_scala_tool ? " kafka.tools.ConsoleConsumer"
                     : " org.apache.kafka.tools.consumer.ConsoleConsumer") +
      " --bootstrap-server " + bootstrap + " --topic " + shell_quoted(topic) +
      " --timeout-ms 60000 --max-messages " + std::to_string(count) + " " + arguments;
  for (const char* shown : {"key", "headers", "offset", "partition", "timestamp"}) {
    command += std::string(" --property print.") + shown + "=true";
  }
  const command_result result = run_command("timeout 180 " + command + " 2>/dev/null");
  EXPECT_EQ(result.exit_code, 0) << "console consumer of " << topic;
  std::vector<std::string> lines = lines_of(result.output);
  // Newer versions advise on their own options, on the same stream.
  std::erase_if(lines, [](const std::string& line) {
    return !line.starts_with("CreateTime:") && !line.starts_with("LogAppendTime:");
  });
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string kafka_version_under_test() {
  const char* version = std::getenv("PARTITA_KAFKA_VERSION");
  return version != nullptr ? version : "4.4.0";
}

}  // namespace partita::testing
