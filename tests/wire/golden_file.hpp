// Reads the files of tests/wire/golden: lines of words, comments left out.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace partita::wire {

inline std::vector<std::vector<std::string>> golden_lines(const std::string& name) {
  const auto path =
      std::filesystem::path(PARTITA_SOURCE_DIR) / "tests/wire/golden" / (name + ".hex");
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::vector<std::string>& parts = lines.emplace_back();
    for (std::string word; words >> word;) parts.push_back(word);
  }
  return lines;
}

}  // namespace partita::wire
