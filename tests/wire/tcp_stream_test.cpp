#include "wire/tcp_stream.hpp"

#include "tests/builders/loop_runner.hpp"
#include "tests/builders/stream_recorder.hpp"
#include "wire/listener.hpp"

#include <partita/error.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <fcntl.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace partita::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::run_ready;
using testing::run_until;
using testing::stream_recorder;
using testing::write_text;

// A server that opens every stream it accepts.
struct echo_side : listener_events {
  stream_recorder events;
  std::unique_ptr<stream> peer;
  void on_accepted(accepted_socket socket) override { peer = std::move(socket).open(events); }
};

struct TcpStream : ::testing::Test {
  boost::asio::io_context loop;
  tcp_transport network{loop};
  echo_side far;
  listener server{loop, far};
  stream_recorder events;
  std::unique_ptr<stream> near = network.make_stream(events);

  // Both ends of one connection.
  void connect(const listener_options& options = {}) {
    ASSERT_FALSE(server.open(options).code);
    near->connect("127.0.0.1", server.port(), seconds(20));
    ASSERT_TRUE(run_until(loop, [&] { return events.connected == 1 && far.peer != nullptr; }));
  }
};

// ---- connecting

TEST_F(TcpStream, ConnectsAndExchangesBytes) {
  connect();
  EXPECT_EQ(near->peer_address(), "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(write_text(*near, "ping"), 4u);
  EXPECT_EQ(near->handed_over(), 4u);
  ASSERT_TRUE(run_until(loop, [&] { return far.events.text == "ping"; }));
  EXPECT_EQ(write_text(*far.peer, "pong!"), 5u);
  ASSERT_TRUE(run_until(loop, [&] { return events.text == "pong!"; }));
}

TEST_F(TcpStream, ConnectsToLocalhostByName) {
  ASSERT_FALSE(server.open().code);
  near->connect("localhost", server.port(), seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return events.connected == 1; }));
}

TEST_F(TcpStream, AcceptsNoBytesBeforeItIsConnectedOrAfterItWasClosed) {
  EXPECT_EQ(write_text(*near, "early"), 0u);
  connect();
  write_text(*near, "abc");
  near->close();
  EXPECT_EQ(write_text(*near, "late"), 0u);
  EXPECT_EQ(near->handed_over(), 3u);
  EXPECT_EQ(near->peer_address(), "");
}

TEST_F(TcpStream, ReportsARefusedPort) {
  ASSERT_FALSE(server.open().code);
  const std::uint16_t port = server.port();
  server.close();
  near->connect("127.0.0.1", port, seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return events.connect_failed.has_value(); }));
  EXPECT_EQ(events.connect_failed->code, client_errc::connection_refused);
  EXPECT_EQ(events.connect_failed->cause, std::errc::connection_refused);
  EXPECT_NE(events.connect_failed->text.find("127.0.0.1"), std::string::npos);
  run_ready(loop);
  EXPECT_EQ(events.events, 1);
}

// A listening socket whose queue is full: the kernel drops the packets of further connections.
class silent_address {
 public:
  silent_address(const char* address, std::uint16_t port) {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in own = testing::loopback_address(port, address);
    const int on = 1;
    ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    EXPECT_EQ(::bind(listening_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    EXPECT_EQ(::listen(listening_, 0), 0);
    for (int& filler : fillers_) {
      filler = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      ::connect(filler, reinterpret_cast<const sockaddr*>(&own), sizeof own);
    }
  }
  ~silent_address() {
    for (int filler : fillers_) ::close(filler);
    ::close(listening_);
  }

 private:
  int listening_;
  std::array<int, 4> fillers_{};
};

struct named_addresses : TcpStream {
  std::vector<std::string> addresses;

  std::unique_ptr<tcp_transport> network_with_names() {
    name_lookup_options names;
    names.resolve = [this](const std::string&, address_family) {
      return look_up_result{addresses, {}};
    };
    return std::make_unique<tcp_transport>(loop, tcp_options{}, names);
  }
};

TEST_F(TcpStream, AsksForAddressesOfTheFamilyInItsOptions) {
  for (const address_family family : {address_family::v4, address_family::v6}) {
    std::optional<address_family> asked;
    name_lookup_options names;
    names.resolve = [&asked](const std::string&, address_family wanted) {
      asked = wanted;
      return look_up_result{{}, {client_errc::host_not_found, {}, "kafka: not found"}};
    };
    tcp_options options;
    options.family = family;
    tcp_transport named(loop, options, names);
    near = named.make_stream(events);
    near->connect("kafka", 9092, seconds(20));
    ASSERT_TRUE(run_until(loop, [&] { return events.connect_failed.has_value(); }));
    EXPECT_EQ(asked, family);
    near.reset();
    events.connect_failed.reset();
  }
}

using TcpStreamOfManyAddresses = named_addresses;

TEST_F(TcpStreamOfManyAddresses, TriesTheNextAfterARefusal) {
  ASSERT_FALSE(server.open().code);
  addresses = {"127.0.0.77", "127.0.0.1"};
  const auto named = network_with_names();
  near = named->make_stream(events);
  near->connect("kafka", server.port(), seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return events.connected == 1; }));
  EXPECT_FALSE(events.connect_failed);
}

