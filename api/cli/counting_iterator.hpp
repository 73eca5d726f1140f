// Bytes for a JSON parser that tell how far it has come: its events do not say where they are.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <iterator>

namespace partita::cli {

/// The end of the bytes has no counter.
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

}  // namespace partita::cli
