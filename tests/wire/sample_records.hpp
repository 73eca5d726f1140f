// Records for batch tests: the example of the message format, the records that other clients wrote
// into the golden files, and random ones from a seed.
#pragma once

#include "wire/record_batch.hpp"
#include "wire/record_reader.hpp"

#include <random>
#include <string>
#include <vector>

namespace partita::wire {

inline std::vector<std::byte> tail_of(const record& source) {
  std::vector<std::byte> tail(record_tail_size(source));
  std::byte* const end = encode_record_tail(source, tail.data());
  if (end != tail.data() + tail.size()) tail.clear();
  return tail;
}

inline void append(batch_builder& builder, std::int64_t timestamp_ms, const record& source) {
  builder.append(timestamp_ms, tail_of(source));
}

/// The three records of example_batch_hex.
inline void append_example_records(batch_builder& builder) {
  constexpr std::int64_t start = 1700000000000;
  const header headers[] = {{"h", "x"}, {"n", std::nullopt}};
  append(builder, start, {.topic = {}, .key = "k1", .value = "v1"});
  append(builder, start + 5,
         {.topic = {}, .key = std::nullopt, .value = "hello", .headers = headers});
  append(builder, start - 3, {.topic = {}, .key = "", .value = std::nullopt});
}

inline constexpr batch_stamp example_stamp{4242, 7, 100};

/// A record that owns its bytes.
struct stored_record {
  std::int64_t timestamp_ms = 0;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;

  friend bool operator==(const stored_record&, const stored_record&) = default;
};

inline void append(batch_builder& builder, const stored_record& stored) {
  std::vector<header> headers;
  for (const auto& [key, value] : stored.headers) headers.push_back({key, value});
  append(builder, stored.timestamp_ms,
         {.topic = {}, .key = stored.key, .value = stored.value, .headers = headers});
}

/// Everything a reader yields; its error is left to the caller.
inline std::vector<stored_record> read_all(record_reader& reader) {
  std::vector<stored_record> all;
  for (record_view view; reader.next(view);) {
    stored_record& stored = all.emplace_back();
    stored.timestamp_ms = view.timestamp_ms;
    if (view.key) stored.key.emplace(*view.key);
    if (view.value) stored.value.emplace(*view.value);
    for (const header& entry : view.headers) {
      auto& [key, value] = stored.headers.emplace_back();
      key = entry.key;
      if (entry.value) value.emplace(*entry.value);
    }
  }
  return all;
}

/// Records 0 to 23 of the golden files, but for their time.
inline std::vector<stored_record> golden_records() {
  std::vector<stored_record> all;
  for (int i = 0; i < 24; ++i)
    all.push_back({1700000000000 + i,
                   "key-" + std::to_string(i % 5),
                   "value " + std::to_string(i) + ": to be or not to be, that is the question",
                   {{"h", "x"}}});
  return all;
}

inline std::optional<std::string> random_part(std::mt19937& draw, std::size_t size_max) {
  if (draw() % 8 == 0) return std::nullopt;
  std::string text(draw() % size_max, ' ');
  for (char& character : text)
    character = static_cast<char>(draw() % 16 == 0 ? draw() : 'a' + draw() % 4);
  return text;
}

inline std::vector<stored_record> random_records(std::mt19937& draw, std::size_t count,
                                                 std::size_t value_size_max) {
  std::vector<stored_record> all(count);
  for (stored_record& stored : all) {
    stored.timestamp_ms = 1700000000000 + static_cast<std::int64_t>(draw() % 100000) - 50000;
    stored.key = random_part(draw, 40);
    stored.value = random_part(draw, value_size_max);
    for (std::size_t i = draw() % 4; i > 0; --i)
      stored.headers.emplace_back(random_part(draw, 10).value_or("key"), random_part(draw, 20));
  }
  return all;
}

}  // namespace partita::wire
