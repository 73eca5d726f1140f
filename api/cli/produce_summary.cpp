#include "api/cli/produce_summary.hpp"

#include "api/cli/counted.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>

namespace partita::cli {
namespace {

using nlohmann::ordered_json;

std::string seconds_of(std::chrono::milliseconds elapsed) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", static_cast<double>(elapsed.count()) / 1000);
  return text.data();
}

std::string partition_line(const partition_counts& at) {
  std::string line = "  " + at.topic;
  line += at.partition.known() ? "[" + std::to_string(at.partition.value) + "]" : "[?]";
  line += ": " + std::to_string(at.counts.delivered) + " delivered";
  if (at.first.known())
    line +=
        " at offsets " + std::to_string(at.first.value) + " to " + std::to_string(at.last.value);
  if (at.counts.not_written > 0)
    line += ", " + std::to_string(at.counts.not_written) + " not written";
  if (at.counts.unknown > 0) line += ", " + std::to_string(at.counts.unknown) + " unknown";
  return line + "\n";
}

/// What a broker said is part of it: no control characters.
std::string reason_line(const failure_reason& reason) {
  std::string line = std::string("  ") + (reason.unknown ? "unknown: " : "not written: ") +
                     reason.text + " (" + std::to_string(reason.count) + ")";
  if (!reason.first_detail.empty())
    line += (reason.count == 1 ? ": " : ", the first: ") + reason.first_detail;
  for (char& each : line)
    if (static_cast<unsigned char>(each) < 0x20 || each == 0x7f) each = '?';
  return line + "\n";
}

}  // namespace

std::string summary_text(const run_summary& summary, bool per_partition) {
  const tally& counts = summary.ledger.counts;
  std::string text = counted(summary.accepted, "record", "records") + " in " +
                     seconds_of(summary.elapsed) + ": " + std::to_string(counts.delivered) +
                     " delivered, " + std::to_string(counts.not_written) + " not written, " +
                     std::to_string(counts.unknown) + " unknown";
  if (summary.bad_lines > 0)
    text += ", " + counted(summary.bad_lines, "bad line", "bad lines") + " skipped";
  text += summary.interrupted ? " (interrupted)\n" : "\n";
  for (const failure_reason& reason : summary.ledger.reasons) text += reason_line(reason);
  if (per_partition)
    for (const partition_counts& each : summary.ledger.partitions) text += partition_line(each);
  return text;
}

std::string summary_json(const run_summary& summary) {
  const tally& counts = summary.ledger.counts;
  ordered_json json;
  json["records"] = summary.accepted;
  json["delivered"] = counts.delivered;
  json["not_written"] = counts.not_written;
  json["unknown"] = counts.unknown;
  json["bad_lines"] = summary.bad_lines;
  if (summary.first_failed_line != 0) json["first_failed_line"] = summary.first_failed_line;
  json["halted"] = summary.ledger.halted;
  json["interrupted"] = summary.interrupted;
  if (!summary.unreachable.empty()) json["unreachable"] = summary.unreachable;
  json["seconds"] = static_cast<double>(summary.elapsed.count()) / 1000;
  json["exit_code"] = static_cast<int>(summary.exit_code);
  json["partitions"] = ordered_json::array();
  for (const partition_counts& each : summary.ledger.partitions) {
    ordered_json row;
    row["topic"] = each.topic;
    if (each.partition.known())
      row["partition"] = each.partition.value;
    else
      row["partition"] = nullptr;
    row["delivered"] = each.counts.delivered;
    row["not_written"] = each.counts.not_written;
    row["unknown"] = each.counts.unknown;
    if (each.first.known()) {
      row["first_offset"] = each.first.value;
      row["last_offset"] = each.last.value;
    }
    json["partitions"].push_back(std::move(row));
  }
  json["reasons"] = ordered_json::array();
  for (const failure_reason& each : summary.ledger.reasons) {
    ordered_json& row = json["reasons"].emplace_back();
    row["fate"] = each.unknown ? "unknown" : "not_written";
    row["text"] = each.text;
    row["count"] = each.count;
    if (!each.first_detail.empty()) row["first_detail"] = each.first_detail;
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace partita::cli
