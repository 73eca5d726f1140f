// The vocabulary of describe(): conditional fields, tags, nulls; and what a hostile peer may send.

#include "tests/wire/hex.hpp"
#include "wire/decoder.hpp"
#include "wire/encoder.hpp"

#include <gtest/gtest.h>

namespace partita::wire {
namespace {

struct inner {
  std::int32_t number = 0;
  std::string text;

  static void describe(auto& io, auto& m) { io(m.number, m.text); }
  friend bool operator==(const inner&, const inner&) = default;
};

struct outer {
  std::int16_t always = 0;
  std::int32_t later = -1;
  bool dropped = false;
  std::optional<std::string> name;
  std::vector<inner> items;
  std::optional<std::vector<std::int32_t>> numbers;
  std::vector<std::byte> blob;
  inner extra;
  std::int64_t epoch = -1;

  static void describe(auto& io, auto& m) {
    io(m.always);
    io.since(2, m.later, defaults_to(-1));
    io.between(1, 2, m.dropped, ignorable);
    io.nullable_since(2, m.name);
    io(m.items, m.numbers, m.blob);
    io.tagged(1, 3, m.extra);
    io.tagged(4, 3, m.epoch, defaults_to(-1));
  }
  friend bool operator==(const outer&, const outer&) = default;
};

struct small_numbers {
  std::vector<std::int8_t> numbers;

