#include "integration/shared_cluster.hpp"

#include "integration/foreign_readers.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace partita::testing {
namespace {

struct shared_state {
  int brokers = 1;
  std::vector<std::string> settings;
  std::unique_ptr<scratch_directory> logs;
  std::optional<kafka_cluster> cluster;
};

shared_state& state() {
  static shared_state only;
  return only;
}

class cluster_end final : public ::testing::Environment {
 public:
  void TearDown() override {
    state().cluster.reset();
    state().logs.reset();
  }
};

}  // namespace

shared_cluster::shared_cluster(int brokers, std::vector<std::string> settings) {
  state().brokers = brokers;
  state().settings = std::move(settings);
  ::testing::AddGlobalTestEnvironment(new cluster_end);
}

kafka_cluster& shared_cluster::get() {
  shared_state& shared = state();
  if (!shared.cluster) {
    kafka_options options{kafka_version_under_test(), shared.brokers, shared.settings};
    if (shared.brokers == 1) {
      shared.logs = std::make_unique<scratch_directory>();
      options.settings.push_back("log.dirs=" + shared.logs->path() + "/logs");
    }
    shared.cluster.emplace(options);
  }
  return *shared.cluster;
}

const std::string& shared_cluster::log_directory() {
  static std::string directory;
  get();
  if (state().logs) directory = state().logs->path() + "/logs";
  return directory;
}

}  // namespace partita::testing
