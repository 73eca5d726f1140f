#include "wire/decoder.hpp"

#include "wire/varints.hpp"

namespace partita::wire {

std::string decode_failure::describe(std::string_view message, std::int16_t version) const {
  std::string text(message);
  text += " v";
  text += std::to_string(version);
  text += ": ";
  text += reason;
  text += ", at byte ";
  text += std::to_string(offset);
  text += ", field ";
  text += std::to_string(field);
  return text;
}

void decoder::fail(const char* reason) noexcept {
  if (failed()) return;
  failure_.code = make_error_code(code_);
  failure_.offset = static_cast<std::size_t>(at_ - begin_);
  failure_.field = fields_;
  failure_.reason = reason;
}

std::uint32_t decoder::uvarint() noexcept {
  if (failed()) return 0;
  std::uint32_t value = 0;
  const std::byte* const behind = get_uvarint32(at_, end_, value);
  if (behind == nullptr) {
    fail("varint cut short or too long");
    return 0;
  }
  at_ = behind;
  return value;
}

std::optional<std::uint32_t> decoder::length_or_null() noexcept {
  if (dialect_.flexible) {
    const std::uint32_t coded = uvarint();
    if (coded == 0) return std::nullopt;
    return coded - 1;
  }
  const auto length = integer<std::int32_t>();
  if (length < -1) fail("negative length");
  if (failed() || length < 0) return std::nullopt;
  return static_cast<std::uint32_t>(length);
}

std::optional<std::span<const std::byte>> decoder::take(std::optional<std::uint32_t> size,
                                                        const char* reason) noexcept {
  if (failed() || !size) return std::nullopt;
  if (*size > left()) {
    fail(reason);
    return std::nullopt;
  }
  const std::span<const std::byte> content(at_, *size);
  at_ += *size;
  return content;
}

std::optional<std::span<const std::byte>> decoder::bytes_or_null() noexcept {
  return take(length_or_null(), "bytes longer than what is left");
}

namespace {
std::optional<std::string_view> as_text(
    std::optional<std::span<const std::byte>> content) noexcept {
  if (!content) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(content->data()), content->size());
}
}  // namespace

std::optional<std::string_view> decoder::string_or_null() noexcept {
  if (!dialect_.flexible) return classic_string();
  return as_text(take(length_or_null(), "string longer than what is left"));
}

std::optional<std::string_view> decoder::classic_string() noexcept {
  const auto length = integer<std::int16_t>();
  if (length < -1) fail("negative length");
  if (failed() || length < 0) return std::nullopt;
  return as_text(take(static_cast<std::uint32_t>(length), "string longer than what is left"));
}

bool decoder::take_elements(std::uint32_t count, std::size_t size_min) noexcept {
  if (failed()) return false;
  if (count > left() / size_min) {
    fail("array longer than what is left");
    return false;
  }
  if (count > decoded_elements_max - elements_) {
    fail("too many elements");
    return false;
  }
  elements_ += count;
  return true;
}

void decoder::begin_tags() noexcept {
  if (tags_.begun) return;
  tags_.begun = true;
  tags_.left = uvarint();
  next_tag();
}

void decoder::next_tag() noexcept {
  tags_.waiting = false;
  if (failed() || tags_.left == 0) return;
  --tags_.left;
  const std::uint32_t tag = uvarint();
  const std::uint32_t size = uvarint();
  if (failed()) return;
  if (tag < tags_.least) return fail("tags out of order");
  if (size > left()) return fail("tagged field longer than what is left");
  tags_.tag = tag;
  tags_.size = size;
  // 2^32 - 1 can be the last tag only; a further one would not ascend and is refused by its order.
  tags_.least = tag == std::numeric_limits<std::uint32_t>::max() ? tag : tag + 1;
  tags_.waiting = true;
}

bool decoder::seek_tag(std::uint32_t tag) noexcept {
  begin_tags();
  while (tags_.waiting && tags_.tag < tag) {
    at_ += tags_.size;
    next_tag();
  }
  return tags_.waiting && tags_.tag == tag;
}

void decoder::skip_tags() noexcept {
  if (failed()) return;
  begin_tags();
  while (tags_.waiting) {
    at_ += tags_.size;
    next_tag();
  }
}

}  // namespace partita::wire
