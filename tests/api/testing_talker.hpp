// A client of the model without sockets: frames in, answers out, time by hand.
#pragma once

#include "testing_batches.hpp"

#include "api/testing/cluster_core.hpp"
#include "wire/messages/fetch.hpp"
#include "wire/messages/produce.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace partita::testing {

/// One connection of the model; what came back, in order.
class talker final : public connection_sink {
 public:
  talker(cluster_core& core, std::int32_t broker) : core_(core), id_(core.open(broker, *this)) {}

  void send(std::vector<std::byte> bytes) override { frames_.push_back(std::move(bytes)); }
  void end(bool reset) override { ended_ = reset ? "reset" : "fin"; }

  /// Returns the correlation id.
  template <class Request>
  std::int32_t ask(const Request& request, std::int16_t version) {
    const auto frame = wire::encode_request(request, version, ++correlation_id_, "test");
    EXPECT_FALSE(frame.error) << frame.reason;
    core_.received(id_, frame.frame.flatten());
    return correlation_id_;
  }

  /// The oldest answer that was not taken yet.
  template <class Response>
  Response take(std::int16_t version) {
    if (frames_.empty()) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    storage_.push_back(std::move(frames_.front()));
    frames_.pop_front();
    auto decoded = wire::decode_response<Response>(version, byte_view{storage_.back()}.subspan(8));
    EXPECT_TRUE(decoded.ok()) << decoded.failure.reason;
    return std::move(decoded.value);
  }
  using frame = std::vector<std::byte>;
  /// The same as bytes.
  frame take_frame() {
    if (frames_.empty()) {
      ADD_FAILURE() << "no answer";
      return {};
    }
    auto taken = std::move(frames_.front());
    frames_.pop_front();
    return taken;
  }
  [[nodiscard]] std::size_t answers() const { return frames_.size(); }
  [[nodiscard]] const std::string& ended() const { return ended_; }
  [[nodiscard]] const std::vector<std::byte>& raw() const { return frames_.front(); }
  [[nodiscard]] cluster_core::connection_id id() const { return id_; }

  // Produce to one partition in version 11.
  std::int32_t produce(const batch_spec& spec, std::int16_t acks = -1, std::int32_t partition = 0,
                       std::int32_t timeout_ms = 1000) {
    const auto bytes = make_batch(spec);
    wire::produce_request request;
    request.acks = acks;
    request.timeout_ms = timeout_ms;
    request.topics.push_back({"t", {}, {{partition, byte_view{bytes}}}});
    return ask(request, 11);
  }
  wire::produce_response::partition_answer take_produced() {
    auto answer = take<wire::produce_response>(11);
    if (answer.topics.size() != 1 || answer.topics.front().partitions.size() != 1) {
      ADD_FAILURE() << "not one partition";
      return {};
    }
    return answer.topics.front().partitions.front();
  }

 private:
  cluster_core& core_;
  std::deque<std::vector<std::byte>> frames_;
  std::deque<std::vector<std::byte>> storage_;
  std::string ended_;
  std::int32_t correlation_id_ = 0;
  cluster_core::connection_id id_;
};

/// A cluster of three with topic "t", partition 0 led by broker 1 with all as replicas.
struct small_cluster {
  static cluster_options options() {
    cluster_options made;
    made.topics["t"] = {.partitions = 1, .replicas = {{1, 2, 3}, {1, 2, 3}}};
    return made;
  }
  explicit small_cluster(const cluster_options& wanted = options())
      : core(wanted, [this] { return time; }) {}

  void pass(std::chrono::milliseconds length) {
    time.steady_ns += std::chrono::nanoseconds{length}.count();
    time.wall_ms += length.count();
    core.advance();
  }
  partition_model& partition(std::int32_t index = 0) {
    return *core.state().topic("t")->partition(index);
  }
  void hold(bool held) {
    core.state().hold_replication("t", 0, held);
    core.state().replicate();
    core.settle_waiting();
  }

  moment time{1'000'000'000, 1'000'100};
  cluster_core core;
};

inline batch_spec next_batch(std::int32_t sequence, std::int16_t epoch = 0) {
  return {.producer_id = 7, .epoch = epoch, .sequence = sequence};
}

}  // namespace partita::testing
