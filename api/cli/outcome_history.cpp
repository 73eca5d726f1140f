#include "api/cli/outcome_history.hpp"

#include "api/cli/command_object.hpp"
#include "api/cli/jsonl.hpp"
#include "api/cli/unrepeated_json.hpp"

#include <optional>
#include <utility>

namespace partita::cli {
namespace {

using nlohmann::json;
using testing::produced_record;

std::string at_line(std::size_t number, const std::string& what) {
  return "line " + std::to_string(number) + ": " + what;
}

// Calls `read` for every line that is not blank; its first error ends it.
template <class Read>
std::string each_line(std::istream& from, Read&& read) {
  std::string line;
  for (std::size_t number = 1; std::getline(from, line); ++number) {
    if (is_blank(line)) continue;
    if (const auto wrong = read(line, number); !wrong.empty()) return at_line(number, wrong);
  }
  return from.bad() ? "can not be read to its end" : "";
}

owned_record owned(const input_record& from) {
  owned_record made;
  made.topic = from.topic.value_or("");
  made.key = from.key;
  made.value = from.value;
  for (const auto& header : from.headers) made.headers.push_back({header.key, header.value});
  if (from.partition) made.partition = *from.partition;
  if (from.timestamp) made.timestamp = *from.timestamp;
  return made;
}

// A member of this name, if it is a text.
std::optional<std::string> text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

template <class Id>
std::optional<Id> id_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return Id{found->get<typename Id::rep>()};
}

outcome failure_of(fate what, const json& line) {
  failed made{what, {}, {}};
  if (const auto partition = id_of<partition_id>(line, "partition")) made.partition = *partition;
  return made;
}

// What the line says became of the record; nothing when it says nothing new.
std::string answer_of(const json& line, const std::string& said, std::optional<outcome>& answer) {
  if (said == "delivered") {
    delivered made{};
    const auto partition = id_of<partition_id>(line, "partition");
    if (!partition) return "delivered without partition";
    made.partition = *partition;
    made.offset = id_of<offset>(line, "offset");
    if (made.offset ? made.offset->value < 0 : line.contains("offset") && !line["offset"].is_null())
      return "\"offset\" is neither null nor a whole number from 0 on";
    answer.emplace(made);
  } else if (said == "not_written" || said == "never_written") {
    answer.emplace(failure_of(fate::not_written, line));
  } else if (said == "unknown") {
    answer.emplace(failure_of(fate::unknown, line));
  } else if (said != "undecidable") {
    return "\"" + said + "\" is no outcome";
  }
  return "";
}

}  // namespace

produced_record* outcome_history::named(const std::string& name) {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &records_[found->second];
}

std::string outcome_history::read_commands(std::istream& from) {
  bool destroyed = false;
  return each_line(from, [&](const std::string& line, std::size_t number) -> std::string {
    drive_command command;
    const auto wrong = parse_drive_command(line, command);
    const bool produces = command.verb == "produce" || command.verb == "produce_batch";
    const auto where = "line " + std::to_string(number) + ": ";
    if (!wrong.empty() && (produces || command.verb.empty())) {
      notes_.push_back(where + wrong + "; nothing was produced");
      return "";
    }
    destroyed = destroyed || (wrong.empty() && command.action == drive_action::destroy);
    if (!produces) return "";
    if (destroyed)
      notes_.push_back(where + "the producer was destroyed; nothing was produced");
    else if (command.verb == "produce")
      take_record(command.records.front(), 0, where);
    else
      take_batch(command, where);
    return "";
  });
}

void outcome_history::take_batch(const drive_command& batch, const std::string& where) {
  for (const auto& one : batch.records) {
    const bool differs = one.deadline != batch.records.front().deadline;
    if (!differs && named(one.name) == nullptr) continue;
    notes_.push_back(where +
                     (differs ? "the records of a batch have one deadline"
                              : "the name " + one.name + " is taken") +
                     "; none of them was produced");
    return;
  }
  const auto send = batch.records.size() > 1 ? ++last_send_ : 0;
  for (const auto& one : batch.records) take_record(one, send, where);
}

void outcome_history::take_record(const named_record& one, std::uint64_t send,
                                  const std::string& where) {
  if (!names_.emplace(one.name, records_.size()).second) {
    notes_.push_back(where + "the name " + one.name + " is taken; this record was not produced");
    return;
  }
  auto& made = records_.emplace_back();
  made.record = owned(one.content);
  made.order = records_.size();
  made.client_timestamp = one.content.timestamp.has_value();
  made.send = send;
}

std::string outcome_history::read_outcome(std::string_view text, const std::string& default_topic) {
  json line;
  if (auto wrong = parse_unrepeated(text, line); !wrong.empty()) return wrong;
  if (!line.is_object()) return "not a JSON object";
  const auto event = text_of(line, "event").value_or("");
  if (event != "outcome" && event != "settled") return "";
  const auto name = text_of(line, "name");
  if (!name) return "no name";
  std::optional<outcome> answer;
  const auto said = text_of(line, event == "outcome" ? "outcome" : "verdict");
  if (!said) return "no outcome";
  if (const auto wrong = answer_of(line, *said, answer); !wrong.empty()) return wrong;
  auto* record = named(*name);
  if (record == nullptr) {
    if (event != "outcome") return "settled, and never answered: " + *name;
    names_.emplace(*name, records_.size());
    record = &records_.emplace_back();
    record->order = records_.size();
    record->client_timestamp = false;
    record->record.topic = text_of(line, "topic").value_or(default_topic);
    record->record.key = text_of(line, "key");
    record->record.value = line.contains("value") ? text_of(line, "value") : name;
    if (const auto partition = id_of<partition_id>(line, "partition"))
      record->record.partition = *partition;
  }
  if (record->record.topic.empty())
    return "no topic is known of " + *name + ": give the commands (--commands) or -t";
  if (!answer) return "";
  const bool again = event == "settled" || line.value("resubmitted", false);
  if (again && !record->answers.empty()) record->answers.pop_back();
  record->failed_before = record->failed_before || again;
  record->answers.push_back(std::move(*answer));
  return "";
}

std::string outcome_history::read_outcomes(std::istream& from, const std::string& default_topic) {
  return each_line(from, [&](const std::string& line, std::size_t) {
    return read_outcome(line, default_topic);
  });
}

}  // namespace partita::cli
