#include "wire/outgoing_frame.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

namespace partita::wire {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(const outgoing_frame& frame) {
  std::string text;
  for (std::size_t i = 0; i < frame.pieces(); ++i) {
    for (std::byte byte : frame.piece(i)) text.push_back(static_cast<char>(byte));
    text.push_back('|');
  }
  return text;
}

TEST(OutgoingFrame, KeepsOwnAndBorrowedBytesInOrder) {
  outgoing_frame frame;
  frame.own(bytes_of("ab"));
  frame.own(bytes_of("c"));
  frame.borrow(bytes_of("def"));
  frame.own(bytes_of(""));
  frame.borrow(bytes_of(""));
  frame.own(bytes_of("g"));
  EXPECT_EQ(text_of(frame), "abc|def|g|");
  EXPECT_EQ(frame.size(), 7u);
}

TEST(OutgoingFrame, BorrowsWithoutACopy) {
  const std::string memory = "borrowed";
  outgoing_frame frame;
  frame.own(bytes_of("x"));
  frame.borrow(bytes_of(memory));
  EXPECT_EQ(static_cast<const void*>(frame.piece(1).data()), memory.data());
}

TEST(OutgoingFrame, TakesAGatherBufferOver) {
  gather_buffer encoded;
  encoded.append(bytes_of("head"));
  encoded.borrow(bytes_of("one"));
  encoded.borrow(bytes_of("two"));
  encoded.append(bytes_of("tail"));
  const outgoing_frame frame(std::move(encoded));
  EXPECT_EQ(text_of(frame), "head|one|two|tail|");
  EXPECT_EQ(frame.size(), 14u);
}

TEST(OutgoingFrame, TakesAGatherBufferThatBeginsOrEndsBorrowed) {
  gather_buffer begins;
  begins.borrow(bytes_of("one"));
  begins.append(bytes_of("tail"));
  outgoing_frame frame(std::move(begins));
  EXPECT_EQ(text_of(frame), "one|tail|");
  EXPECT_TRUE(frame.front().empty());

  gather_buffer ends;
  ends.append(bytes_of("head"));
  ends.borrow(bytes_of("one"));
  EXPECT_EQ(text_of(outgoing_frame(std::move(ends))), "head|one|");
}

TEST(OutgoingFrame, ShowsItsFrontForPatching) {
  outgoing_frame frame;
  frame.own(bytes_of("abcd"));
  frame.borrow(bytes_of("e"));
  frame.own(bytes_of("f"));
  ASSERT_EQ(frame.front().size(), 4u);
  frame.front()[1] = std::byte{'X'};
  EXPECT_EQ(text_of(frame), "aXcd|e|f|");
}

TEST(OutgoingFrame, KeepsItsBytesWhenMoved) {
  outgoing_frame frame;
  frame.own(bytes_of("ab"));
  frame.borrow(bytes_of("cd"));
  outgoing_frame moved = std::move(frame);
  EXPECT_EQ(text_of(moved), "ab|cd|");
}

}  // namespace
}  // namespace partita::wire
