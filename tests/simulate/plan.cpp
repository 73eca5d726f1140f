#include "tests/simulate/plan.hpp"

#include <algorithm>
#include <chrono>

namespace partita::simulate {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using testing::seeded_draws;

struct group_row {
  fault_group group;
  int number;
  std::string_view name;
};

constexpr std::array<group_row, fault_groups> groups{{
    {fault_group::codes, 1, "codes"},
    {fault_group::responses, 2, "responses"},
    {fault_group::sockets, 3, "sockets"},
    {fault_group::brokers, 4, "brokers"},
    {fault_group::leaders, 5, "leaders"},
    {fault_group::producers, 6, "producers"},
    {fault_group::topics, 7, "topics"},
    {fault_group::rights, 8, "rights"},
    {fault_group::clocks, 11, "clocks"},
    {fault_group::memory, 12, "memory"},
    {fault_group::hooks, 13, "hooks"},
    {fault_group::cancellation, 14, "cancellation"},
    {fault_group::closing, 15, "closing"},
    {fault_group::swizzle, 16, "swizzle"},
    {fault_group::compaction, 17, "compaction"},
}};

/// Between `low` and `high`, both included.
std::int64_t between(seeded_draws& draws, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(draws.below(static_cast<std::uint64_t>(high - low + 1)));
}

template <class Value, std::size_t Size>
Value pick(seeded_draws& draws, const std::array<Value, Size>& values) {
  return values[draws.below(Size)];
}

void draw_faults(plan& made, seeded_draws& draws, std::string_view profile) {
  constexpr auto drawn = static_cast<std::size_t>(fault_group::compaction);  // see below
  const auto one_group = [&] { made.faults.set(draws.below(drawn)); };
  const auto swarm = [&] {
    for (std::size_t i = 0; i < drawn; ++i)
      if (draws.chance(0.45)) made.faults.set(i);
  };
  if (profile == "mixed") {
    const double kind = draws.unit();
    if (kind < 0.05) return;
    if (kind < 0.40) return one_group();
    return swarm();
  }
  if (profile == "alone") return one_group();
  if (profile == "swarm") return swarm();
  for (std::size_t i = 0; i < fault_groups; ++i)
    if (groups[i].name == profile) made.faults.set(i);
}

/// By draws of its own, so that the histories without it are those that they were before there was
/// compaction.
void draw_compaction(plan& made, std::string_view profile) {
  seeded_draws draws(made.seed * 0x9e3779b97f4a7c15U + 29);
  const bool any = profile == "mixed" || profile == "alone" || profile == "swarm";
  if (any && made.faults.any() && draws.chance(0.2))
    made.faults.set(static_cast<std::size_t>(fault_group::compaction));
}

producer_config draw_config(const plan& made, seeded_draws& draws) {
  producer_config config;
  config.request_timeout = milliseconds{between(draws, 500, 3000)};
  config.delivery_timeout = milliseconds{between(draws, 3000, 12000)};
  config.max_block = milliseconds{between(draws, 1000, 8000)};
  config.batch_size_bytes = static_cast<std::size_t>(between(draws, 200, 3000));
  config.batch_records_max = static_cast<int>(draws.chance(0.4) ? between(draws, 1, 3) : 10'000);
  config.linger = milliseconds{draws.chance(0.4) ? 0 : between(draws, 1, 12)};
  config.delivery_timeout =
      std::max(config.delivery_timeout,
               std::chrono::ceil<milliseconds>(config.linger) + config.request_timeout);
  config.max_in_flight = static_cast<int>(draws.chance(0.5) ? 5 : between(draws, 1, 5));
  config.retry_backoff = milliseconds{between(draws, 10, 200)};
  config.retry_backoff_max = milliseconds{between(draws, 200, 1000)};
  config.reconnect_backoff = milliseconds{between(draws, 10, 100)};
  config.reconnect_backoff_max = milliseconds{between(draws, 100, 1000)};
  config.metadata_max_age = milliseconds{draws.chance(0.3) ? between(draws, 2000, 20000) : 300'000};
  constexpr std::array policies{failure_policy::halt_key,       failure_policy::halt_key,
                                failure_policy::halt_partition, failure_policy::halt_partition,
                                failure_policy::skip,           failure_policy::fail_following};
  config.on_failure = pick(draws, policies);
  if (draws.chance(0.3)) config.while_halted = while_halted::hold;
  constexpr std::array codecs{compression::none, compression::none, compression::none,
                              compression::none, compression::lz4,  compression::snappy,
                              compression::gzip, compression::zstd};
  config.compression = pick(draws, codecs);
  if (config.compression == compression::zstd) config.compression_level = 1;
  config.enable_idempotence = !draws.chance(0.06);
  if (draws.chance(0.3)) config.retries = static_cast<int>(between(draws, 1, 6));
  // acks=1 promises nothing where a leader may go before its followers have the record.
  const bool leaders_stay = !has(made, fault_group::brokers) && !has(made, fault_group::leaders) &&
                            !has(made, fault_group::topics);
  if (!config.enable_idempotence && leaders_stay && draws.chance(0.5))
    config.acks = draws.chance(0.5) ? acks::leader : acks::none;
  config.new_producer_id_instead_of_bump = draws.chance(0.1);
  config.socket_nagle_disable = true;
  config.log_level = 0;
  if (has(made, fault_group::memory))
    config.buffer_memory_bytes =
        config.batch_size_bytes + static_cast<std::size_t>(between(draws, 1000, 9000));
  // A broker that forgets after a minute is told of: the horizon lies well below.
  if (made.expiring_state) config.state_horizon = milliseconds{20'000};
  return config;
}

/// Old records, and frames that are executed late, are met in turn: see oldest_record().
void draw_promptness(plan& made, seeded_draws& draws) {
  const bool old = has(made, fault_group::clocks) || has(made, fault_group::producers);
  made.prompt = old && draws.chance(0.5);
  if (!made.prompt) return;
  for (const fault_group each : {fault_group::brokers, fault_group::swizzle})
    made.faults.reset(static_cast<std::size_t>(each));
  made.expiration_check = milliseconds{between(draws, 20, 2000)};
}

}  // namespace

std::string_view name(fault_group group) noexcept {
  return groups[static_cast<std::size_t>(group)].name;
}

int number(fault_group group) noexcept { return groups[static_cast<std::size_t>(group)].number; }

std::vector<std::string_view> profiles() {
  std::vector<std::string_view> names{"mixed", "calm", "alone", "swarm"};
  for (const group_row& each : groups) names.push_back(each.name);
  return names;
}

std::optional<plan> draw_plan(std::uint64_t seed, std::string_view profile) {
  bool known = false;
  for (const std::string_view each : profiles()) known = known || each == profile;
  if (!known) return std::nullopt;
  seeded_draws draws(seed * 0x9e3779b97f4a7c15U + 17);
  plan made;
  made.seed = seed;
  draw_faults(made, draws, profile);
  draw_compaction(made, profile);
  made.brokers = static_cast<int>(draws.chance(0.15) ? 1 : between(draws, 2, 3));
  const auto topics = draws.chance(0.25) ? 2 : 1;
  for (int i = 0; i < topics; ++i)
    made.partitions.push_back(static_cast<int>(between(draws, 1, 3)));
  made.links.latency_max = std::chrono::microseconds{between(draws, 100, 20'000)};
  made.links.split = draws.chance(0.5) ? 0.2 : 0;
  if (has(made, fault_group::sockets)) {
    made.links.disconnect = draws.chance(0.5) ? draws.unit() * 0.01 : 0;
    if (draws.chance(0.3))
      made.links.send_buffer_bytes = static_cast<std::size_t>(between(draws, 40, 4000));
  }
  // In a storm hardly an attempt gets through, so that records reach their deadlines.
  made.fury = draws.chance(0.3) ? 3 : 1;
  made.steps = static_cast<int>(between(draws, 15, 60));
  made.keys = static_cast<int>(between(draws, 1, 6));
  made.expiring_state = has(made, fault_group::producers) && draws.chance(0.5);
  const int count = draws.chance(0.15) ? 2 : 1;
  for (int i = 0; i < count; ++i)
    made.producers.push_back(
        {draw_config(made, draws), static_cast<int>(draws.chance(0.2) ? 2 : 1)});
  draw_promptness(made, draws);
  return made;
}

std::chrono::milliseconds oldest_record(const plan& what) {
  if (what.prompt) return milliseconds::max();
  for (const fault_group each :
       {fault_group::responses, fault_group::sockets, fault_group::brokers, fault_group::swizzle})
    if (has(what, each)) return what.expiring_state ? 25s : 80'000s;
  return milliseconds::max();
}

}  // namespace partita::simulate
