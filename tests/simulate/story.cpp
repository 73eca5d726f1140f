#include "tests/simulate/story.hpp"

#include "tests/simulate/subject.hpp"
#include "tests/simulate/tuple_witness.hpp"
#include "tests/simulate/weather.hpp"

#include <partita/testing/virtual_time.hpp>

#include <algorithm>
#include <chrono>
#include <memory>

namespace partita::simulate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t events_max = 2'000'000;  // a history has some thousands
constexpr std::uint64_t quiet_requests_max = 60;

testing::simulation_options world_of(const plan& history) {
  testing::simulation_options setup;
  setup.cluster.brokers = history.brokers;
  setup.cluster.seed = history.seed;
  setup.cluster.auto_create_topics = false;
  for (std::size_t i = 0; i < history.partitions.size(); ++i)
    setup.cluster.topics[subject::topic_name(static_cast<int>(i))].partitions =
        history.partitions[i];
  setup.cluster.producer_expiration_check = history.expiration_check;
  if (history.expiring_state) setup.cluster.producer_expiration = seconds(60);
  setup.links = history.links;
  return setup;
}

class story {
 public:
  story(const plan& history, coverage& seen, const diary& trace)
      : plan_(history), seen_(seen), trace_(trace), world_(world_of(history)) {
    for (std::size_t i = 0; i < history.producers.size(); ++i)
      subjects_.push_back(std::make_unique<subject>(world_, history, i, seen, trace));
    weather_ = std::make_unique<weather>(world_, history, subjects_, seen, trace);
    world_.cluster().follow(&witness_);
  }

  story_end run() {
    for (int step = 0; step < plan_.steps && !endless(); ++step) act();
    settle();
    arrive();
    end_producers();
    story_end result;
    const logs held = read();
    write_down(held);
    result.findings = judge(subjects_, held).verdict();
    for (finding& each : found_) result.findings.push_back(std::move(each));
    for (const std::string& each : witness_.reused())
      result.findings.push_back({12, "tuple-reused", each});
    result.trace_hash = world_.trace_hash();
    for (const finding& each : result.findings) note("anomaly " + each.anomaly + " " + each.text);
    seen_.events += world_.time().events_run();
    seen_.virtual_ms += static_cast<std::uint64_t>(
        std::chrono::duration_cast<milliseconds>(world_.time().now()).count());
    return result;
  }

 private:
  void note(const std::string& line) {
    if (trace_)
      trace_(std::to_string(std::chrono::duration_cast<milliseconds>(world_.time().now()).count()) +
             " ms  " + line);
  }
  [[nodiscard]] bool endless() { return world_.time().events_run() > events_max; }
  testing::simulation& world() { return world_; }
  testing::seeded_draws& draws() { return weather_->draws(); }

