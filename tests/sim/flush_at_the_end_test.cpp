// A flush that the producer's end overtakes: it counts what was unanswered when it began.
#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/simulated_producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

class FlushAtTheEnd : public ::testing::Test {
 protected:
  FlushAtTheEnd() {
    producer_config config;
    config.linger = 0ms;
    config.bootstrap_servers = world_.bootstrap();
    producer_ = make_producer(world_, config, {1, 1});
  }
  static simulation_options world() {
    simulation_options setup;
    setup.cluster.topics["t"].partitions = 1;
    return setup;
  }
  void produce() {
    producer_->produce({.topic = "t", .value = "v"}, [this](const outcome& told) {
      told.is_delivered() ? ++delivered_ : ++failed_;
    });
  }

  simulation world_{world()};
  std::unique_ptr<producer> producer_;
  int delivered_ = 0;
  int failed_ = 0;
};

TEST_F(FlushAtTheEnd, CountsTheRecordsThatTheEndAnswers) {
  produce();
  ASSERT_TRUE(world_.time().run_until([&] { return delivered_ == 1; }, 10s));
  produce();
  produce();
  auto first = producer_->flush();
  produce();
  auto second = producer_->flush();
  produce();

  producer_.reset();

  EXPECT_EQ(failed_, 4);
  const tally of_first = std::move(first).get();
  EXPECT_FALSE(of_first.all_delivered());
  EXPECT_EQ(of_first.not_written, 2U);
  const tally of_second = std::move(second).get();
  EXPECT_EQ(of_second.not_written, 3U);
  EXPECT_EQ(of_second.delivered, 0U) << "what was answered before it began";
}

}  // namespace
}  // namespace partita::testing
