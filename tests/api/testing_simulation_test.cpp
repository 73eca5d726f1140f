#include <partita/testing/virtual_time.hpp>

#include "testing_batches.hpp"

#include "wire/messages/produce.hpp"
#include "wire/stream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

TEST(VirtualTime, RunsEventsInTheOrderOfTheirTimes) {
  virtual_time time{1};
  std::string trace;
  time.after(2ms, [&] { trace += 'b'; });
  time.after(1ms, [&] {
    trace += 'a';
    time.after(2ms, [&] { trace += 'c'; });
  });
  const auto cancelled = time.after(1ms, [&] { trace += 'x'; });
  time.cancel(cancelled);
  time.run_for(10ms);
  EXPECT_EQ(trace, "abc");
  EXPECT_EQ(time.now(), 10ms);
}

TEST(VirtualTime, TheSeedOrdersEventsOfOneInstant) {
  const auto order = [](std::uint64_t seed) {
    virtual_time time{seed};
    std::string trace;
    for (char c = 'a'; c < 'i'; ++c) time.after(1ms, [&trace, c] { trace += c; });
    time.run_for(1ms);
    return trace;
  };
  EXPECT_EQ(order(3), order(3));
  EXPECT_NE(order(3), order(4));
}

TEST(VirtualTime, GivesUpAWaitAtItsLimit) {
  virtual_time time{1};
  time.after(1h, [] {});
  EXPECT_FALSE(time.run_until([] { return false; }, 1s));
  EXPECT_EQ(time.now(), 1s);
}

// A client that sends frames over a simulated connection and notes what it sees.
struct client final : wire::stream_events {
  explicit client(simulation& world) : stream(world.transport().make_stream(*this)) {}
  void on_connected() override { trace += "connected "; }
  void on_connect_failed(const wire::stream_failure& failure) override {
    trace += failure.code.message() + " ";
    failed = failure.code;
  }
  void on_bytes(std::span<const std::byte> bytes) override {
    input.insert(input.end(), bytes.begin(), bytes.end());
  }
  void on_writable() override { trace += "writable "; }
  void on_closed(const wire::stream_failure&) override { trace += "closed "; }

  std::size_t send(const std::vector<std::byte>& bytes) {
    const std::span<const std::byte> piece{bytes};
    return stream->write({&piece, 1});
  }
  [[nodiscard]] bool has_answer() const {
    if (input.size() < 4) return false;
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i)
      length = length << 8 | std::to_integer<std::size_t>(input[i]);
    return input.size() >= length + 4;
  }

  std::unique_ptr<wire::stream> stream;
  std::string trace;
  std::error_code failed;
  std::vector<std::byte> input;
};

simulation_options one_topic(std::uint64_t seed = 1) {
  simulation_options options;
  options.cluster.seed = seed;
  options.cluster.topics["t"] = {.partitions = 1, .replicas = {{1, 2, 3}}};
  return options;
}

std::vector<std::byte> produce_frame(std::int32_t sequence) {
  const auto bytes = make_batch(
      {.producer_id = 7, .epoch = 0, .sequence = sequence, .timestamp = 1'764'000'000'000});
  wire::produce_request request;
  request.timeout_ms = 1000;
  request.topics.push_back({"t", {}, {{0, byte_view{bytes}}}});
  return wire::encode_request(request, 11, sequence, "test").frame.flatten();
}

TEST(Simulation, CarriesARequestAndItsAnswer) {
  simulation world{one_topic()};
  client client{world};
  client.stream->connect("broker-1", 9092, 1s);
  EXPECT_EQ(client.trace, "");
  ASSERT_TRUE(world.time().run_until([&] { return !client.trace.empty(); }, 1s));
  const auto frame = produce_frame(0);
  EXPECT_EQ(client.send(frame), frame.size());
  EXPECT_EQ(client.stream->handed_over(), frame.size());
  ASSERT_TRUE(world.time().run_until([&] { return client.has_answer(); }, 1s));
  EXPECT_EQ(world.cluster().log("t", 0).size(), 1U);
}

TEST(Simulation, RefusesWhereNobodyListens) {
  simulation world{one_topic()};
  client nowhere{world};
  nowhere.stream->connect("elsewhere", 9092, 1s);
  world.cluster().stop_broker(2);
  client stopped{world};
  stopped.stream->connect("broker-2", 9092, 1s);
  world.cut_link(3);
  client cut{world};
  cut.stream->connect("broker-3", 9092, 1s);
  world.time().run_for(2s);
  EXPECT_EQ(nowhere.failed, client_errc::host_not_found);
  EXPECT_EQ(stopped.failed, client_errc::connection_refused);
  EXPECT_EQ(cut.failed, client_errc::connection_timeout);
}

