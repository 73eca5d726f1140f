#include "api/cli/error_name.hpp"

#include <partita/error.hpp>

namespace partita::cli {
namespace {

/// Null for a value that is not of the enumeration: the compiler sees to it that none is missing.
const char* client_name(client_errc code) noexcept {
  switch (code) {
    case client_errc::delivery_timeout:
      return "delivery_timeout";
    case client_errc::admission_timeout:
      return "admission_timeout";
    case client_errc::metadata_timeout:
      return "metadata_timeout";
    case client_errc::buffer_full:
      return "buffer_full";
    case client_errc::record_too_large:
      return "record_too_large";
    case client_errc::invalid_topic:
      return "invalid_topic";
    case client_errc::invalid_partition:
      return "invalid_partition";
    case client_errc::invalid_header:
      return "invalid_header";
    case client_errc::invalid_timestamp:
      return "invalid_timestamp";
    case client_errc::partitioner_failed:
      return "partitioner_failed";
    case client_errc::halted:
      return "halted";
    case client_errc::halt_requested:
      return "halt_requested";
    case client_errc::earlier_failed:
      return "earlier_failed";
    case client_errc::aborted:
      return "aborted";
    case client_errc::discarded:
      return "discarded";
    case client_errc::handed_back:
      return "handed_back";
    case client_errc::closed:
      return "closed";
    case client_errc::cancelled:
      return "cancelled";
    case client_errc::no_acknowledgement:
      return "no_acknowledgement";
    case client_errc::answer_lost:
      return "answer_lost";
    case client_errc::epoch_given_up:
      return "epoch_given_up";
    case client_errc::invariant_broken:
      return "invariant_broken";
    case client_errc::topic_replaced:
      return "topic_replaced";
    case client_errc::no_broker_answered:
      return "no_broker_answered";
    case client_errc::leader_without_address:
      return "leader_without_address";
    case client_errc::host_not_found:
      return "host_not_found";
    case client_errc::connection_refused:
      return "connection_refused";
    case client_errc::connection_timeout:
      return "connection_timeout";
    case client_errc::connection_closed:
      return "connection_closed";
    case client_errc::request_timeout:
      return "request_timeout";
    case client_errc::not_kafka_http:
      return "not_kafka_http";
    case client_errc::not_kafka_tls:
      return "not_kafka_tls";
    case client_errc::not_kafka_ssh:
      return "not_kafka_ssh";
    case client_errc::malformed_answer:
      return "malformed_answer";
    case client_errc::correlation_mismatch:
      return "correlation_mismatch";
    case client_errc::answer_too_large:
      return "answer_too_large";
    case client_errc::unexpected_answer:
      return "unexpected_answer";
    case client_errc::unsupported_version:
      return "unsupported_version";
    case client_errc::unknown_key:
      return "unknown_key";
    case client_errc::invalid_value:
      return "invalid_value";
    case client_errc::conflicting_values:
      return "conflicting_values";
    case client_errc::corrupt_data:
      return "corrupt_data";
    case client_errc::unsupported_codec:
      return "unsupported_codec";
    case client_errc::log_not_readable:
      return "log_not_readable";
    case client_errc::log_trimmed:
      return "log_trimmed";
    case client_errc::log_changed:
      return "log_changed";
    case client_errc::log_too_long:
      return "log_too_long";
    case client_errc::not_fenced:
      return "not_fenced";
    case client_errc::not_numbered:
      return "not_numbered";
    case client_errc::ticket_unknown:
      return "ticket_unknown";
    case client_errc::ticket_foreign:
      return "ticket_foreign";
    case client_errc::ticket_expired:
      return "ticket_expired";
  }
  return nullptr;
}

}  // namespace

std::string error_name(std::error_code code) {
  if (!code) return {};
  if (code.category() == client_category())
    if (const char* name = client_name(static_cast<client_errc>(code.value()))) return name;
  if (code.category() == broker_category()) {
    const std::string text = code.message();
    return text.substr(0, text.find(':'));
  }
  return std::string(code.category().name()) + ":" + std::to_string(code.value());
}

}  // namespace partita::cli
