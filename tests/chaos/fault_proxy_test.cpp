#include "chaos/fault_proxy.hpp"

#include "chaos/frame_sockets.hpp"
#include "wire/frame.hpp"
#include "wire/messages/produce.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace partita::chaos {
namespace {

constexpr std::int16_t version = 9;

/// Says of everything that it was written, and at which offset. One connection after another.
class writing_broker {
 public:
  writing_broker() : listener_(listen_on(0)), thread_([this] { serve(); }) {}
  ~writing_broker() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  std::uint16_t port() const { return local_port(listener_); }
  std::int64_t written() const { return written_; }

 private:
  void serve() {
    for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(client)) {
      bytes request;
      while (read_frame(client, request)) {
        wire::produce_response told;
        told.topics.emplace_back().partitions.emplace_back().index = 0;
        told.topics[0].partitions[0].base_offset = written_++;
        write_all(
            client,
            wire::encode_response(told, version, look_at(request).correlation_id).frame.flatten());
      }
    }
  }

  const int listener_;
  std::atomic<std::int64_t> written_{0};
  std::thread thread_;
};

std::uint16_t free_port() {
  const int probe = listen_on(0);
  const std::uint16_t port = local_port(probe);
  ::close(probe);
  return port;
}

class FaultProxy : public ::testing::Test {
 protected:
  FaultProxy() { EXPECT_EQ(proxy_.failure(), ""); }
  ~FaultProxy() override { hang_up(); }

  void ask(std::int32_t number) {
    if (client_ < 0) client_ = connect_to(port_);
    wire::produce_request asked;
    asked.topics.push_back({"orders", {}, {{0, {}}}});
    write_all(client_,
              wire::encode_request(asked, version, number, std::string_view("me")).frame.flatten());
  }
  /// Which request the next answer belongs to; none: the connection is over.
  std::optional<std::int32_t> answered() {
    bytes answer;
    if (!read_frame(client_, answer)) return std::nullopt;
    return number_of(answer);
  }
  /// Nothing has come to the client.
  bool silent() {
    char letter = 0;
    return ::recv(client_, &letter, 1, MSG_DONTWAIT | MSG_PEEK) < 0;
  }
  bool await_written(std::size_t batches) {
    return proxy_.await_answers([&](const auto& said) { return said.size() == batches; });
  }
  void hang_up() {
    if (client_ >= 0) ::close(client_);
    client_ = -1;
  }
  static std::int32_t number_of(const bytes& answer) {
    std::int32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i)
      number = number << 8 | std::to_integer<std::int32_t>(answer[i]);
    return number;
  }

  writing_broker broker_;
  const std::uint16_t port_ = free_port();
  fault_proxy proxy_{{{port_, broker_.port()}}, 1};
  int client_ = -1;
};

TEST_F(FaultProxy, FollowsItsScriptAndThenTheRest) {
  proxy_.script({{}, {.fault = frame_fault::drop_answer}},
                {.fault = frame_fault::error_instead, .code = broker_errc::not_enough_replicas});
  ask(1);
  EXPECT_EQ(answered(), 1);
  ask(2);
  EXPECT_EQ(answered(), std::nullopt);
  EXPECT_EQ(broker_.written(), 2);
  hang_up();
  ask(3);
  EXPECT_EQ(answered(), 3);
  ask(4);
  EXPECT_EQ(answered(), 4);
  EXPECT_EQ(broker_.written(), 2) << "refused by the proxy";
  EXPECT_EQ(proxy_.attempts(0), 2U);
}

TEST_F(FaultProxy, NotesWhatABrokerSaidBehindAMute) {
  proxy_.script({{}, {.fault = frame_fault::mute}});
  ask(1);
  EXPECT_EQ(answered(), 1);
  ask(2);
  ask(3);
  ASSERT_TRUE(await_written(3));
  EXPECT_TRUE(silent());
  const auto said = proxy_.answers_so_far();
  EXPECT_EQ(said[2].base, offset(2));
  EXPECT_EQ(said[2].code, broker_errc::none);
}

TEST_F(FaultProxy, ARefusalBehindAMuteIsNotTold) {
  proxy_.script({{.fault = frame_fault::mute},
                 {.fault = frame_fault::error_instead, .code = broker_errc::corrupt_message}});
  ask(1);
  ask(2);
  ask(3);
  ASSERT_TRUE(await_written(2)) << "the first and the third";
  EXPECT_TRUE(silent());
}

TEST_F(FaultProxy, SwallowsARequestAndAllThatFollowIt) {
  proxy_.script({{.fault = frame_fault::swallow}});
  ask(1);
  ask(2);
  ::shutdown(client_, SHUT_WR);
  EXPECT_EQ(answered(), std::nullopt) << "the proxy has read both";
  hang_up();
  ask(3);
  EXPECT_EQ(answered(), 3);
  EXPECT_EQ(broker_.written(), 1);
}

}  // namespace
}  // namespace partita::chaos
