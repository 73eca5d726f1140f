// Bytes to values: the visitor that a message's describe() is called with for decoding (see
// encoder.hpp for its vocabulary).
//
// Invariants
// 1. The error is sticky: after the first one every read yields a default and moves nothing.
// 2. Nothing is read outside the span, and a count never reserves more than the bytes left could
//    hold, nor more than a fixed step; the elements of one message are bounded in total.
// 3. Unknown tagged fields are skipped (KIP-482); tags must ascend, and a known one must fill its
//    size.
// 4. Strings are copied out; `records` stay views of the span handed in.
//
// Threads: one owner.
#pragma once

#include "wire/dialect.hpp"
#include "wire/field_kinds.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace partita::wire {

/// Why bytes were refused, and where.
struct decode_failure {
  std::error_code code;
  std::size_t offset = 0;   ///< of the byte at which reading stopped
  std::uint32_t field = 0;  ///< how many fields were read before
  const char* reason = "";

  explicit operator bool() const noexcept { return static_cast<bool>(code); }
  /// One line for logs: "Produce v9: array longer than the bytes left, at byte 17, field 4".
  [[nodiscard]] std::string describe(std::string_view message, std::int16_t version) const;
};

/// Far above what the largest clusters answer (200,000 partitions with 10 elements each).
inline constexpr std::uint32_t decoded_elements_max = 4'000'000;

class decoder {
 public:
  static constexpr bool is_encoder = false;

  /// `code` is what a refusal is called: malformed_answer for answers, corrupt_data without a peer.
  decoder(std::span<const std::byte> bytes, wire::dialect dialect,
          client_errc code = client_errc::malformed_answer) noexcept
      : begin_(bytes.data()),
        at_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        dialect_(dialect),
        code_(code) {}

