// Which C++ types a field of a message may have, for encoder and decoder alike.
//
// Invariants
// 1. Both directions classify a type by the same trait, so they cannot disagree on its form.
//
// Threads: types only.
#pragma once

#include "wire/record_bytes.hpp"

#include <partita/ids.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace partita::wire {

/// For io.since() and its like: this field may be left out silently where the version lacks it.
struct ignorable_t {};
inline constexpr ignorable_t ignorable{};

/// For io.since() and its like: the value that stands for "not set", where it is not T{}.
template <class T>
struct default_value {
  T value;
};
template <class T>
constexpr default_value<T> defaults_to(T value) {
  return {value};
}

namespace detail {

template <class T>
inline constexpr bool is_id = false;
template <class Tag, class Rep>
inline constexpr bool is_id<id<Tag, Rep>> = true;

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class T>
inline constexpr bool is_optional_vector = false;
template <class T>
inline constexpr bool is_optional_vector<std::optional<std::vector<T>>> = true;

/// The fewest bytes an element can take, to refuse a count that the rest cannot hold.
template <class T>
constexpr std::size_t wire_size_min() {
  if constexpr (std::is_same_v<T, topic_id>) {
    return 16;
  } else if constexpr (is_id<T>) {
    return sizeof(typename T::rep);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return sizeof(T);
  } else {
    return 1;
  }
}

}  // namespace detail
}  // namespace partita::wire
