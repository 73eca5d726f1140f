// The rows of config_keys.hpp that set something.
#include "api/config_keys.hpp"

#include "api/config_binding.hpp"

#include <algorithm>
#include <iterator>

namespace partita {
namespace {

using config = producer_config;

constexpr std::int64_t int_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t day_ms = 86'400'000;

constexpr spelling<acks> acks_words[] = {
    {"all", acks::all}, {"-1", acks::all}, {"0", acks::none}, {"1", acks::leader}};
constexpr spelling<compression> compression_words[] = {{"none", compression::none},
                                                       {"gzip", compression::gzip},
                                                       {"snappy", compression::snappy},
                                                       {"lz4", compression::lz4},
                                                       {"zstd", compression::zstd}};
constexpr spelling<address_family> family_words[] = {
    {"any", address_family::any}, {"v4", address_family::v4}, {"v6", address_family::v6}};
constexpr spelling<dns_lookup> lookup_words[] = {
    {"use_all_dns_ips", dns_lookup::use_all_dns_ips},
    {"resolve_canonical_bootstrap_servers_only",
     dns_lookup::resolve_canonical_bootstrap_servers_only}};
constexpr spelling<metadata_recovery> recovery_words[] = {
    {"rebootstrap", metadata_recovery::rebootstrap}, {"none", metadata_recovery::none}};
constexpr spelling<partition_growth> growth_words[] = {
    {"keep", partition_growth::keep}, {"drain_first", partition_growth::drain_first}};
constexpr spelling<failure_policy> policy_words[] = {
    {"halt_key", failure_policy::halt_key},
    {"halt_partition", failure_policy::halt_partition},
    {"skip", failure_policy::skip},
    {"fail_following", failure_policy::fail_following}};
constexpr spelling<while_halted> while_halted_words[] = {{"refuse", while_halted::refuse},
                                                         {"hold", while_halted::hold}};
constexpr spelling<partitioner_kind> partitioner_words[] = {
    {"murmur2_random", partitioner_kind::murmur2_random},
    {"murmur2", partitioner_kind::murmur2},
    {"consistent_random", partitioner_kind::consistent_random},
    {"consistent", partitioner_kind::consistent},
    {"fnv1a_random", partitioner_kind::fnv1a_random},
    {"fnv1a", partitioner_kind::fnv1a},
    {"random", partitioner_kind::random},
    {"round_robin", partitioner_kind::round_robin},
    {"sticky", partitioner_kind::sticky},
    {"manual", partitioner_kind::manual}};
constexpr spelling<partitioner_kind> partitioner_classes[] = {
    {"org.apache.kafka.clients.producer.internals.DefaultPartitioner",
     partitioner_kind::murmur2_random},
    {"org.apache.kafka.clients.producer.RoundRobinPartitioner", partitioner_kind::round_robin},
    {"org.apache.kafka.clients.producer.UniformStickyPartitioner", partitioner_kind::sticky},
    {"", partitioner_kind::murmur2_random},
    {"null", partitioner_kind::murmur2_random}};

/// librdkafka's words, each a component that logs in detail.
struct debug_key {
  static constexpr std::string_view words[] = {
      "generic",  "broker", "topic",    "metadata", "feature",     "queue",     "msg",
      "protocol", "cgrp",   "security", "fetch",    "interceptor", "plugin",    "consumer",
      "admin",    "eos",    "mock",     "assignor", "conf",        "telemetry", "all"};