  static void describe(auto& io, auto& m) { io(m.numbers); }
};

constexpr dialect classic(std::int16_t version) { return {version, false}; }
constexpr dialect flexible(std::int16_t version) { return {version, true}; }

struct written {
  std::string hex;
  std::error_code error;
};

template <class Struct>
written write(const Struct& value, dialect how) {
  gather_buffer out;
  encoder io(out, how);
  io.structure(value);
  return {to_hex(out.flatten()), io.error()};
}

template <class Struct = outer>
std::pair<Struct, decode_failure> read(const std::string& hex, dialect how) {
  const auto bytes = from_hex(hex);
  decoder io(bytes, how);
  Struct value;
  io.structure(value);
  io.expect_end();
  return {value, io.failure()};
}

outer full() {
  outer value;
  value.always = 1;
  value.name = "n";
  value.items = {{2, "x"}};
  value.blob = {std::byte{9}};
  return value;
}

TEST(Encoder, ClassicForm) {
  EXPECT_EQ(write(full(), classic(0)).hex,
            "0001"
            "00016e"
            "00000001"
            "00000002"
            "000178"
            "ffffffff"
            "00000001"
            "09");
}

TEST(Encoder, FlexibleForm) {
  EXPECT_EQ(write(full(), flexible(2)).hex,
            "0001"
            "ffffffff"
            "00"
            "026e"
            "02"
            "00000002"
            "0278"
            "00"
            "00"
            "0209"
            "00");
}

TEST(Encoder, TagsAscendAndDefaultsAreLeftOut) {
  outer value;
  value.name = "";
  value.extra = {7, "e"};
  value.epoch = 5;
  // tag 1: number, text and the inner struct's own (empty) tags; tag 4: eight bytes
  EXPECT_EQ(write(value, flexible(3)).hex,
            "0000"
            "ffffffff"
            "01"
            "01"
            "00"
            "01"
            "02"
            "0107"
            "00000007"
            "0265"
            "00"
            "0408"
            "0000000000000005");
  EXPECT_EQ(read(write(value, flexible(3)).hex, flexible(3)).first, value);
}

TEST(Encoder, AFieldTheVersionLacksIsAnErrorUnlessIgnorable) {
  outer value = full();
  value.later = 3;
  EXPECT_EQ(write(value, classic(1)).error, client_errc::unsupported_version);
  EXPECT_FALSE(write(value, classic(2)).error);
  value = full();
  value.dropped = true;
  EXPECT_FALSE(write(value, classic(0)).error);
  value = full();
  value.epoch = 3;
  EXPECT_EQ(write(value, flexible(2)).error, client_errc::unsupported_version);
  EXPECT_FALSE(write(value, flexible(3)).error);
  EXPECT_EQ(write(value, classic(3)).error, client_errc::unsupported_version);
}

TEST(Encoder, NullWhereTheVersionForbidsItIsAnError) {
  outer value = full();
  value.name.reset();
  EXPECT_EQ(write(value, classic(1)).error, client_errc::unsupported_version);
  EXPECT_FALSE(write(value, classic(2)).error);
}

TEST(Encoder, ClassicStringsEndAt32767Bytes) {
  outer value = full();
  value.name = std::string(32767, 'x');
  EXPECT_FALSE(write(value, classic(2)).error);
  value.name = std::string(32768, 'x');
  EXPECT_EQ(write(value, classic(2)).error, client_errc::invalid_value);
  EXPECT_FALSE(write(value, flexible(2)).error);
}

TEST(Decoder, ReadsBothForms) {
  for (const dialect how : {classic(0), classic(1), classic(2), flexible(2), flexible(3)}) {
    outer value = full();
    value.numbers = {1, 2, 3};
    if (how.version >= 2) value.later = 8;
    if (how.version == 1 || how.version == 2) value.dropped = true;
    const auto [back, failure] = read(write(value, how).hex, how);
    ASSERT_FALSE(failure) << failure.reason;
    EXPECT_EQ(back, value);
  }
}

TEST(Decoder, UnknownTagsAreSkippedWhereverTheyStand) {
  // Tags 0, 1 (known), 3, 4 (known), 9.
  const auto [value, failure] = read(
      "0000"
      "ffffffff"
      "01"
      "01"
      "00"
      "01"
      "05"
      "0002ffff"
      "0107"
      "00000007"
      "0265"
      "00"
      "0300"
      "0408"
      "0000000000000005"
      "0901ee",
      flexible(3));
  ASSERT_FALSE(failure) << failure.reason;
  EXPECT_EQ(value.extra, (inner{7, "e"}));
  EXPECT_EQ(value.epoch, 5);
}

TEST(Decoder, ATagOlderVersionsDoNotKnowIsSkipped) {
  const auto [value, failure] = read(
      "0001"
      "ffffffff"
      "00"
      "026e"
      "01"
      "00"
      "01"
      "01"
      "0408"
      "0000000000000005",
      flexible(2));
  ASSERT_FALSE(failure) << failure.reason;
  EXPECT_EQ(value.epoch, -1);
}

TEST(Decoder, TagsMustAscend) {
  const std::string head =
      "0000"
      "ffffffff"
      "01"
      "01"
      "00"
      "01";
  EXPECT_TRUE(read(head + "02"
                          "0408"
                          "0000000000000005"
                          "0107"
                          "00000007"
                          "0265"
                          "00",
                   flexible(3))
                  .second);
  EXPECT_TRUE(read(head + "02"
                          "0901aa"
                          "0901aa",
                   flexible(3))
                  .second);
}

TEST(Decoder, ATagMustFillItsSize) {
  const std::string head =
      "0000"
      "ffffffff"
      "01"
      "01"
      "00"
      "01";
  EXPECT_TRUE(read(head + "01"
                          "0409"
                          "0000000000000005"
                          "00",
                   flexible(3))
                  .second);
  EXPECT_TRUE(read(head + "01"
                          "0407"
                          "00000000000005",
                   flexible(3))
                  .second);
}

TEST(Decoder, NullStringsAndArraysAreRefusedWhereTheyMayNotBe) {
  EXPECT_TRUE(read<inner>("00000001"
                          "ffff",
                          classic(0))
                  .second);
  EXPECT_TRUE(read<inner>("00000001"
                          "00"
                          "00",
                          flexible(0))
                  .second);
  EXPECT_TRUE(read("0001"
                   "ffff"
                   "00000000"
                   "ffffffff"
                   "00000000",
                   classic(0))
                  .second);
  EXPECT_TRUE(read("0001"
                   "00016e"
                   "ffffffff"
                   "ffffffff"
                   "00000000",
                   classic(0))
                  .second);
}

TEST(Decoder, NegativeLengthsAreRefused) {
  EXPECT_TRUE(read<inner>("00000001"
                          "fffe",
                          classic(0))
                  .second);
  EXPECT_TRUE(read("0001"
                   "00016e"
                   "fffffffe"
                   "ffffffff"
                   "00000000",
                   classic(0))
                  .second);
}

TEST(Decoder, ACountThatTheRestCannotHoldIsRefusedWithoutAllocating) {
  const auto [value, failure] = read(
      "0001"
      "00016e"
      "7fffffff"
      "ffffffff"
      "00000000",
      classic(0));
  EXPECT_TRUE(failure);
  EXPECT_EQ(value.items.capacity(), 0u);
  EXPECT_TRUE(read("0001"
                   "ffffffff"
                   "00"
                   "026e"
                   "ffffffff0f",
                   flexible(2))
                  .second);
}

TEST(Decoder, ElementsOfAMessageAreBounded) {
  std::vector<std::byte> bytes = from_hex("003d0901");  // 4,000,001
  bytes.resize(bytes.size() + 4'000'001);
  decoder io(bytes, classic(0));
  small_numbers value;
  io.structure(value);
  EXPECT_TRUE(io.failed());
}

TEST(Decoder, TheFirstErrorStaysAndNamesItsPlace) {
  const auto [value, failure] = read(
      "0001"
      "0005"
      "6e",
      classic(0));
  EXPECT_EQ(failure.code, client_errc::malformed_answer);
  EXPECT_EQ(failure.offset, 4u);
  EXPECT_EQ(failure.field, 1u);
  EXPECT_EQ(failure.describe("Outer", 0),
            "Outer v0: string longer than what is left, at byte 4, field 1");
}

TEST(Decoder, AfterAnErrorNothingMoves) {
  const auto bytes = from_hex("0001");
  decoder io(bytes, classic(0));
  EXPECT_EQ(io.integer<std::int32_t>(), 0);
  EXPECT_TRUE(io.failed());
  EXPECT_EQ(io.integer<std::int16_t>(), 0);
  EXPECT_EQ(io.left(), 2u);
}

TEST(Decoder, BytesBehindTheEndAreRefused) {
  EXPECT_TRUE(read<inner>("00000001"
                          "0000"
                          "00",
                          classic(0))
                  .second);
}

}  // namespace
}  // namespace partita::wire
