// Builds a record from the events of a JSON parser that reads one line of jsonl.
//
// Invariants
// 1. The first error stands; every event after it, and the one that found it, answers false.
// 2. A column points at the first byte of the token that was wrong.
//
// Threads: one.
#pragma once

#include "api/cli/input_record.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace partita::cli {

class jsonl_builder {
 public:
  using json = nlohmann::json;

  /// `taken` counts the bytes that the parser has read so far: its events do not say where they
  /// are.
  jsonl_builder(std::string_view line, const std::size_t& taken, input_record& record)
      : line_(line), taken_(taken), record_(record) {}

  [[nodiscard]] const std::optional<input_error>& error() const noexcept { return error_; }

  // What the parser calls.
  bool null();
  bool boolean(bool value);
  bool number_integer(json::number_integer_t number);
  bool number_unsigned(json::number_unsigned_t number);
  bool number_float(json::number_float_t number, const std::string& as_written);
  bool string(std::string& read);
  bool binary(json::binary_t& bytes);
  bool start_object(std::size_t elements);
  bool key(std::string& name);
  bool end_object();
  bool start_array(std::size_t elements);
  bool end_array();
  bool parse_error(std::size_t position, const std::string& token, const json::exception& what);

 private:
  enum class member : std::uint8_t {
    none,
    topic,
    key,
    key_base64,
    value,
    value_base64,
    headers,
    partition,
    timestamp,
    // What a dead letter says about itself: read, and of no effect.
    outcome,
    reason,
    source,
  };
  /// Where in the line's structure the parser is.
  enum class place : std::uint8_t {
    outside,
    record,
    header_object,
    header_array,
    header_item,
    header_pair,
    after,
  };
  struct mark;

  [[nodiscard]] static member member_named(std::string_view name) noexcept;
  [[nodiscard]] std::size_t column() const noexcept;
  [[nodiscard]] std::string expected() const;
  bool refuse(std::string reason);
  bool enter(place next) noexcept;
  template <class Action>
  bool scalar(Action action);
  bool begin(member which, const std::string& name);
  bool header_item_key(const std::string& name);
  bool text(std::optional<std::string> read);
  bool header_item_text(std::optional<std::string> read);
  bool header_pair_text(std::optional<std::string> read);
  bool decoded(std::optional<std::string> read, std::optional<std::string>& into);
  bool integer(std::int64_t number);

  std::string_view line_;
  const std::size_t& taken_;
  input_record& record_;
  std::optional<input_error> error_;
  std::size_t done_ = 0;  // up to where the events so far have come
  place place_ = place::outside;
  member current_ = member::none;
  unsigned seen_ = 0;
  bool item_key_ = false;
  bool item_base64_ = false;
  bool item_value_base64_ = false;  // which form the value had, once there was one
  bool item_has_key_ = false;
  bool item_has_value_ = false;
  int pair_texts_ = 0;
};

}  // namespace partita::cli
