#include "wire/peer_name.hpp"

#include <gtest/gtest.h>

namespace partita::wire {
namespace {

TEST(PeerName, PutsAnIpv6AddressInBracketsOnce) {
  EXPECT_EQ(peer_name("::1", 9092), "[::1]:9092");
  EXPECT_EQ(peer_name("[::1]", 9092), "[::1]:9092");
  EXPECT_EQ(peer_name("127.0.0.1", 1), "127.0.0.1:1");
  EXPECT_EQ(peer_name("broker", 65535), "broker:65535");
}

}  // namespace
}  // namespace partita::wire
