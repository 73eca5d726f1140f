#include "api/cli/cluster_commands.hpp"

#include "api/cli/cluster_faults.hpp"
#include "api/cli/command_object.hpp"
#include "api/cli/unrepeated_json.hpp"

#include <functional>
#include <map>

namespace partita::cli {
namespace {

using json = nlohmann::json;
using testing::cluster;

std::string answer_error(const std::string& what) {
  return json{{"ok", false}, {"error", what}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

// What a command does once everything of its line was read, and what it answers beside "ok".
using action = std::function<json(cluster&)>;
using reader = action (*)(command_object&);

json done() { return json::object(); }

json kafka_said(broker_errc code) {
  if (code == broker_errc::none) return done();
  return {
      {"ok", false}, {"error", make_error_code(code).message()}, {"code", static_cast<int>(code)}};
}

struct place {
  std::string topic;
  partition_id partition;

  explicit place(command_object& from)
      : topic(from.text("topic")), partition(from.count<std::int32_t>("partition", 0)) {}
};

json refuse(const char* what) { return {{"ok", false}, {"error", what}}; }

// What acts on a partition does so only if there is one: a misspelt topic must not look like done.
template <class Change>
action change_partition(place at, Change change) {
  return [at = std::move(at), change](cluster& to) {
    if (!to.view(at.topic, at.partition)) return refuse("no such partition");
    change(to, at);
    return done();
  };
}

broker_id broker_of(command_object& from) { return from.count<std::int32_t>("broker"); }

template <class Change>
action change_broker(broker_id broker, Change change) {
  return [broker, change](cluster& to) {
    if (broker.value < 1 || broker.value > to.broker_count()) return refuse("no such broker");
    change(to, broker);
    return done();
  };
}

// One of the calls that take nothing but a broker.
template <auto Call>
action on_broker(command_object& from) {
  return change_broker(broker_of(from), [](cluster& to, broker_id broker) { (to.*Call)(broker); });
}

template <testing::stop_kind Kind>
action stop(command_object& from) {
  return change_broker(broker_of(from),
                       [](cluster& to, broker_id broker) { to.stop_broker(broker, Kind); });
}

action drop_connections(command_object& from) {
  const auto broker = broker_of(from);
  return change_broker(broker, [reset = from.flag("reset", false)](cluster& to, broker_id which) {
    to.drop_connections(which, reset);
  });
}

action create_topic(command_object& from) {
  testing::topic_options options;
  const auto name = from.text("topic");
  options.partitions = from.number_from<std::int32_t>(1, "partitions", 1);
  options.replication = from.number_from<std::int16_t>(-1, "replication", -1);
  const json settings = from.object("settings");
  for (const auto& [setting, value] : settings.items())
    options.settings[setting] = value.is_string() ? value.get<std::string>() : value.dump();
  return [name, options](cluster& to) { return kafka_said(to.create_topic(name, options)); };
}

action delete_topic(command_object& from) {
  return [name = from.text("topic")](cluster& to) { return kafka_said(to.delete_topic(name)); };
}

action alter_topic(command_object& from) {
  const auto name = from.text("topic");
  const auto setting = from.text("setting");
  std::optional<std::string> value;
  if (from.has("value")) value = from.text("value");
  return [=](cluster& to) { return kafka_said(to.alter_topic(name, setting, value)); };
}

action add_partitions(command_object& from) {
  return [name = from.text("topic"), total = from.number_from<std::int32_t>(1, "total")](
             cluster& to) { return kafka_said(to.add_partitions(name, total)); };
}

action delete_records(command_object& from) {
  return [at = place{from}, before = from.number_from<std::int64_t>(-1, "before")](cluster& to) {
    return kafka_said(to.delete_records(at.topic, at.partition, before));
  };
}

action compact(command_object& from) {
  return [at = place{from}, before = from.optional_id<offset>("before")](cluster& to) -> json {
    if (!to.view(at.topic, at.partition)) return refuse("no such partition");
    return {{"removed", to.compact(at.topic, at.partition, before).size()}};
  };
}

action move_leader(command_object& from) {
  constexpr std::pair<std::string_view, testing::tail> tails[] = {
      {"kept", testing::tail::kept}, {"lost", testing::tail::lost}, {"own", testing::tail::own}};
  return
      [at = place{from}, broker = broker_of(from), tail = from.choice("tail", tails)](cluster& to) {
        if (to.move_leader(at.topic, at.partition, broker, tail)) return done();
        return refuse("that broker can not lead this partition");
      };
}

action hold_replication(command_object& from) {
  const place at{from};
  return change_partition(at, [held = from.flag("held", true)](cluster& to, const place& which) {
    to.hold_replication(which.topic, which.partition, held);
  });
}

action limit_in_sync(command_object& from) {
  const place at{from};
  return change_partition(
      at, [count = from.number_from<int>(1, "count")](cluster& to, const place& which) {
        to.limit_in_sync(which.topic, which.partition, count);
      });
}

action forget_producers(command_object& from) {
  return change_partition(place{from}, [](cluster& to, const place& at) {
    to.forget_producers(at.topic, at.partition);
  });
}

action seed_producer(command_object& from) {
  const place at{from};
  testing::producer_view seed;
  seed.producer_id = from.count<std::int64_t>("producer_id");
  seed.producer_epoch = from.count<std::int16_t>("epoch", 0);
  seed.last_sequence = from.count<std::int32_t>("last_sequence");
  seed.last_timestamp_ms = from.number_from<std::int64_t>(-1, "last_timestamp_ms", -1);
  return change_partition(at, [seed](cluster& to, const place& which) {
    to.seed_producer(which.topic, which.partition, seed);
  });
}

action roll_back(command_object& from) {
  const place at{from};
  return change_partition(at,
                          [end = from.count<std::int64_t>("end")](cluster& to, const place& which) {
                            to.roll_back(which.topic, which.partition, end);
                          });
}

template <auto Read>
action inject(command_object& from) {
  return [wanted = Read(from)](cluster& to) {
    to.inject(wanted);
    return done();
  };
}

action clear_faults(command_object&) {
  return [](cluster& to) {
    to.clear_faults();
    return done();
  };
}

action release_held(command_object& from) {
  if (!from.has("topic"))
    return [](cluster& to) {
      to.release_held();
      return done();
    };
  return change_partition(
      place{from}, [](cluster& to, const place& at) { to.release_held(at.topic, at.partition); });
}

template <auto Call>
action change_right(command_object& from) {
  return [what = read_right(from), topic = from.text("topic", "")](cluster& to) {
    (to.*Call)(what, topic);
    return done();
  };
}

action answer_next_id(command_object& from) {
  return [id = from.count<std::int64_t>("producer_id"),
          epoch = from.count<std::int16_t>("epoch", 0)](cluster& to) {
    to.answer_next_id(id, epoch);
    return done();
  };
}

action offer(command_object& from) {
  if (!from.has("api")) from.refuse("api: missing");
  return [which = read_api(from, testing::api::any), first = from.count<std::int16_t>("first"),
          last = from.count<std::int16_t>("last")](cluster& to) {
    to.offer(which, first, last);
    return done();
  };
}

action show_partition(command_object& from) {
  return [at = place{from}](cluster& to) {
    const auto found = to.view(at.topic, at.partition);
    if (!found) return refuse("no such partition");
    return json{
        {"leader", found->leader.value},       {"leader_epoch", found->leader_epoch.value},
        {"replicas", found->replicas},         {"in_sync", found->in_sync},
        {"log_start", found->log_start.value}, {"high_watermark", found->high_watermark.value},
        {"log_end", found->log_end.value}};
  };
}

action show_counters(command_object&) {
  return [](cluster& to) {
    const auto seen = to.counters();
    return json{{"connections", seen.connections},
                {"requests", seen.requests},
                {"produce_requests", seen.produce_requests},
                {"batches_appended", seen.batches_appended},
                {"batches_deduplicated", seen.batches_deduplicated},
                {"batches_refused", seen.batches_refused},
                {"faults_hit", seen.faults_hit},
                {"held", to.held()}};
  };
}

const std::map<std::string_view, reader>& readers() {
  using testing::stop_kind;
  static const std::map<std::string_view, reader> known = {
      {"pause", on_broker<&cluster::pause_broker>},
      {"cont", on_broker<&cluster::resume_broker>},
      {"resume", on_broker<&cluster::resume_broker>},
      {"term", stop<stop_kind::clean>},
      {"stop", stop<stop_kind::clean>},
      {"kill", stop<stop_kind::kill>},
      {"restart", on_broker<&cluster::start_broker>},
      {"start", on_broker<&cluster::start_broker>},
      {"isolate", on_broker<&cluster::isolate_broker>},
      {"rejoin", on_broker<&cluster::rejoin_broker>},
      {"drop_connections", drop_connections},
      {"create_topic", create_topic},
      {"delete_topic", delete_topic},
      {"alter_topic", alter_topic},
      {"add_partitions", add_partitions},
      {"delete_records", delete_records},
      {"compact", compact},
      {"move_leader", move_leader},
      {"hold_replication", hold_replication},
      {"limit_in_sync", limit_in_sync},
      {"forget_producers", forget_producers},
      {"seed_producer", seed_producer},
      {"roll_back", roll_back},
      {"fault", inject<read_fault>},
      {"fault_mix", inject<read_fault_mix>},
      {"api_fault", inject<read_api_fault>},
      {"metadata_lie", inject<read_metadata_lie>},
      {"clear_faults", clear_faults},
      {"release_held", release_held},
      {"deny", change_right<&cluster::deny>},
      {"allow", change_right<&cluster::allow>},
      {"answer_next_id", answer_next_id},
      {"offer", offer},
      {"partition", show_partition},
      {"counters", show_counters},
  };
  return known;
}

}  // namespace

std::string run_cluster_command(cluster& to, std::string_view line) {
  json parsed;
  if (const auto wrong = parse_unrepeated(line, parsed); !wrong.empty()) return answer_error(wrong);
  if (!parsed.is_object()) return answer_error("not a JSON object");
  command_object from{std::move(parsed)};
  const auto what = from.text("do");
  if (!from.error().empty()) return answer_error(from.error());
  const auto found = readers().find(what);
  if (found == readers().end()) return answer_error("do: \"" + what + "\" is no command");
  const auto run = found->second(from);
  from.finish();
  if (!from.error().empty()) return answer_error(from.error());
  auto answer = run(to);
  if (!answer.contains("ok")) answer["ok"] = true;
  return answer.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace partita::cli
