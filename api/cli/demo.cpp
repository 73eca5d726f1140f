#include "api/cli/demo.hpp"

#include "api/cli/connection_options.hpp"
#include "api/cli/delivery_ledger.hpp"
#include "api/cli/counted.hpp"
#include "api/cli/demo_input.hpp"
#include "api/cli/exit_code.hpp"
#include "api/cli/number_option.hpp"
#include "api/cli/printable.hpp"
#include "api/cli/produce_summary.hpp"
#include "api/cli/progress.hpp"
#include "api/cli/wake_up.hpp"

#include <partita/producer.hpp>
#include <partita/testing/checker.hpp>
#include <partita/testing/cluster.hpp>
#include <partita/testing/log_reader.hpp>

#include <CLI/CLI.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace partita::cli {
namespace {

struct demo_options {
  connection_options connection;
  int brokers = 3;
  int partitions = 12;
  std::string file;
  std::string topic = "orders";
};

exit_code fail(const std::string& reason) {
  std::cerr << "partita: " << printable_message(reason) << '\n';
  return exit_code::usage;
}

/// One produced record, and where its answer is counted.
struct counted_record {
  testing::produced_record* record;
  delivery_ledger::topic_entry* topic;
};

class demo_run {
 public:
  demo_run(const demo_options& options, std::string file)
      : options_(options), file_(std::move(file)) {}

  exit_code run() {
    if (std::string error = prepare(); !error.empty()) return fail(error);
    run_summary summary = produce();
    std::cout << summary_text(summary, true) << std::flush;
    if (summary.exit_code != exit_code::ok) std::cout << "FAILED: not everything was delivered\n";
    if (summary.ledger.counts.delivered == 0 || compare()) return summary.exit_code;
    return summary.exit_code == exit_code::ok ? exit_code::usage : summary.exit_code;
  }

 private:
  std::string prepare() {
    display_.emplace(options_.connection.quiet ? progress_display::mode::silent
                                               : progress_display::suitable());
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string run = std::to_string(now.count()) + "-" + std::to_string(::getpid());
    if (std::string error = read_demo_file(file_, options_.topic, run, records_, bytes_);
        !error.empty())
      return error;
    connection_options connection = options_.connection;
    const bool brokers_given = [&] {
      for (const auto& each : connection.settings)
        if (each.key == "bootstrap.servers") return true;
      return false;
    }();
    if (!brokers_given) {
      if (std::string error = start_cluster(); !error.empty()) return error;
      connection.settings.push_back({"bootstrap.servers", cluster_->bootstrap(), "demo"});
    }
    if (std::string error = load_config(connection, config_, *display_); !error.empty())
      return error;
    log_to(config_, *display_);
    return {};
  }

  std::string start_cluster() {
    testing::cluster_options cluster;
    cluster.brokers = options_.brokers;
    cluster_ = std::make_unique<testing::loopback_cluster>(cluster);
    if (const std::error_code error = cluster_->listening())
      return "the embedded brokers can't listen: " + error.message();
    const auto made = cluster_->create_topic(options_.topic, {.partitions = options_.partitions});
    if (made != broker_errc::none)
      return "--topic: '" + printable_message(options_.topic) +
             "': " + make_error_code(made).message();
    std::cout << counted(static_cast<std::uint64_t>(options_.brokers), "embedded broker",
                         "embedded brokers")
              << " at " << cluster_->bootstrap() << '\n';
    return {};
  }

