#include "api/cli/drive_event.hpp"

#include "api/cli/error_name.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace partita::cli {
namespace {

using nlohmann::ordered_json;

ordered_json event_of(drive_time at, const char* name) {
  ordered_json json;
  json["event"] = name;
  json["t_ms"] = static_cast<double>(at.count()) / 1000;
  return json;
}

std::string line_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void put_place(ordered_json& json, const drive_place& place) {
  if (place.topic) json["topic"] = *place.topic;
  if (place.partition) json["partition"] = place.partition->value;
  if (place.key) json["key"] = *place.key;
}

void put_tally(ordered_json& json, const tally& counts) {
  json["delivered"] = counts.delivered;
  json["not_written"] = counts.not_written;
  json["unknown"] = counts.unknown;
}

ordered_json number_or_null(bool known, std::int64_t value) {
  return known ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json code_or_null(std::error_code code) {
  return code ? ordered_json(error_name(code)) : ordered_json(nullptr);
}

ordered_json limit_or_null(limit ended_by) {
  switch (ended_by) {
    case limit::none:
      return nullptr;
    case limit::delivery_timeout:
      return "delivery_timeout";
    case limit::admission_timeout:
      return "admission_timeout";
    case limit::metadata_timeout:
      return "metadata_timeout";
    case limit::close_deadline:
      return "close_deadline";
  }
  return nullptr;
}

void put(ordered_json& json, const delivered& success) {
  json["outcome"] = "delivered";
  json["partition"] = success.partition.value;
  json["offset"] = success.offset ? ordered_json(success.offset->value) : ordered_json(nullptr);
  if (success.timestamp) json["timestamp"] = success.timestamp->time_since_epoch().count();
}

void put(ordered_json& json, const failed& failure) {
  json["outcome"] = failure.fate == fate::unknown ? "unknown" : "not_written";
  json["topic"] = failure.topic;
  json["partition"] = number_or_null(failure.partition.known(), failure.partition.value);
  json["code"] = code_or_null(failure.code);
  json["cause"] = code_or_null(failure.cause);
  json["limit"] = limit_or_null(failure.ended_by);
  json["attempts"] = failure.attempts;
  if (!failure.detail.empty()) json["detail"] = failure.detail;
}

ordered_json row_of(const partition_status& at) {
  ordered_json row;
  row["topic"] = at.topic;
  row["partition"] = at.partition.value;
  row["state"] = name_of(at.state);
  row["leader"] = number_or_null(at.leader.known(), at.leader.value);
  row["buffered"] = at.buffered_records;
  row["in_flight"] = at.batches_in_flight;
  row["in_doubt"] = at.batches_in_doubt;
  row["failed_kept"] = at.failed_records_kept;
  row["held"] = at.held_records;
  row["halt_cause"] = code_or_null(at.halt_cause);
  row["halted_keys"] = at.halted_keys;
  row["some_halted_keys"] = ordered_json::array();
  for (const halted_key_status& each : at.some_halted_keys)
    row["some_halted_keys"].push_back({{"key", each.key}, {"cause", code_or_null(each.cause)}});
  row["epoch_bumps"] = at.epoch_bumps;
  row["last_error"] = code_or_null(at.last_error);
  return row;
}

}  // namespace

const char* name_of(partition_state state) noexcept {
  switch (state) {
    case partition_state::normal:
      return "normal";
    case partition_state::starting:
      return "starting";
    case partition_state::leaderless:
      return "leaderless";
    case partition_state::paused:
      return "paused";
    case partition_state::halted:
      return "halted";
    case partition_state::fencing:
      return "fencing";
    case partition_state::settling:
      return "settling";
    case partition_state::closing:
      return "closing";
  }
  return "?";
}

std::string outcome_event(drive_time at, std::string_view name, const outcome& answer,
                          bool resubmitted) {
  ordered_json json;
  json["event"] = "outcome";
  json["name"] = name;
  json["t_ms"] = static_cast<double>(at.count()) / 1000;
  if (const delivered* success = answer.delivery())
    put(json, *success);
  else
    put(json, *answer.failure());
  if (resubmitted) json["resubmitted"] = true;
  return line_of(json);
}

std::string settled_event(drive_time at, std::string_view name, const settlement& verdict) {
  ordered_json json = event_of(at, "settled");
  json["name"] = name;
  if (const delivered* found = verdict.delivery()) {
    json["verdict"] = "delivered";
    json["partition"] = found->partition.value;
    json["offset"] = found->offset ? ordered_json(found->offset->value) : ordered_json(nullptr);
  } else if (const undecidable* open = verdict.undecided()) {
    json["verdict"] = "undecidable";
    json["reason"] = code_or_null(open->reason);
  } else {
    json["verdict"] = "never_written";
  }
  return line_of(json);
}

std::string flushed_event(drive_time at, const drive_place& place, const tally& counts) {
  ordered_json json = event_of(at, "flushed");
  put_place(json, place);
  put_tally(json, counts);
  return line_of(json);
}

std::string returned_event(drive_time at, const drive_place& place,
                           const std::vector<std::string>& names) {
  ordered_json json = event_of(at, "returned");
  put_place(json, place);
  json["names"] = names;
  return line_of(json);
}

std::string partition_event_line(drive_time at, const partition_event& event) {
  const bool halted = event.change == partition_change::halted;
  ordered_json json = event_of(at, halted ? "halted" : "resumed");
  json["topic"] = event.topic;
  json["partition"] = event.partition.value;
  if (event.keys.size() == 1) json["key"] = event.keys.front();
  if (!event.keys.empty()) json["keys"] = event.keys;
  if (halted) json["code"] = code_or_null(event.code);
  return line_of(json);
}

std::string closed_event(drive_time at, const std::vector<std::string>& names,
                         const tally& counts) {
  ordered_json json = event_of(at, "closed");
  json["names"] = names;
  put_tally(json, counts);
  return line_of(json);
}

std::string status_event(drive_time at, const drive_counts& counts, const producer_status& status) {
  ordered_json json = event_of(at, "status");
  json["produced"] = counts.produced;
  put_tally(json, counts.answered);
  json["open"] = counts.open();
  json["contradictions"] = status.contradictions;
  json["partitions"] = ordered_json::array();
  for (const partition_status& each : status.partitions) json["partitions"].push_back(row_of(each));
  return line_of(json);
}

std::string error_event(drive_time at, std::uint64_t line, std::string_view verb,
                        std::string_view message) {
  ordered_json json = event_of(at, "error");
  json["line"] = line;
  json["do"] = verb.empty() ? ordered_json(nullptr) : ordered_json(verb);
  json["message"] = message;
  return line_of(json);
}

}  // namespace partita::cli