TEST_F(TcpStreamOfManyAddresses, TriesTheNextAfterASilentOne) {
  ASSERT_FALSE(server.open().code);
  const silent_address silent("127.0.0.77", server.port());
  addresses = {"127.0.0.77", "127.0.0.1"};
  const auto named = network_with_names();
  near = named->make_stream(events);
  near->connect("kafka", server.port(), milliseconds(2000));
  ASSERT_TRUE(run_until(loop, [&] { return events.events == 1; }));
  EXPECT_EQ(events.connected, 1);
}

TEST_F(TcpStreamOfManyAddresses, ReportsATimeoutWhenAllAreSilent) {
  ASSERT_FALSE(server.open().code);
  const silent_address silent("127.0.0.77", server.port());
  addresses = {"127.0.0.77"};
  const auto named = network_with_names();
  near = named->make_stream(events);
  near->connect("kafka", server.port(), milliseconds(100));
  ASSERT_TRUE(run_until(loop, [&] { return events.events == 1; }));
  ASSERT_TRUE(events.connect_failed);
  EXPECT_EQ(events.connect_failed->code, client_errc::connection_timeout);
}

// CONN-07: the dead one is not tried first next time. Both listen by then, so the first one tried
// wins.
TEST_F(TcpStreamOfManyAddresses, BeginsWithTheOneThatAnsweredLast) {
  ASSERT_FALSE(server.open().code);
  addresses = {"127.0.0.77", "127.0.0.1"};
  const auto named = network_with_names();
  near = named->make_stream(events);
  near->connect("kafka", server.port(), seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return events.connected == 1; }));

  echo_side revived;
  listener second(loop, revived);
  ASSERT_FALSE(second.open({.address = "127.0.0.77", .port = server.port()}).code);
  stream_recorder again_events;
  const auto again = named->make_stream(again_events);
  again->connect("kafka", server.port(), seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return again_events.connected == 1; }));
  EXPECT_EQ(again->peer_address(), "127.0.0.1:" + std::to_string(server.port()));
}

TEST_F(TcpStreamOfManyAddresses, NamesEveryAddressThatFailed) {
  ASSERT_FALSE(server.open().code);
  const std::uint16_t port = server.port();
  server.close();
  addresses = {"127.0.0.77", "not an address", "127.0.0.78"};
  const auto named = network_with_names();
  near = named->make_stream(events);
  near->connect("kafka", port, seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return events.connect_failed.has_value(); }));
  for (const std::string& address : addresses) {
    EXPECT_NE(events.connect_failed->text.find(address), std::string::npos) << address;
  }
}

TEST_F(TcpStreamOfManyAddresses, ReportsANameThatHasNone) {
  const auto named = network_with_names();
  near = named->make_stream(events);
  near->connect("kafka", 9092, seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return events.connect_failed.has_value(); }));
  EXPECT_EQ(events.connect_failed->code, client_errc::host_not_found);
}

