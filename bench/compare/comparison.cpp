#include "bench/compare/comparison.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace partita::bench {
namespace {

const measured_case cases[] = {
    {{"compile"}, &compile_time},
    {{"P1", "P2", "P3", "P4"}, &flat_out},
    {{"P5"}, &steady_rates},
    {{"P6"}, &awaiting},
    {{"P7", "round_trip"}, &round_trip},
    {{"saturated"}, &saturated},
    {{"heap"}, &heap},
    {{"P8", "pipelining"}, &pipelining},
    {{"P9"}, &many_partitions},
    {{"P10"}, &one_silent},
    {{"P11"}, &codecs},
    {{"P12"}, &real_brokers},
};

std::string line_of(const words& command) {
  std::string line;
  for (const std::string& word : command) line += word.substr(0, 200) + " ";
  return line;
}

}  // namespace

comparison::comparison(settings options) : options_(std::move(options)) {
  std::vector<client> all{{"partita", {program("load_partita")}}};
  if (::access(program("load_rdkafka").c_str(), X_OK) == 0)
    all.push_back({"librdkafka", {program("load_rdkafka")}});
  else
    std::printf("librdkafka is left out: its header was not found\n");
  for (client& each : options_.clients) all.push_back(std::move(each));
  options_.clients = std::move(all);
}

bool comparison::wanted(std::string_view name) const {
  return std::find(options_.only.begin(), options_.only.end(), name) != options_.only.end();
}

words comparison::command_of(std::string_view name) const {
  for (const client& each : options_.clients)
    if (each.name == name) return each.command;
  return {};
}

int comparison::run_all() {
  for (const std::string& name : options_.only) {
    const auto knows = [&](const measured_case& each) {
      return std::find(each.names.begin(), each.names.end(), name) != each.names.end();
    };
    if (std::none_of(std::begin(cases), std::end(cases), knows)) {
      std::fprintf(stderr, "compare: there is no case '%s'\n", name.c_str());
      return 2;
    }
  }
  for (const auto& [names, run_case] : cases) {
    if (std::none_of(names.begin(), names.end(), [this](auto name) { return wanted(name); }))
      continue;
    const std::size_t before = tables_.size();
    run_case(*this);
    for (std::size_t i = before; i < tables_.size(); ++i) tables_[i].print();
  }
  if (!options_.json.empty()) write_json();
  if (failed_ || tables_.empty()) return 2;
  bool all_met = true;
  for (const case_table& table : tables_)
    for (const figure& each : table.figures())
      if (each.target.value != 0 && !each.found.empty() && !each.met()) all_met = false;
  return all_met ? 0 : 1;
}

void comparison::fail(const std::string& why) {
  std::fprintf(stderr, "\nfailed: %s\n", why.c_str());
  failed_ = true;
}

values comparison::measure(words command, const words& mode, const cluster* against,
                           const std::string& preload) {
  if (command.empty()) return {};
  command.insert(command.end(), mode.begin(), mode.end());
  if (against != nullptr)
    for (std::string& each : against->options()) command.push_back(std::move(each));
  const bool counted = against != nullptr && against->counts();
  const std::uint64_t before = counted ? against->records() : 0;
  // librdkafka 2.0.2 was seen to leave a record in its queue for ever, with linger.ms=0.
  const finished result = run(command, preload, counted ? 120 : 600);
  if (!result.good) {
    fail(line_of(command));
    return {};
  }
  values told = parse(result.output);
  const auto answered = told.find("answered");
  if (counted && answered != told.end() &&
      static_cast<std::uint64_t>(answered->second) != against->records() - before) {
    fail(line_of(command) + "\n" + std::to_string(answered->second) + " answered, " +
         std::to_string(against->records() - before) + " appended");
    return {};
  }
  return told;
}

std::map<std::string, values> comparison::measure_round(int round, const words& mode,
                                                        const cluster& against, case_table& into,
                                                        const std::vector<std::string>& of) {
  std::map<std::string, values> found;
  const std::size_t count = options_.clients.size();
  for (std::size_t i = 0; i < count; ++i) {
    const client& each = options_.clients[(i + static_cast<std::size_t>(round)) % count];
    if (!of.empty() && std::find(of.begin(), of.end(), each.name) == of.end()) continue;
    found[each.name] = measure(each.command, mode, &against);
  }
  for (const client& each : options_.clients)
    if (const auto at = found.find(each.name); at != found.end()) into.take(each.name, at->second);
  return found;
}

void comparison::write_json() const {
  std::FILE* const file = std::fopen(options_.json.c_str(), "w");
  if (file == nullptr) return std::perror(options_.json.c_str());
  std::fputs("[", file);
  const char* separator = "\n";
  for (const case_table& table : tables_) {
    std::fputs(std::exchange(separator, ",\n"), file);
    table.write_json(file);
  }
  std::fputs("\n]\n", file);
  std::fclose(file);
}

}  // namespace partita::bench
