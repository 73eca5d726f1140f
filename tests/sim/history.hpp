// A history: a producer in a simulated cluster, records that name themselves, and the comparison of
// every answer with the log at the end.
#pragma once

#include <partita/producer.hpp>
#include <partita/testing/checker.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/simulated_producer.hpp>
#include <partita/testing/virtual_time.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace partita::testing {

struct history_options {
  std::uint64_t seed = 1;
  int partitions = 3;
  int brokers = 3;
  int lanes = 1;
  producer_config config{};
  link_options links{};
};

class history {
 public:
  explicit history(const history_options& options);
  ~history();

  [[nodiscard]] simulation& world() noexcept { return *world_; }
  [[nodiscard]] testing::cluster& cluster() noexcept { return world_->cluster(); }
  [[nodiscard]] partita::producer& producer() noexcept { return *producer_; }
  void end_producer() { producer_.reset(); }

  /// Produces the next record with this key to this partition. Its answer is noted when it comes.
  void produce(int partition, std::string key, std::size_t padding = 0);
  [[nodiscard]] std::size_t produced() const noexcept { return records_.size(); }
  [[nodiscard]] const produced_record& record(std::size_t index) const { return records_[index]; }
  [[nodiscard]] std::size_t answered() const noexcept { return answered_; }
  /// The only answer of a record; fails the test if there is none yet.
  [[nodiscard]] const outcome& answer(std::size_t index) const;
  [[nodiscard]] tally counts() const;

  /// Runs until every record is answered; false if that takes longer.
  bool run_until_answered(std::chrono::nanoseconds limit = std::chrono::minutes(10));
  void run_for(std::chrono::nanoseconds length) { world_->time().run_for(length); }

  /// Lets every delayed packet land, then compares. Empty: nothing is wrong.
  [[nodiscard]] std::string verdict(const check_options& options = {});
  [[nodiscard]] static const char* topic() noexcept { return "ledger"; }

 private:
  std::unique_ptr<simulation> world_;
  std::unique_ptr<partita::producer> producer_;
  std::deque<produced_record> records_;
  std::size_t answered_ = 0;
};

/// A configuration whose limits are short, so that histories reach them.
[[nodiscard]] producer_config hurried_config();

}  // namespace partita::testing