  static bool good(std::string_view text) {
    if (trimmed(text).empty()) return true;
    for (const std::string_view part : split(text, ',')) {
      bool known = false;
      for (const std::string_view word : words) known = known || equal_ignoring_case(part, word);
      if (!known) return false;
    }
    return true;
  }
  static parse_result parse(config& config, std::string_view text) {
    if (!good(text)) return parse_result::malformed;
    config.debug = std::string(trimmed(text));
    return parse_result::ok;
  }
  static std::string print(const config& config) { return config.debug; }
  static bool in_bounds(const config& config) { return good(config.debug); }
  static std::string bounds() {
    std::string list;
    for (const std::string_view word : words)
      list += (list.empty() ? "" : ", ") + std::string(word);
    return list;
  }
};

/// Policies by topic, "name:policy" separated by commas. Names can't hold either character.
struct topic_policies_key {
  static parse_result parse(producer_config& config, std::string_view text) {
    topic_configs topics;
    for (const std::string_view part : split(text, ',')) {
      const std::string_view each = trimmed(part);
      if (each.empty()) continue;
      const std::size_t colon = each.find(':');
      const std::string_view name = trimmed(each.substr(0, colon));
      if (colon == std::string_view::npos || name.empty()) return parse_result::malformed;
      const auto* found =
          std::find_if(std::begin(policy_words), std::end(policy_words), [&](const auto& word) {
            return equal_ignoring_case(word.name, trimmed(each.substr(colon + 1)));
          });
      if (found == std::end(policy_words)) return parse_result::malformed;
      topics[name].on_failure = found->value;
    }
    config.topics = std::move(topics);
    return parse_result::ok;
  }
  static std::string print(const producer_config& config) {
    std::string list;
    for (const auto& [name, topic] : config.topics)
      for (const auto& word : policy_words)
        if (topic.on_failure == word.value)
          list += (list.empty() ? "" : ", ") + name + ":" + std::string(word.name);
    return list;
  }
  static bool in_bounds(const producer_config& config) {
    return std::all_of(config.topics.begin(), config.topics.end(), [](const auto& each) {
      const auto policy = each.second.on_failure;
      const auto is_it = [&](const auto& word) { return word.value == policy; };
      return !each.first.empty() && each.first.find_first_of(":,") == std::string::npos &&
             (!policy || std::any_of(std::begin(policy_words), std::end(policy_words), is_it));
    });
  }
  static std::string bounds() {
    return "topic:policy, topic:policy, ... with the policies of on.failure";
  }
};

template <class Binding>
constexpr config_key known(std::string_view name, std::string_view member, std::string_view note) {
  return {.name = name,
          .mark = key_mark::known,
          .member = member,
          .binding = bind<Binding>(),
          .note = note};
}

/// Known, but with one value only in this version, so no member holds it.
constexpr config_key fixed(std::string_view name, std::string_view accepted,
                           std::string_view note) {
  return {.name = name,
          .mark = key_mark::known,
          .note = note,
          .accepted = accepted,
          .accepts_some = true};
}

constexpr config_key alias(std::string_view name, std::string_view of) {
  return {.name = name, .mark = key_mark::alias, .of = of};
}

template <class Binding>
constexpr config_key alias_as(std::string_view name, std::string_view of, std::string_view note) {
  return {
      .name = name, .mark = key_mark::alias, .of = of, .binding = bind<Binding>(), .note = note};
}

constexpr config_key prevailing(config_key row) {
  row.prevails = true;
  return row;
}

constexpr config_key own_rows[] = {
    // Where to connect
    known<servers_key>("bootstrap.servers", "bootstrap_servers",
                       "brokers to start from; required; the port is 9092 where none is given; "
                       "empty entries and repeated ones are passed over"),
    known<string_key<&config::client_id, 32'767>>(
        "client.id", "client_id", "name told to brokers, for their logs, metrics and quotas"),
    known<string_key<&config::client_rack, 32'767>>(
        "client.rack", "client_rack", "no effect: no request of a producer carries it"),
    known<word_key<&config::broker_address_family, family_words>>(
        "broker.address.family", "broker_address_family", "addresses to connect to"),
    known<word_key<&config::client_dns_lookup, lookup_words>>(
        "client.dns.lookup", "client_dns_lookup",
        "all addresses of a name are tried (KIP-602); the other value is accepted and does the "
        "same"),
    fixed("security.protocol", "PLAINTEXT", "TLS and SASL are not available in this version"),

