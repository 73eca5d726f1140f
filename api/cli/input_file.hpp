// Where records are read from: a file, or standard input.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

namespace partita::cli {

class input_file {
 public:
  input_file() noexcept = default;
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;
  ~input_file();

  /// "-" or nothing: standard input.
  [[nodiscard]] std::error_code open(const std::string& path);

  /// The path names what is read: writing there would feed the reading.
  [[nodiscard]] bool is(const std::string& path) const noexcept;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// How many bytes there are to read, where that is known.
  [[nodiscard]] std::optional<std::uint64_t> size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

  /// 0 at the end. `error` is operation_would_block or interrupted when it is worth to poll again.
  [[nodiscard]] std::size_t read(char* into, std::size_t size, std::error_code& error);

 private:
  int descriptor_ = -1;
  bool owned_ = false;
  std::string name_;
  std::optional<std::uint64_t> size_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace partita::cli
