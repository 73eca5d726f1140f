// Everything a producer can be told, with its defaults.
//
//     partita::producer producer{{.bootstrap_servers = "localhost:9092"}};
//
// Members are grouped by question; docs/configuration.md gives Kafka's name and the bounds of each.
// Text keys (`linger.ms=20`), files and the environment are in <partita/properties.hpp>.
//
// Invariants
// 1. A producer runs with a config only after validate() accepted it; nothing else reads settings.
// 2. The members keep their order: designated initialisers of applications depend on it. New
//    members go to the end of their group, which is a change of the minor version.
//
// Threads: plain values; functions are pure.
#pragma once

#include <partita/duration.hpp>
#include <partita/error.hpp>
#include <partita/failure_handler.hpp>
#include <partita/failure_policy.hpp>
#include <partita/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace partita {

enum class acks : std::int8_t { all = -1, none = 0, leader = 1 };

enum class compression : std::uint8_t { none, gzip, snappy, lz4, zstd };

/// How a partition is chosen. Names and results are librdkafka's; Java does `murmur2_random`.
enum class partitioner_kind : std::uint8_t {
  murmur2_random,     ///< murmur2 of the key; without a key sticky by bytes
  murmur2,            ///< murmur2; an absent key counts as an empty one
  consistent_random,  ///< CRC-32 of the key; without a key, or with an empty one, sticky by bytes
  consistent,         ///< CRC-32; an absent key counts as an empty one
  fnv1a_random,       ///< FNV-1a of the key (Sarama's); without a key sticky by bytes
  fnv1a,              ///< FNV-1a; an absent key counts as an empty one
  random,             ///< uniform, whatever the key
  round_robin,        ///< in turn, whatever the key
  sticky,             ///< sticky by bytes, whatever the key
  manual,             ///< every record must say its partition
};

/// What happens to a key that belongs to another partition once its topic has more of them.
enum class partition_growth : std::uint8_t {
  keep,         ///< new records go to the new partition at once
  drain_first,  ///< they wait until what the old partition holds is answered
};

enum class address_family : std::uint8_t { any, v4, v6 };

enum class dns_lookup : std::uint8_t {
  use_all_dns_ips,
  resolve_canonical_bootstrap_servers_only,
};

/// What to do when no known broker can be asked for metadata any more (KIP-899).
enum class metadata_recovery : std::uint8_t { none, rebootstrap };

/// What a topic has of its own.
struct topic_config {
  std::optional<failure_policy> on_failure{};  ///< absent: the producer's
};

/// Topics that differ, in the order of their names: `config.topics["orders"].on_failure = ...`, or
/// `.topics = {{"orders", {.on_failure = partita::failure_policy::skip}}}`. (std::map would be felt
/// in the compile time of all who include this.)
class topic_configs {
 public:
  using value_type = std::pair<std::string, topic_config>;
  using const_iterator = std::vector<value_type>::const_iterator;

  topic_configs() = default;
  /// Of two with the same name the first one counts.
  topic_configs(std::initializer_list<value_type> topics);

  /// Adds the topic if it is not there. The reference is valid until one is added or erased.
  topic_config& operator[](std::string_view name);
  /// end() if it is not there.
  [[nodiscard]] const_iterator find(std::string_view name) const noexcept;
  [[nodiscard]] bool contains(std::string_view name) const noexcept { return find(name) != end(); }
  /// It must be there (a contract).
  [[nodiscard]] const topic_config& at(std::string_view name) const;
  /// How many went: one or none.
  std::size_t erase(std::string_view name);
  [[nodiscard]] const_iterator begin() const noexcept { return all_.begin(); }
  [[nodiscard]] const_iterator end() const noexcept { return all_.end(); }
  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

 private:
  std::vector<value_type> all_;
};

struct producer_config {
  using milliseconds = std::chrono::milliseconds;

  // Where to connect
  std::string bootstrap_servers{};  ///< "host:port, host:port"; the only setting without a default
  std::string client_id = "partita";
  std::string client_rack{};
  address_family broker_address_family = address_family::any;
  dns_lookup client_dns_lookup = dns_lookup::use_all_dns_ips;

  // What is promised
  partita::acks acks = partita::acks::all;
  bool enable_idempotence = true;
  failure_policy on_failure = failure_policy::halt_key;
  int max_in_flight = 5;  ///< batches of one partition; without idempotence one at a time is sent
  int retries = std::numeric_limits<int>::max();
  /// Records whose timestamp is older are sent one batch at a time, because a broker forgets a
  /// producer by record timestamps (L10). At most the brokers' producer.id.expiration.ms.
  milliseconds state_horizon = std::chrono::hours{1};
  /// A partition that gives up a batch takes a new producer id instead of the next epoch.
  bool new_producer_id_instead_of_bump = false;
  partita::while_halted while_halted = partita::while_halted::refuse;
  topic_configs topics{};  ///< where they differ
  /// Decides failure by failure (<partita/failure_handler.hpp>). Null: on_failure alone decides.
  partita::failure_handler failure_handler{};
  /// How long settle() can be asked for a record of unknown fate, and for how many of a partition.
  milliseconds ticket_retention = std::chrono::hours{1};
  int ticket_records_max = 100'000;

