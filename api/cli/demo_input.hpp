// The records of a demonstration, each made unique so that the log can be compared one by one.
//
// Threads: pure but for reading the file.
#pragma once

#include <partita/testing/checker.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace partita::cli {

/// Where the file that ships with the program lies; empty if it is not found.
[[nodiscard]] std::string find_demo_file();

/// Reads a jsonl file of at most 16 MiB. Every record gets a header that names `run` and its line,
/// so that no two are equal, in this run or any other. Empty, or one line on what is wrong.
[[nodiscard]] std::string read_demo_file(const std::string& path, const std::string& topic,
                                         const std::string& run,
                                         std::vector<testing::produced_record>& records,
                                         std::size_t& bytes);

}  // namespace partita::cli
