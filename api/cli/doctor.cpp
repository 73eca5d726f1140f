#include "api/cli/doctor.hpp"

#include "api/cli/connection_options.hpp"
#include "api/cli/doctor_steps.hpp"
#include "api/cli/number_option.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <string>
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
    if (json_) {
      nlohmann::ordered_json line{{"step", told.step}, {"ok", told.good}, {"saw", told.saw}};
      if (!told.good) line["hint"] = told.hint;
      std::printf(
          "%s\n",
          line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
    } else {
      std::printf("%-8s%-15s%s\n", told.good ? "ok" : "FAILED", told.step.c_str(),
                  told.saw.c_str());
      if (!told.good) std::printf("        hint: %s\n", told.hint.c_str());
    }
    std::fflush(stdout);
    if (!told.good && code_ == exit_code::ok) code_ = told.code;
    return told.good;
  }
  [[nodiscard]] exit_code code() const noexcept { return code_; }

 private:
  const bool json_;
  exit_code code_ = exit_code::ok;
};

/// True: this server has told about the topic.
bool examine_server(const broker_address& at, const doctor_options& options, doctor_report& report,
                    testing::topic_description& found) {
  const std::chrono::milliseconds limit(options.limit_ms);
  if (!report.add(look_up_name(at)) || !report.add(open_connection(at, limit))) return false;
  bool good = true;
  for (const step_verdict& each : ask_about_topic(at, options.topic, limit, found))
    good = report.add(each) && good;
  return good;
}

exit_code examine(const doctor_options& options) {
  progress_display display(progress_display::mode::silent);
  doctor_report report(options.json);
  producer_config config;
  if (const std::string wrong = load_config(options.connection, config, display); !wrong.empty()) {
    report.add(
        {"configuration", false, wrong, "`partita produce` refuses it as well", exit_code::usage});
    return report.code();
  }
  report.add({"configuration", true, config.bootstrap_servers, {}, exit_code::ok});
  testing::topic_description found;
  bool told = false;
  for (const broker_address& each : split_addresses(config.bootstrap_servers)) {
    testing::topic_description here;
    if (!examine_server(each, options, report, here)) continue;
    if (!told) found = std::move(here);
    told = true;
  }
  if (!told) return report.code();
  const std::chrono::milliseconds limit(options.limit_ms);
  if (report.add(reach_leaders(found, options.topic, limit)))
    report.add(judge_write_right(found, options.topic));
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
written.

Exit code, of the first step that failed
  1 configuration, topic   5 not authorised   6 name, connection, protocol, leaders
  0 none failed)");
  command->callback([options, &exit_code] { exit_code = static_cast<int>(examine(*options)); });
}

}  // namespace partita::cli
