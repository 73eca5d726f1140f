// Reads topics with clients that nobody here wrote: kcat (librdkafka) and Kafka's console consumer
// (Java).
//
// Invariants
// 1. Every reader is given at most a few minutes and then ends the test's expectations, not the
// machine.
// 2. Nothing of ours decodes a fetched byte: what a reader returns is what the foreign client
// printed. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace partita::testing {

/// One record as kcat shows it.
struct foreign_record {
  std::int32_t partition = -1;
  std::int64_t offset = -1;
  std::int64_t timestamp_ms = -1;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::string headers;  ///< "name=value,name=value"; a null value shows as NULL
};

/// A directory of its own below the system's temporary one, removed with the object.
class scratch_directory {
 public:
  scratch_directory();
  ~scratch_directory();
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  const std::string& path() const { return path_; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

/// kcat from the beginning to the end of all partitions, checksums of batches verified. Binary
/// safe. `arguments` are added to its command line.
std::vector<foreign_record> kcat_read(const std::string& bootstrap, const std::string& topic,
                                      const std::string& arguments = "");

/// The same as one JSON object a line, as kcat prints it.
std::vector<std::string> kcat_read_json(const std::string& bootstrap, const std::string& topic);

/// Lets kcat produce the lines of `input`; `arguments` are added. True if it says that all went
/// well.
bool kcat_write(const std::string& bootstrap, const std::string& topic, const std::string& input,
                const std::string& arguments);

/// The lines of Kafka's console consumer of that version for `count` records, sorted. Each is
/// TIMESTAMP-TYPE:MS, Partition:N, Offset:N, headers, key, value, separated by tabs.
std::vector<std::string> console_read(const std::string& version, const std::string& bootstrap,
                                      const std::string& topic, std::size_t count,
                                      const std::string& arguments = "--from-beginning");

/// The version that the test program was asked to try.
std::string kafka_version_under_test();

}  // namespace partita::testing
