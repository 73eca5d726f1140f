#include "api/cli/doctor.hpp"

#include "api/cli/connection_options.hpp"
#include "api/cli/doctor_steps.hpp"
#include "api/cli/number_option.hpp"
#include "api/cli/printable.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace partita::cli {
namespace {

struct doctor_options {
  connection_options connection;
  std::string topic;
  std::int64_t limit_ms = 1'500;
  bool json = false;
};

/// Prints verdicts as they come. The first failed step decides how the run ends.
class doctor_report {
 public:
  explicit doctor_report(bool json) : json_(json) {}

  bool add(const step_verdict& told) {
    print(told, "FAILED");
    if (!told.good && code_ == exit_code::ok) code_ = told.code;
    return told.good;
  }
  void warn(const step_verdict& told) { print(told, "warning"); }
  [[nodiscard]] exit_code code() const noexcept { return code_; }

 private:
  void print(const step_verdict& told, const char* when_bad) {
    if (json_) {
      nlohmann::ordered_json line{{"step", told.step}, {"ok", told.good}, {"saw", told.saw}};
      if (!told.good) line["hint"] = told.hint;
      if (!told.good) line["warning"] = when_bad[0] == 'w';
      std::printf(
          "%s\n",
          line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
    } else {
      std::printf("%-8s%-15s%s\n", told.good ? "ok" : when_bad, told.step.c_str(),
                  printable_message(told.saw).c_str());
      if (!told.good) std::printf("        hint: %s\n", printable_message(told.hint).c_str());
    }
    std::fflush(stdout);
  }

  const bool json_;
  exit_code code_ = exit_code::ok;
};

/// Looks at the servers one after the other. A step is told when it is known, but for one that
/// failed on the way to a broker: where another server answers it is beside the point, and which it
/// is shows with that answer, or behind the last server.
class server_round {
 public:
  server_round(const doctor_options& options, doctor_report& report)
      : options_(options), report_(report) {}

  void examine(const broker_address& at) {
    const std::chrono::milliseconds limit(options_.limit_ms);
    if (!on_the_way(look_up_name(at)) || !on_the_way(open_connection(at, limit))) return;
    testing::topic_description topic;
    const std::vector<step_verdict> told = ask_about_topic(at, options_.topic, limit, topic);
    if (!told.front().good) {
      on_the_way(told.front());
      return;
    }
    any_answers_ = true;
    for (const step_verdict& each : std::exchange(undecided_, {})) report_.warn(each);
    for (const step_verdict& each : told) report_.add(each);
    if (told.back().good && !topic_) topic_ = std::move(topic);
  }

  /// What the first broker that knows the topic has told.
  std::optional<testing::topic_description> end() {
    for (const step_verdict& each : std::exchange(undecided_, {})) report_.add(each);
    return std::move(topic_);
  }

 private:
  bool on_the_way(const step_verdict& told) {
    if (told.good)
      report_.add(told);
    else if (any_answers_)
      report_.warn(told);
    else
      undecided_.push_back(told);
    return told.good;
  }

  const doctor_options& options_;
  doctor_report& report_;
  std::vector<step_verdict> undecided_;
  bool any_answers_ = false;
  std::optional<testing::topic_description> topic_;
};

exit_code examine(const doctor_options& options) {
  progress_display display(progress_display::mode::silent);
  doctor_report report(options.json);
  producer_config config;
  if (const std::string wrong = load_config(options.connection, config, display); !wrong.empty()) {
    report.add({"configuration", false, wrong,
                config.bootstrap_servers.empty()
                    ? "-b HOST:PORT names a broker, so does $KAFKA_BOOTSTRAP_SERVERS"
                    : "`partita produce` refuses it as well",
                exit_code::usage});
    return report.code();
  }
  report.add({"configuration", true, config.bootstrap_servers, {}, exit_code::ok});
  if (const std::string wrong = wrong_topic(options.topic); !wrong.empty()) {
    report.add(
        {"topic", false, wrong,
         "no broker takes such a name: look at its spelling, and at quotes and blanks in the "
         "shell",
         exit_code::usage});
    return report.code();
  }
  server_round servers(options, report);
  for (const broker_address& each : split_addresses(config.bootstrap_servers))
    servers.examine(each);
  const auto found = servers.end();
  if (!found) return report.code();
  const std::chrono::milliseconds limit(options.limit_ms);
  if (report.add(reach_leaders(*found, options.topic, limit)))
    report.add(judge_write_right(*found, options.topic));
  return report.code();
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("doctor", "Says what keeps a topic from being produced to, step by step");
  auto options = std::make_shared<doctor_options>();
  add_connection_options(*command, options->connection);
  command->add_option("-t,--topic", options->topic, "topic that is to be produced to")->required();
  add_number_option(*command, "--timeout", options->limit_ms, {1, 600'000},
                    "milliseconds for one step (1500)");
  command->add_flag("--json", options->json, "one JSON object a step");
  command->footer(
      R"(Looks at the configuration; then for each server of -b at the name, the connection, the
protocol and the topic; then at the leaders of the topic and at the right to write it. Nothing is
written. Of several servers one has to answer: another that does not is a warning.

Exit code, of the first step that failed
  1 configuration, topic   5 not authorised   6 name, connection, protocol, leaders
  0 none failed)");
  command->callback([options, &exit_code] { exit_code = static_cast<int>(examine(*options)); });
}

}  // namespace partita::cli
