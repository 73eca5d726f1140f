#include "tests/simulate/weather.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

namespace partita::simulate {
namespace {

using std::chrono::milliseconds;
using testing::execution;
using testing::fault;
using testing::reply;

template <class Value, std::size_t Size>
Value pick(testing::seeded_draws& draws, const std::array<Value, Size>& values) {
  return values[draws.below(Size)];
}

// Raised before the append only; they pass by themselves or by another numbering.
constexpr std::array passing{
    broker_errc::corrupt_message,        broker_errc::not_enough_replicas,
    broker_errc::not_enough_replicas,    broker_errc::out_of_order_sequence_number,
    broker_errc::invalid_producer_epoch, broker_errc::unknown_producer_id,
    broker_errc::unknown_topic_id};
constexpr std::array final_refusals{broker_errc::message_too_large,
                                    broker_errc::invalid_topic_exception,
                                    broker_errc::record_list_too_large,
                                    broker_errc::topic_authorization_failed,
                                    broker_errc::cluster_authorization_failed,
                                    broker_errc::invalid_timestamp,
                                    broker_errc::unsupported_version,
                                    broker_errc::unsupported_for_message_format,
                                    broker_errc::unsupported_compression_type,
                                    broker_errc::invalid_record};
// Raised on either side of the append, or unknown to everybody.
constexpr std::array ambiguous{broker_errc::request_timed_out,
                               broker_errc::request_timed_out,
                               broker_errc::not_leader_or_follower,
                               broker_errc::kafka_storage_error,
                               broker_errc::unknown_server_error,
                               broker_errc::unknown_topic_or_partition,
                               broker_errc::throttling_quota_exceeded,
                               broker_errc::policy_violation,
                               broker_errc{9999}};

bool strikes_from_outside(fault_group group) {
  return group != fault_group::clocks && group != fault_group::memory &&
         group != fault_group::hooks && group != fault_group::cancellation &&
         group != fault_group::closing && group != fault_group::compaction;
}

std::string text_of(place where) {
  return "partition " + std::to_string(where.first) + "/" + std::to_string(where.second);
}

std::string text_of(int broker) { return " broker " + std::to_string(broker); }

}  // namespace

weather::weather(testing::simulation& world, const plan& history,
                 const std::vector<std::unique_ptr<subject>>& subjects, coverage& seen,
                 const diary& trace)
    : world_(world),
      plan_(history),
      subjects_(subjects),
      seen_(seen),
      trace_(trace),
      draws_(history.seed * 61 + 3),
      cleaner_draws_(history.seed * 67 + 5) {
  if (has(history, fault_group::compaction)) compact_now_and_then();
  for (std::size_t i = 0; i < fault_groups; ++i)
    if (const auto group = static_cast<fault_group>(i);
        history.faults.test(i) && strikes_from_outside(group))
      groups_.push_back(group);
}

void weather::struck(fault_kind kind, const std::string& where) {
  seen_.hit(kind);
  if (!trace_) return;
  const auto now = std::chrono::duration_cast<milliseconds>(world_.time().now());
  trace_(std::to_string(now.count()) + " ms  " + std::string(name(kind)) + " " + where);
}

place weather::any_place() {
  const auto topic = draws_.below(plan_.partitions.size());
  const auto count = static_cast<std::uint64_t>(plan_.partitions[topic]);
  return {static_cast<int>(topic), static_cast<int>(draws_.below(count))};
}

int weather::any_broker() {
  return 1 + static_cast<int>(draws_.below(static_cast<std::uint64_t>(plan_.brokers)));
}

milliseconds weather::between(std::uint64_t low, std::uint64_t high) {
  return milliseconds{low + draws_.below(high - low + 1)};
}

void weather::later(milliseconds wait, std::function<void()> action) {
  world_.time().after(wait, [this, action = std::move(action)] {
    if (!healed_) action();
  });
}

void weather::strike() {
  if (groups_.empty()) return;
  switch (groups_[draws_.below(groups_.size())]) {
    case fault_group::codes:
      return strike_codes();
    case fault_group::responses:
      return strike_responses();
    case fault_group::sockets:
      return strike_sockets();
    case fault_group::brokers:
      return strike_brokers();
    case fault_group::leaders:
      return strike_leaders();
    case fault_group::producers:
      return strike_producers();
    case fault_group::topics:
      return strike_topics();
    case fault_group::rights:
      return strike_rights();
    default:
      return strike_swizzle();
  }
}

void weather::inject(fault made, fault_kind kind) {
  const place where = any_place();
  made.topic = subject::topic_name(where.first);
  made.partition = where.second;
  made.skip_first = static_cast<int>(draws_.below(3));
  made.times = 1 + static_cast<int>(draws_.below(static_cast<std::uint64_t>(1 + 3 * plan_.fury)));
  struck(kind, text_of(where) + " after " + std::to_string(made.skip_first) + ", times " +
                   std::to_string(made.times) + ", code " +
                   std::to_string(static_cast<int>(made.code)));
  cluster().inject(made);
}

void weather::strike_codes() {
  fault made;
  made.reply = reply::error;
  switch (draws_.below(8)) {
    case 0:
    case 1:
      made.execution = execution::skip;
      made.code = pick(draws_, passing);
      return inject(made, fault_kind::refused);
    case 2:
      made.execution = execution::skip;
      made.code = pick(draws_, final_refusals);
      return inject(made, fault_kind::refused_for_good);
    case 3:
      made.code = draws_.chance(0.5) ? pick(draws_, passing) : pick(draws_, final_refusals);
      made.real_offset = true;
      return inject(made, fault_kind::stored_then_offset);
    case 4:
      made.execution = execution::skip;
      made.code = pick(draws_, ambiguous);
      return inject(made, fault_kind::skipped_then_doubt);
    default:
      made.code = draws_.chance(0.2) ? broker_errc::not_enough_replicas_after_append
                                     : pick(draws_, ambiguous);
      made.real_offset = draws_.chance(0.5);
      return inject(made, fault_kind::stored_then_doubt);
  }
}

void weather::strike_responses() {
  fault made;
  std::uint64_t kind = draws_.below(10);
  // What comes behind a late answer on its connection is executed late, as after a throttled one.
  if (plan_.prompt && (kind == 4 || kind == 5 || kind == 9)) kind = 1;
  switch (kind) {
    case 0:
      made.execution = execution::skip;
      made.reply = reply::close_before;
      return inject(made, fault_kind::lost_request);
    case 1:
      made.reply = draws_.chance(0.5) ? reply::close_before : reply::reset;
      return inject(made, fault_kind::lost_answer);
    case 2:
      made.reply = reply::close_after;
      return inject(made, fault_kind::closed_after);
    case 3:
      made.reply = reply::never;
      return inject(made, fault_kind::never_answered);
    case 4:
      made.answer_after = between(1, 5000);
      return inject(made, fault_kind::answered_late);
    case 5:
      made.execute_after = between(100, 8000);
      if (draws_.chance(0.5)) made.reply = reply::close_before;
      return inject(made, fault_kind::executed_late);
    case 6:
      made.reply = reply::wrong_correlation_id;
      return inject(made, fault_kind::wrong_id);
    case 7:
      made.reply = reply::truncated;
      return inject(made, fault_kind::truncated);
    case 8:
      made.reply = reply::garbage;
      return inject(made, fault_kind::garbage);
    default:
      made.throttle = between(50, 2000);
      return inject(made, fault_kind::throttled);
  }
}

void weather::cut(int broker, milliseconds length) {
  world_.cut_link(broker);
  later(length, [this, broker] { world_.heal_link(broker); });
}

void weather::strike_sockets() {
  const int broker = any_broker();
  switch (draws_.below(plan_.prompt ? 2 : 3)) {
    case 0:
      struck(fault_kind::connections_ended, text_of(broker));
      return cluster().drop_connections(broker, false);
    case 1:
      struck(fault_kind::connections_reset, text_of(broker));
      return cluster().drop_connections(broker, true);
    default:
      struck(fault_kind::link_cut, text_of(broker));
      return cut(broker, between(20, 4000));
  }
}

void weather::stop(int broker, testing::stop_kind how) {
  if (!stopped_.insert(broker).second) return;
  struck(how == testing::stop_kind::clean ? fault_kind::stopped : fault_kind::killed,
         text_of(broker));
  cluster().stop_broker(broker, how);
  later(between(50, 6000), [this, broker] {
    stopped_.erase(broker);
    cluster().start_broker(broker);
  });
}

void weather::strike_brokers() {
  const int broker = any_broker();
  switch (draws_.below(3)) {
    case 0:
      struck(fault_kind::paused, text_of(broker));
      cluster().pause_broker(broker);
      return later(between(50, 14'000), [this, broker] { cluster().resume_broker(broker); });
    case 1:
      return stop(broker, testing::stop_kind::clean);
    default:
      return stop(broker, testing::stop_kind::kill);
  }
}

void weather::strike_leaders() {
  const place where = any_place();
  const std::string topic = subject::topic_name(where.first);
  const int broker = any_broker();
  // What waits for its replicas holds up what comes behind it on its connection.
  switch (draws_.below(plan_.prompt ? 2 : 4)) {
    case 0:
    case 1:
      if (cluster().move_leader(topic, where.second, broker))
        struck(fault_kind::moved, text_of(where) + " to" + text_of(broker));
      return;
    case 2:
      struck(fault_kind::replication_held, text_of(where));
      cluster().hold_replication(topic, where.second, true);
      held_.insert(where);
      return later(between(50, 5000), [this, where, topic] {
        held_.erase(where);
        cluster().hold_replication(topic, where.second, false);
      });
    default:
      // What is appended until the move is lost; none of it can have been acknowledged.
      cluster().hold_replication(topic, where.second, true);
      held_.insert(where);
      return later(between(5, 2000), [this, where, topic, broker] {
        held_.erase(where);
        // A leader keeps its own log. Out of sync it would lack what was acknowledged: an unclean
        // election, which promises nothing.
        const auto view = cluster().view(topic, where.second);
        const bool in_sync = view && view->leader != broker_id{broker} &&
                             std::count(view->in_sync.begin(), view->in_sync.end(), broker) != 0;
        if (in_sync && cluster().move_leader(topic, where.second, broker, testing::tail::lost))
          struck(fault_kind::tail_lost, text_of(where) + " to" + text_of(broker));
        cluster().hold_replication(topic, where.second, false);
      });
  }
}

/// A broker of Kafka's forgets by record time, at a restart all but the last batch, and all of it
/// only where nothing is in doubt: anything else would be a broken log, which nobody can survive.
void weather::strike_producers() {
  if (draws_.chance(0.3)) return withhold_ids();
  // Where a frame may be held and executed later, forgetting is the one thing that must not happen.
  if (oldest_record(plan_) != milliseconds::max()) return;
  const place where = any_place();
  for (const auto& each : subjects_)
    if (!each->idle_at(where) || each->in_doubt_at(where)) return;
  struck(fault_kind::forgotten, text_of(where));
  const std::string topic = subject::topic_name(where.first);
  // It is not expiry, so it is a restart, and that ends connections.
  if (const auto view = cluster().view(topic, where.second); view && view->leader.known())
    cluster().drop_connections(view->leader, true);
  cluster().forget_producers(topic, where.second);
}

void weather::strike_swizzle() {
  if (draws_.chance(0.5)) {
    struck(fault_kind::clogged, "all links");
    for (int broker = 1; broker <= plan_.brokers; ++broker)
      later(between(0, 500), [this, broker] { cut(broker, between(500, 5000)); });
    return;
  }
  const int broker = any_broker();
  struck(fault_kind::flapped, text_of(broker));
  const std::uint64_t times = 5 + draws_.below(20);
  for (std::uint64_t i = 0; i < times; ++i)
    later(milliseconds{50 * i}, [this, broker] { cut(broker, milliseconds{25}); });
}

void weather::heal() {
  healed_ = true;
  make_again();
  allow_everything();
  cluster().clear_faults();
  world_.set_links({});
  for (int broker = 1; broker <= plan_.brokers; ++broker) {
    world_.heal_link(broker);
    cluster().resume_broker(broker);
    if (stopped_.contains(broker)) cluster().start_broker(broker);
  }
  for (const place& where : held_)
    cluster().hold_replication(subject::topic_name(where.first), where.second, false);
  for (std::size_t topic = 0; topic < plan_.partitions.size(); ++topic)
    cluster().alter_topic(subject::topic_name(static_cast<int>(topic)), "max.message.bytes",
                          std::nullopt);
}

}  // namespace partita::simulate
