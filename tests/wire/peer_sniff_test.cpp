#include "wire/peer_sniff.hpp"

#include <partita/error.hpp>

#include <gtest/gtest.h>

#include <string_view>

namespace partita::wire {
namespace {

std::error_code sniff(std::string_view bytes) {
  return sniff_peer(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

TEST(PeerSniff, NamesHttp) {
  EXPECT_EQ(sniff("HTTP/1.1 400 Bad Request\r\n"), client_errc::not_kafka_http);
  EXPECT_EQ(sniff("HTTP"), client_errc::not_kafka_http);
  EXPECT_EQ(sniff("<html><head>"), client_errc::not_kafka_http);
  EXPECT_EQ(sniff("<!DOCTYPE html>"), client_errc::not_kafka_http);
}

TEST(PeerSniff, NamesTlsByAlertAndByHandshake) {
  EXPECT_EQ(sniff({"\x15\x03\x01\x00\x02\x02\x46", 7}), client_errc::not_kafka_tls);
  EXPECT_EQ(sniff({"\x15\x03\x03\x00", 4}), client_errc::not_kafka_tls);
  EXPECT_EQ(sniff({"\x16\x03\x04\x01", 4}), client_errc::not_kafka_tls);
}

TEST(PeerSniff, NamesSsh) {
  EXPECT_EQ(sniff("SSH-2.0-OpenSSH_9.2\r\n"), client_errc::not_kafka_ssh);
}

TEST(PeerSniff, SaysNothingOfOtherBytes) {
  EXPECT_FALSE(sniff(""));
  EXPECT_FALSE(sniff("HTT"));
  EXPECT_FALSE(sniff("SSHX"));
  EXPECT_FALSE(sniff("\x15\x03"));
  EXPECT_FALSE(sniff("\x15\x03\x05\x01"));
  EXPECT_FALSE(sniff("\x17\x03\x03\x01"));
  EXPECT_FALSE(sniff({"\x00\x00\x00\x0a\x00\x00\x00\x01", 8}));
}

// The sniffer is asked only where a length is out of bounds; a peer named by four bytes must be so.
TEST(PeerSniff, KnowsNoPrefixThatIsALengthWithinBounds) {
  const std::size_t largest = std::size_t{64} << 20;
  for (std::string_view prefix :
       {"HTTP", "<htm", "<HTM", "<!DO", "<!do", "SSH-", "\x15\x03\x01\x01"}) {
    ASSERT_TRUE(sniff(prefix));
    std::size_t length = 0;
    for (char byte : prefix) length = length << 8 | static_cast<unsigned char>(byte);
    EXPECT_GT(length, largest) << prefix;
  }
}

}  // namespace
}  // namespace partita::wire
