#include "wire/session.hpp"

#include <partita/contract.hpp>
#include <partita/error.hpp>

#include <gtest/gtest.h>

#include <malloc.h>

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace partita::wire {
namespace {

using bytes = std::vector<std::byte>;
using time_point = session::time_point;
using std::chrono::milliseconds;

time_point at(int ms) { return time_point(milliseconds(ms)); }

void put_int32(bytes& out, std::int32_t number) {
  const auto value = static_cast<std::uint32_t>(number);
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string name_of(request_stage stage) {
  switch (stage) {
    case request_stage::queued:
      return "queued";
    case request_stage::partly_written:
      return "partly";
    case request_stage::sent:
      return "sent";
    case request_stage::answered:
      return "answered";
  }
  return "?";
}

std::string name_of(std::error_code code) {
  if (!code) return "ok";
  if (code == client_errc::connection_closed) return "connection_closed";
  if (code == client_errc::request_timeout) return "request_timeout";
  if (code == client_errc::malformed_answer) return "malformed_answer";
  if (code == client_errc::correlation_mismatch) return "correlation_mismatch";
  if (code == client_errc::answer_too_large) return "answer_too_large";
  if (code == client_errc::unexpected_answer) return "unexpected_answer";
  if (code == client_errc::not_kafka_http) return "not_kafka_http";
  if (code == client_errc::not_kafka_tls) return "not_kafka_tls";
  if (code == client_errc::not_kafka_ssh) return "not_kafka_ssh";
  return code.message();
}

// Writes down every event as one line; `react` may then call back into the session.
struct recorder : session_events {
  std::vector<std::string> lines;
  std::vector<session_answer> answers;  // their frame spans are dead
  std::string error_text;
  std::function<void(const std::string& line)> react;

  void on_answer(const session_answer& answer) override {
    std::string line = "answer " + std::to_string(answer.cookie) + " ";
    for (std::byte byte : answer.body()) line.push_back(static_cast<char>(byte));
    answers.push_back(answer);
    add(std::move(line));
  }
  void on_sent(std::uint64_t cookie) override { add("sent " + std::to_string(cookie)); }
  void on_ended(std::uint64_t cookie, request_stage stage, std::error_code reason) override {
    add("ended " + std::to_string(cookie) + " " + name_of(stage) + " " + name_of(reason));
  }
  void on_protocol_error(std::error_code code, std::string_view text) override {
    error_text = text;
    add("error " + name_of(code));
  }

  void add(std::string line) {
    lines.push_back(line);
    if (react) react(line);
  }
  std::vector<std::string> take() { return std::exchange(lines, {}); }
};

using lines = std::vector<std::string>;

// A session and the other end of its connection.
struct connection {
  recorder events;
  session requests{events};
  std::uint64_t written = 0;

  connection() = default;
  explicit connection(session_limits limits) : requests(events, limits) {}

  std::int32_t submit(std::uint64_t cookie, std::size_t size = 16) {
    return submit(request_terms{.cookie = cookie, .api = api_key::metadata}, size);
  }
  std::int32_t submit(const request_terms& terms, std::size_t size = 16) {
    bytes frame;
    put_int32(frame, static_cast<std::int32_t>(size) - 4);
    while (frame.size() < size) frame.push_back(static_cast<std::byte>(terms.cookie));
    outgoing_frame out;
    out.own(frame);
    return requests.submit(std::move(out), terms);
  }
  std::int32_t submit_silent(std::uint64_t cookie, std::size_t size = 16) {
    return submit({.cookie = cookie, .api = api_key::produce, .expects_answer = false}, size);
  }

  void write(std::uint64_t count, time_point now = at(0)) {
    written += count;
    requests.accepted(static_cast<std::size_t>(count));
    requests.handed_over(written, now);
  }
  void write_all() { write(requests.unsent_bytes()); }

  bytes unsent(std::size_t pieces_max = 64) {
    std::vector<std::span<const std::byte>> pieces(pieces_max);
    pieces.resize(requests.unsent(pieces));
    bytes all;
    for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
    return all;
  }

  void read(std::span<const std::byte> came, time_point now = at(0)) {
    requests.received(came, now);
  }
};

void append_answer(bytes& out, std::int32_t correlation_id, std::string_view body) {
  put_int32(out, static_cast<std::int32_t>(body.size()) + 4);
  put_int32(out, correlation_id);
  for (char byte : body) out.push_back(static_cast<std::byte>(byte));
}

bytes answer_of(std::int32_t correlation_id, std::string_view body) {
  bytes out;
  append_answer(out, correlation_id, body);
  return out;
}

struct broken_contract : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Turns a broken contract into an exception for the length of a test.
class contracts_throw {
 public:
  contracts_throw()
      : before_(set_contract_handler(
            [](const contract_breach& breach) { throw broken_contract(breach.condition); })) {}
  ~contracts_throw() { set_contract_handler(before_); }

 private:
  contract_handler before_;
};

// ---- writing

TEST(Session, NumbersFramesAndWritesTheNumberIntoThem) {
  connection c;
  EXPECT_EQ(c.submit(7), 0);
  EXPECT_EQ(c.submit(8), 1);
  const bytes out = c.unsent();
  ASSERT_EQ(out.size(), 32u);
  EXPECT_EQ(bytes(out.begin() + 8, out.begin() + 12),
            (bytes{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}}));
  EXPECT_EQ(bytes(out.begin() + 24, out.begin() + 28),
            (bytes{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1}}));
  EXPECT_EQ(out[7], std::byte{7});
  EXPECT_EQ(out[12], std::byte{7});
}

TEST(Session, BeginsAgainAtZeroAfterTheLargestCorrelationId) {
  connection c(session_limits{.first_correlation_id = std::numeric_limits<std::int32_t>::max()});
  EXPECT_EQ(c.submit(1), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(c.submit(2), 0);
  c.write_all();
  c.events.take();
  bytes in = answer_of(std::numeric_limits<std::int32_t>::max(), "a");
  append_answer(in, 0, "b");
  c.read(in);
  EXPECT_EQ(c.events.take(), (lines{"answer 1 a", "answer 2 b"}));
}

// Own and borrowed pieces, resumed at every byte, through gathers of every small size.
TEST(Session, ShowsTheRestAfterEveryPartialWrite) {
  const std::string batch_one = "first batch", batch_two = "second batch";
  for (std::size_t pieces_max = 1; pieces_max <= 8; ++pieces_max) {
    connection c;
    for (std::uint64_t cookie : {1, 2}) {
      bytes head;
      put_int32(head, static_cast<std::int32_t>(8 + 3 + batch_one.size() + 1 + batch_two.size()));
      head.resize(15, static_cast<std::byte>(cookie));
      outgoing_frame frame;
      frame.own(head);
      frame.borrow(bytes_of(batch_one));
      frame.own(bytes_of("-"));
      frame.borrow(bytes_of(batch_two));
      c.requests.submit(std::move(frame), {.cookie = cookie, .api = api_key::produce});
    }
    const bytes all = c.unsent();
    ASSERT_EQ(all.size(), c.requests.unsent_bytes());
    for (std::size_t done = 0; done < all.size(); ++done) {
      const bytes rest = c.unsent(pieces_max);
      ASSERT_FALSE(rest.empty());
      ASSERT_LE(rest.size(), all.size() - done);
      ASSERT_TRUE(
          std::equal(rest.begin(), rest.end(), all.begin() + static_cast<std::ptrdiff_t>(done)));
      ASSERT_TRUE(c.requests.has_unsent());
      c.requests.accepted(1);
    }
    EXPECT_FALSE(c.requests.has_unsent());
    EXPECT_TRUE(c.unsent(pieces_max).empty());
  }
}

// Every cut of the writing, for three frames of different sizes: only what was handed over wholly
// is in doubt (kafka-semantics.md 2.2).
TEST(Session, EndsEachRequestByHowFarItsFrameGot) {
  const std::array<std::size_t, 3> sizes{16, 29, 17};
  for (std::uint64_t cut = 0; cut <= 16 + 29 + 17; ++cut) {
    connection c;
    for (std::size_t i = 0; i < sizes.size(); ++i) c.submit(i, sizes[i]);
    c.write(cut);
    c.events.take();
    c.requests.closed(client_errc::connection_closed, cut);
    lines expected;
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::string stage = cut >= begin + sizes[i] ? "sent"
                                : cut > begin           ? "partly"
                                                        : "queued";
      expected.push_back("ended " + std::to_string(i) + " " + stage + " connection_closed");
      begin += sizes[i];
    }
    EXPECT_EQ(c.events.take(), expected) << "cut at " << cut;
  }
}

// With TLS the engine accepts bytes before it hands them over; only the latter may reach the
// broker.
TEST(Session, CountsWhatWasHandedOverAndNotWhatWasAccepted) {
  for (std::uint64_t handed = 0; handed <= 16; ++handed) {
    connection c;
    c.submit(1);
    c.requests.accepted(16);
    c.requests.handed_over(handed, at(0));
    EXPECT_EQ(c.events.take(), handed == 16 ? lines{"sent 1"} : lines{});
    c.requests.closed(client_errc::connection_closed, handed);
    const std::string stage = handed == 16 ? "sent" : handed > 0 ? "partly" : "queued";
    EXPECT_EQ(c.events.take(), lines{"ended 1 " + stage + " connection_closed"});
  }
}

TEST(Session, LearnsTheFinalWatermarkWhenItIsClosed) {
  connection c;
  c.submit(1);
  c.requests.accepted(16);
  c.requests.closed(client_errc::connection_closed, 16);
  EXPECT_EQ(c.events.take(), lines{"ended 1 sent connection_closed"});
}

TEST(Session, ReportsSentWhenTheLastByteWasHandedOverAndNotBefore) {
  connection c;
  c.submit(1);
  c.write(15);
  EXPECT_TRUE(c.events.take().empty());
  EXPECT_EQ(c.requests.in_flight(), 0u);
  c.write(1);
  EXPECT_EQ(c.events.take(), lines{"sent 1"});
  EXPECT_EQ(c.requests.in_flight(), 1u);
}

TEST(Session, KnowsWhichStagesProveThatNothingWasSent) {
  EXPECT_TRUE(provably_not_sent(request_stage::queued));
  EXPECT_TRUE(provably_not_sent(request_stage::partly_written));
  EXPECT_FALSE(provably_not_sent(request_stage::sent));
  EXPECT_FALSE(provably_not_sent(request_stage::answered));
}

// ---- reading

TEST(Session, ReadsAnswersThatAreSplitAnywhere) {
  bytes in = answer_of(0, "one");
  append_answer(in, 1, "");
  append_answer(in, 2, "three");
  const lines expected{"answer 10 one", "answer 11 ", "answer 12 three"};
  for (std::size_t first = 0; first <= in.size(); ++first) {
    for (std::size_t second = first; second <= in.size(); ++second) {
      connection c;
      for (std::uint64_t cookie : {10, 11, 12}) c.submit(cookie);
      c.write_all();
      c.events.take();
      const std::span<const std::byte> all(in);
      c.read(all.first(first));
      c.read(all.subspan(first, second - first));
      c.read(all.subspan(second));
      ASSERT_EQ(c.events.take(), expected) << first << " " << second;
      ASSERT_EQ(c.requests.in_flight(), 0u);
    }
  }
}

TEST(Session, ReadsAnswersByteByByte) {
  connection c;
  bytes in;
  for (int i = 0; i < 20; ++i) {
    c.submit(static_cast<std::uint64_t>(i));
    append_answer(in, i, std::string(static_cast<std::size_t>(i), 'x'));
  }
  c.write_all();
  c.events.take();
  for (const std::byte& byte : in) c.read({&byte, 1});
  const lines got = c.events.take();
  ASSERT_EQ(got.size(), 20u);
  EXPECT_EQ(got[0], "answer 0 ");
  EXPECT_EQ(got[5], "answer 5 xxxxx");
  EXPECT_EQ(c.requests.answers(), 20u);
}

TEST(Session, TellsWhenARequestWasSentAndAnswered) {
  connection c;
  const std::int32_t id = c.submit(1);
  c.write(16, at(100));
  c.read(answer_of(id, ""), at(130));
  ASSERT_EQ(c.events.answers.size(), 1u);
  EXPECT_EQ(c.events.answers[0].api, api_key::metadata);
  EXPECT_EQ(c.events.answers[0].correlation_id, id);
  EXPECT_EQ(c.events.answers[0].sent_at, at(100));
  EXPECT_EQ(c.events.answers[0].received_at, at(130));
}

TEST(Session, DoesNotCountARequestWithoutAnAnswerInTheFifo) {
  connection c;
  const std::int32_t first = c.submit(1);
  c.submit_silent(2);
  const std::int32_t third = c.submit(3);
  c.write_all();
  EXPECT_EQ(c.events.take(), (lines{"sent 1", "sent 2", "ended 2 sent ok", "sent 3"}));
  EXPECT_EQ(c.requests.in_flight(), 2u);
  bytes in = answer_of(first, "a");
  append_answer(in, third, "c");
  c.read(in);
  EXPECT_EQ(c.events.take(), (lines{"answer 1 a", "answer 3 c"}));
}

TEST(Session, EndsAnUnsentRequestWithoutAnswerLikeAnyOther) {
  connection c;
  c.submit_silent(1);
  c.submit_silent(2);
  c.write(15);
  c.requests.closed(client_errc::connection_closed, 15);
  EXPECT_EQ(c.events.take(),
            (lines{"ended 1 partly connection_closed", "ended 2 queued connection_closed"}));
}

// ---- what must not come

TEST(Session, RefusesAnAnswerWithAnotherCorrelationId) {
  connection c;
  c.submit(1);
  c.submit(2);
  c.write_all();
  c.events.take();
  c.read(answer_of(1, "swapped"));
  EXPECT_EQ(c.events.take(), lines{"error correlation_mismatch"});
  c.requests.closed(client_errc::correlation_mismatch, 32);
  EXPECT_EQ(c.events.take(),
            (lines{"ended 1 sent correlation_mismatch", "ended 2 sent correlation_mismatch"}));
}

TEST(Session, RefusesAWrongCorrelationIdBeforeTheRestOfTheAnswerCame) {
  connection c;
  c.submit(1);
  c.write_all();
  c.events.take();
  const bytes in = answer_of(5, std::string(100, 'x'));
  c.read(std::span(in).first(7));
  EXPECT_TRUE(c.events.take().empty());
  c.read(std::span(in).subspan(7, 1));
  EXPECT_EQ(c.events.take(), lines{"error correlation_mismatch"});
}

TEST(Session, RefusesASecondAnswerToTheSameRequest) {
  connection c;
  c.submit(1);
  c.submit(2);
  c.write_all();
  c.events.take();
  bytes in = answer_of(0, "a");
  append_answer(in, 0, "a");
  c.read(in);
  EXPECT_EQ(c.events.take(), (lines{"answer 1 a", "error correlation_mismatch"}));
}

TEST(Session, RefusesAnAnswerWhenNothingWasAsked) {
  connection c;
  c.read(answer_of(0, "a"));
  EXPECT_EQ(c.events.take(), lines{"error unexpected_answer"});
}

TEST(Session, RefusesAnAnswerToAFrameThatIsNotWhollySent) {
  for (std::uint64_t handed = 0; handed < 16; ++handed) {
    connection c;
    const std::int32_t id = c.submit(1);
    c.write(handed);
    c.read(answer_of(id, "a"));
    EXPECT_EQ(c.events.take(), lines{"error unexpected_answer"});
    c.requests.closed(client_errc::unexpected_answer, handed);
    EXPECT_EQ(c.events.take(), lines{"ended 1 " + std::string(handed > 0 ? "partly" : "queued") +
                                     " unexpected_answer"});
  }
}

TEST(Session, RefusesAnAnswerThatBeganBeforeItsRequestWasSent) {
  connection c;
  const std::int32_t id = c.submit(1);
  const bytes in = answer_of(id, "a");
  c.read(std::span(in).first(2));
  c.write_all();
  EXPECT_EQ(c.events.take(), lines{"sent 1"});
  c.read(std::span(in).subspan(2));
  EXPECT_EQ(c.events.take(), lines{"error unexpected_answer"});
}

TEST(Session, RefusesAnAnswerToARequestThatExpectsNone) {
  connection c;
  const std::int32_t id = c.submit_silent(1);
  c.write_all();
  c.events.take();
  c.read(answer_of(id, "a"));
  EXPECT_EQ(c.events.take(), lines{"error unexpected_answer"});
}

TEST(Session, RefusesImpossibleLengths) {
  constexpr std::int32_t limit = 64;
  constexpr std::int32_t max = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t min = std::numeric_limits<std::int32_t>::min();
  const std::vector<std::pair<std::int32_t, std::string>> cases{
      {min, "malformed_answer"}, {-1, "malformed_answer"},        {0, "malformed_answer"},
      {3, "malformed_answer"},   {limit + 1, "answer_too_large"}, {max, "answer_too_large"}};
  for (const auto& [length, error] : cases) {
    for (std::size_t split = 0; split <= 4; ++split) {
      connection c;
      c.submit(request_terms{.cookie = 1, .api = api_key::metadata, .answer_bytes_max = limit});
      c.write_all();
      c.events.take();
      bytes in;
      put_int32(in, length);
      c.read(std::span(in).first(split));
      c.read(std::span(in).subspan(split));
      EXPECT_EQ(c.events.take(), lines{"error " + error}) << length;
    }
  }
}

TEST(Session, AcceptsAnAnswerOfExactlyTheLimit) {
  connection c;
  const std::int32_t id =
      c.submit(request_terms{.cookie = 1, .api = api_key::metadata, .answer_bytes_max = 64});
  c.write_all();
  c.events.take();
  c.read(answer_of(id, std::string(60, 'x')));
  EXPECT_EQ(c.events.take(), lines{"answer 1 " + std::string(60, 'x')});
}

TEST(Session, UsesTheLimitOfTheApiUnlessToldOtherwise) {
  connection c;
  c.submit(request_terms{.cookie = 1, .api = api_key::init_producer_id});
  c.write_all();
  c.events.take();
  bytes in;
  put_int32(in, static_cast<std::int32_t>(answer_limit(api_key::init_producer_id)) + 1);
  c.read(in);
  EXPECT_EQ(c.events.take(), lines{"error answer_too_large"});
  EXPECT_NE(c.events.error_text.find("InitProducerId"), std::string::npos) << c.events.error_text;
}

// Only in force without a sanitizer, which counts elsewhere.
TEST(Session, DoesNotAllocateByTheLengthField) {
  connection c;
  c.submit(request_terms{.cookie = 1, .api = api_key::metadata, .answer_bytes_max = 512u << 20});
  c.write_all();
  c.events.take();
  bytes in;
  put_int32(in, 512 << 20);
  put_int32(in, 0);
  const auto before = ::mallinfo2();
  c.read(in);
  const auto after = ::mallinfo2();
  EXPECT_TRUE(c.events.take().empty());
  EXPECT_LT(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + 64 * 1024);
}

TEST(Session, TrustsNothingAfterAProtocolError) {
  connection c;
  c.submit(1);
  c.write_all();
  c.submit(2);
  c.events.take();
  c.read(answer_of(9, "wrong"));
  EXPECT_EQ(c.events.take(), lines{"error correlation_mismatch"});
  c.read(answer_of(0, "right, but too late"));
  EXPECT_TRUE(c.events.take().empty());
  EXPECT_FALSE(c.requests.is_open());
  EXPECT_FALSE(c.requests.has_room());
  EXPECT_FALSE(c.requests.has_unsent());
  EXPECT_TRUE(c.unsent().empty());
  c.requests.closed(client_errc::correlation_mismatch, 16);
  EXPECT_EQ(c.events.take(),
            (lines{"ended 1 sent correlation_mismatch", "ended 2 queued correlation_mismatch"}));
}

// An engine that flushes after the error makes doubt all the same.
TEST(Session, StillCountsWhatIsHandedOverAfterAProtocolError) {
  connection c;
  c.submit(1);
  c.write_all();
  c.submit(2);
  c.requests.accepted(16);
  c.events.take();
  c.read(answer_of(9, "wrong"));
  c.requests.handed_over(32, at(0));
  EXPECT_EQ(c.events.take(), (lines{"error correlation_mismatch", "sent 2"}));
  c.requests.closed(client_errc::correlation_mismatch, 32);
  EXPECT_EQ(c.events.take(),
            (lines{"ended 1 sent correlation_mismatch", "ended 2 sent correlation_mismatch"}));
}

TEST(Session, NamesAPeerOfAnotherProtocol) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "not_kafka_http"},
      {std::string("\x15\x03\x03\x00\x02\x02\x46", 7), "not_kafka_tls"},
      {std::string("\x16\x03\x01\x02\x00\x01", 6), "not_kafka_tls"},
      {"SSH-2.0-OpenSSH_9.2p1\r\n", "not_kafka_ssh"}};
  for (const auto& [first_bytes, error] : cases) {
    for (const bool asked : {true, false}) {
      for (std::size_t split = 0; split <= first_bytes.size(); ++split) {
        connection c;
        if (asked) c.submit(1);
        c.write_all();
        c.events.take();
        c.read(bytes_of(first_bytes).first(split));
        c.read(bytes_of(first_bytes).subspan(split));
        EXPECT_EQ(c.events.take(), lines{"error " + error}) << asked << " " << split;
      }
    }
  }
}