    // What is promised
    known<word_key<&config::acks, acks_words>>(
        "acks", "acks",
        "who must have a record before it counts as delivered; 0 is never answered"),
    known<bool_key<&config::enable_idempotence>>(
        "enable.idempotence", "enable_idempotence",
        "no duplicates and no reordering by retries; never switched off silently"),
    known<word_key<&config::on_failure, policy_words>>(
        "on.failure", "on_failure", "what a failed record does to those behind it"),
    known<number_key<&config::max_in_flight, 1, 1'000'000>>(
        "max.in.flight.requests.per.connection", "max_in_flight",
        "batches of one partition on their way; brokers remember five, so 5 is the limit with "
        "idempotence; without it one is sent at a time"),
    known<number_key<&config::retries, 0, int_max>>(
        "retries", "retries", "attempts after the first, within delivery.timeout.ms"),
    known<number_key<&config::state_horizon, 1, int_max>>(
        "partita.state.horizon.ms", "state_horizon",
        "records with an older timestamp are sent one batch at a time; at most the brokers' "
        "producer.id.expiration.ms"),
    known<bool_key<&config::new_producer_id_instead_of_bump>>(
        "partita.new.producer.id.instead.of.bump", "new_producer_id_instead_of_bump",
        "a partition that gives up a batch takes a new producer id instead of the next epoch"),
    known<word_key<&config::while_halted, while_halted_words>>(
        "while.halted", "while_halted",
        "new records of what is halted: refused at once, or held in order until recover()"),
    known<topic_policies_key>("on.failure.topics", "topics",
                              "on.failure of single topics: orders:halt_partition, audit:skip"),
    known<number_key<&config::ticket_retention, 1, int_max>>(
        "partita.ticket.retention.ms", "ticket_retention",
        "how long a record of unknown fate can be settled"),
    known<number_key<&config::ticket_records_max, 1, int_max>>(
        "partita.ticket.records.max", "ticket_records_max",
        "records of unknown fate that a partition keeps for that; the oldest go first"),

    // Which partition
    known<word_key<&config::partitioner, partitioner_words>>(
        "partitioner", "partitioner",
        "how a record without a partition gets one; librdkafka's names, murmur2_random is Java's"),
    known<bool_key<&config::partitioner_ignore_keys>>("partitioner.ignore.keys",
                                                      "partitioner_ignore_keys",
                                                      "treat every record as one without a key"),
    known<bool_key<&config::partitioner_adaptive>>(
        "partitioner.adaptive.partitioning.enable", "partitioner_adaptive",
        "records without a key prefer partitions with short queues (KIP-794)"),
    known<number_key<&config::partitioner_availability_timeout, 0, int_max>>(
        "partitioner.availability.timeout.ms", "partitioner_availability_timeout",
        "records without a key avoid partitions whose broker answered nothing for longer; 0: "
        "never"),
    known<number_key<&config::partitioner_sticky_bytes, 1, int_max>>(
        "partita.sticky.bytes", "partitioner_sticky_bytes",
        "bytes of records without a key that go to one partition before the next is chosen"),
    known<word_key<&config::growth, growth_words>>(
        "partita.partition.growth", "growth",
        "a key that moves because its topic has more partitions goes on there at once, or waits "
        "until its old partition has answered"),