  run_summary produce() {
    std::cout << "producing " << counted(records_.size(), "record", "records") << " of " << file_
              << " to " << options_.topic << std::endl;
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::steady_clock::now() - begin);
    };
    wake_up waker;
    delivery_ledger ledger;
    producer_ = std::make_unique<producer>(config_);
    send(ledger);
    std::atomic<bool> flushed{false};
    producer_->flush().then([&](const tally&) {
      flushed = true;
      waker.wake();
    });
    while (!flushed && waker.interrupts() == 0) {
      display_->update({bytes_, bytes_, records_.size(), ledger.counts(), elapsed()});
      waker.wait(-1, display_->interval());
    }
    producer_.reset();  // answers what an interrupt left
    display_->finish();
    run_summary summary;
    summary.ledger = ledger.view();
    summary.accepted = records_.size();
    summary.elapsed = elapsed();
    summary.interrupted = waker.interrupts() > 0;
    run_facts facts{summary.ledger.counts};
    facts.interrupted = summary.interrupted;
    facts.denied = summary.ledger.denied;
    facts.halted = summary.ledger.halted;
    facts.unreachable = summary.ledger.unreachable && facts.counts.delivered == 0;
    summary.exit_code = exit_code_of(facts);
    return summary;
  }

  void send(delivery_ledger& ledger) {
    delivery_ledger::topic_entry& topic = ledger.topic(options_.topic);
    counted_.reserve(records_.size());
    std::vector<header> headers;
    for (testing::produced_record& each : records_) {
      counted_record* counted = &counted_.emplace_back(counted_record{&each, &topic});
      headers.clear();
      for (const owned_header& one : each.record.headers) headers.push_back({one.key, one.value});
      record what{.topic = each.record.topic, .key = each.record.key, .value = each.record.value};
      what.headers = headers;
      if (each.client_timestamp) what.timestamp = each.record.timestamp;
      producer_->produce(what, [counted](const outcome& answer) {
        counted->record->answers.push_back(answer);
        counted->topic->ledger->answered(*counted->topic, answer);
      });
    }
  }

  /// The log against the answers: each delivered record once, at its offset, with its key, value
  /// and headers; nothing else of this run; per partition in the order of the file.
  bool compare() {
    testing::log_reader reader(config_.bootstrap_servers);
    std::vector<partition_id> partitions;
    testing::read_end end = reader.partitions(options_.topic, partitions);
    std::vector<testing::partition_history> logs;
    std::size_t read = 0;
    for (std::size_t i = 0; end.ok() && i < partitions.size(); ++i) {
      testing::partition_history& log =
          logs.emplace_back(testing::partition_history{options_.topic, partitions[i], {}});
      end = reader.read(options_.topic, partitions[i],
                        [&](const testing::log_record& each) { log.log.push_back(each); });
      read += log.log.size();
    }
    if (!end.ok()) {
      std::cout << "FAILED: the log can't be read back: "
                << (end.text.empty() ? end.error.message() : end.text) << '\n';
      return false;
    }
    const testing::check_options rules{.order = true, .others_may_write = cluster_ == nullptr};
    const std::vector<testing::anomaly> anomalies = testing::check(records_, logs, rules);
    std::cout << "read back " << counted(read, "record", "records") << " of "
              << counted(partitions.size(), "partition", "partitions") << '\n';
    if (!anomalies.empty()) {
      std::cout << testing::report(anomalies) << "FAILED: the log contradicts the answers\n";
      return false;
    }
    std::cout << "OK: the log holds every delivered record once, at its offset, in order\n";
    return true;
  }

  const demo_options& options_;
  const std::string file_;
  std::optional<progress_display> display_;
  std::unique_ptr<testing::loopback_cluster> cluster_;
  producer_config config_;
  std::size_t bytes_ = 0;
  std::vector<testing::produced_record> records_;
  std::vector<counted_record> counted_;
  std::unique_ptr<producer> producer_;
};

exit_code demo(const demo_options& options) {
  const std::string file = options.file.empty() ? find_demo_file() : options.file;
  if (file.empty()) return fail("examples/data/orders.jsonl is not here; name a file by --file");
  return demo_run(options, file).run();
}

}  // namespace

void add_demo_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "demo", "Starts embedded brokers, produces a file, reads the log back and compares");
  auto options = std::make_shared<demo_options>();
  add_connection_options(*command, options->connection);
  add_number_option(*command, "--brokers", options->brokers, {1, 16},
                    "embedded brokers, unless -b names real ones")
      ->default_str("3");
  add_number_option(*command, "--partitions", options->partitions, {1, 1000},
                    "of the topic on embedded brokers")
      ->default_str("12");
  add_file_option(*command, options->file, "jsonl; default: examples/data/orders.jsonl");
  command->add_option("-t,--topic", options->topic, "topic")->capture_default_str();
  command->callback([options, &exit_code] { exit_code = static_cast<int>(demo(*options)); });
}

}  // namespace partita::cli
