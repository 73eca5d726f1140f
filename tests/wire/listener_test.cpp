#include "wire/listener.hpp"

#include "tests/builders/loop_runner.hpp"
#include "tests/builders/stream_recorder.hpp"

#include <partita/error.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <vector>

namespace partita::wire {
namespace {

using std::chrono::seconds;
using testing::run_ready;
using testing::run_until;
using testing::stream_recorder;

struct acceptances : listener_events {
  std::vector<accepted_socket> sockets;
  std::function<void()> react;
  void on_accepted(accepted_socket socket) override {
    sockets.push_back(std::move(socket));
    if (react) react();
  }
};

struct fixture : ::testing::Test {
  boost::asio::io_context loop;
  tcp_transport network{loop};
  acceptances accepted;
  std::optional<listener> server{std::in_place, loop, accepted};
  stream_recorder client_events;
  std::unique_ptr<stream> client = network.make_stream(client_events);
};

using Listener = fixture;

TEST_F(Listener, ReportsThePortTheSystemChose) {
  EXPECT_EQ(server->port(), 0);
  ASSERT_FALSE(server->open().code);
  EXPECT_NE(server->port(), 0);
  server->close();
  EXPECT_EQ(server->port(), 0);
}

TEST_F(Listener, HandsOutStreamsThatExchangeBytes) {
  ASSERT_FALSE(server->open().code);
  client->connect("127.0.0.1", server->port(), seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return accepted.sockets.size() == 1; }));
  stream_recorder server_events;
  const auto peer = std::move(accepted.sockets[0]).open(server_events);
  testing::write_text(*peer, "hello");
  ASSERT_TRUE(run_until(loop, [&] { return client_events.text == "hello"; }));
  testing::write_text(*client, "world");
  ASSERT_TRUE(run_until(loop, [&] { return server_events.text == "world"; }));
  EXPECT_EQ(server_events.connected, 0);
  EXPECT_EQ(peer->peer_address().substr(0, 10), "127.0.0.1:");
}

TEST_F(Listener, ListensOnIpv6) {
  ASSERT_FALSE(server->open({.address = "::1"}).code);
  client->connect("[::1]", server->port(), seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return client_events.connected == 1; }));
  EXPECT_EQ(client->peer_address(), "[::1]:" + std::to_string(server->port()));
}

TEST_F(Listener, ClosesASocketThatNobodyOpens) {
  ASSERT_FALSE(server->open().code);
  client->connect("127.0.0.1", server->port(), seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return accepted.sockets.size() == 1; }));
  accepted.sockets.clear();
  ASSERT_TRUE(run_until(loop, [&] { return client_events.closed.has_value(); }));
  EXPECT_EQ(client_events.closed->code, client_errc::connection_closed);
}

TEST_F(Listener, RefusesAfterItWasClosedAndCanOpenAgain) {
  ASSERT_FALSE(server->open().code);
  const std::uint16_t port = server->port();
  server->close();
  client->connect("127.0.0.1", port, seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return client_events.connect_failed.has_value(); }));
  EXPECT_EQ(client_events.connect_failed->code, client_errc::connection_refused);

  ASSERT_FALSE(server->open({.port = port}).code);
  stream_recorder second_events;
  const auto second = network.make_stream(second_events);
  second->connect("127.0.0.1", port, seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return accepted.sockets.size() == 1; }));
}

TEST_F(Listener, ReportsAnAddressInUse) {
  ASSERT_FALSE(server->open().code);
  acceptances others;
  listener second(loop, others);
  const stream_failure failure = second.open({.port = server->port()});
  EXPECT_TRUE(failure.code);
  EXPECT_EQ(failure.cause, std::errc::address_in_use);
  EXPECT_EQ(second.port(), 0);
}

TEST_F(Listener, ReportsAnAddressThatIsNone) {
  EXPECT_TRUE(server->open({.address = "no address"}).code);
  EXPECT_EQ(server->port(), 0);
}

TEST_F(Listener, AllowsBeingDestroyedInsideItsEvent) {
  ASSERT_FALSE(server->open().code);
  accepted.react = [&] { server.reset(); };
  const std::uint16_t port = server->port();
  stream_recorder other_events;
  const auto other = network.make_stream(other_events);
  client->connect("127.0.0.1", port, seconds(20));
  other->connect("127.0.0.1", port, seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return accepted.sockets.size() == 1; }));
  run_ready(loop);
  EXPECT_EQ(accepted.sockets.size(), 1u);
}

// Gives back the process's limit of descriptors however the test ends.
class descriptor_limit {
 public:
  descriptor_limit() { ::getrlimit(RLIMIT_NOFILE, &before_); }
  ~descriptor_limit() { restore(); }
  bool allow_no_more() {
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(next);
    return next >= 0 && ::setrlimit(RLIMIT_NOFILE, &none) == 0;
  }
  void restore() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(Listener, AcceptsAgainAfterItRanOutOfDescriptors) {
  ASSERT_FALSE(server->open().code);
  const int waiting = testing::connect_blocking(server->port());
  ASSERT_GE(waiting, 0);
  descriptor_limit limit;
  ASSERT_TRUE(limit.allow_no_more());
  run_ready(loop);
  EXPECT_TRUE(accepted.sockets.empty());
  limit.restore();
  ASSERT_TRUE(run_until(loop, [&] { return accepted.sockets.size() == 1; }));
  ::close(waiting);
}

}  // namespace
}  // namespace partita::wire
