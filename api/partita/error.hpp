// Error codes: what we decided (client_errc) and what Kafka said (broker_errc).
//
// Both are std::error_code categories named "partita" and "kafka". A code alone never says whether
// a record was written; that is the fate in outcome.hpp. Where the standard has a word for it, a
// code equals that std::errc too: `code == std::errc::timed_out` holds for every time limit.
#pragma once

#include <cstdint>
#include <system_error>

namespace partita {

/// Decided on this side of the wire.
enum class client_errc {
  delivery_timeout = 1,    ///< delivery.timeout.ms passed since admission
  admission_timeout,       ///< max.block.ms passed while waiting for buffer space
  metadata_timeout,        ///< max.block.ms passed before the topic's partitions were known
  buffer_full,             ///< no room and the call may not wait (produce() with a callback)
  record_too_large,        ///< larger than max.request.size or buffer.memory
  invalid_topic,           ///< empty, too long, or with characters Kafka refuses
  invalid_partition,       ///< negative, or not a partition of the topic
  invalid_header,          ///< header key is not valid UTF-8
  invalid_timestamp,       ///< negative
  partitioner_failed,      ///< the user's partitioner returned no valid partition
  halted,                  ///< its key or its partition is halted after a failure; see cause
  halt_requested,          ///< as a cause of `halted`: the application called halt()
  earlier_failed,          ///< a record before it failed, and the policy is fail_following
  aborted,                 ///< pause(abort_buffered) took it out before it was sent
  discarded,               ///< recover(discard)
  handed_back,             ///< recover(take) handed a held record back
  closed,                  ///< the producer was closed (which hands back what was not written) or
                           ///< destroyed
  cancelled,               ///< the caller cancelled
  no_acknowledgement,      ///< acks=0: handed to the network, no answer will come
  answer_lost,             ///< the connection ended after the whole request was handed over
  epoch_given_up,          ///< an earlier batch of the same epoch was given up while in doubt
  invariant_broken,        ///< an answer contradicts what was sent, or the log lost records that
                           ///< were acknowledged (L9); the partition halted, see recover()
  topic_replaced,          ///< the topic was deleted and created again meanwhile; see recover()
  no_broker_answered,      ///< nobody could be asked about the topic yet
  leader_without_address,  ///< metadata names a leader whose address it does not give
  // connections
  host_not_found,  ///< name look-up failed
  connection_refused,
  connection_timeout,    ///< socket.connection.setup.timeout.ms
  connection_closed,     ///< the peer closed
  request_timeout,       ///< request.timeout.ms passed without an answer
  not_kafka_http,        ///< the peer answered in HTTP
  not_kafka_tls,         ///< the peer answered a plaintext handshake with a TLS record
  not_kafka_ssh,         ///< the peer answered with an SSH banner
  malformed_answer,      ///< bytes that are not an answer to what was asked
  correlation_mismatch,  ///< answers out of order
  answer_too_large,      ///< longer than the API's limit
  unexpected_answer,     ///< an answer while none was awaited, or for something not asked
  unsupported_version,   ///< no version of an API in common
  // configuration
  unknown_key,
  invalid_value,
  conflicting_values,
  // data
  corrupt_data,  ///< bytes that do not decode, with no peer involved
  unsupported_codec,
  // settlement
  log_not_readable,  ///< no right to read the topic
  log_trimmed,       ///< retention or deletion took records that had to be seen
  log_changed,       ///< acknowledged records are not where they were: a tail was lost
  log_too_long,      ///< more would have to be read than is sensible
  not_fenced,        ///< nothing newer was acknowledged that would shut out a latecomer
  not_numbered,      ///< sent without idempotence: nothing in the log tells its batch
  ticket_unknown,    ///< it names no record
  ticket_foreign,    ///< of another producer
  ticket_expired,    ///< partita.ticket.retention.ms or partita.ticket.records.max
};

/// Kafka's error codes that a producer can meet. Unlisted values keep their number and print as
/// "UNKNOWN(n)".
enum class broker_errc : std::int16_t {
  unknown_server_error = -1,
  none = 0,
  offset_out_of_range = 1,
  corrupt_message = 2,
  unknown_topic_or_partition = 3,
  leader_not_available = 5,
  not_leader_or_follower = 6,
  request_timed_out = 7,
  message_too_large = 10,
  network_exception = 13,
  coordinator_load_in_progress = 14,
  coordinator_not_available = 15,
  not_coordinator = 16,
  invalid_topic_exception = 17,
  record_list_too_large = 18,
  not_enough_replicas = 19,
  not_enough_replicas_after_append = 20,
  invalid_required_acks = 21,
  topic_authorization_failed = 29,
  cluster_authorization_failed = 31,
  invalid_timestamp = 32,
  unsupported_sasl_mechanism = 33,
  unsupported_version = 35,
  topic_already_exists = 36,
  invalid_partitions = 37,
  invalid_replication_factor = 38,
  invalid_replica_assignment = 39,
  invalid_config = 40,
  not_controller = 41,
  invalid_request = 42,
  unsupported_for_message_format = 43,
  policy_violation = 44,
  out_of_order_sequence_number = 45,
  duplicate_sequence_number = 46,
  invalid_producer_epoch = 47,
  invalid_txn_state = 48,
  invalid_producer_id_mapping = 49,
  concurrent_transactions = 51,
  transactional_id_authorization_failed = 53,
  kafka_storage_error = 56,
  unknown_producer_id = 59,
  fenced_leader_epoch = 74,
  unknown_leader_epoch = 75,
  unsupported_compression_type = 76,
  invalid_record = 87,
  throttling_quota_exceeded = 89,
  producer_fenced = 90,
  unknown_topic_id = 100,
  inconsistent_topic_id = 103,
  transaction_abortable = 120,
  rebootstrap_required = 129,
};

/// Name "partita".
const std::error_category& client_category() noexcept;
/// Name "kafka"; messages start with Kafka's name.
const std::error_category& broker_category() noexcept;

inline std::error_code make_error_code(client_errc code) noexcept {
  return {static_cast<int>(code), client_category()};
}
inline std::error_code make_error_code(broker_errc code) noexcept {
  return {static_cast<int>(code), broker_category()};
}
/// In place of an error where none is told. False like every empty code, but it says so: the
/// standard's own empty code has the message "Success".
inline std::error_code no_error_told() noexcept { return {0, client_category()}; }

}  // namespace partita

template <>
struct std::is_error_code_enum<partita::client_errc> : std::true_type {};
template <>
struct std::is_error_code_enum<partita::broker_errc> : std::true_type {};
