// The rows of config_keys.hpp that set nothing: keys of other clients, and of features to come.
#include "api/config_keys.hpp"

namespace partita {
namespace {

constexpr std::string_view no_security = "TLS and SASL are not available in this version";
constexpr std::string_view typed =
    "callbacks and pointers are typed in C++: see <partita/config.hpp>";
constexpr std::string_view observed =
    "not for a key: in C++ there are producer_config::log, events() and status()";
constexpr std::string_view java_only = "Java only: a class of a Java program";
constexpr std::string_view consumer_only = "consumers only: partita produces";
constexpr std::string_view obsolete = "obsolete in librdkafka too: remove it";

constexpr config_key mapped(std::string_view name, std::string_view note) {
  return {.name = name, .mark = key_mark::mapped, .note = note};
}
constexpr config_key ignored(std::string_view name, std::string_view note) {
  return {.name = name, .mark = key_mark::ignored, .note = note};
}
constexpr config_key refused(std::string_view name, std::string_view note) {
  return {.name = name, .mark = key_mark::refused, .note = note};
}
/// Refused but for values that ask for nothing.
constexpr config_key only(std::string_view name, std::string_view accepted, std::string_view note) {
  return {.name = name,
          .mark = key_mark::refused,
          .note = note,
          .accepted = accepted,
          .accepts_some = true};
}
constexpr config_key security(std::string_view name) {
  return {.name = name, .mark = key_mark::refused, .note = no_security, .secret = true};
}

constexpr config_key foreign_rows[] = {
    // Producing
    only("enable.gapless.guarantee", "false",
         "use on.failure=halt_partition, which halts one partition and can be "
         "recovered"),
    mapped("socket.timeout.ms", "request.timeout.ms bounds a request on both sides"),
    mapped("queue.buffering.backpressure.threshold",
           "batches grow by themselves while five are on their way"),
    mapped("sticky.partitioning.linger.ms", "stickiness goes by bytes: partita.sticky.bytes"),
    mapped("delivery.report.only.error", "every record is answered; ignore what need not be known"),
    mapped("message.copy.max.bytes", "payloads are copied once, or taken over"),
    only("partitioner.rack.aware", "false", "the choice by rack is not available in this version"),
    only("transactional.id", "", "transactions are not available in this version"),
    mapped("transaction.timeout.ms", "transactions are not available in this version"),
    only("transaction.two.phase.commit.enable", "false",
         "transactions are not available in this version"),
    refused("queuing.strategy", obsolete),
    refused("msg_order_cmp", obsolete),
    refused("produce.offset.report", "obsolete: every delivered record has its offset"),
    refused("dr_cb", "a record's outcome is the result of produce(), not a callback of the client"),
    refused("dr_msg_cb",
            "a record's outcome is the result of produce(), not a callback of the client"),
    refused("partitioner_cb", "use producer_config::custom_partitioner"),
    refused("opaque", typed),
    refused("default_topic_conf", typed),
    ignored("key.serializer", "Java only: records are bytes"),
    ignored("value.serializer", "Java only: records are bytes"),
    ignored("interceptor.classes", java_only),
    ignored("metric.reporters", java_only),
    ignored("metrics.*", "Java only: metrics are a typed snapshot"),
    ignored("auto.include.jmx.reporter", java_only),
    ignored("buffer.memory.allocation.strategy", "Java only: memory is taken as it is used"),
    only("config.providers", "",
         "only ${env:NAME} and ${file:path} are expanded, in files you name"),

    // Connections and metadata
    mapped("topic.metadata.refresh.fast.interval.ms",
           "metadata is asked for with retry.backoff.ms"),
    mapped("topic.metadata.refresh.sparse", "only topics in use are ever asked for"),
    mapped("topic.blacklist", "only topics in use are ever asked for"),
    refused("topic.metadata.refresh.fast.cnt", obsolete),
    mapped("metadata.cluster.check.enable",
           "the check (KIP-1242) is not available in this version"),
    mapped("bootstrap.resolve.timeout.ms", "names are resolved as often as max.block.ms allows"),
    mapped("broker.address.ttl", "names are resolved for each new connection"),
    mapped("socket.max.fails", "a request that times out closes its connection"),
    mapped("receive.message.max.bytes", "answers have a limit of their own for each API"),
    mapped("api.version.request.timeout.ms", "part of socket.connection.setup.timeout.ms"),
    refused("api.version.request", "obsolete: versions are always negotiated"),
    refused("api.version.fallback.ms", "obsolete: versions are always negotiated"),
    refused("broker.version.fallback", "obsolete: versions are always negotiated"),
    refused("reconnect.backoff.jitter.ms", "obsolete: use reconnect.backoff.ms and .max.ms"),
    refused("socket.blocking.max.ms", obsolete),
    refused("socket_cb", typed),
    refused("connect_cb", typed),
    refused("closesocket_cb", typed),
    refused("open_cb", typed),
    refused("resolve_cb", typed),
    mapped("enable.metrics.push", "client telemetry (KIP-714) is not available in this version"),

    // Observability and lifecycle
    mapped("log.queue", "lines go to the function producer_config::log, through no queue"),
    mapped("log.thread.name", "lines go to producer_config::log as they are"),
    mapped("log.connection.close", "failed connections are in the log and in status().brokers"),
    refused("error_cb", observed),
    refused("throttle_cb", observed),
    refused("stats_cb", observed),
    refused("log_cb", observed),
    refused("background_event_cb", observed),
    refused("enabled_events", observed),
    refused("interceptors", observed),
    refused("plugin.library.paths", "no code is loaded at run time"),
    refused("internal.termination.signal", "an internal of librdkafka"),
    refused("enable.random.seed", "an internal of librdkafka"),
    refused("builtin.features", "an internal of librdkafka"),
    only("test.mock.num.brokers", "0", "use the simulated cluster, <partita/testing/cluster.hpp>"),

    // Security
    security("ssl.ca.location"),
    security("ssl.ca.pem"),
    security("ssl.truststore.certificates"),
    security("ssl.truststore.location"),
    security("ssl.truststore.password"),
    security("ssl.truststore.type"),
    security("ssl.certificate.location"),
    security("ssl.certificate.pem"),
    security("ssl.key.location"),
    security("ssl.key.pem"),
    security("ssl.key.password"),
    security("ssl.keystore.certificate.chain"),
    security("ssl.keystore.key"),
    security("ssl.keystore.location"),
    security("ssl.keystore.password"),
    security("ssl.keystore.type"),
    security("ssl.crl.location"),
    security("ssl.cipher.suites"),
    security("ssl.curves.list"),
    security("ssl.sigalgs.list"),
    security("ssl.providers"),
    security("ssl.enabled.protocols"),
    security("ssl.protocol"),
    security("ssl.endpoint.identification.algorithm"),
    security("ssl.*"),
    security("enable.ssl.certificate.verification"),
    security("security.providers"),
    security("https.ca.location"),
    security("https.ca.pem"),
    security("sasl.mechanism"),
    security("sasl.mechanisms"),
    security("sasl.username"),
    security("sasl.password"),
    security("sasl.jaas.config"),
    security("sasl.kerberos.service.name"),
    security("sasl.kerberos.principal"),
    security("sasl.kerberos.keytab"),
    security("sasl.kerberos.kinit.cmd"),
    security("sasl.kerberos.min.time.before.relogin"),
    security("sasl.oauthbearer.method"),
    security("sasl.oauthbearer.client.id"),
    security("sasl.oauthbearer.client.secret"),
    security("sasl.oauthbearer.scope"),
    security("sasl.oauthbearer.token.endpoint.url"),
    security("sasl.login.callback.handler.class"),
    security("sasl.client.callback.handler.class"),
    security("sasl.*"),
    security("ssl_ca"),
    security("ssl_certificate"),
    security("ssl_key"),
    security("ssl_engine_callback_data"),
    security("enable.sasl.oauthbearer.unsecure.jwt"),
    security("oauthbearer_token_refresh_cb"),

    // Consumers
    ignored("group.id", consumer_only),
    ignored("group.instance.id", consumer_only),
    ignored("group.protocol", consumer_only),
    ignored("group.protocol.type", consumer_only),
    ignored("group.remote.assignor", consumer_only),
    ignored("key.deserializer", consumer_only),
    ignored("value.deserializer", consumer_only),
    ignored("auto.offset.reset", consumer_only),
    ignored("auto.commit.enable", consumer_only),
    ignored("enable.auto.commit", consumer_only),
    ignored("auto.commit.interval.ms", consumer_only),
    ignored("enable.auto.offset.store", consumer_only),
    ignored("enable.partition.eof", consumer_only),
    ignored("session.timeout.ms", consumer_only),
    ignored("heartbeat.interval.ms", consumer_only),
    ignored("coordinator.query.interval.ms", consumer_only),
    ignored("max.poll.interval.ms", consumer_only),
    ignored("max.poll.records", consumer_only),
    ignored("default.api.timeout.ms", consumer_only),
    ignored("partition.assignment.strategy", consumer_only),
    ignored("isolation.level", consumer_only),
    ignored("check.crcs", consumer_only),
    ignored("exclude.internal.topics", consumer_only),
    ignored("fetch.min.bytes", consumer_only),
    ignored("fetch.max.bytes", consumer_only),
    ignored("fetch.max.wait.ms", consumer_only),
    ignored("fetch.wait.max.ms", consumer_only),
    ignored("fetch.message.max.bytes", consumer_only),
    ignored("fetch.queue.backoff.ms", consumer_only),
    ignored("fetch.error.backoff.ms", consumer_only),
    ignored("max.partition.fetch.bytes", consumer_only),
    ignored("queued.min.messages", consumer_only),
    ignored("queued.max.messages.kbytes", consumer_only),
    ignored("consume.callback.max.messages", consumer_only),
    ignored("offset.store.method", consumer_only),
    ignored("offset.store.path", consumer_only),
    ignored("offset.store.sync.interval.ms", consumer_only),
    refused("consume_cb", consumer_only),
    refused("rebalance_cb", consumer_only),
    refused("offset_commit_cb", consumer_only),
};

}  // namespace

std::span<const config_key> foreign_keys() noexcept { return foreign_rows; }

}  // namespace partita