    // How fast
    known<fraction_key<&config::linger, 0, 900'000>>(
        "linger.ms", "linger",
        "how long a batch waits for more records; ended by flush, a full buffer, the end of a "
        "neighbour's wait, and for a lone record by one in vain before it"),
    known<number_key<&config::batch_size_bytes, 1, int_max>>(
        "batch.size", "batch_size_bytes",
        "limit of a batch before compression; 1: every record alone"),
    known<number_key<&config::batch_records_max, 1, 1'000'000>>(
        "batch.num.messages", "batch_records_max", "limit of a batch in records"),
    known<word_key<&config::compression, compression_words>>(
        "compression.type", "compression", "codec of batches; zstd at level 1 is a good choice"),
    known<level_key<&config::compression_level, -131'072, 22, -1>>(
        "compression.level", "compression_level",
        "for whichever codec is in use: gzip 1 to 9, lz4 0 to 17, zstd -131072 to 22"),
    known<level_key<&config::compression_gzip_level, 1, 9, -1>>(
        "compression.gzip.level", "compression_gzip_level", "wins over compression.level"),
    known<level_key<&config::compression_lz4_level, 1, 17, std::numeric_limits<int>::min()>>(
        "compression.lz4.level", "compression_lz4_level", "wins over compression.level"),
    known<
        level_key<&config::compression_zstd_level, -131'072, 22, std::numeric_limits<int>::min()>>(
        "compression.zstd.level", "compression_zstd_level", "wins over compression.level"),
    known<number_key<&config::max_request_size_bytes, 1'000, 1'000'000'000>>(
        "max.request.size", "max_request_size_bytes", "limit of a request, and so of a record"),

    // How much memory
    known<number_key<&config::buffer_memory_bytes, 1'024, std::int64_t{1} << 40>>(
        "buffer.memory", "buffer_memory_bytes",
        "bytes of all records that are not yet answered, their bookkeeping included"),
    known<number_key<&config::buffer_records_max, 0, int_max>>(
        "queue.buffering.max.messages", "buffer_records_max",
        "no effect: buffer.memory is the limit"),
    known<number_key<&config::partition_memory_bytes, 0, std::int64_t{1} << 40>>(
        "partita.partition.memory", "partition_memory_bytes",
        "bytes of buffer.memory that the records of one partition may take; 0: all of it"),

    // How long to wait
    known<number_key<&config::delivery_timeout, 1, int_max>>(
        "delivery.timeout.ms", "delivery_timeout",
        "from admission to the answer, whatever happens; 0 (no limit) is not available, because "
        "every record is answered"),
    known<number_key<&config::request_timeout, 1, int_max>>("request.timeout.ms", "request_timeout",
                                                            "for one request, on both sides"),
    known<number_key<&config::max_block, 0, int_max>>(
        "max.block.ms", "max_block", "for room in the buffer, and for a topic to become known"),
    known<number_key<&config::retry_backoff, 1, int_max>>(
        "retry.backoff.ms", "retry_backoff", "before the first retry; doubles, with 20 % jitter"),
    known<number_key<&config::retry_backoff_max, 1, int_max>>(
        "retry.backoff.max.ms", "retry_backoff_max", "limit of the above, also if that is larger"),
    known<number_key<&config::reconnect_backoff, 1, int_max>>(
        "reconnect.backoff.ms", "reconnect_backoff",
        "before connecting to a broker again; doubles"),
    known<number_key<&config::reconnect_backoff_max, 1, int_max>>(
        "reconnect.backoff.max.ms", "reconnect_backoff_max",
        "limit of the above, also if that is larger"),
    known<number_key<&config::connection_setup_timeout, 1, int_max>>(
        "socket.connection.setup.timeout.ms", "connection_setup_timeout",
        "for a connection until it can be used; doubles with each failure (KIP-601). A fifth of "
        "it, but "
        "not below a second, while metadata can be asked for elsewhere"),
    known<number_key<&config::connection_setup_timeout_max, 1, int_max>>(
        "socket.connection.setup.timeout.max.ms", "connection_setup_timeout_max",
        "limit of the above"),
    known<number_key<&config::connections_max_idle, 0, int_max>>(
        "connections.max.idle.ms", "connections_max_idle",
        "an idle connection is closed; 0: never"),

    // What is known of the cluster
    known<number_key<&config::metadata_max_age, 1, int_max>>(
        "metadata.max.age.ms", "metadata_max_age", "metadata is asked for again at this age"),
    known<number_key<&config::metadata_max_idle, 5'000, int_max>>(
        "metadata.max.idle.ms", "metadata_max_idle",
        "a topic not produced to is not asked about; its numbering is kept"),
    known<number_key<&config::topic_metadata_propagation_max, 0, 3'600'000>>(
        "topic.metadata.propagation.max.ms", "topic_metadata_propagation_max",
        "how long records wait for a topic that brokers say they do not know, within max.block.ms"),
    known<word_key<&config::metadata_recovery, recovery_words>>(
        "metadata.recovery.strategy", "metadata_recovery",
        "start again from bootstrap.servers when no known broker answers, or a broker asks for it "
        "(KIP-899, KIP-1102)"),
    known<number_key<&config::metadata_rebootstrap_trigger, 0, int_max>>(
        "metadata.recovery.rebootstrap.trigger.ms", "metadata_rebootstrap_trigger",
        "time without metadata before that happens (KIP-1102)"),
    known<bool_key<&config::allow_auto_create_topics>>(
        "allow.auto.create.topics", "allow_auto_create_topics",
        "let brokers create topics that do not exist, if they are set up to"),

    // How it runs
    known<number_key<&config::lanes, 1, 256>>("partita.lanes", "lanes", "threads of the producer"),
    known<bool_key<&config::socket_keepalive>>("socket.keepalive.enable", "socket_keepalive",
                                               "TCP keep-alive"),
    known<bool_key<&config::socket_nagle_disable>>("socket.nagle.disable", "socket_nagle_disable",
                                                   "send small requests at once (TCP_NODELAY)"),
    known<number_key<&config::socket_send_buffer_bytes, 0, 100'000'000>>(
        "socket.send.buffer.bytes", "socket_send_buffer_bytes", "0: the system's default"),
    known<number_key<&config::socket_receive_buffer_bytes, 0, 100'000'000>>(
        "socket.receive.buffer.bytes", "socket_receive_buffer_bytes", "0: the system's default"),
    known<number_key<&config::statistics_interval, 0, day_ms>>(
        "statistics.interval.ms", "statistics_interval",
        "no effect: there are no statistics at an interval, status() answers at any time"),
    known<debug_key>("debug", "debug", "any of them raises log_level to 7"),
    known<number_key<&config::log_level, 0, 7>>("log_level", "log_level",
                                                "syslog's levels; 6 is information, 7 is debug"),

    // Other names
    alias("partita.failure.policy", "on.failure"),
    alias("metadata.broker.list", "bootstrap.servers"),
    alias("request.required.acks", "acks"),
    alias("max.in.flight", "max.in.flight.requests.per.connection"),
    alias("message.send.max.retries", "retries"),
    alias("message.timeout.ms", "delivery.timeout.ms"),
    alias("queue.buffering.max.ms", "linger.ms"),
    alias_as<number_key<&config::buffer_memory_bytes, 1, std::int64_t{1} << 30, 1'024>>(
        "queue.buffering.max.kbytes", "buffer.memory", "in KiB"),
    alias("message.max.bytes", "max.request.size"),
    alias("compression.codec", "compression.type"),
    prevailing(alias_as<number_key<&config::metadata_max_age, 1, int_max>>(
        "topic.metadata.refresh.interval.ms", "metadata.max.age.ms",
        "wins where one file has both, since metadata.max.age.ms is another thing in librdkafka")),
    alias_as<java_buffer_key<&config::socket_send_buffer_bytes, 100'000'000>>(
        "send.buffer.bytes", "socket.send.buffer.bytes", "-1: the system's default"),
    alias_as<java_buffer_key<&config::socket_receive_buffer_bytes, 100'000'000>>(
        "receive.buffer.bytes", "socket.receive.buffer.bytes", "-1: the system's default"),
    {.name = "partitioner.class",
     .mark = key_mark::mapped,
     .of = "partitioner",
     .binding = bind<word_key<&config::partitioner, partitioner_classes>>(),
     .note =
         "the classes that come with Kafka have a counterpart; a class of the application's own "
         "becomes producer_config::custom_partitioner"},
};

}  // namespace

std::span<const config_key> own_keys() noexcept { return own_rows; }

}  // namespace partita
