// Rows about what a failure does to what lies behind it: halted keys, held records, recovery, the
// policies, the failure handler.
#include "tests/sim/stage.hpp"

#include <partita/partitioner.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace partita::testing {
namespace {

void hold(stage& s) { s.set().while_halted = while_halted::hold; }

SCENARIO_TIMED(fault_core, core_20_produce_between_failure_and_report_b) {
  hold(s);
  s.start();
  s.hold_outcomes();
  s.broker("A#1 ->87");
  s.produce("A", {.waits = true});
  s.when("A#1 answered");
  s.produce("B");
  s.run(3s);
  EXPECT_EQ(s.all_attempts().size(), 1U);
  s.release_outcomes();
  s.right("A=N, B=open");
  const recovery_report report = s.recover(recovery::resubmit);
  ASSERT_EQ(report.resubmitted.size(), 1U);
  s.right("B=D, log=A B");
}

void core_24(stage& s, recovery how, const char* back, const char* log) {
  hold(s);
  s.broker("A#1 ->29");
  s.produce("A B");
  s.right("A=N");
  s.produce("C D E");
  s.run(1s);
  EXPECT_EQ(s.log(), "");
  const recovery_report report = s.recover(how);
  EXPECT_EQ(s.names_of(report.taken), back);
  s.await_all();
  s.right(log);
}
SCENARIO_TIMED(fault_core, core_24_resume_order_a) {
  core_24(s, recovery::resubmit, "", "log=A B C D E");
}
// Taken back is everything that failed or was held; nothing of it goes by itself.
SCENARIO_TIMED(fault_core, core_24_resume_order_b) {
  core_24(s, recovery::take, "A B C D E", "log=");
}
SCENARIO_TIMED(fault_core, core_24_resume_order_c) {
  core_24(s, recovery::discard, "", "log=B C D E");
}

SCENARIO(fault_core, core_25_produce_from_failure_handler_b) {
  s.halts_are_its_own();
  s.broker("A#1 ->10");
  s.produce("A", {.then = [&](const outcome&) {
              s.producer().recover("t", 0, recovery::discard).then([](const recovery_report&) {});
              s.produce("A2");
            }});
  s.right("A=N, A2=D, log=A2");
}

SCENARIO_TIMED(fault_core, core_26_halt_by_key_a) {
  s.set().on_failure = failure_policy::halt_key;
  hold(s);
  s.broker("A#1 ->87");
  s.produce("A(k1) B(k2) C(k1)");
  s.right("A=N, B=D");
  s.produce("D(k1) E(k2)");
  s.right("E=D, log=B E");
  s.run(3s);
  s.right("log=B E, C=open, D=open");
  const recovery_report report = s.recover_key("k1", recovery::resubmit);
  ASSERT_EQ(report.resubmitted.size(), 1U);
  s.right("C=D, D=D, log=B E A C D");
}
SCENARIO(fault_core, core_26_halt_by_key_b) {
  s.set().on_failure = failure_policy::halt_key;
  hold(s);
  produce_how keyless;
  keyless.key.reset();
  s.broker("A#1 ->87");
  s.produce("A", keyless);
  s.produce("B(k2) C(k1)");
  s.right("A=N, B=D, C=D, log=B C");
  EXPECT_EQ(s.status().state, partition_state::normal);
}

void ord_11(stage& s, const char* script, bool duplicates, const char* log) {
  hold(s);
  s.set().max_in_flight = 1;  // B is not under way with A
  s.set().request_timeout = 1s;
  s.set().delivery_timeout = 20s;
  produce_how how;
  how.options.delivery_timeout = 3s;
  s.broker(script);
  s.produce("A", how);
  s.produce("B");
  s.await("A");
  if (s.letter("A") == "D") return;  // its log was read
  s.rule();
  if (duplicates) s.copies_allowed();
  static_cast<void>(s.recover(recovery::resubmit, 0, {.allow_duplicates = duplicates}));
  s.right("B=D");
  s.right(log);
}
SCENARIO_TIMED(fault_ord, ord_11_recover_with_unknown_head_a) {
  ord_11(s, "A#1 +>cut, A#n ->19", false, "log=A B");
}
SCENARIO_TIMED(fault_ord, ord_11_recover_with_unknown_head_b) {
  ord_11(s, "A#1 ->cut, A#n ->19", false, "log=A B");
}
SCENARIO_TIMED(fault_ord, ord_11_recover_with_unknown_head_c) {
  ord_11(s, "A#1 +>cut, A#n ->19", true, "log=A B|A A B");
}

SCENARIO(fault_ord, ord_12_fail_following) {
  s.set().on_failure = failure_policy::fail_following;
  s.set().max_in_flight = 1;
  std::vector<std::string> order;
  const auto then = [&order](const char* name) {
    return [&order, name](const outcome&) { order.emplace_back(name); };
  };
  s.broker("A#1 ->87@5ms");
  s.produce("A", {.then = then("A")});
  s.produce("B", {.then = then("B")});
  s.produce("C", {.then = then("C")});
  s.right("A=N, B=N, C=N");
  s.produce("D", {.then = then("D")});
  s.right("D=D, log=D");
  EXPECT_EQ(order, (std::vector<std::string>{"A", "B", "C", "D"}));
}

struct asked {
  int times = 0;
  std::string failed;
  std::size_t behind = 0;
};

void with_handler(stage& s, asked& seen, failure_verdict verdict) {
  s.set().failure_handler = [&seen, verdict](const failure_view& view) {
    ++seen.times;
    view.for_each([&seen](const record& each) {
      seen.failed += each.value->substr(0, each.value->find('@'));
    });
    seen.behind = view.behind_count();
    return verdict;
  };
  s.broker("A#1 ->87");
}
SCENARIO(fault_ord, ord_13_handler_verdict_a) {
  asked seen;
  with_handler(s, seen, failure_verdict::retry);
  s.produce("A B C");
  s.right("A=D, B=D, C=D, log=A B C");
  EXPECT_EQ(seen.times, 1);
  EXPECT_EQ(seen.failed, "A");
  EXPECT_EQ(seen.behind, 2U);
}
SCENARIO(fault_ord, ord_13_handler_verdict_b) {
  asked seen;
  with_handler(s, seen, failure_verdict::skip);
  s.halts_are_its_own();
  s.produce("A B C");
  s.right("A=N, B=D, C=D, log=B C");
  EXPECT_EQ(seen.times, 1);
}
SCENARIO_TIMED(fault_ord, ord_13_handler_verdict_c) {
  asked seen;
  with_handler(s, seen, failure_verdict::halt_key);
  s.set().on_failure = failure_policy::halt_key;  // the order of the log is that of each key
  hold(s);
  s.produce("A(k1) B(k2) C(k1)");
  s.right("A=N, B=D");
  s.run(1s);
  s.right("log=B, C=open");
  static_cast<void>(s.recover_key("k1", recovery::resubmit));
  s.right("C=D, log=B A C");
}
SCENARIO(fault_ord, ord_13_handler_verdict_d) {
  int times = 0;
  s.set().failure_handler = [&times](const failure_view&) -> failure_verdict {
    ++times;
    throw std::runtime_error("from the handler");
  };
  s.broker("A#1 ->87");
  s.produce("A");
  s.right("A=N");
  s.produce("B");
  s.right("B=N");
  EXPECT_EQ(times, 1);
  EXPECT_EQ(s.code("B"), client_errc::halted) << "the configured policy applies";
}

class throwing_for_a final : public partitioner {
 public:
  [[nodiscard]] partition_id choose(
      const record& record, const partita::partition_view& partitions) const noexcept override {
    static_cast<void>(partitions);
    return record.value->starts_with("A") ? partition_id{-1} : partition_id{0};
  }
};
SCENARIO(fault_core, core_21_local_refusal_then_next_c) {
  static const throwing_for_a chooser;
  s.set().on_failure = failure_policy::halt_key;
  s.set().custom_partitioner = &chooser;
  produce_how chosen;
  chosen.assigned = false;
  s.produce("A(k1) B(k2)", chosen);
  s.right("A=N, B=D");
  EXPECT_EQ(s.code("A"), client_errc::partitioner_failed);
}

}  // namespace
}  // namespace partita::testing