  [[nodiscard]] wire::dialect dialect() const noexcept { return dialect_; }
  [[nodiscard]] std::int16_t version() const noexcept { return dialect_.version; }
  [[nodiscard]] const decode_failure& failure() const noexcept { return failure_; }
  [[nodiscard]] bool failed() const noexcept { return static_cast<bool>(failure_); }
  [[nodiscard]] std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return {at_, left()}; }
  /// Refuses bytes behind the message.
  void expect_end() noexcept {
    if (!failed() && at_ != end_) fail("bytes behind the end");
  }

  template <class... Fields>
  void operator()(Fields&... fields) {
    PARTITA_ASSERT(!tags_.begun);
    (read_field(fields), ...);
  }

  template <class Field, class... Mark>
  void since(std::int16_t first, Field& field, Mark...) {
    if (version() >= first) (*this)(field);
  }
  template <class Field, class... Mark>
  void until(std::int16_t last, Field& field, Mark...) {
    if (version() <= last) (*this)(field);
  }
  template <class Field, class... Mark>
  void between(std::int16_t first, std::int16_t last, Field& field, Mark...) {
    if (first <= version() && version() <= last) (*this)(field);
  }
  template <class Field>
  void nullable_since(std::int16_t first, std::optional<Field>& field) {
    (*this)(field);
    if (!failed() && !field && version() < first) fail("null in a version without it");
  }
  template <class Field, class... Mark>
  void tagged(std::uint32_t tag, std::int16_t first, Field& field, Mark...) {
    if (!dialect_.flexible || failed()) return;
    if (!seek_tag(tag) || version() < first) return;
    const std::byte* const outer_end = end_;
    end_ = at_ + tags_.size;
    read_field(field);
    if (!failed() && at_ != end_) fail("a tagged field does not fill its size");
    end_ = outer_end;
    next_tag();
  }

  template <class Struct>
  void structure(Struct& value) {
    const tag_scope outer = tags_;
    tags_ = {};
    Struct::describe(*this, value);
    if (dialect_.flexible) skip_tags();
    tags_ = outer;
  }

  void fail(const char* reason) noexcept;

  // Primitives.
  template <class Integer>
  [[nodiscard]] Integer integer() noexcept {
    using unsigned_type = std::make_unsigned_t<Integer>;
    if (failed() || left() < sizeof(Integer)) {
      fail("cut short");
      return Integer{};
    }
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < sizeof(Integer); ++i)
      bits = bits << 8 | static_cast<std::uint64_t>(at_[i]);
    at_ += sizeof(Integer);
    return static_cast<Integer>(static_cast<unsigned_type>(bits));
  }
  [[nodiscard]] std::uint32_t uvarint() noexcept;
  /// Absent means null.
  [[nodiscard]] std::optional<std::string_view> string_or_null() noexcept;
  /// The int16-length form that request headers keep in every version.
  [[nodiscard]] std::optional<std::string_view> classic_string() noexcept;
  /// Skips the tagged fields of a header.
  void skip_header_tags() noexcept {
    skip_tags();
    tags_ = {};
  }

 private:
  struct tag_scope {
    bool begun = false;    ///< the count was read
    bool waiting = false;  ///< tag and size are those of the field at at_
    std::uint32_t left = 0;
    std::uint32_t tag = 0;
    std::uint32_t size = 0;
    std::uint32_t least = 0;
  };

  template <class Field>
  void read_field(Field& field) {
    if (failed()) return;
    read(field);
    ++fields_;
  }

  template <class Field>
  void read(Field& field) {
    if constexpr (std::is_same_v<Field, bool>) {
      field = integer<std::uint8_t>() != 0;
    } else if constexpr (std::is_enum_v<Field>) {
      field = static_cast<Field>(integer<std::underlying_type_t<Field>>());
    } else if constexpr (std::is_integral_v<Field>) {
      field = integer<Field>();
    } else if constexpr (detail::is_id<Field>) {
      field.value = integer<typename Field::rep>();
    } else if constexpr (std::is_same_v<Field, topic_id>) {
      field.high = integer<std::uint64_t>();
      field.low = integer<std::uint64_t>();
    } else if constexpr (std::is_same_v<Field, std::string>) {
      const auto text = string_or_null();
      if (text) {
        field.assign(*text);
      } else {
        fail("null string");
      }
    } else if constexpr (std::is_same_v<Field, std::optional<std::string>>) {
      field = string_or_null();
    } else if constexpr (std::is_same_v<Field, std::vector<std::byte>>) {
      const auto content = bytes_or_null();
      if (content) {
        field.assign(content->begin(), content->end());
      } else {
        fail("null bytes");
      }
    } else if constexpr (std::is_same_v<Field, record_bytes>) {
      const auto content = bytes_or_null();
      field = content ? record_bytes(*content) : record_bytes();
    } else if constexpr (detail::is_optional_vector<Field>) {
      const auto count = length_or_null();
      field.reset();
      if (count) read_elements(field.emplace(), *count);
    } else if constexpr (detail::is_vector<Field>) {
      const auto count = length_or_null();
      if (!count) return fail("null array");
      read_elements(field, *count);
    } else {
      structure(field);
    }
  }

  template <class Element>
  void read_elements(std::vector<Element>& elements, std::uint32_t count) {
    elements.clear();
    if (!take_elements(count, detail::wire_size_min<Element>())) return;
    // Growth beyond this step is paid by bytes that really came.
    elements.reserve(std::min<std::size_t>(count, 1024));
    for (std::uint32_t i = 0; i < count && !failed(); ++i) read_field(elements.emplace_back());
  }

  [[nodiscard]] std::optional<std::uint32_t> length_or_null() noexcept;
  [[nodiscard]] std::optional<std::span<const std::byte>> bytes_or_null() noexcept;
  [[nodiscard]] std::optional<std::span<const std::byte>> take(std::optional<std::uint32_t> size,
                                                               const char* reason) noexcept;
  [[nodiscard]] bool take_elements(std::uint32_t count, std::size_t size_min) noexcept;
  [[nodiscard]] bool seek_tag(std::uint32_t tag) noexcept;
  void skip_tags() noexcept;
  void begin_tags() noexcept;
  void next_tag() noexcept;

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  wire::dialect dialect_;
  client_errc code_;
  decode_failure failure_;
  std::uint32_t fields_ = 0;
  std::uint32_t elements_ = 0;
  tag_scope tags_;
};

}  // namespace partita::wire
