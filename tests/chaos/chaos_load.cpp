#include "chaos/chaos_load.hpp"

#include <partita/error.hpp>

#include <algorithm>
#include <utility>

namespace partita::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::uint64_t open_max = 3000;
constexpr std::size_t recent_max = 200;

/// The producer keeps it for recover(): it took its turn, and the application did not end it.
bool is_kept(const failed& failure) {
  if (failure.fate != fate::not_written) return false;
  for (const client_errc code :
       {client_errc::halted, client_errc::aborted, client_errc::discarded, client_errc::handed_back,
        client_errc::closed, client_errc::cancelled, client_errc::buffer_full,
        client_errc::admission_timeout, client_errc::metadata_timeout})
    if (failure.code == code) return false;
  return true;
}

producer_config config_of(const load_options& options) {
  producer_config config;
  config.bootstrap_servers = options.bootstrap;
  config.client_id = options.name;
  config.on_failure = options.policy;
  config.delivery_timeout = options.delivery_timeout;
  config.request_timeout = options.delivery_timeout / 4;
  config.max_block = options.delivery_timeout;
  config.linger = 2ms;
  config.retry_backoff = 20ms;
  config.retry_backoff_max = 200ms;
  config.reconnect_backoff = 20ms;
  config.reconnect_backoff_max = 200ms;
  config.metadata_max_age = 2s;
  config.batch_size_bytes = 4000;
  return config;
}

}  // namespace

chaos_load::chaos_load(const load_options& options, chaos_history& history)
    : options_(options),
      history_(history),
      random_(options.seed),
      producer_(config_of(options)),
      thread_([this] { run(); }) {}

chaos_load::~chaos_load() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
}

void chaos_load::run() {
  while (!ends_) {
    produce_some();
    cancel_some();
    pause_some();
    resume_due();
    recover_due();
    std::this_thread::sleep_for(milliseconds(1 + random_() % 6));
  }
}

void chaos_load::produce_some() {
  if (history_.open() > open_max) return;
  const std::size_t count = 1 + random_() % 12;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& topic = options_.topics[random_() % options_.topics.size()];
    const bool keyed = random_() % 20 != 0;
    std::string key;
    if (keyed)
      key = options_.name + "-k" + std::to_string(random_() % static_cast<unsigned>(options_.keys));
    std::string value = options_.name + "." + std::to_string(produced_++);
    const chaos_history::index at = history_.begin(topic, key, value);
    record what{.topic = topic, .key = {}, .value = value};
    if (keyed) what.key = key;
    produce_options options;
    options.handle = recent_.emplace_back(record_handle::make());
    if (recent_.size() > recent_max) recent_.pop_front();
    producer_.produce(what, options, [this, at](const outcome& answer) { answered(at, answer); });
  }
}

void chaos_load::answered(chaos_history::index at, const outcome& answer) {
  history_.answered(at, answer);
  if (answer.is_delivered()) {
    ++delivered_;
    return;
  }
  const failed& failure = *answer.failure();
  if (!failure.partition.known() || options_.policy == failure_policy::skip) return;
  std::lock_guard lock(mutex_);
  const auto notice = milliseconds(20 + (at * 2654435761U) % 400);
  trouble& state =
      troubles_.try_emplace({failure.topic, failure.partition}, trouble{steady::now() + notice})
          .first->second;
  if (is_kept(failure)) state.kept.push_back(at);
}

void chaos_load::cancel_some() {
  if (random_() % 5 != 0 || recent_.empty()) return;
  const std::size_t back = random_() % std::min<std::size_t>(recent_.size(), 30);
  producer_.cancel(recent_[recent_.size() - 1 - back]);
  ++cancels_;
}

void chaos_load::pause_some() {
  if (random_() % 100 != 0) return;
  const place where{options_.topics[random_() % options_.topics.size()],
                    partition_id(static_cast<std::int32_t>(
                        random_() % static_cast<unsigned>(options_.partitions)))};
  const pause_mode mode = random_() % 4 == 0 ? pause_mode::abort_buffered : pause_mode::hold;
  producer_.pause(where.topic, where.partition, mode);
  paused_.emplace_back(steady::now() + milliseconds(20 + random_() % 500), where);
  ++pauses_;
}

void chaos_load::resume_due() {
  for (std::size_t i = 0; i < paused_.size();) {
    if (steady::now() < paused_[i].first) {
      ++i;
      continue;
    }
    producer_.resume(paused_[i].second.topic, paused_[i].second.partition);
    paused_.erase(paused_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void chaos_load::recover_due() {
  std::vector<std::pair<place, trouble>> due;
  {
    // What fails after this needs another recovery.
    std::lock_guard lock(mutex_);
    for (auto at = troubles_.begin(); at != troubles_.end();) {
      if (steady::now() < at->second.due) {
        ++at;
        continue;
      }
      due.emplace_back(at->first, std::move(at->second));
      at = troubles_.erase(at);
    }
  }
  for (auto& [where, state] : due) recover(where, std::move(state));
}

void chaos_load::recover(const place& where, trouble state) {
  constexpr recovery ways[] = {recovery::discard, recovery::take, recovery::resubmit};
  const recovery how = ways[random_() % 3];
  producer_.recover(where.topic, where.partition, how)
      .then([this, how, where, state = std::move(state)](const recovery_report& report) {
        recoveries_ += report.was_halted ? 1 : 0;
        if (how == recovery::resubmit) resubmitted(report, where, state);
      });
}

/// The report has the answers in the order of the failures. Where a failure came between the call
/// and its turn the two do not match: then each that failed may have been written once more.
void chaos_load::resubmitted(const recovery_report& report, const place& where, trouble state) {
  resubmissions_ += report.resubmitted.size();
  if (report.resubmitted.size() == state.kept.size()) {
    for (std::size_t i = 0; i < state.kept.size(); ++i) {
      history_.resubmit(state.kept[i]);
      history_.answered(state.kept[i], report.resubmitted[i]);
    }
    return;
  }
  if (report.resubmitted.empty()) return;
  {
    std::lock_guard lock(mutex_);
    if (const auto later = troubles_.find(where); later != troubles_.end())
      state.kept.insert(state.kept.end(), later->second.kept.begin(), later->second.kept.end());
  }
  const failed unclear{fate::unknown, make_error_code(client_errc::halted)};
  for (const chaos_history::index at : state.kept) {
    history_.resubmit(at);
    history_.answered(at, unclear);
  }
}

void chaos_load::finish() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  for (const auto& [due, where] : paused_) producer_.resume(where.topic, where.partition);
  // Halts that fall while it ends are ended too, so that nothing waits for its deadline.
  for (const std::string& topic : options_.topics)
    for (int index = 0; index < options_.partitions; ++index)
      producer_.recover(topic, index, recovery::discard).then([](const recovery_report&) {});
  static_cast<void>(producer_.flush().get());
  contradictions_ = producer_.status().get().contradictions;
  static_cast<void>(producer_.close(options_.delivery_timeout).get());
}

std::string chaos_load::activity() const {
  return std::to_string(recoveries_.load()) + " recoveries, " +
         std::to_string(resubmissions_.load()) + " records submitted again, " +
         std::to_string(pauses_) + " pauses, " + std::to_string(cancels_) + " cancels";
}

}  // namespace partita::chaos
