#include "wire/name_lookup.hpp"

#include "tests/builders/loop_runner.hpp"

#include <partita/error.hpp>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace partita::wire {
namespace {

using addresses = std::vector<std::string>;
using testing::run_ready;
using testing::run_until;

addresses inline_addresses(std::string_view host, address_family family = address_family::any) {
  const auto result = look_up_inline(host, family);
  return result ? result->addresses : addresses{"asks a name server"};
}

std::error_code inline_error(std::string_view host, address_family family = address_family::any) {
  const auto result = look_up_inline(host, family);
  return result ? result->failure.code : std::error_code{};
}

// A name server that answers when the test says so.
class slow_server {
 public:
  look_up_result operator()(const std::string& host) {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    ++answered_;
    changed_.notify_all();
    return {{"10.0.0." + std::to_string(host.size())}, {}};
  }
  void answer() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  void wait_until_asked(int times) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ >= times; });
  }
  void wait_until_answered(int times) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return answered_ >= times; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int asked_ = 0;
  int answered_ = 0;
  bool open_ = false;
};

name_lookup_options options_with(std::shared_ptr<slow_server> server) {
  name_lookup_options options;
  options.resolve = [server](const std::string& host, address_family) { return (*server)(host); };
  return options;
}

// ---- without a name server

TEST(NameLookup, AnswersNumericAddressesInline) {
  EXPECT_EQ(inline_addresses("127.0.0.1"), addresses{"127.0.0.1"});
  EXPECT_EQ(inline_addresses("::1"), addresses{"::1"});
  EXPECT_EQ(inline_addresses("[::1]"), addresses{"::1"});
  EXPECT_EQ(inline_addresses("[2001:db8::7]"), addresses{"2001:db8::7"});
}

TEST(NameLookup, AnswersLocalhostInline) {
  for (const char* name : {"localhost", "LocalHost", "localhost."}) {
    EXPECT_EQ(inline_addresses(name), (addresses{"127.0.0.1", "::1"})) << name;
  }
}

TEST(NameLookup, KeepsToTheWantedFamily) {
  EXPECT_EQ(inline_addresses("localhost", address_family::v4), addresses{"127.0.0.1"});
  EXPECT_EQ(inline_addresses("localhost", address_family::v6), addresses{"::1"});
  EXPECT_EQ(inline_error("127.0.0.1", address_family::v6), client_errc::host_not_found);
  EXPECT_EQ(inline_error("::1", address_family::v4), client_errc::host_not_found);
}

TEST(NameLookup, RefusesWhatIsNoName) {
  EXPECT_EQ(inline_error(""), client_errc::host_not_found);
  EXPECT_EQ(inline_error(std::string(300, 'a')), client_errc::host_not_found);
  EXPECT_EQ(inline_error(std::string_view("a\0b", 3)), client_errc::host_not_found);
}

TEST(NameLookup, LeavesOtherNamesToTheNameServer) {
  for (const char* name : {"kafka-1", "localhost.example.com", "1.2.3", "[kafka]", "localhos"}) {
    EXPECT_EQ(inline_addresses(name), addresses{"asks a name server"}) << name;
  }
}

TEST(NameLookup, AnswersFromTheLoopAndNotFromInsideTheCall) {
  boost::asio::io_context loop;
  name_lookup names(loop);
  int calls = 0;
  const auto handle = names.look_up("127.0.0.1", [&](const look_up_result& result) {
    ++calls;
    EXPECT_EQ(result.addresses, addresses{"127.0.0.1"});
  });
  EXPECT_EQ(calls, 0);
  run_ready(loop);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(names.running(), 0u);
}

TEST(NameLookup, DoesNotCallBackAfterItsHandleWasDestroyed) {
  boost::asio::io_context loop;
  name_lookup names(loop);
  int calls = 0;
  auto handle = names.look_up("127.0.0.1", [&](const look_up_result&) { ++calls; });
  handle.reset();
  run_ready(loop);
  EXPECT_EQ(calls, 0);
}

TEST(NameLookup, AllowsDestroyingTheHandleInsideTheCallback) {
  boost::asio::io_context loop;
  name_lookup names(loop);
  std::unique_ptr<pending_look_up> handle;
  int calls = 0;
  handle = names.look_up("127.0.0.1", [&, kept = std::string("still here")](const auto&) {
    handle.reset();
    ++calls;
    EXPECT_EQ(kept, "still here");
  });
  run_ready(loop);
  EXPECT_EQ(calls, 1);
}

// ---- with a name server

// getaddrinfo() reads the short form itself, so this needs no network.
TEST(NameLookup, AsksTheSystem) {
  boost::asio::io_context loop;
  name_lookup names(loop);
  std::optional<look_up_result> got;
  const auto handle = names.look_up("127.1", [&](const look_up_result& result) { got = result; });
  ASSERT_TRUE(run_until(loop, [&] { return got.has_value(); }));
  EXPECT_EQ(got->addresses, addresses{"127.0.0.1"});
}

