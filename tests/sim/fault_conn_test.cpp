// CONN: connections that end, stay silent, or never begin.
#include "tests/sim/stage.hpp"

#include <gtest/gtest.h>

#include <string>

namespace partita::testing {
namespace {

api_fault of_handshake(reply how, int times) {
  api_fault fault;
  fault.api = api::api_versions;
  fault.broker = 1;
  fault.reply = how;
  fault.times = times;
  return fault;
}

SCENARIO_TIMED(fault_conn, conn_04_eof_before_first_answer_a) {
  s.set().delivery_timeout = 3s;
  s.start();
  s.cluster().inject(of_handshake(reply::close_before, always));
  s.cut(1);
  s.run(5ms);
  s.produce("A");
  s.right("A=N, log=");
  EXPECT_LE(s.took("A"), 3100ms);
  EXPECT_EQ(s.failure("A").cause, client_errc::connection_closed) << s.failure("A").cause.message();
}
SCENARIO_TIMED(fault_conn, conn_04_eof_before_first_answer_c) {
  s.start();
  api_fault torn = of_handshake(reply::cut_answer, 3);
  torn.cut_at = 7;
  s.cluster().inject(torn);
  s.cut(1);
  s.produce("A");
  s.right("A=D, log=A");
}

// All brokers get new addresses behind their names. The old ones refuse at first, then swallow.
void conn_06(stage& s, std::chrono::milliseconds silent) {
  s.set().connection_setup_timeout = 500ms;
  s.set().connection_setup_timeout_max = 500ms;
  s.start();
  s.refuse_all();
  s.produce("A");
  s.run(1s);
  for (int b = 1; b <= 3; ++b) s.world().move_address(b, silent);
  s.ok_all();
  s.run(silent);
  const auto visible = s.now();
  s.right("A=D, log=A");
  EXPECT_LT(s.now() - visible, 2s);
  s.produce("B@p1 C@p2");
  s.right("B=D, C=D");
}
SCENARIO_TIMED(fault_conn, conn_06_address_changes) { conn_06(s, 0ms); }
SCENARIO_TIMED(fault_conn, conn_06_address_changes_late) { conn_06(s, 3s); }

void conn_13(stage& s, acks how) {
  s.set().acks = how;
  s.set().enable_idempotence = false;
  s.set().on_failure = failure_policy::skip;
  s.set_links().latency_min = 250ms;
  s.set_links().latency_max = 250ms;
  s.cold();
  s.copies_allowed();
  s.produce("A@p0 B@p1");
  s.run(250ms);
  s.cluster().stop_broker(1);
  s.run(150ms);
  s.cluster().start_broker(1);
  s.produce("C@p0 D@p1");
  s.await_all();
}
SCENARIO_TIMED(fault_conn, conn_13_one_reader_per_socket_acks_0) { conn_13(s, acks::none); }
SCENARIO_TIMED(fault_conn, conn_13_one_reader_per_socket_acks_1) { conn_13(s, acks::leader); }

}  // namespace
}  // namespace partita::testing
