#include <partita/error.hpp>

#include <optional>
#include <string>

namespace partita {

namespace {

const char* client_text(client_errc code) noexcept {
  if (code == client_errc{}) return "none is told";
  switch (code) {
    case client_errc::delivery_timeout:
      return "not answered within delivery.timeout.ms";
    case client_errc::admission_timeout:
      return "no buffer space within max.block.ms";
    case client_errc::metadata_timeout:
      return "the topic's partitions did not become known in time";
    case client_errc::buffer_full:
      return "no buffer space";
    case client_errc::record_too_large:
      return "the record is larger than max.request.size or buffer.memory";
    case client_errc::invalid_topic:
      return "not a valid topic name";
    case client_errc::invalid_partition:
      return "not a partition of the topic";
    case client_errc::invalid_header:
      return "a header key is not valid UTF-8";
    case client_errc::invalid_timestamp:
      return "the timestamp is negative";
    case client_errc::partitioner_failed:
      return "the partitioner returned no valid partition";
    case client_errc::halted:
      return "its key or its partition is halted after a failure";
    case client_errc::halt_requested:
      return "the application asked for a halt";
    case client_errc::earlier_failed:
      return "a record before it failed, and its followers were to fail with it";
    case client_errc::aborted:
      return "taken out before it was sent";
    case client_errc::discarded:
      return "discarded by recover";
    case client_errc::handed_back:
      return "handed back by recover";
    case client_errc::closed:
      return "the producer is closed";
    case client_errc::cancelled:
      return "cancelled by the caller";
    case client_errc::no_acknowledgement:
      return "acks=0: no acknowledgement will come";
    case client_errc::answer_lost:
      return "the connection ended before the answer came";
    case client_errc::epoch_given_up:
      return "an earlier batch of the same producer epoch was given up while in doubt";
    case client_errc::invariant_broken:
      return "the answer contradicts what was sent";
    case client_errc::topic_replaced:
      return "the topic was deleted and created again before the record was acknowledged";
    case client_errc::no_broker_answered:
      return "no broker has answered yet";
    case client_errc::leader_without_address:
      return "metadata names a leader whose address it does not give";
    case client_errc::host_not_found:
      return "host not found";
    case client_errc::connection_refused:
      return "connection refused";
    case client_errc::connection_timeout:
      return "not connected within socket.connection.setup.timeout.ms";
    case client_errc::connection_closed:
      return "the peer closed the connection";
    case client_errc::request_timeout:
      return "not answered within request.timeout.ms";
    case client_errc::not_kafka_http:
      return "the peer speaks HTTP, not Kafka";
    case client_errc::not_kafka_tls:
      return "the peer speaks TLS, the connection does not";
    case client_errc::not_kafka_ssh:
      return "the peer speaks SSH, not Kafka";
    case client_errc::malformed_answer:
      return "the answer does not decode";
    case client_errc::correlation_mismatch:
      return "the answer belongs to another request";
    case client_errc::answer_too_large:
      return "longer than its limit";
    case client_errc::unexpected_answer:
      return "an answer that nobody asked for";
    case client_errc::unsupported_version:
      return "no version of the API in common";
    case client_errc::log_not_readable:
      return "no right to read the topic's log";
    case client_errc::log_trimmed:
      return "records that had to be looked at were deleted from the log";
    case client_errc::log_changed:
      return "the log lost records that were acknowledged";
    case client_errc::log_too_long:
      return "too much of the log would have to be read";
    case client_errc::not_fenced:
      return "no newer record was acknowledged that would shut out a latecomer";
    case client_errc::not_numbered:
      return "sent without idempotence, so that nothing in the log tells the record";
    case client_errc::ticket_unknown:
      return "the ticket names no record";
    case client_errc::ticket_foreign:
      return "the ticket is of another producer";
    case client_errc::ticket_expired:
      return "the ticket is no longer kept";
    case client_errc::unknown_key:
      return "unknown configuration key";
    case client_errc::invalid_value:
      return "invalid value";
    case client_errc::conflicting_values:
      return "values that exclude each other";
    case client_errc::corrupt_data:
      return "the data does not decode";
    case client_errc::unsupported_codec:
      return "unknown compression codec";
  }
  return nullptr;
}

struct broker_text {
  const char* name;
  const char* text;
};

broker_text broker_text_of(broker_errc code) noexcept {
  switch (code) {
    case broker_errc::unknown_server_error:
      return {"UNKNOWN_SERVER_ERROR", "the broker met an error that it has no code for"};
    case broker_errc::none:
      return {"NONE", "no error"};
    case broker_errc::offset_out_of_range:
      return {"OFFSET_OUT_OF_RANGE", "the offset lies outside the partition's log"};
    case broker_errc::corrupt_message:
      return {"CORRUPT_MESSAGE", "the batch failed its checksum, size or format check"};
    case broker_errc::unknown_topic_or_partition:
      return {"UNKNOWN_TOPIC_OR_PARTITION", "the broker does not host this partition"};
    case broker_errc::leader_not_available:
      return {"LEADER_NOT_AVAILABLE", "no leader is elected yet"};
    case broker_errc::not_leader_or_follower:
      return {"NOT_LEADER_OR_FOLLOWER", "the broker is not the partition's leader"};
    case broker_errc::request_timed_out:
      return {"REQUEST_TIMED_OUT", "the replicas did not confirm in time"};
    case broker_errc::message_too_large:
      return {"MESSAGE_TOO_LARGE", "the batch is larger than max.message.bytes"};
    case broker_errc::network_exception:
      return {"NETWORK_EXCEPTION", "disconnected before the answer came"};
    case broker_errc::coordinator_load_in_progress:
      return {"COORDINATOR_LOAD_IN_PROGRESS", "the coordinator is still loading"};
    case broker_errc::coordinator_not_available:
      return {"COORDINATOR_NOT_AVAILABLE", "the coordinator is not available"};
    case broker_errc::not_coordinator:
      return {"NOT_COORDINATOR", "the broker is not the coordinator"};
    case broker_errc::invalid_topic_exception:
      return {"INVALID_TOPIC_EXCEPTION", "the topic may not be written to, or its name is invalid"};
    case broker_errc::record_list_too_large:
      return {"RECORD_LIST_TOO_LARGE", "the batch is larger than a log segment"};
    case broker_errc::not_enough_replicas:
      return {"NOT_ENOUGH_REPLICAS", "fewer replicas in sync than min.insync.replicas"};
    case broker_errc::not_enough_replicas_after_append:
      return {"NOT_ENOUGH_REPLICAS_AFTER_APPEND",
              "written, but to fewer replicas than min.insync.replicas"};
    case broker_errc::invalid_required_acks:
      return {"INVALID_REQUIRED_ACKS", "acks must be -1, 0 or 1"};
    case broker_errc::topic_authorization_failed:
      return {"TOPIC_AUTHORIZATION_FAILED", "no permission for the topic"};
    case broker_errc::cluster_authorization_failed:
      return {"CLUSTER_AUTHORIZATION_FAILED", "no permission for the cluster"};
    case broker_errc::invalid_timestamp:
      return {"INVALID_TIMESTAMP", "a timestamp lies outside the accepted range"};
    case broker_errc::unsupported_sasl_mechanism:
      return {"UNSUPPORTED_SASL_MECHANISM", "the broker lacks the SASL mechanism"};
    case broker_errc::unsupported_version:
      return {"UNSUPPORTED_VERSION", "the broker does not serve this version"};
    case broker_errc::topic_already_exists:
      return {"TOPIC_ALREADY_EXISTS", "the topic exists already"};
    case broker_errc::invalid_partitions:
      return {"INVALID_PARTITIONS", "the number of partitions is invalid"};
    case broker_errc::invalid_replication_factor:
      return {"INVALID_REPLICATION_FACTOR", "the replication factor is invalid"};
    case broker_errc::invalid_replica_assignment:
      return {"INVALID_REPLICA_ASSIGNMENT", "the list of replicas is invalid"};
    case broker_errc::invalid_config:
      return {"INVALID_CONFIG", "no such setting, or not a value for it"};
    case broker_errc::not_controller:
      return {"NOT_CONTROLLER", "the broker is not the controller"};
    case broker_errc::invalid_request:
      return {"INVALID_REQUEST", "the request contradicts itself"};
    case broker_errc::unsupported_for_message_format:
      return {"UNSUPPORTED_FOR_MESSAGE_FORMAT", "the topic's message format does not allow it"};
    case broker_errc::policy_violation:
      return {"POLICY_VIOLATION", "refused by a policy"};
    case broker_errc::out_of_order_sequence_number:
      return {"OUT_OF_ORDER_SEQUENCE_NUMBER", "not the sequence number the broker expects"};
    case broker_errc::duplicate_sequence_number:
      return {"DUPLICATE_SEQUENCE_NUMBER", "written before, too long ago to say where"};
    case broker_errc::invalid_producer_epoch:
      return {"INVALID_PRODUCER_EPOCH", "a newer epoch of this producer exists"};
    case broker_errc::invalid_txn_state:
      return {"INVALID_TXN_STATE", "not possible in the transaction's state"};
    case broker_errc::invalid_producer_id_mapping:
      return {"INVALID_PRODUCER_ID_MAPPING",
              "the producer id does not belong to the transactional id"};
    case broker_errc::concurrent_transactions:
      return {"CONCURRENT_TRANSACTIONS", "the previous transaction is still being completed"};
    case broker_errc::transactional_id_authorization_failed:
      return {"TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "no permission for the transactional id"};
    case broker_errc::kafka_storage_error:
      return {"KAFKA_STORAGE_ERROR", "the broker met a disk error"};
    case broker_errc::unknown_producer_id:
      return {"UNKNOWN_PRODUCER_ID", "the broker has no state of this producer"};
    case broker_errc::fenced_leader_epoch:
      return {"FENCED_LEADER_EPOCH", "the leader epoch is older than the broker's"};
    case broker_errc::unknown_leader_epoch:
      return {"UNKNOWN_LEADER_EPOCH", "the leader epoch is newer than the broker's"};
    case broker_errc::unsupported_compression_type:
      return {"UNSUPPORTED_COMPRESSION_TYPE", "the codec needs a newer Produce version"};
    case broker_errc::invalid_record:
      return {"INVALID_RECORD", "a record failed the broker's validation"};
    case broker_errc::throttling_quota_exceeded:
      return {"THROTTLING_QUOTA_EXCEEDED", "the quota is used up"};
    case broker_errc::producer_fenced:
      return {"PRODUCER_FENCED", "a newer producer with the same transactional id exists"};
    case broker_errc::unknown_topic_id:
      return {"UNKNOWN_TOPIC_ID", "the broker knows no topic with this id"};
    case broker_errc::inconsistent_topic_id:
      return {"INCONSISTENT_TOPIC_ID", "the log's topic id is not the request's"};
    case broker_errc::transaction_abortable:
      return {"TRANSACTION_ABORTABLE", "the transaction can only be aborted"};
    case broker_errc::rebootstrap_required:
      return {"REBOOTSTRAP_REQUIRED", "start again from bootstrap.servers"};
  }
  return {nullptr, nullptr};
}

std::string unlisted(int value) { return "UNKNOWN(" + std::to_string(value) + ")"; }

/// What the standard calls it, where it has a word.
std::optional<std::errc> standard_word(client_errc code) noexcept {
  switch (code) {
    case client_errc::delivery_timeout:
    case client_errc::admission_timeout:
    case client_errc::metadata_timeout:
    case client_errc::connection_timeout:
    case client_errc::request_timeout:
      return std::errc::timed_out;
    case client_errc::cancelled:
    case client_errc::aborted:
      return std::errc::operation_canceled;
    case client_errc::buffer_full:
      return std::errc::no_buffer_space;
    case client_errc::record_too_large:
      return std::errc::message_size;
    case client_errc::host_not_found:
      return std::errc::host_unreachable;
    case client_errc::connection_refused:
      return std::errc::connection_refused;
    case client_errc::connection_closed:
      return std::errc::connection_reset;
    case client_errc::invalid_topic:
    case client_errc::invalid_partition:
    case client_errc::invalid_header:
    case client_errc::invalid_timestamp:
    case client_errc::unknown_key:
    case client_errc::invalid_value:
    case client_errc::conflicting_values:
      return std::errc::invalid_argument;
    default:
      return std::nullopt;
  }
}

std::optional<std::errc> standard_word(broker_errc code) noexcept {
  switch (code) {
    case broker_errc::request_timed_out:
      return std::errc::timed_out;
    case broker_errc::message_too_large:
    case broker_errc::record_list_too_large:
      return std::errc::message_size;
    case broker_errc::topic_authorization_failed:
    case broker_errc::cluster_authorization_failed:
    case broker_errc::transactional_id_authorization_failed:
      return std::errc::permission_denied;
    default:
      return std::nullopt;
  }
}

class client_category_type final : public std::error_category {
 public:
  const char* name() const noexcept override { return "partita"; }
  std::string message(int value) const override {
    const char* const text = client_text(static_cast<client_errc>(value));
    return text != nullptr ? text : unlisted(value);
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    const auto word = standard_word(static_cast<client_errc>(value));
    return word ? std::make_error_condition(*word) : std::error_condition(value, *this);
  }
};

class broker_category_type final : public std::error_category {
 public:
  const char* name() const noexcept override { return "kafka"; }
  std::string message(int value) const override {
    // A code is 16 bits on the wire; a wider value is nobody's.
    const auto code = static_cast<broker_errc>(value);
    if (static_cast<int>(code) != value) return unlisted(value);
    const broker_text known = broker_text_of(code);
    if (known.name == nullptr) return unlisted(value);
    return std::string(known.name) + ": " + known.text;
  }
  std::error_condition default_error_condition(int value) const noexcept override {
    const auto code = static_cast<broker_errc>(value);
    const auto word =
        static_cast<int>(code) == value ? standard_word(code) : std::optional<std::errc>();
    return word ? std::make_error_condition(*word) : std::error_condition(value, *this);
  }
};

}  // namespace

// Categories are compared by address and used during static destruction; they must never die, so
// they have no destructor worth running and live in the function.
const std::error_category& client_category() noexcept {
  static const client_category_type category;
  return category;
}

const std::error_category& broker_category() noexcept {
  static const broker_category_type category;
  return category;
}

}  // namespace partita
