// Faults of topics, rights and producer ids.
#include "tests/simulate/weather.hpp"

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace partita::simulate {
namespace {

using std::chrono::milliseconds;
using testing::right;

constexpr std::array all_rights{right::write, right::read, right::describe,
                                right::idempotent_write};

}  // namespace

void weather::strike_topics() {
  const place where = any_place();
  const std::string topic = subject::topic_name(where.first);
  if (gone_.contains(where.first)) return;
  if (draws_.chance(0.2)) return delete_topic(where.first);
  if (draws_.chance(0.3)) {
    struck(fault_kind::grown, topic);
    cluster().add_partitions(topic, plan_.partitions[static_cast<std::size_t>(where.first)] + 1);
    return;
  }
  const std::string limit = std::to_string(100 + draws_.below(400));
  struck(fault_kind::limited, topic + " to " + limit);
  cluster().alter_topic(topic, "max.message.bytes", limit);
  later(between(20, 3000),
        [this, topic] { cluster().alter_topic(topic, "max.message.bytes", std::nullopt); });
}

/// What it held is kept for the judge.
void weather::delete_topic(int topic) {
  const std::string name = subject::topic_name(topic);
  struck(fault_kind::made_again, name);
  const int partitions = plan_.partitions[static_cast<std::size_t>(topic)];
  for (int index = 0; index < partitions; ++index)
    former_[{topic, index}].push_back(log_of({topic, index}));
  for (int index = 0; index < partitions; ++index) compacted_.erase({topic, index});
  cluster().delete_topic(name);
  gone_.insert(topic);
  later(between(0, 4000), [this] { make_again(); });
}

void weather::make_again() {
  for (const int topic : std::exchange(gone_, {})) {
    testing::topic_options made;
    made.partitions = plan_.partitions[static_cast<std::size_t>(topic)];
    cluster().create_topic(subject::topic_name(topic), made);
  }
}

/// Brokers clean by themselves, whatever else strikes.
void weather::compact_now_and_then() {
  later(milliseconds{200 + cleaner_draws_.below(4000)}, [this] {
    compact();
    compact_now_and_then();
  });
}

void weather::compact() {
  const int topic = static_cast<int>(cleaner_draws_.below(plan_.partitions.size()));
  const auto count = static_cast<std::uint64_t>(plan_.partitions[static_cast<std::size_t>(topic)]);
  const place where{topic, static_cast<int>(cleaner_draws_.below(count))};
  const std::string name = subject::topic_name(topic);
  const auto view = cluster().view(name, where.second);
  if (!view) return;  // it is deleted at the moment
  std::optional<offset> before;
  if (cleaner_draws_.chance(0.5))
    before = static_cast<std::int64_t>(
        cleaner_draws_.below(static_cast<std::uint64_t>(view->log_end.value) + 1));
  const auto removed = cluster().compact(name, where.second, before);
  if (removed.empty()) return;
  struck(fault_kind::compacted, name + "-" + std::to_string(where.second) + ", " +
                                    std::to_string(removed.size()) + " records from offset " +
                                    std::to_string(removed.front().offset.value));
  auto& all = compacted_[where];
  all.insert(all.end(), removed.begin(), removed.end());
}

/// A replica that was away may still hold what was taken out of the others.
std::vector<testing::log_record> weather::log_of(place where) {
  std::map<std::int64_t, testing::log_record> all;
  for (const auto& each : compacted_[where]) all.emplace(each.offset.value, each);
  for (auto& each : cluster().log(subject::topic_name(where.first), where.second))
    all.insert_or_assign(each.offset.value, std::move(each));
  std::vector<testing::log_record> whole;
  for (auto& [offset, each] : all) whole.push_back(std::move(each));
  return whole;
}

void weather::strike_rights() {
  const std::string topic = subject::topic_name(any_place().first);
  const right what = all_rights[draws_.below(all_rights.size())];
  struck(fault_kind::denied, topic + " right " + std::to_string(static_cast<int>(what)));
  const bool named = what != right::idempotent_write;
  cluster().deny(what, named ? topic : std::string());
  later(between(20, 5000),
        [this, what, named, topic] { cluster().allow(what, named ? topic : std::string()); });
}

void weather::allow_everything() {
  for (std::size_t topic = 0; topic < plan_.partitions.size(); ++topic)
    for (const right each : all_rights)
      cluster().allow(each, subject::topic_name(static_cast<int>(topic)));
  cluster().allow(right::idempotent_write);
}

/// InitProducerId is refused, or not answered.
void weather::withhold_ids() {
  constexpr std::array codes{broker_errc::coordinator_load_in_progress,
                             broker_errc::not_coordinator, broker_errc::coordinator_not_available,
                             broker_errc::unknown_server_error,
                             broker_errc::cluster_authorization_failed};
  testing::api_fault made;
  made.api = testing::api::init_producer_id;
  made.code = codes[draws_.below(codes.size())];
  made.times = 1 + static_cast<int>(draws_.below(3));
  if (draws_.chance(0.3)) made.reply = testing::reply::never;
  struck(fault_kind::no_id, std::to_string(static_cast<int>(made.code)));
  cluster().inject(made);
}

}  // namespace partita::simulate
