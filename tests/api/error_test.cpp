#include <partita/error.hpp>
#include <partita/outcome.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace partita {
namespace {

TEST(BrokerErrc, MessageBeginsWithKafkasName) {
  const std::error_code code = broker_errc::not_leader_or_follower;
  EXPECT_STREQ(code.category().name(), "kafka");
  EXPECT_EQ(code.value(), 6);
  EXPECT_EQ(code.message().rfind("NOT_LEADER_OR_FOLLOWER: ", 0), 0u);
  EXPECT_EQ(make_error_code(broker_errc::unknown_server_error)
                .message()
                .rfind("UNKNOWN_SERVER_ERROR: ", 0),
            0u);
}

TEST(BrokerErrc, UnlistedNumbersKeepTheirNumber) {
  EXPECT_EQ(make_error_code(static_cast<broker_errc>(9999)).message(), "UNKNOWN(9999)");
  EXPECT_EQ(std::error_code(65542, broker_category()).message(), "UNKNOWN(65542)");
}

TEST(BrokerErrc, NoneIsNoError) { EXPECT_FALSE(make_error_code(broker_errc::none)); }

TEST(BrokerErrc, NamesAreDistinct) {
  std::set<std::string> names;
  int listed = 0;
  for (int value = -1; value < 200; ++value) {
    const std::string message = std::error_code(value, broker_category()).message();
    if (message.rfind("UNKNOWN(", 0) == 0) continue;
    ++listed;
    names.insert(message.substr(0, message.find(':')));
    EXPECT_NE(message.find(": "), std::string::npos) << message;
  }
  EXPECT_EQ(listed, 51);
  EXPECT_EQ(names.size(), 51u);
}

TEST(ClientErrc, EveryCodeHasItsOwnText) {
  std::set<std::string> texts;
  const int last = static_cast<int>(client_errc::ticket_expired);
  for (int value = 1; value <= last; ++value) {
    const std::error_code code(value, client_category());
    EXPECT_EQ(code.message().rfind("UNKNOWN(", 0), std::string::npos) << value;
    texts.insert(code.message());
  }
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(last));
  EXPECT_EQ(std::error_code(last + 1, client_category()).message(),
            "UNKNOWN(" + std::to_string(last + 1) + ")");
  EXPECT_STREQ(client_category().name(), "partita");
}

TEST(ErrorCodes, EqualTheStandardsWordsWhereThereAreSome) {
  const auto is = [](std::error_code code, std::errc word) { return code == word; };
  EXPECT_TRUE(is(client_errc::delivery_timeout, std::errc::timed_out));
  EXPECT_TRUE(is(client_errc::admission_timeout, std::errc::timed_out));
  EXPECT_TRUE(is(client_errc::metadata_timeout, std::errc::timed_out));
  EXPECT_TRUE(is(client_errc::request_timeout, std::errc::timed_out));
  EXPECT_TRUE(is(broker_errc::request_timed_out, std::errc::timed_out));
  EXPECT_TRUE(is(client_errc::cancelled, std::errc::operation_canceled));
  EXPECT_TRUE(is(client_errc::record_too_large, std::errc::message_size));
  EXPECT_TRUE(is(client_errc::invalid_topic, std::errc::invalid_argument));
  EXPECT_TRUE(is(broker_errc::topic_authorization_failed, std::errc::permission_denied));
  EXPECT_FALSE(is(client_errc::halted, std::errc::timed_out));
  EXPECT_FALSE(is(broker_errc::none, std::errc::timed_out));
  EXPECT_TRUE(make_error_code(client_errc::delivery_timeout) == client_errc::delivery_timeout);
  EXPECT_FALSE(make_error_code(client_errc::delivery_timeout) == client_errc::request_timeout);
}

/// std::error_code() has the message "Success".
TEST(ErrorCodes, AFailureNeverHasTheMessageOfASuccess) {
  const std::error_code empty[] = {{}, broker_errc::none, std::make_error_code(std::errc())};
  for (const std::error_code& each : empty) {
    const outcome told(failed{.fate = fate::not_written, .code = each, .cause = each});
    EXPECT_FALSE(told.failure()->code);
    EXPECT_FALSE(told.failure()->cause);
    EXPECT_EQ(told.failure()->code.message(), "none is told");
    EXPECT_EQ(told.failure()->cause.message(), "none is told");
  }
  EXPECT_EQ(failed{}.cause.message(), "none is told");
  const outcome full(failed{.code = client_errc::halted, .cause = client_errc::buffer_full});
  EXPECT_EQ(full.failure()->code, client_errc::halted);
  EXPECT_EQ(full.failure()->cause, client_errc::buffer_full);
}

}  // namespace
}  // namespace partita
