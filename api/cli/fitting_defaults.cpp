#include "api/cli/fitting_defaults.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace partita::cli {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

bool is_set(const config_report& report, std::string_view key) {
  return std::any_of(report.origins.begin(), report.origins.end(),
                     [&](const config_origin& each) { return each.key == key; });
}

std::string note(std::string_view key, long long value, std::string_view because) {
  return std::string(key) + " is " + std::to_string(value) + ", to fit " + std::string(because);
}

/// delivery.timeout.ms has to hold linger.ms and a request.
void fit_times(producer_config& config, const config_report& report,
               std::vector<std::string>& notes) {
  const bool deadline_given = is_set(report, "delivery.timeout.ms");
  if (deadline_given && !is_set(report, "linger.ms") && config.linger >= config.delivery_timeout) {
    config.linger = microseconds{0};
    notes.push_back(note("linger.ms", 0, "delivery.timeout.ms"));
  }
  const auto least = std::chrono::ceil<milliseconds>(config.linger) + config.request_timeout;
  if (config.delivery_timeout >= least) return;
  const milliseconds room =
      config.delivery_timeout - std::chrono::ceil<milliseconds>(config.linger);
  if (deadline_given && !is_set(report, "request.timeout.ms") && room.count() > 0) {
    config.request_timeout = room;
    notes.push_back(note("request.timeout.ms", room.count(), "delivery.timeout.ms"));
  } else if (!deadline_given) {
    config.delivery_timeout = least;
    notes.push_back(note("delivery.timeout.ms", least.count(), "request.timeout.ms"));
  }
}

/// As Kafka's own producer does it: idempotence that nobody asked for gives way.
void fit_idempotence(producer_config& config, const config_report& report,
                     std::vector<std::string>& notes) {
  if (!config.enable_idempotence || is_set(report, "enable.idempotence")) return;
  std::string_view because;
  if (config.acks != acks::all)
    because = "acks";
  else if (config.retries <= 0)
    because = "retries";
  else if (config.max_in_flight > 5)
    because = "max.in.flight.requests.per.connection";
  if (because.empty()) return;
  config.enable_idempotence = false;
  // Decision 5: there is no blind retry.
  notes.push_back("enable.idempotence is false, to fit " + std::string(because) +
                  ": what is in doubt is not sent again, and ends as unknown");
}

/// A batch has to fit into a request and into the buffer.
void fit_sizes(producer_config& config, const config_report& report,
               std::vector<std::string>& notes) {
  if (is_set(report, "batch.size")) return;
  const bool by_request = config.max_request_size_bytes < config.buffer_memory_bytes;
  const std::size_t most = std::min(config.max_request_size_bytes, config.buffer_memory_bytes);
  if (config.batch_size_bytes <= most) return;
  config.batch_size_bytes = most;
  notes.push_back(note("batch.size", static_cast<long long>(most),
                       by_request ? "max.request.size" : "buffer.memory"));
}

}  // namespace

std::vector<std::string> fit_defaults(producer_config& config, const config_report& report) {
  std::vector<std::string> notes;
  fit_times(config, report, notes);
  fit_sizes(config, report, notes);
  fit_idempotence(config, report, notes);
  return notes;
}

}  // namespace partita::cli