// The set-up limit bounds the look-up too, and nothing waits for the name server afterwards.
TEST_F(TcpStream, GivesUpALookUpThatTakesTooLong) {
  struct gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
  };
  const auto name_server = std::make_shared<gate>();
  name_lookup_options names;
  names.resolve = [name_server](const std::string&, address_family) {
    std::unique_lock lock(name_server->mutex);
    name_server->changed.wait(lock, [&] { return name_server->open; });
    return look_up_result{{"127.0.0.1"}, {}};
  };
  {
    tcp_transport named(loop, {}, names);
    near = named.make_stream(events);
    near->connect("kafka", 9092, milliseconds(50));
    ASSERT_TRUE(run_until(loop, [&] { return events.connect_failed.has_value(); }));
    EXPECT_EQ(events.connect_failed->code, client_errc::connection_timeout);
    near.reset();
  }
  const std::lock_guard lock(name_server->mutex);
  name_server->open = true;
  name_server->changed.notify_all();
}

TEST_F(TcpStream, IsSilentWhenClosedWhileConnecting) {
  ASSERT_FALSE(server.open().code);
  near->connect("127.0.0.1", server.port(), seconds(20));
  near->close();
  run_ready(loop);
  EXPECT_EQ(events.events, 0);

  stream_recorder second_events;
  auto second = network.make_stream(second_events);
  second->connect("127.0.0.1", server.port(), seconds(20));
  loop.restart();
  loop.poll_one();  // the look-up has answered, the connection is on its way
  second.reset();
  run_ready(loop);
  EXPECT_EQ(second_events.events, 0);
}

// ---- the end of a connection

TEST_F(TcpStream, ReportsAPeerThatClosesAtOnce) {
  connect();
  far.peer->close();
  ASSERT_TRUE(run_until(loop, [&] { return events.closed.has_value(); }));
  EXPECT_EQ(events.closed->code, client_errc::connection_closed);
  EXPECT_FALSE(events.closed->cause);
  run_ready(loop);
  EXPECT_EQ(events.events, 2);
}

TEST_F(TcpStream, ReportsAReset) {
  connect();
  far.peer->close(close_how::reset);
  ASSERT_TRUE(run_until(loop, [&] { return events.closed.has_value(); }));
  EXPECT_EQ(events.closed->code, client_errc::connection_closed);
  EXPECT_EQ(events.closed->cause, std::errc::connection_reset);
}

TEST_F(TcpStream, ShowsTheHalfFrameBeforeTheEnd) {
  connect();
  write_text(*far.peer, std::string_view("\0\0\0\x10half", 8));
  far.peer->close();
  ASSERT_TRUE(run_until(loop, [&] { return events.closed.has_value(); }));
  EXPECT_EQ(events.text, std::string("\0\0\0\x10half", 8));
}

// An answer that had arrived must not turn into doubt because a write noticed the end first.
TEST_F(TcpStream, ShowsWhatArrivedBeforeAFailedWriteReportsTheEnd) {
  connect();
  run_ready(loop);
  write_text(*far.peer, "answer");
  far.peer->close(close_how::reset);
  std::size_t accepted = 1;
  for (int i = 0; i < 1000 && accepted != 0; ++i) accepted = write_text(*near, "next");
  ASSERT_EQ(accepted, 0u);
  EXPECT_FALSE(events.closed);
  ASSERT_TRUE(run_until(loop, [&] { return events.closed.has_value(); }));
  EXPECT_EQ(events.text, "answer");
  EXPECT_EQ(events.closed->code, client_errc::connection_closed);
  EXPECT_TRUE(events.closed->cause);
}

TEST_F(TcpStream, ReportsAFailedWriteWhenReadingIsStopped) {
  connect();
  near->set_reading(false);
  run_ready(loop);
  far.peer->close(close_how::reset);
  std::size_t accepted = 1;
  for (int i = 0; i < 1000 && accepted != 0; ++i) accepted = write_text(*near, "next");
  ASSERT_EQ(accepted, 0u);
  ASSERT_TRUE(run_until(loop, [&] { return events.closed.has_value(); }));
}