TEST(Session, DoesNotSuspectAPeerThatAnsweredBefore) {
  connection c;
  c.submit(1);
  c.submit(2);
  c.write_all();
  c.read(answer_of(0, "a"));
  c.events.take();
  c.read(bytes_of("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_EQ(c.events.take(), lines{"error answer_too_large"});
}

// ---- abandoning and withdrawing

TEST(Session, DropsTheAnswerOfAnAbandonedRequestInItsPlace) {
  connection c;
  c.submit(1);
  c.submit(2);
  c.write_all();
  c.events.take();
  EXPECT_EQ(c.requests.abandon(1), request_stage::sent);
  EXPECT_TRUE(c.events.take().empty());
  bytes in = answer_of(0, "dropped");
  append_answer(in, 1, "kept");
  c.read(in);
  EXPECT_EQ(c.events.take(), (lines{"ended 1 answered ok", "answer 2 kept"}));
}

TEST(Session, SendsAnAbandonedRequestToItsEnd) {
  connection c;
  c.submit(1);
  EXPECT_EQ(c.requests.abandon(1), request_stage::queued);
  c.write(3);
  EXPECT_EQ(c.requests.abandon(1), request_stage::partly_written);
  c.write(13);
  EXPECT_EQ(c.events.take(), lines{"sent 1"});
  c.read(answer_of(0, "dropped"));
  EXPECT_EQ(c.events.take(), lines{"ended 1 answered ok"});
}

TEST(Session, EndsAnAbandonedRequestWithItsStageWhenClosed) {
  connection c;
  c.submit(1);
  c.write_all();
  c.events.take();
  c.requests.abandon(1);
  c.requests.closed(client_errc::connection_closed, 16);
  EXPECT_EQ(c.events.take(), lines{"ended 1 sent connection_closed"});
}

TEST(Session, KnowsNothingOfAForeignOrEndedRequest) {
  connection c;
  c.submit(1);
  EXPECT_EQ(c.requests.abandon(2), std::nullopt);
  EXPECT_FALSE(c.requests.withdraw(2));
  c.write_all();
  c.read(answer_of(0, ""));
  EXPECT_EQ(c.requests.abandon(1), std::nullopt);
  EXPECT_FALSE(c.requests.withdraw(1));
}

TEST(Session, WithdrawsARequestOfWhichNothingWasAccepted) {
  connection c;
  c.submit(1, 16);
  c.submit(2, 20);
  c.submit(3, 24);
  c.write(5);
  EXPECT_TRUE(c.requests.withdraw(2));
  EXPECT_EQ(c.events.take(), lines{"ended 2 queued ok"});
  const bytes rest = c.unsent();
  ASSERT_EQ(rest.size(), 11u + 24u);
  EXPECT_EQ(rest[11 + 4], std::byte{3});
  c.write_all();
  EXPECT_EQ(c.events.take(), (lines{"sent 1", "sent 3"}));
  bytes in = answer_of(0, "a");
  append_answer(in, 2, "c");
  c.read(in);
  EXPECT_EQ(c.events.take(), (lines{"answer 1 a", "answer 3 c"}));
}

TEST(Session, DoesNotWithdrawWhatTheStreamBegan) {
  for (std::size_t accepted = 1; accepted <= 16; ++accepted) {
    connection c;
    c.submit(1);
    c.requests.accepted(accepted);
    EXPECT_FALSE(c.requests.withdraw(1));
    EXPECT_TRUE(c.events.take().empty());
    EXPECT_EQ(c.requests.queued(), 1u);
  }
}

TEST(Session, TellsHowFarARequestGot) {
  connection c;
  c.submit(1);
  EXPECT_EQ(c.requests.stage_of(1), request_stage::queued);
  c.write(3);
  EXPECT_EQ(c.requests.stage_of(1), request_stage::partly_written);
  c.write(13);
  EXPECT_EQ(c.requests.stage_of(1), request_stage::sent);
  EXPECT_EQ(c.requests.stage_of(2), std::nullopt);
  c.read(answer_of(0, "a"));
  EXPECT_EQ(c.requests.stage_of(1), std::nullopt);
}

// ---- deadlines

TEST(Session, WaitsForTheEarliestDeadlineOfAllRequests) {
  connection c;
  EXPECT_EQ(c.requests.next_deadline(), std::nullopt);
  EXPECT_FALSE(c.requests.expired(at(1000000)));
  c.submit(request_terms{.cookie = 1, .api = api_key::produce, .deadline = at(300)});
  c.submit(request_terms{.cookie = 2, .api = api_key::produce, .deadline = at(200)});
  c.write_all();
  EXPECT_EQ(c.requests.next_deadline(), at(200));
  c.submit(request_terms{.cookie = 3, .api = api_key::produce, .deadline = at(100)});
  EXPECT_EQ(c.requests.next_deadline(), at(100));
  EXPECT_FALSE(c.requests.expired(at(99)));
  EXPECT_TRUE(c.requests.expired(at(100)));
  EXPECT_TRUE(c.requests.withdraw(3));
  EXPECT_EQ(c.requests.next_deadline(), at(200));
  c.read(answer_of(0, ""));
  EXPECT_EQ(c.requests.next_deadline(), at(200));
  c.read(answer_of(1, ""));
  EXPECT_EQ(c.requests.next_deadline(), std::nullopt);
  c.submit(request_terms{.cookie = 4, .api = api_key::produce, .deadline = at(900)});
  EXPECT_EQ(c.requests.next_deadline(), at(900));
}

TEST(Session, KeepsTheDeadlineOfAnAbandonedRequest) {
  connection c;
  c.submit(request_terms{.cookie = 1, .api = api_key::produce, .deadline = at(100)});
  c.write_all();
  c.requests.abandon(1);
  EXPECT_TRUE(c.requests.expired(at(100)));
}

TEST(Session, ForgetsTheDeadlineOfASentRequestThatExpectsNoAnswer) {
  connection c;
  c.submit({.cookie = 1, .api = api_key::produce, .expects_answer = false, .deadline = at(100)});
  EXPECT_EQ(c.requests.next_deadline(), at(100));
  c.write_all();
  EXPECT_EQ(c.requests.next_deadline(), std::nullopt);
}

TEST(Session, EndsEverythingWhenTheOwnerClosesItForATimeout) {
  connection c;
  c.submit(request_terms{.cookie = 1, .api = api_key::produce, .deadline = at(100)});
  c.write_all();
  c.submit(request_terms{.cookie = 2, .api = api_key::produce, .deadline = at(200)});
  c.events.take();
  ASSERT_TRUE(c.requests.expired(at(100)));
  c.requests.closed(client_errc::request_timeout, 16);
  EXPECT_EQ(c.events.take(),
            (lines{"ended 1 sent request_timeout", "ended 2 queued request_timeout"}));
  EXPECT_EQ(c.requests.next_deadline(), std::nullopt);
  c.read(answer_of(0, "late"));
  c.requests.closed(client_errc::connection_closed, 16);
  EXPECT_TRUE(c.events.take().empty());
}

// ---- calling back

TEST(Session, TakesANewRequestFromInsideAnAnswer) {
  connection c;
  c.submit(1);
  c.write_all();
  c.events.take();
  c.events.react = [&](const std::string& line) {
    if (line == "answer 1 a") c.submit(2);
    if (line == "answer 2 b") c.submit(3);
  };
  c.read(answer_of(0, "a"));
  c.write_all();
  c.read(answer_of(1, "b"));
  EXPECT_EQ(c.events.take(), (lines{"answer 1 a", "sent 2", "answer 2 b"}));
  EXPECT_EQ(c.requests.queued(), 1u);
}

TEST(Session, TakesANewRequestAndAWriteFromInsideSent) {
  connection c;
  c.events.react = [&](const std::string& line) {
    if (line != "sent 1") return;
    c.submit(3);
    c.write_all();
  };
  c.submit(1);
  c.submit(2);
  c.write(16);
  EXPECT_EQ(c.events.take(), (lines{"sent 1", "sent 2", "sent 3"}));
  bytes in;
  for (int id = 0; id < 3; ++id) append_answer(in, id, "");
  c.read(in);
  EXPECT_EQ(c.events.take(), (lines{"answer 1 ", "answer 2 ", "answer 3 "}));
}

TEST(Session, StopsReadingWhenAnAnswerMakesItsOwnerClose) {
  for (const bool split : {false, true}) {
    connection c;
    c.submit(1);
    c.submit(2);
    c.write_all();
    c.events.take();
    c.events.react = [&](const std::string& line) {
      if (line == "answer 1 a") c.requests.closed(client_errc::malformed_answer, 32);
    };
    bytes in = answer_of(0, "a");
    append_answer(in, 1, "b");
    c.read(std::span(in).first(split ? 5 : 0));
    c.read(std::span(in).subspan(split ? 5 : 0));
    EXPECT_EQ(c.events.take(), (lines{"answer 1 a", "ended 2 sent malformed_answer"}));
  }
}

TEST(Session, EndsOnceWhenClosedFromInsideSent) {
  for (const bool expects_answer : {true, false}) {
    connection c;
    c.events.react = [&](const std::string& line) {
      if (line == "sent 1") c.requests.closed(client_errc::closed, 32);
    };
    c.submit({.cookie = 1, .api = api_key::produce, .expects_answer = expects_answer});
    c.submit(2);
    c.write_all();
    lines got = c.events.take();
    std::map<std::string, int> ends;
    for (const std::string& line : got) {
      if (line.starts_with("ended")) ++ends[line.substr(0, 7)];
    }
    EXPECT_EQ(ends, (std::map<std::string, int>{{"ended 1", 1}, {"ended 2", 1}}));
  }
}

TEST(Session, AllowsClosingFromInsideTheProtocolError) {
  connection c;
  c.submit(1);
  c.write_all();
  c.events.take();
  c.events.react = [&](const std::string& line) {
    if (line.starts_with("error")) c.requests.closed(client_errc::correlation_mismatch, 16);
  };
  bytes in = answer_of(3, "a");
  append_answer(in, 0, "b");
  c.read(in);
  EXPECT_EQ(c.events.take(),
            (lines{"error correlation_mismatch", "ended 1 sent correlation_mismatch"}));
}

// ---- every step made to fail

// A whole exchange, one byte a step in both directions, cut after every step: each request ends
// exactly once, and never better than the bytes justify.
TEST(Session, EndsEveryRequestExactlyOnceWhereverItIsCut) {
  bytes in = answer_of(0, "one");
  append_answer(in, 2, "three");
  const std::size_t first_answer = answer_of(0, "one").size();
  const std::size_t out_size = 16 + 18 + 20;
  for (std::size_t cut = 0; cut <= out_size + in.size(); ++cut) {
    connection c;
    c.submit(1, 16);
    c.submit_silent(2, 18);
    c.submit(3, 20);
    for (std::size_t step = 0; step < cut; ++step) {
      if (step < out_size) {
        c.write(1);
      } else {
        c.read(std::span(in).subspan(step - out_size, 1));
      }
    }
    c.requests.closed(client_errc::connection_closed, c.written);
    const std::size_t out = std::min(cut, out_size);
    const std::size_t came = cut - out;
    const auto stage = [&](std::size_t begin, std::size_t end) {
      return out >= end ? "sent" : out > begin ? "partly" : "queued";
    };
    std::map<char, std::string> ends;
    for (const std::string& line : c.events.take()) {
      if (line.starts_with("sent")) continue;
      const char cookie = line[line.find(' ') + 1];
      EXPECT_TRUE(ends.emplace(cookie, line).second) << line << " after " << ends[cookie];
    }
    const std::string lost = " connection_closed";
    EXPECT_EQ(ends['1'],
              came >= first_answer ? "answer 1 one" : "ended 1 " + (stage(0, 16) + lost));
    EXPECT_EQ(ends['2'], out >= 34 ? "ended 2 sent ok" : "ended 2 " + (stage(16, 34) + lost));
    EXPECT_EQ(ends['3'],
              came == in.size() ? "answer 3 three" : "ended 3 " + (stage(34, 54) + lost));
    EXPECT_EQ(ends.size(), 3u);
  }
}

// ---- contracts

TEST(Session, RefusesMoreRequestsThanItsLimit) {
  connection c(session_limits{.requests_max = 2});
  c.submit(1);
  c.write_all();
  c.submit(2);
  EXPECT_FALSE(c.requests.has_room());
  const contracts_throw during;
  EXPECT_THROW(c.submit(3), broken_contract);
}

TEST(Session, RefusesAFrameWithAWrongLength) {
  const contracts_throw during;
  connection c;
  bytes frame;
  put_int32(frame, 13);
  frame.resize(16);
  outgoing_frame out;
  out.own(frame);
  EXPECT_THROW(c.requests.submit(std::move(out), {}), broken_contract);
}

TEST(Session, RefusesAWatermarkThatFallsOrRunsAhead) {
  const contracts_throw during;
  connection c;
  c.submit(1);
  c.write(8);
  EXPECT_THROW(c.requests.handed_over(7, at(0)), broken_contract);
  EXPECT_THROW(c.requests.handed_over(9, at(0)), broken_contract);
  EXPECT_THROW(c.requests.accepted(9), broken_contract);
}

}  // namespace
}  // namespace partita::wire
