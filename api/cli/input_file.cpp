#include "api/cli/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace partita::cli {
namespace {

std::error_code last_error() noexcept { return {errno, std::generic_category()}; }

}  // namespace

input_file::~input_file() {
  if (owned_) ::close(descriptor_);
}

std::error_code input_file::open(const std::string& path) {
  if (path.empty() || path == "-") {
    descriptor_ = STDIN_FILENO;
    name_ = "stdin";
  } else {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) return last_error();
    owned_ = true;
    name_ = path;
  }
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0) return last_error();
  if (S_ISDIR(about.st_mode)) return std::make_error_code(std::errc::is_a_directory);
  if (S_ISREG(about.st_mode)) {
    const off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
    if (at >= 0 && about.st_size >= at) size_ = static_cast<std::uint64_t>(about.st_size - at);
  }
  return {};
}

/// Not by the path: a link is another name of the same file. What a terminal or /dev/null takes
/// does not come back.
bool input_file::is(const std::string& path) const noexcept {
  struct stat own {};
  struct stat other {};
  if (::fstat(descriptor_, &own) != 0 || ::stat(path.c_str(), &other) != 0) return false;
  return !S_ISCHR(own.st_mode) && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

std::size_t input_file::read(char* into, std::size_t size, std::error_code& error) {
  const ssize_t count = ::read(descriptor_, into, size);
  if (count < 0) {
    error = last_error();
    return 0;
  }
  bytes_read_ += static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

}  // namespace partita::cli