  // Which partition
  partitioner_kind partitioner = partitioner_kind::murmur2_random;
  const partita::partitioner* custom_partitioner = nullptr;  ///< not owned; replaces the above
  bool partitioner_ignore_keys = false;
  bool partitioner_adaptive = true;  ///< keyless records prefer short queues (KIP-794)
  milliseconds partitioner_availability_timeout{0};  ///< 0: partitions are never avoided
  std::size_t partitioner_sticky_bytes = 64 * 1024;  ///< keyless bytes before the next partition
  partition_growth growth = partition_growth::keep;

  // How fast
  std::chrono::microseconds linger = std::chrono::milliseconds{5};
  std::size_t batch_size_bytes = 1'000'000;
  int batch_records_max = 10'000;
  partita::compression compression = partita::compression::none;
  std::optional<int> compression_level{};       ///< absent: the codec's own
  std::optional<int> compression_gzip_level{};  ///< these three win over compression_level
  std::optional<int> compression_lz4_level{};
  std::optional<int> compression_zstd_level{};
  std::size_t max_request_size_bytes = 1'048'576;

  // How much memory
  std::size_t buffer_memory_bytes = 64 * 1024 * 1024;
  int buffer_records_max = 0;              ///< 0: bytes are the only limit
  std::size_t partition_memory_bytes = 0;  ///< of the above, for one partition; 0: all of it

  // How long to wait
  milliseconds delivery_timeout = std::chrono::seconds{120};
  milliseconds request_timeout = std::chrono::seconds{30};
  milliseconds max_block = std::chrono::seconds{60};
  milliseconds retry_backoff{100};
  milliseconds retry_backoff_max{1'000};  ///< also caps retry_backoff itself
  milliseconds reconnect_backoff{50};
  milliseconds reconnect_backoff_max{1'000};  ///< also caps reconnect_backoff itself
  milliseconds connection_setup_timeout = std::chrono::seconds{10};
  milliseconds connection_setup_timeout_max = std::chrono::seconds{30};
  milliseconds connections_max_idle = std::chrono::seconds{540};

  // What is known of the cluster
  milliseconds metadata_max_age = std::chrono::seconds{300};
  milliseconds metadata_max_idle = std::chrono::seconds{300};
  milliseconds topic_metadata_propagation_max = std::chrono::seconds{30};
  partita::metadata_recovery metadata_recovery = partita::metadata_recovery::rebootstrap;
  milliseconds metadata_rebootstrap_trigger = std::chrono::seconds{300};
  bool allow_auto_create_topics = true;

  // How it runs
  int lanes = 1;  ///< threads
  bool socket_keepalive = true;
  bool socket_nagle_disable = true;
  std::size_t socket_send_buffer_bytes = 0;     ///< 0: the system's default
  std::size_t socket_receive_buffer_bytes = 0;  ///< 0: the system's default
  milliseconds statistics_interval{0};          ///< 0: off
  std::string debug{};                          ///< librdkafka's context words, comma separated
  int log_level = 6;                            ///< syslog's levels, 0 to 7
  /// Called with one line of text from library threads; it must not block or throw. Null: no log.
  void (*log)(void* context, int level, std::string_view line) = nullptr;
  void* log_context = nullptr;
};

/// Why a setting was refused. Empty (false) when it was not.
struct [[nodiscard]] config_error {
  client_errc kind{};     ///< unknown_key, invalid_value or conflicting_values
  std::string key{};      ///< Kafka's name of the setting
  std::string value{};    ///< as given; absent where it may be a secret
  std::string origin{};   ///< "client.properties:12", "environment", ...
  std::string bounds{};   ///< what would have been accepted
  std::string nearest{};  ///< the known key most like an unknown one
  std::string reason{};

  explicit operator bool() const noexcept { return kind != client_errc{}; }
  [[nodiscard]] std::error_code code() const noexcept { return make_error_code(kind); }
  /// One line for a person; empty if there is no error.
  [[nodiscard]] std::string message() const;
};

/// Bounds of every member, then the rules between members. Reports the first breach.
[[nodiscard]] config_error validate(const producer_config& config);

/// The level for the chosen codec; absent means the codec's own default.
[[nodiscard]] std::optional<int> effective_compression_level(
    const producer_config& config) noexcept;

}  // namespace partita