// Held bytes, a write that fails and reading resumed, all before the loop runs again.
TEST_F(TcpStream, ShowsHeldBytesWhenReadingResumesAfterAFailedWrite) {
  connect();
  run_ready(loop);
  near->set_reading(false);
  write_text(*far.peer, "held");
  run_ready(loop);
  far.peer->close(close_how::reset);
  std::size_t accepted = 1;
  for (int i = 0; i < 1000 && accepted != 0; ++i) accepted = write_text(*near, "next");
  ASSERT_EQ(accepted, 0u);
  near->set_reading(true);
  ASSERT_TRUE(run_until(loop, [&] { return events.closed.has_value(); }));
  EXPECT_EQ(events.text, "held");
}

TEST_F(TcpStream, EndsAllEventsWhenClosed) {
  connect();
  write_text(*far.peer, "on its way");
  near->want_writable();
  const int before = events.events;
  near->close();
  run_ready(loop);
  EXPECT_EQ(events.events, before);
  EXPECT_FALSE(events.closed);
}

TEST_F(TcpStream, MayBeDestroyedInsideEachOfItsEvents) {
  ASSERT_FALSE(server.open().code);
  for (const std::string event : {"connected", "bytes", "writable", "closed", "connect_failed"}) {
    stream_recorder own;
    auto stream = network.make_stream(own);
    own.react = [&] {
      const bool now =
          (event == "connected" && own.connected == 1) || (event == "bytes" && !own.text.empty()) ||
          (event == "writable" && own.writable == 1) || (event == "closed" && own.closed) ||
          (event == "connect_failed" && own.connect_failed);
      if (now) stream.reset();
    };
    far.peer.reset();
    far.events = {};
    if (event == "connect_failed") server.close();
    const std::uint16_t port = server.port();
    stream->connect("127.0.0.1", port == 0 ? 1 : port, seconds(20));
    if (event == "bytes" || event == "writable" || event == "closed") {
      ASSERT_TRUE(run_until(loop, [&] { return own.connected == 1 && far.peer != nullptr; }));
      if (event == "bytes") write_text(*far.peer, "x");
      if (event == "writable") stream->want_writable();
      if (event == "closed") far.peer->close();
    }
    ASSERT_TRUE(run_until(loop, [&] { return stream == nullptr; })) << event;
    const int before = own.events;
    run_ready(loop);
    EXPECT_EQ(own.events, before) << event;
  }
}

TEST_F(TcpStream, NeverCallsBackFromInsideACall) {
  ASSERT_FALSE(server.open().code);
  const auto guarded = [&](auto call) {
    events.inside_call = true;
    call();
    events.inside_call = false;
  };
  guarded([&] { near->connect("127.0.0.1", server.port(), seconds(20)); });
  ASSERT_TRUE(run_until(loop, [&] { return events.connected == 1 && far.peer != nullptr; }));
  write_text(*far.peer, "bytes");
  guarded([&] { near->want_writable(); });
  guarded([&] { near->set_reading(false); });
  run_ready(loop);
  guarded([&] { near->set_reading(true); });
  ASSERT_TRUE(run_until(loop, [&] { return events.text == "bytes" && events.writable == 1; }));
  far.peer->close(close_how::reset);
  guarded([&] {
    for (int i = 0; i < 10; ++i) write_text(*near, "x");
  });
  ASSERT_TRUE(run_until(loop, [&] { return events.closed.has_value(); }));
}

// ---- full buffers

std::string numbered_text(std::size_t size) {
  std::string text;
  text.reserve(size + 16);
  for (std::size_t i = 0; text.size() < size; ++i) text += std::to_string(i) + ',';
  return text;
}

