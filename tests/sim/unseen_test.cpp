// Records that come unseen (decision 11) must not be forgotten by anybody: what ends their wait in
// a producer that is otherwise quiet.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::testing {
namespace {

using namespace std::chrono_literals;

std::string nth(int i) { return "r" + std::to_string(i); }

// In a batch whose oldest record lives longer than they do.
SCENARIO_SEEDS(unseen, a_long_deadline_does_not_hide_shorter_ones, 20) {
  s.set().linger = 5ms;
  s.set().batch_records_max = 1000;
  s.set().delivery_timeout = 2s;
  s.set().request_timeout = 1s;
  s.start();
  for (int broker = 1; broker <= 3; ++broker) s.cluster().stop_broker(broker);
  produce_how patient;
  patient.options.delivery_timeout = 30s;
  s.produce("A", patient);
  s.record("A").limit = 30s;
  s.run(500ms);
  for (int i = 0; i < 5; ++i) {
    s.produce(nth(i));
    s.run(100ms);
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(s.until([&] { return s.answered(nth(i)); }, 3s)) << i;
    EXPECT_LE(s.took(nth(i)), 2s + 10ms) << i;
  }
  for (int broker = 1; broker <= 3; ++broker) s.cluster().start_broker(broker);
  s.await_all();
}

// A full buffer brings along what dozes, and what comes there afterwards is not forgotten either.
SCENARIO_SEEDS(unseen, a_full_buffer_ends_the_linger_whatever_dozes, 20) {
  s.set().linger = 3s;
  s.set().batch_records_max = 1000;
  s.set().buffer_memory_bytes = 3000;
  s.set().batch_size_bytes = 1000;
  s.set().max_block = 1s;
  s.start();
  int next = 0;
  for (int burst = 0; burst < 12; ++burst) {
    for (int i = 0; i < 40; ++i)
      s.produce(nth(next++) + "@p" + std::to_string(burst % 3), {.waits = true});
    s.run(250ms);
  }
  s.await_all();
  for (int i = 0; i < next; ++i) EXPECT_EQ(s.letter(nth(i)), "D") << i;
}

SCENARIO_SEEDS(unseen, what_fills_a_batch_sends_it, 20) {
  s.set().linger = 5s;
  s.set().batch_records_max = 10;
  s.start();
  s.produce("X@p1");  // nobody is alone
  for (int i = 0; i < 40; ++i) {
    s.produce(nth(i));
    if (i % 10 == 9) s.run(5ms);
  }
  for (int i = 0; i < 40; ++i) {
    EXPECT_TRUE(s.answered(nth(i))) << i;
    EXPECT_LE(s.took(nth(i)), 5ms) << i;
  }
  s.await_all();
}

SCENARIO_SEEDS(unseen, a_flush_waits_for_no_linger, 20) {
  s.set().linger = 5s;
  s.set().batch_records_max = 1000;
  s.start();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 30; ++i) s.produce(nth(30 * round + i) + "@p" + std::to_string(i % 3));
    auto flushed = s.producer().flush();
    EXPECT_TRUE(s.until([&] { return flushed.done(); }, 100ms)) << round;
  }
  s.await_all();
}

// What a request brings along is seen by its partition, even where nothing may be sent from it: it
// asks for the producer id that it lacks.
SCENARIO_SEEDS(unseen, what_was_brought_along_and_cannot_be_sent_asks_for_an_id, 20) {
  s.set().linger = 1s;
  s.set().batch_records_max = 10;
  s.set().on_failure = failure_policy::skip;
  s.set().new_producer_id_instead_of_bump = true;
  s.move(1, s.cluster().view("t", 0)->leader);
  s.produce("W@p1");  // learns where p1 is led
  s.right("W=D");
  s.run(3s);
  s.produce("X@p1 A");  // nobody is alone
  s.run(100ms);
  api_fault refused;
  refused.api = api::init_producer_id;
  refused.code = broker_errc::cluster_authorization_failed;
  s.cluster().inject(refused);
  s.broker("A#n ->87");
  for (int i = 0; i < 9; ++i) s.produce(nth(i));
  s.right("A=N, r8=N");
  s.run(300ms);
  s.produce("C");
  EXPECT_TRUE(s.until([&] { return s.answered("C") && s.answered("X"); }, 2s));
  s.right("C=D, X=D");
}

}  // namespace
}  // namespace partita::testing
