// Values to bytes: the visitor that a message's describe() is called with for encoding.
//
//   static void describe(auto& io, auto& m) {
//     io(m.index, m.error_code);                  // fields of all versions, in order
//     io.since(5, m.log_start_offset, ignorable); // 5 and later; silently dropped before
//     io.until(12, m.name);                       // up to 12; an error if set later
//     io.between(8, 10, m.flag);
//     io.nullable_since(10, m.name);              // present in all versions, null only from 10 on
//     io.tagged(0, 10, m.leader);                 // last, tags ascending
//   }
//
// Invariants
// 1. The error is sticky: after the first one nothing matters, and callers check once.
// 2. A field that differs from its default and that the version cannot carry is an error, unless
//    it is marked ignorable: nothing that was asked for is lost silently.
// 3. Tagged fields equal to their default are not written.
//
// Threads: one owner.
#pragma once

#include "wire/dialect.hpp"
#include "wire/field_kinds.hpp"
#include "wire/gather_buffer.hpp"
#include "wire/varints.hpp"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::wire {

class encoder {
 public:
  static constexpr bool is_encoder = true;

  encoder(gather_buffer& out, wire::dialect dialect) noexcept : out_(out), dialect_(dialect) {}

  [[nodiscard]] wire::dialect dialect() const noexcept { return dialect_; }
  [[nodiscard]] std::int16_t version() const noexcept { return dialect_.version; }
  [[nodiscard]] std::error_code error() const noexcept { return error_; }
  /// What went wrong, for logs; "" while all is well.
  [[nodiscard]] const char* reason() const noexcept { return reason_; }

  template <class... Fields>
  void operator()(const Fields&... fields) {
    PARTITA_ASSERT(!tags_begun_);
    (write(fields), ...);
  }

  template <class Field, class... Mark>
  void since(std::int16_t first, const Field& field, Mark... mark) {
    between(first, std::numeric_limits<std::int16_t>::max(), field, mark...);
  }
  template <class Field, class... Mark>
  void until(std::int16_t last, const Field& field, Mark... mark) {
    between(0, last, field, mark...);
  }
  template <class Field>
  void between(std::int16_t first, std::int16_t last, const Field& field) {
    conditional(first, last, field, field == Field{});
  }
  template <class Field>
  void between(std::int16_t first, std::int16_t last, const Field& field, ignorable_t) {
    conditional(first, last, field, true);
  }
  template <class Field, class T>
  void between(std::int16_t first, std::int16_t last, const Field& field, default_value<T> unset) {
    conditional(first, last, field, field == static_cast<Field>(unset.value));
  }

  template <class Field>
  void nullable_since(std::int16_t first, const std::optional<Field>& field) {
    if (!field && version() < first) fail_unsupported("null in a version without it");
    (*this)(field);
  }

  template <class Field>
  void tagged(std::uint32_t tag, std::int16_t first, const Field& field) {
    tagged_if(tag, first, field, field == Field{}, false);
  }
  template <class Field>
  void tagged(std::uint32_t tag, std::int16_t first, const Field& field, ignorable_t) {
    tagged_if(tag, first, field, field == Field{}, true);
  }
  template <class Field, class T>
  void tagged(std::uint32_t tag, std::int16_t first, const Field& field, default_value<T> unset) {
    tagged_if(tag, first, field, field == static_cast<Field>(unset.value), false);
  }

  /// A described struct with its tagged fields; messages begin here.
  template <class Struct>
  void structure(const Struct& value) {
    tag_scope outer = begin_structure();
    Struct::describe(*this, value);
    end_structure(std::move(outer));
  }

  void fail(std::error_code error, const char* reason) noexcept {
    if (error_) return;
    error_ = error;
    reason_ = reason;
  }

  // Primitives.
  template <class Integer>
  void integer(Integer value) {
    using unsigned_type = std::make_unsigned_t<Integer>;
    auto bits = static_cast<unsigned_type>(value);
    std::byte bytes[sizeof(Integer)];
    for (std::size_t i = sizeof(Integer); i-- > 0;) {
      bytes[i] = static_cast<std::byte>(bits & 0xff);
      if constexpr (sizeof(Integer) > 1) bits = static_cast<unsigned_type>(bits >> 8);
    }
    out_.append(bytes, sizeof bytes);
  }
  void uvarint(std::uint32_t value);
  void string(std::string_view text);
  void null_string();
  /// The int16-length form that request headers keep in every version.
  void classic_string(std::optional<std::string_view> text);

 private:
  struct tag_scope {
    std::uint32_t count;
    std::uint32_t next;
    bool begun;
    std::vector<std::byte> bytes;
  };

  template <class Field>
  void conditional(std::int16_t first, std::int16_t last, const Field& field,
                   bool may_be_left_out) {
    if (first <= version() && version() <= last) {
      (*this)(field);
    } else if (!may_be_left_out) {
      fail_unsupported("a field is set that the version cannot carry");
    }
  }

  template <class Field>
  void tagged_if(std::uint32_t tag, std::int16_t first, const Field& field, bool unset,
                 bool may_be_left_out) {
    begin_tag(tag);
    if (unset) return;
    if (!dialect_.flexible || version() < first) {
      if (!may_be_left_out) fail_unsupported("a tagged field is set that the version cannot carry");
      return;
    }
    gather_buffer content;
    encoder nested(content, dialect_);
    nested.write(field);
    if (nested.error_) fail(nested.error_, nested.reason_);
    keep_tag(tag, content);
  }

  template <class Field>
  void write(const Field& field) {
    if constexpr (std::is_same_v<Field, bool>) {
      integer<std::uint8_t>(field ? 1 : 0);
    } else if constexpr (std::is_enum_v<Field>) {
      integer(static_cast<std::underlying_type_t<Field>>(field));
    } else if constexpr (std::is_integral_v<Field>) {
      integer(field);
    } else if constexpr (detail::is_id<Field>) {
      integer(field.value);
    } else if constexpr (std::is_same_v<Field, topic_id>) {
      integer(field.high);
      integer(field.low);
    } else if constexpr (std::is_same_v<Field, std::string>) {
      string(field);
    } else if constexpr (std::is_same_v<Field, std::optional<std::string>>) {
      field ? string(*field) : null_string();
    } else if constexpr (std::is_same_v<Field, std::vector<std::byte>>) {
      bytes(field);
    } else if constexpr (std::is_same_v<Field, record_bytes>) {
      records(field);
    } else if constexpr (detail::is_optional_vector<Field>) {
      field ? array(*field) : null_length();
    } else if constexpr (detail::is_vector<Field>) {
      array(field);
    } else {
      structure(field);
    }
  }

  template <class Element>
  void array(const std::vector<Element>& elements) {
    length(elements.size());
    for (const Element& element : elements) write(element);
  }

  void bytes(const std::vector<std::byte>& content);
  void records(const record_bytes& content);
  void length(std::size_t count);
  void null_length();
  tag_scope begin_structure();
  void end_structure(tag_scope&& outer);
  void begin_tag(std::uint32_t tag);
  void keep_tag(std::uint32_t tag, const gather_buffer& content);
  void fail_unsupported(const char* reason) noexcept;

  gather_buffer& out_;
  wire::dialect dialect_;
  std::error_code error_;
  const char* reason_ = "";
  std::uint32_t tag_count_ = 0;
  std::uint32_t next_tag_ = 0;  ///< the least a further tag may be
  bool tags_begun_ = false;
  std::vector<std::byte> tag_bytes_;
};

}  // namespace partita::wire
