#include "api/cli/command_line.hpp"

#include "api/cli/nearest_word.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <vector>

namespace partita::cli {
namespace {

std::vector<std::string> commands_of(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](CLI::App*) { return true; }))
    names.push_back(each->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* each : app.get_options())
    for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& each : words) text += (text.empty() ? "" : ", ") + each;
  return text;
}

CLI::App* command_at(CLI::App& app) {
  CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return at;
}

}  // namespace

std::string unknown_command(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* at = &app;
  for (const std::string& word : words) {
    const std::vector<std::string> known = commands_of(*at);
    if (known.empty() || word.starts_with('-')) return {};
    if (std::find(known.begin(), known.end(), word) != known.end()) {
      at = at->get_subcommand(word);
      continue;
    }
    const std::string nearest = nearest_word(word, known);
    return "no command '" + word + "'; " +
           (nearest.empty() ? "there are " + joined(known) : "the nearest is '" + nearest + "'");
  }
  return {};
}

std::string explain(CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return error.what();
  // The error itself has them the wrong way round.
  const std::vector<std::string> surplus = app.remaining(true);
  std::string text = surplus.size() == 1 ? "not expected: " : "not expected, in this order: ";
  text += joined(surplus);
  for (const std::string& word : surplus) {
    if (!word.starts_with("--")) continue;
    const std::string name = word.substr(0, word.find('='));
    const std::string nearest = nearest_word(name, options_of(*command_at(app)));
    if (!nearest.empty()) return text + "; the nearest is '" + nearest + "'";
  }
  return text;
}

std::vector<std::string> with_help_as_option(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

std::string command_in_use(CLI::App& app) {
  std::string text = app.get_name();
  for (CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    text += " " + at->get_name();
  }
  return text;
}

}  // namespace partita::cli