TEST(NameLookup, ReportsWhatTheSystemDoesNotKnow) {
  boost::asio::io_context loop;
  name_lookup names(loop, {.family = address_family::v6});
  std::optional<look_up_result> got;
  const auto handle = names.look_up("127.1", [&](const look_up_result& result) { got = result; });
  ASSERT_TRUE(run_until(loop, [&] { return got.has_value(); }));
  EXPECT_TRUE(got->addresses.empty());
  EXPECT_EQ(got->failure.code, client_errc::host_not_found);
  EXPECT_TRUE(got->failure.cause);
  EXPECT_NE(got->failure.text.find("127.1"), std::string::npos);
}

TEST(NameLookup, DropsDoublesAndWhatExceedsTheLimit) {
  boost::asio::io_context loop;
  name_lookup_options options;
  options.addresses_max = 2;
  options.resolve = [](const std::string&, address_family) {
    return look_up_result{{"10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.3"}, {}};
  };
  name_lookup names(loop, options);
  std::optional<look_up_result> got;
  const auto handle = names.look_up("kafka", [&](const look_up_result& result) { got = result; });
  ASSERT_TRUE(run_until(loop, [&] { return got.has_value(); }));
  EXPECT_EQ(got->addresses, (addresses{"10.0.0.1", "10.0.0.2"}));
}

TEST(NameLookup, KeepsTheLoopRunningUntilTheAnswer) {
  boost::asio::io_context loop;
  const auto server = std::make_shared<slow_server>();
  name_lookup names(loop, options_with(server));
  bool got = false;
  const auto handle = names.look_up("kafka", [&](const look_up_result&) { got = true; });
  std::thread answering([&] {
    server->wait_until_asked(1);
    server->answer();
  });
  loop.run();
  EXPECT_TRUE(got);
  answering.join();
}

TEST(NameLookup, RunsNoMoreThreadsThanAllowedAndNoneInTheEnd) {
  boost::asio::io_context loop;
  const auto server = std::make_shared<slow_server>();
  name_lookup_options options = options_with(server);
  options.look_ups_max = 2;
  name_lookup names(loop, options);
  std::vector<std::unique_ptr<pending_look_up>> handles;
  std::vector<std::string> got;
  for (const char* host : {"a", "bb", "ccc", "dddd", "eeeee"}) {
    handles.push_back(names.look_up(
        host, [&](const look_up_result& result) { got.push_back(result.addresses.front()); }));
  }
  server->wait_until_asked(2);
  EXPECT_EQ(names.running(), 2u);
  EXPECT_EQ(server->asked(), 2);
  server->answer();
  ASSERT_TRUE(run_until(loop, [&] { return got.size() == 5 && names.running() == 0; }));
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (addresses{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"}));
}

TEST(NameLookup, RefusesNamesBeyondTheWaitingOnes) {
  boost::asio::io_context loop;
  const auto server = std::make_shared<slow_server>();
  name_lookup_options options = options_with(server);
  options.look_ups_max = 1;
  options.look_ups_waiting_max = 1;
  name_lookup names(loop, options);
  std::optional<look_up_result> third;
  const auto ignore = [](const look_up_result&) {};
  const auto first_handle = names.look_up("a", ignore);
  const auto second_handle = names.look_up("b", ignore);
  const auto handle = names.look_up("c", [&](const look_up_result& result) { third = result; });
  run_ready(loop);
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(third->failure.code, client_errc::host_not_found);
  server->answer();
}

TEST(NameLookup, GivesThePlaceOfANameThatWasGivenUpToAnother) {
  boost::asio::io_context loop;
  const auto server = std::make_shared<slow_server>();
  name_lookup_options options = options_with(server);
  options.look_ups_max = 1;
  options.look_ups_waiting_max = 1;
  name_lookup names(loop, options);
  const auto ignore = [](const look_up_result&) {};
  const auto first = names.look_up("a", ignore);
  auto second = names.look_up("bb", ignore);
  second.reset();
  std::optional<look_up_result> got;
  const auto third = names.look_up("ccc", [&](const look_up_result& result) { got = result; });
  server->answer();
  ASSERT_TRUE(run_until(loop, [&] { return got.has_value(); }));
  EXPECT_EQ(got->addresses, addresses{"10.0.0.3"});
}

TEST(NameLookup, DoesNotAskForANameThatWasGivenUpWhileWaiting) {
  boost::asio::io_context loop;
  const auto server = std::make_shared<slow_server>();
  name_lookup_options options = options_with(server);
  options.look_ups_max = 1;
  name_lookup names(loop, options);
  int calls = 0;
  const auto count = [&](const look_up_result&) { ++calls; };
  const auto first = names.look_up("a", count);
  auto second = names.look_up("b", count);
  server->wait_until_asked(1);
  second.reset();
  server->answer();
  ASSERT_TRUE(run_until(loop, [&] { return names.running() == 0; }));
  run_ready(loop);
  EXPECT_EQ(server->asked(), 1);
  EXPECT_EQ(calls, 1);
}

// The loop is gone when the name server answers at last: nobody is told, nothing waits (L8).
TEST(NameLookup, DoesNotWaitForASilentNameServerAtTheEnd) {
  const auto server = std::make_shared<slow_server>();
  int calls = 0;
  {
    boost::asio::io_context loop;
    name_lookup names(loop, options_with(server));
    const auto handle = names.look_up("kafka", [&](const look_up_result&) { ++calls; });
    server->wait_until_asked(1);
  }
  server->answer();
  server->wait_until_answered(1);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace partita::wire
