#include "api/cli/exit_code.hpp"

#include <partita/error.hpp>

namespace partita::cli {

exit_code exit_code_of(const run_facts& facts) noexcept {
  if (facts.interrupted) return exit_code::interrupted;
  if (facts.bad_input) return exit_code::usage;
  if (facts.denied) return exit_code::denied;
  if (facts.unreachable) return exit_code::unreachable;
  if (facts.counts.unknown > 0) return exit_code::unknown;
  if (facts.halted) return exit_code::halted;
  if (facts.counts.not_written > 0 || facts.skipped_input) return exit_code::not_written;
  return exit_code::ok;
}

bool is_denied(std::error_code code) noexcept {
  constexpr int sasl_authentication_failed = 58;
  if (code.category() != broker_category()) return false;
  if (code.value() == sasl_authentication_failed) return true;
  switch (static_cast<broker_errc>(code.value())) {
    case broker_errc::topic_authorization_failed:
    case broker_errc::cluster_authorization_failed:
    case broker_errc::transactional_id_authorization_failed:
    case broker_errc::unsupported_sasl_mechanism:
      return true;
    default:
      return false;
  }
}

bool is_unreachable(std::error_code code) noexcept {
  if (code.category() != client_category()) return false;
  switch (static_cast<client_errc>(code.value())) {
    case client_errc::no_broker_answered:
    case client_errc::host_not_found:
    case client_errc::connection_refused:
    case client_errc::connection_timeout:
    case client_errc::connection_closed:
    case client_errc::request_timeout:
    case client_errc::not_kafka_http:
    case client_errc::not_kafka_tls:
    case client_errc::not_kafka_ssh:
    case client_errc::malformed_answer:
    case client_errc::correlation_mismatch:
    case client_errc::answer_too_large:
    case client_errc::unexpected_answer:
    case client_errc::unsupported_version:
      return true;
    default:
      return false;
  }
}

}  // namespace partita::cli