TEST(Simulation, ACutLinkHoldsBytesUntilItHeals) {
  simulation world{one_topic()};
  client client{world};
  client.stream->connect("broker-1", 9092, 1s);
  ASSERT_TRUE(world.time().run_until([&] { return !client.trace.empty(); }, 1s));
  world.cut_link(1);
  client.send(produce_frame(0));
  world.time().run_for(10s);
  EXPECT_EQ(world.cluster().log("t", 0).size(), 0U);
  world.heal_link(1);
  ASSERT_TRUE(world.time().run_until([&] { return client.has_answer(); }, 1s));
  EXPECT_EQ(world.cluster().log("t", 0).size(), 1U);
}

TEST(Simulation, PushesBackWhenTheSendBufferIsFull) {
  auto options = one_topic();
  options.links.send_buffer_bytes = 10;
  simulation world{options};
  client client{world};
  client.stream->connect("broker-1", 9092, 1s);
  ASSERT_TRUE(world.time().run_until([&] { return !client.trace.empty(); }, 1s));
  auto frame = produce_frame(0);
  std::size_t writes = 0;
  while (!frame.empty() && writes < 1000) {
    const auto accepted = client.send(frame);
    frame.erase(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(accepted));
    ++writes;
    if (frame.empty()) break;
    const auto before = client.trace;
    client.stream->want_writable();
    ASSERT_TRUE(world.time().run_until([&] { return client.trace != before; }, 1s));
  }
  EXPECT_GT(writes, 1U);
  ASSERT_TRUE(world.time().run_until([&] { return client.has_answer(); }, 1s));
}

TEST(Simulation, AKilledBrokerEndsItsConnections) {
  simulation world{one_topic()};
  client client{world};
  client.stream->connect("broker-1", 9092, 1s);
  ASSERT_TRUE(world.time().run_until([&] { return !client.trace.empty(); }, 1s));
  world.cluster().stop_broker(1, stop_kind::kill);
  world.time().run_for(1s);
  EXPECT_EQ(client.trace, "connected closed ");
}

TEST(Simulation, AClosedStreamIsSilentButItsFrameIsExecuted) {
  simulation world{one_topic()};
  client client{world};
  client.stream->connect("broker-1", 9092, 1s);
  ASSERT_TRUE(world.time().run_until([&] { return !client.trace.empty(); }, 1s));
  client.send(produce_frame(0));
  client.stream.reset();
  world.time().run_for(1s);
  EXPECT_EQ(client.trace, "connected ");
  EXPECT_TRUE(client.input.empty());
  EXPECT_EQ(world.cluster().log("t", 0).size(), 1U);
}

std::uint64_t history(std::uint64_t seed) {
  auto options = one_topic(seed);
  options.links.disconnect = 0.02;
  simulation world{options};
  world.cluster().inject(fault_mix{.lose_request = 0.1, .lose_answer = 0.1, .delay = 0.2});
  for (std::int32_t sequence = 0; sequence < 30; ++sequence) {
    client client{world};
    client.stream->connect("broker-1", 9092, 1s);
    world.time().run_until([&] { return !client.trace.empty(); }, 2s);
    client.send(produce_frame(sequence));
    world.time().run_until([&] { return client.has_answer(); }, 200ms);
  }
  for (const auto& batch : world.cluster().batches("t", 0)) world.time().note(batch.checksum);
  return world.trace_hash();
}

TEST(Simulation, TheSameSeedGivesTheSameTrace) {
  EXPECT_EQ(history(5), history(5));
  EXPECT_NE(history(5), history(6));
}

TEST(Simulation, LooksUpItsBrokersOnly) {
  simulation world{one_topic()};
  std::string found;
  const auto known = world.transport().look_up("broker-2", [&](const wire::look_up_result& result) {
    found += result.addresses.empty() ? "?" : result.addresses.front();
  });
  const auto unknown = world.transport().look_up("x", [&](const wire::look_up_result& result) {
    found += result.addresses.empty() ? "?" : "!";
  });
  auto dropped = world.transport().look_up("broker-1", [&](const auto&) { found += "dropped"; });
  EXPECT_EQ(found, "");
  dropped.reset();
  world.time().run_for(1s);
  EXPECT_TRUE(found == "broker-2?" || found == "?broker-2") << found;
}

}  // namespace
}  // namespace partita::testing
