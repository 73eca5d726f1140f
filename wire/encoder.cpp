#include "wire/encoder.hpp"

#include <partita/error.hpp>

#include <cstdint>

namespace partita::wire {

namespace {
constexpr std::size_t classic_string_max = 0x7fff;
constexpr std::size_t length_max = 0x7fffffff;
}  // namespace

void encoder::uvarint(std::uint32_t value) {
  if (value < 0x80) return out_.append(static_cast<std::byte>(value));
  std::byte bytes[varint32_size_max];
  const std::byte* const end = put_uvarint(bytes, value);
  out_.append(bytes, static_cast<std::size_t>(end - bytes));
}

void encoder::string(std::string_view text) {
  if (dialect_.flexible) {
    if (text.size() >= length_max) return fail(client_errc::invalid_value, "string too long");
    uvarint(static_cast<std::uint32_t>(text.size()) + 1);
    out_.append(text.data(), text.size());
  } else {
    classic_string(text);
  }
}

void encoder::null_string() {
  if (dialect_.flexible) {
    uvarint(0);
  } else {
    integer<std::int16_t>(-1);
  }
}

void encoder::classic_string(std::optional<std::string_view> text) {
  if (!text) return integer<std::int16_t>(-1);
  if (text->size() > classic_string_max) return fail(client_errc::invalid_value, "string too long");
  integer(static_cast<std::int16_t>(text->size()));
  out_.append(text->data(), text->size());
}

void encoder::length(std::size_t count) {
  if (count >= length_max) return fail(client_errc::invalid_value, "array or bytes too long");
  if (dialect_.flexible) {
    uvarint(static_cast<std::uint32_t>(count) + 1);
  } else {
    integer(static_cast<std::int32_t>(count));
  }
}

void encoder::null_length() {
  if (dialect_.flexible) {
    uvarint(0);
  } else {
    integer<std::int32_t>(-1);
  }
}

void encoder::bytes(const std::vector<std::byte>& content) {
  length(content.size());
  out_.append(content);
}

void encoder::records(const record_bytes& content) {
  if (content.is_null()) return null_length();
  length(content.size());
  // So that a small request goes out in one piece.
  constexpr std::size_t copied_bytes_max = 768;
  const bool copied = content.size() <= copied_bytes_max;
  content.for_each([this, copied](std::span<const std::byte> piece) {
    if (copied)
      out_.append(piece);
    else
      out_.borrow(piece);
  });
}

encoder::tag_scope encoder::begin_structure() {
  tag_scope outer{tag_count_, next_tag_, tags_begun_, std::move(tag_bytes_)};
  tag_count_ = 0;
  next_tag_ = 0;
  tags_begun_ = false;
  tag_bytes_.clear();
  return outer;
}

void encoder::end_structure(tag_scope&& outer) {
  if (dialect_.flexible) {
    uvarint(tag_count_);
    out_.append(tag_bytes_);
  }
  tag_count_ = outer.count;
  next_tag_ = outer.next;
  tags_begun_ = outer.begun;
  tag_bytes_ = std::move(outer.bytes);
}

void encoder::begin_tag(std::uint32_t tag) {
  PARTITA_ASSERT(tag >= next_tag_, tag, next_tag_);
  next_tag_ = tag + 1;
  tags_begun_ = true;
}

void encoder::keep_tag(std::uint32_t tag, const gather_buffer& content) {
  std::byte head[2 * varint32_size_max];
  std::byte* end = put_uvarint(head, tag);
  end = put_uvarint(end, content.size());
  tag_bytes_.insert(tag_bytes_.end(), head, end);
  content.for_each([this](std::span<const std::byte> piece) {
    tag_bytes_.insert(tag_bytes_.end(), piece.begin(), piece.end());
  });
  ++tag_count_;
}

void encoder::fail_unsupported(const char* reason) noexcept {
  fail(client_errc::unsupported_version, reason);
}

}  // namespace partita::wire