  subject::wish any_record() {
    subject::wish what;
    what.where = weather_->any_place();
    if (!draws().chance(0.15))
      what.key = static_cast<int>(draws().below(static_cast<std::uint64_t>(plan_.keys)));
    what.padding = draws().below(draws().chance(0.2) ? 600 : 60);
    if (has(plan_, fault_group::memory) && draws().chance(0.05)) {
      seen_.hit(fault_kind::large_record);
      what.padding = 3000 + draws().below(20'000);
    }
    if (has(plan_, fault_group::cancellation)) {
      what.cancellable = draws().chance(0.4);
      if (draws().chance(0.1)) what.deadline = milliseconds{1 + draws().below(9000)};
    }
    const bool old = has(plan_, fault_group::clocks) || has(plan_, fault_group::producers);
    if (old && draws().chance(0.3))
      what.age = milliseconds{draws().below(draws().chance(0.5) ? 180'000 : 200'000'000)};
    if (what.age) what.age = std::min(*what.age, oldest_record(plan_));
    return what;
  }

  void act() {
    subject& whose = *subjects_[draws().below(subjects_.size())];
    if (whose.alive()) produce_some(whose);
    if (draws().chance(0.22 * plan_.fury)) weather_->strike();
    if (whose.alive()) control(whose);
    const double pace = draws().unit();
    // Between two events, as another thread would.
    if (pace > 0.75 && pace < 0.95)
      for (std::uint64_t events = draws().below(25); events > 0; --events) world_.time().step();
    if (pace < 0.55) world_.time().run_for(milliseconds{draws().below(40)});
    if (pace > 0.95) world_.time().run_for(milliseconds{draws().below(6000)});
  }

  void produce_some(subject& whose) {
    if (draws().chance(0.06)) {
      std::vector<subject::wish> several;
      for (std::uint64_t i = 0; i < 2 + draws().below(3); ++i) several.push_back(any_record());
      return whose.produce_together(several);
    }
    for (std::uint64_t i = 0; i <= draws().below(3); ++i) whose.produce(any_record());
  }

  void control(subject& whose) {
    const place where = weather_->any_place();
    if (whose.seen_halted(where) && draws().chance(0.3)) recover(whose, where);
    if (draws().chance(0.015))
      whose.halt(where, static_cast<int>(draws().below(static_cast<std::uint64_t>(plan_.keys))) -
                            (draws().chance(0.5) ? plan_.keys : 0));
    if (draws().chance(0.03)) whose.flush(static_cast<int>(draws().below(3)), where);
    if (draws().chance(0.02)) whose.ask_status();
    if (draws().chance(0.01)) recover(whose, where);  // of what is not halted: a no-op
    if (has(plan_, fault_group::cancellation))
      for (std::uint64_t i = draws().below(3); i > 0; --i) whose.cancel_some(draws().next());
    if (has(plan_, fault_group::cancellation) && draws().chance(0.08)) {
      const bool abort = draws().chance(0.4);
      seen_.hit(abort ? fault_kind::aborted : fault_kind::paused_held);
      note("pause " + std::to_string(where.second) + (abort ? " abort" : ""));
      whose.pause(where, abort);
    }
    if (draws().chance(0.06)) whose.resume(where);
    if (has(plan_, fault_group::closing) && draws().chance(0.02)) close(whose);
  }

  void recover(subject& whose, place where) {
    const std::uint64_t kind = draws().below(4);
    const recovery how = kind == 0   ? recovery::discard
                         : kind == 1 ? recovery::take
                                     : recovery::resubmit;
    note("recover " + std::to_string(where.second) + " how " +
         std::to_string(static_cast<int>(how)));
    whose.recover(where, how, draws().chance(0.2));
  }

  void close(subject& whose) {
    const std::uint64_t kind = draws().below(4);
    if (kind == 0) {
      seen_.hit(fault_kind::destroyed);
      note("destroy");
      return whose.destroy();
    }
    const milliseconds deadline{kind == 1 ? 0 : draws().below(6000)};
    seen_.hit(whose.closing() ? fault_kind::closed_twice
              : kind == 1     ? fault_kind::closed_at_once
                              : fault_kind::closed_soon);
    note("close " + std::to_string(deadline.count()));
    whose.close(deadline);
  }

  template <class Visit>
  void for_each_place(Visit visit) {
    for (std::size_t topic = 0; topic < plan_.partitions.size(); ++topic)
      for (int index = 0; index < plan_.partitions[topic]; ++index)
        visit(place{static_cast<int>(topic), index});
  }
  template <class Visit>
  void for_each_living(Visit visit) {
    for (const auto& each : subjects_)
      if (each->alive() && !each->closing()) visit(*each);
  }

  /// Until every record is answered, at the last bound at the latest.
  void wait_for_answers(seconds limit) {
    world_.time().run_until(
        [this] {
          if (endless()) return true;
          for (const auto& each : subjects_)
            if (!each->everything_answered() || each->recoveries_open() > 0) return false;
          return true;
        },
        limit);
  }

  /// The faults end; what is paused goes on; what is halted is recovered.
  void settle() {
    note("heal");
    weather_->heal();
    for (const auto& each : subjects_) each->behave();
    for_each_living(
        [&](subject& each) { for_each_place([&](place where) { each.resume(where); }); });
    wait_for_answers(seconds(30));
    for_each_living([&](subject& each) {
      for_each_place([&](place where) {
        if (each.seen_halted(where)) recover(each, where);
      });
    });
    wait_for_answers(seconds(30));
    discard_all();
    if (weather_->former().empty()) return;
    // That a topic was made again is learnt of by those that send to it.
    for_each_living([&](subject& each) {
      for_each_place([&](place where) { each.produce({where, 0, 10}); });
    });
    wait_for_answers(seconds(30));
    discard_all();
  }

  /// A resubmitted record may have failed again, which only the report told.
  void discard_all() {
    for_each_living([&](subject& each) {
      for_each_place([&](place where) { each.recover(where, recovery::discard, false); });
    });
    world_.time().run_for(seconds(10));
  }

  /// I14: after the last fault everything flows, and then nothing stirs.
  void arrive() {
    for_each_living([&](subject& each) {
      for_each_place([&](place where) { each.produce({where, 0, 10, std::nullopt, true}); });
    });
    if (trace_) {
      world_.time().run_for(seconds(2));
      for_each_living([](subject& each) { each.ask_status(); });
      world_.time().run_for(milliseconds(10));
      for_each_living([this](subject& each) { write_down(each.last_status()); });
    }
    wait_for_answers(seconds(20));
    for_each_living([](subject& each) { each.ask_status(); });
    world_.time().run_for(seconds(1));  // what acks=0 handed over is still on its way
    const auto before = world_.cluster().counters();
    world_.time().run_for(seconds(20));
    const auto after = world_.cluster().counters();
    const std::uint64_t requests = after.requests - before.requests;
    if (endless() || after.produce_requests != before.produce_requests ||
        requests > quiet_requests_max * subjects_.size())
      found_.push_back({14, "busy-loop",
                        std::to_string(requests) + " requests, " +
                            std::to_string(after.produce_requests - before.produce_requests) +
                            " of them with records, where nothing was to be done"});
    for_each_living([&](subject& each) {
      if (each.last_status() && each.last_status()->contradictions != 0)
        found_.push_back({12, "tuple-reused",
                          "the live assertions stopped " +
                              std::to_string(each.last_status()->contradictions) +
                              " contradictions, and no broker lied"});
      if (each.last_status() && each.last_status()->buffered_bytes != 0 && !each.seen_any_halt())
        found_.push_back({9, "memory",
                          std::to_string(each.last_status()->buffered_bytes) +
                              " bytes are held for records that were answered"});
    });
  }

  void end_producers() {
    for (const auto& each : subjects_)
      if (each->alive() && draws().chance(0.5)) each->close(milliseconds{draws().below(500)});
    world_.time().run_for(seconds(8));  // also for what close() was given before
    // Nothing may call into a subject that is gone, and nothing of a producer that ended is sent.
    for (const auto& each : subjects_)
      if (each->closings().empty() || each->closings().back().done) each->destroy();
    world_.time().run_for(seconds(5));
  }

  logs read() {
    logs held = weather_->former();
    for_each_place([&](place where) { held[where].push_back(weather_->log_of(where)); });
    return held;
  }

  void write_down(const std::optional<producer_status>& status) {
    if (!status) return;
    for (const partition_status& each : status->partitions)
      note("status " + each.topic + "-" + std::to_string(each.partition.value) + " state " +
           std::to_string(static_cast<int>(each.state)) + " leader " +
           std::to_string(each.leader.value) + " epoch " + std::to_string(each.leader_epoch.value) +
           " buffered " + std::to_string(each.buffered_records) + " in flight " +
           std::to_string(each.batches_in_flight) + " in doubt " +
           std::to_string(each.batches_in_doubt) + " bumps " + std::to_string(each.epoch_bumps) +
           " last " + each.last_error.message());
    for (const broker_status& each : status->brokers)
      note("status broker " + std::to_string(each.id.value) + (each.connected ? " up" : " down") +
           " in flight " + std::to_string(each.requests_in_flight) + " " + each.last_error_text);
  }

  void write_down(const logs& held) {
    if (!trace_) return;
    for (const auto& [where, lives] : held)
      for (const auto& life : lives) {
        std::string line =
            "log " + std::to_string(where.first) + "/" + std::to_string(where.second);
        for (const testing::log_record& each : life) {
          const auto named = subject::named_by(each.value.value_or(""));
          line += " " + std::to_string(each.offset.value) + ":";
          line += named ? std::to_string(named->first) + "#" + std::to_string(named->second) : "?";
          line += "e" + std::to_string(each.producer_epoch.value);
        }
        note(line);
      }
  }

  const plan& plan_;
  coverage& seen_;
  const diary& trace_;
  testing::simulation world_;
  tuple_witness witness_{world_.time(), trace_};
  std::vector<std::unique_ptr<subject>> subjects_;
  std::unique_ptr<weather> weather_;
  std::vector<finding> found_;
};

}  // namespace

story_end run_story(const plan& history, coverage& seen, const diary& trace) {
  for (std::size_t i = 0; i < fault_groups; ++i)
    for (std::size_t k = 0; k < fault_groups; ++k)
      if (history.faults.test(i) && history.faults.test(k)) ++seen.pairs[i][k];
  story_end end = story(history, seen, trace).run();
  seen.take_cells();
  return end;
}

}  // namespace partita::simulate
