#include "tests/sim/history.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace partita::testing {

producer_config hurried_config() {
  producer_config config;
  config.on_failure = failure_policy::halt_partition;
  config.request_timeout = std::chrono::seconds(2);
  config.delivery_timeout = std::chrono::seconds(8);
  config.max_block = std::chrono::seconds(8);
  config.batch_size_bytes = 2000;
  config.linger = std::chrono::milliseconds(2);
  return config;
}

history::history(const history_options& options) {
  simulation_options setup;
  setup.cluster.brokers = options.brokers;
  setup.cluster.seed = options.seed;
  setup.cluster.topics[topic()].partitions = options.partitions;
  setup.links = options.links;
  world_ = std::make_unique<simulation>(setup);
  producer_ = make_producer(*world_, options.config, {options.lanes, options.seed * 7919 + 1});
}

history::~history() = default;

void history::produce(int partition, std::string key, std::size_t padding) {
  produced_record& one = records_.emplace_back();
  one.order = records_.size();
  one.client_timestamp = false;
  one.record.topic = topic();
  one.record.partition = partition;
  one.record.key = std::move(key);
  // Ordered as text, too.
  one.record.value = std::string(topic()) + "-" + std::to_string(partition) + "-" +
                     std::to_string(1'000'000 + one.order) + std::string(padding, '.');
  partita::record view;
  view.topic = one.record.topic;
  view.key = *one.record.key;
  view.value = *one.record.value;
  view.partition = partition;
  producer_->produce(view, [this, place = &one](const outcome& answer) {
    place->answers.push_back(answer);
    ++answered_;
  });
}

const outcome& history::answer(std::size_t index) const {
  const auto& answers = records_.at(index).answers;
  EXPECT_EQ(answers.size(), 1U) << "record " << index;
  return answers.at(0);
}

tally history::counts() const {
  tally sum;
  for (const produced_record& each : records_) {
    for (const outcome& answer : each.answers) {
      if (answer.is_delivered())
        ++sum.delivered;
      else if (answer.failure()->fate == fate::not_written)
        ++sum.not_written;
      else
        ++sum.unknown;
    }
  }
  return sum;
}

bool history::run_until_answered(std::chrono::nanoseconds limit) {
  return world_->time().run_until([this] { return answered_ >= records_.size(); }, limit);
}

std::string history::verdict(const check_options& options) {
  cluster().clear_faults();
  run_for(std::chrono::minutes(3));
  const std::vector<produced_record> all(records_.begin(), records_.end());
  return report(check(all, read_logs(cluster(), all), options));
}

}  // namespace partita::testing
