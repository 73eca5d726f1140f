#include "api/cli/dead_letter_file.hpp"

#include "api/cli/jsonl.hpp"

#include <partita/error.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace partita::cli {
namespace {

failed why(partita::fate what) {
  return {what, client_errc::delivery_timeout, {}, limit::none, "t", {}, 0, ticket{}};
}

input_record letter(std::string value) {
  input_record made;
  made.topic = "t";
  made.key = "k";
  made.value = std::move(value);
  return made;
}

std::string file_name(const char* part) {
  return (std::filesystem::temp_directory_path() /
          (std::string("partita-dead-letters-") + part + "-" + std::to_string(::getpid())))
      .string();
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

struct on_disk {
  explicit on_disk(const char* part) : path(file_name(part)) { std::filesystem::remove(path); }
  ~on_disk() { std::filesystem::remove(path); }
  std::string path;
};

TEST(DeadLetterFile, LinesAreInputAgain) {
  input_record all = letter("v\n\xc3\xa9");
  all.headers = {{"h", "x"}, {"h", std::nullopt}, {"b", std::string("\0\xff", 2)}};
  all.partition = partition_id(3);
  all.timestamp = partita::timestamp(std::chrono::milliseconds(1'764'000'000'000));
  input_record bytes = letter("\xff\xfe");
  bytes.key = std::string("\0", 1);
  input_record bare;
  bare.topic = "t";
  for (const input_record* each : {&all, &bytes, &bare}) {
    const std::string line = dead_letter_line(*each, why(fate::unknown), "orders.jsonl:40");
    ASSERT_EQ(line.find('\n'), line.size() - 1) << line;
    input_record read;
    const auto error = parse_jsonl(line, read);
    ASSERT_FALSE(error) << line << error->reason;
    EXPECT_EQ(read.topic, each->topic);
    EXPECT_EQ(read.key, each->key);
    EXPECT_EQ(read.value, each->value);
    EXPECT_EQ(read.headers, each->headers);
    EXPECT_EQ(read.partition, each->partition);
    EXPECT_EQ(read.timestamp, each->timestamp);
    EXPECT_NE(line.find("\"outcome\":\"unknown\""), std::string::npos);
    EXPECT_NE(line.find("\"source\":\"orders.jsonl:40\""), std::string::npos);
  }
  EXPECT_NE(dead_letter_line(bare, why(fate::not_written), "x:1").find("\"not_written\""),
            std::string::npos);
}

TEST(DeadLetterFile, GoesOnBehindWhatItHoldsAndTouchesNothingElse) {
  const on_disk file("other");
  put(file.path, "not ours\n{\"value\":\"whole\"}");
  {
    dead_letter_file letters;
    EXPECT_EQ(letters.open(file.path), "");
    EXPECT_EQ(letters.torn_bytes(), 0U);
    EXPECT_FALSE(letters.append("{}\n"));
  }
  EXPECT_EQ(content_of(file.path), "not ours\n{\"value\":\"whole\"}\n{}\n");
  put(file.path, "{\"value\":\"a\"}\nsomebody's text");
  dead_letter_file refused;
  EXPECT_NE(refused.open(file.path).find("no dead letter"), std::string::npos);
  EXPECT_EQ(content_of(file.path), "{\"value\":\"a\"}\nsomebody's text");
  EXPECT_NE(dead_letter_file().open("/no/such/directory/file"), "");
}

std::vector<std::string> three_lines() {
  std::vector<std::string> lines;
  for (const char* value : {"one", "\xff\x01", "three {\"x\":\"\n\"}"})
    lines.push_back(dead_letter_line(letter(value), why(fate::not_written), "stdin:7"));
  return lines;
}

// A process whose file may not grow beyond `most` is killed in the write that would do it, behind
// the bytes that still fitted: a kill -9 at every byte.
bool killed_while_writing(const std::string& path, std::size_t most) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    const rlimit size{most, most};
    ::setrlimit(RLIMIT_CORE, &none);
    std::signal(SIGXFSZ, SIG_DFL);
    dead_letter_file letters;
    if (!letters.open(path).empty()) ::_exit(2);
    const std::vector<std::string> lines = three_lines();
    if (::setrlimit(RLIMIT_FSIZE, &size) != 0) ::_exit(3);
    for (const std::string& each : lines)
      if (letters.append(each)) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) ? WTERMSIG(status) == SIGXFSZ : WEXITSTATUS(status) == 0)
      << status;
  return WIFSIGNALED(status);
}

TEST(dead_letter_file, cli_03_dead_letter_kill_points) {
  const std::vector<std::string> lines = three_lines();
  std::size_t total = 0;
  for (const std::string& each : lines) total += each.size();
  for (std::size_t most = 0; most <= total; ++most) {
    const on_disk file("killed");
    EXPECT_EQ(killed_while_writing(file.path, most), most < total);
    EXPECT_EQ(content_of(file.path).size(), most);
    {
      dead_letter_file restarted;
      ASSERT_EQ(restarted.open(file.path), "") << most;
      for (const std::string& each : lines) ASSERT_FALSE(restarted.append(each));
    }
    std::istringstream content(content_of(file.path));
    std::vector<std::string> found;
    for (std::string line; std::getline(content, line);) {
      input_record read;
      EXPECT_FALSE(parse_jsonl(line, read)) << most << ": " << line;
      found.push_back(line + "\n");
    }
    for (const std::string& each : lines)
      EXPECT_NE(std::find(found.begin(), found.end(), each), found.end()) << most;
    for (const std::string& each : found)
      EXPECT_NE(std::find(lines.begin(), lines.end(), each), lines.end()) << most << ": " << each;
  }
}

}  // namespace
}  // namespace partita::cli
