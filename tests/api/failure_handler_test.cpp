// <partita/failure_handler.hpp>: any callable, shared by copies.
#include <partita/config.hpp>
#include <partita/failure_handler.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace partita {
namespace {

class two_records final : public failure_view {
 public:
  const failed& failure() const noexcept override { return failure_; }
  std::size_t count() const noexcept override { return 2; }
  void for_each(record_visitor visit) const override {
    visit({.topic = "t", .value = "a"});
    visit({.topic = "t", .value = "b"});
  }
  std::size_t behind_count() const noexcept override { return 0; }
  void for_each_behind(record_visitor) const override {}

 private:
  failed failure_;
};

failure_verdict always_skip(const failure_view&) { return failure_verdict::skip; }

TEST(FailureHandler, IsNullUnlessItHasACallable) {
  EXPECT_FALSE(failure_handler());
  EXPECT_FALSE(failure_handler(nullptr));
  EXPECT_FALSE(failure_handler(std::function<failure_verdict(const failure_view&)>()));
  EXPECT_FALSE(failure_handler(static_cast<failure_verdict (*)(const failure_view&)>(nullptr)));
  EXPECT_FALSE(producer_config().failure_handler);
  EXPECT_TRUE(failure_handler(always_skip));
}

TEST(FailureHandler, CallsLambdasAndFunctions) {
  two_records view;
  EXPECT_EQ(failure_handler(always_skip)(view), failure_verdict::skip);
  std::string seen;
  const failure_handler handler = [&seen](const failure_view& of) {
    of.for_each([&seen](const record& each) { seen += *each.value; });
    return failure_verdict::retry;
  };
  EXPECT_EQ(handler(view), failure_verdict::retry);
  EXPECT_EQ(seen, "ab");
}

TEST(FailureHandler, CopiesShareTheCallableAndTheLastOneDestroysIt) {
  const auto watched = std::make_shared<int>(0);
  failure_handler handler = [watched](const failure_view&) {
    ++*watched;
    return failure_verdict::use_policy;
  };
  {
    two_records view;
    producer_config config{.failure_handler = handler};
    const producer_config copy = config;
    static_cast<void>(copy.failure_handler(view));
    failure_handler moved = std::move(config.failure_handler);
    EXPECT_FALSE(config.failure_handler);
    static_cast<void>(moved(view));
    moved = handler;
    moved = *&moved;
    EXPECT_EQ(moved(view), failure_verdict::use_policy);
  }
  EXPECT_EQ(*watched, 3);
  EXPECT_EQ(watched.use_count(), 2);
  handler = nullptr;
  EXPECT_EQ(watched.use_count(), 1);
}

TEST(TopicConfigs, AreSortedByNameAndThereOnce) {
  producer_config config;
  config.topics["orders"].on_failure = failure_policy::skip;
  config.topics["audit"].on_failure = failure_policy::halt_key;
  config.topics["orders"].on_failure = failure_policy::halt_partition;
  ASSERT_EQ(config.topics.size(), 2U);
  std::vector<std::string> names;
  for (const auto& [name, topic] : config.topics) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"audit", "orders"}));
  EXPECT_EQ(config.topics["orders"].on_failure, failure_policy::halt_partition);
}

}  // namespace
}  // namespace partita