TEST_F(TcpStream, WritesThroughAFullSocketBuffer) {
  tcp_transport narrow(loop, {.send_buffer_bytes = 16 * 1024});
  near = narrow.make_stream(events);
  connect({.stream_options = {.receive_buffer_bytes = 16 * 1024}});
  far.peer->set_reading(false);
  const std::string all = numbered_text(std::size_t{2} << 20);
  const auto offer = [&](std::size_t from) {
    // More pieces than one system call takes, of uneven sizes, an empty one among them.
    std::vector<std::span<const std::byte>> pieces;
    std::size_t size = 1;
    while (from < all.size() && pieces.size() < 200) {
      const std::size_t count = std::min(size, all.size() - from);
      pieces.push_back(std::as_bytes(std::span(all).subspan(from, count)));
      if (size == 1) pieces.emplace_back();
      from += count;
      size = size * 3 % 100003;
    }
    return near->write(pieces);
  };
  std::size_t done = 0;
  int fulls = 0;
  bool resumed = false;
  const auto write_until_full = [&] {
    while (done < all.size()) {
      const std::size_t count = offer(done);
      done += count;
      EXPECT_EQ(near->handed_over(), done);
      if (count == 0) {
        ++fulls;
        near->want_writable();
        return;
      }
    }
  };
  int writable_seen = 0;
  events.react = [&] {
    if (events.writable == writable_seen) return;
    writable_seen = events.writable;
    EXPECT_TRUE(resumed) << "reported writable while the buffer was full";
    write_until_full();
  };
  write_until_full();
  ASSERT_LT(done, all.size());
  run_ready(loop);
  resumed = true;
  far.peer->set_reading(true);
  ASSERT_TRUE(run_until(loop, [&] { return far.events.text.size() == all.size(); }));
  EXPECT_TRUE(far.events.text == all);
  EXPECT_GE(fulls, 1);
}

TEST_F(TcpStream, AnswersTwoWishesToWriteOnce) {
  connect();
  near->want_writable();
  near->want_writable();
  ASSERT_TRUE(run_until(loop, [&] { return events.writable == 1; }));
  run_ready(loop);
  EXPECT_EQ(events.writable, 1);
}

TEST_F(TcpStream, HoldsBytesBackWhileReadingIsStopped) {
  connect();
  run_ready(loop);
  near->set_reading(false);
  write_text(*far.peer, "one");
  run_ready(loop);
  EXPECT_EQ(events.text, "");
  near->set_reading(true);
  ASSERT_TRUE(run_until(loop, [&] { return events.text == "one"; }));
  write_text(*far.peer, "two");
  ASSERT_TRUE(run_until(loop, [&] { return events.text == "onetwo"; }));
}

// The buffer is shown: starting the next read now would overwrite it under the owner's eyes.
TEST_F(TcpStream, DoesNotReadOnWhileItsBytesAreLookedAt) {
  connect();
  std::string seen_after;
  bool once = false;
  struct looker final : stream_events {
    std::function<void(std::span<const std::byte>)> look;
    void on_connected() override {}
    void on_connect_failed(const stream_failure&) override {}
    void on_bytes(std::span<const std::byte> bytes) override { look(bytes); }
    void on_writable() override {}
    void on_closed(const stream_failure&) override {}
  } looker;
  std::unique_ptr<stream> looking = network.make_stream(looker);
  std::string all;
  looker.look = [&](std::span<const std::byte> bytes) {
    if (!once) {
      once = true;
      write_text(*far.peer, "SECOND");
      looking->set_reading(false);
      looking->set_reading(true);
    }
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  far.peer.reset();
  looking->connect("127.0.0.1", server.port(), seconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return far.peer != nullptr; }));
  write_text(*far.peer, "first-");
  ASSERT_TRUE(run_until(loop, [&] { return all.size() == 12; }));
  EXPECT_EQ(all, "first-SECOND");
}

TEST_F(TcpStream, StaysWritableWhenTheServerKeepsAHalfOpenConnection) {
  ASSERT_FALSE(server.open({.stream_options = {.keep_half_open = true}}).code);
  const int client = testing::connect_blocking(server.port());
  ASSERT_GE(client, 0);
  ASSERT_EQ(::send(client, "request", 7, 0), 7);
  ASSERT_EQ(::shutdown(client, SHUT_WR), 0);
  ASSERT_TRUE(run_until(loop, [&] { return far.events.ends_of_bytes == 1; }));
  EXPECT_EQ(far.events.text, "request");
  EXPECT_FALSE(far.events.closed);
  EXPECT_EQ(write_text(*far.peer, "answer"), 6u);
  std::array<char, 16> answer{};
  EXPECT_EQ(::recv(client, answer.data(), answer.size(), 0), 6);
  ::close(client);
}

}  // namespace
}  // namespace partita::wire
