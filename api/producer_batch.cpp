// Several records under one admission.
#include "api/producer_body.hpp"

#include "api/admission_line.hpp"
#include "api/begun_operation.hpp"
#include "api/closing.hpp"
#include "api/kept_record.hpp"
#include "api/share_line.hpp"
#include "wire/record_batch.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace partita::detail {

/// Owns copies while it waits for room: the caller's views are his again when the call returns.
class record_set : public admission_waiter, public share_waiter, public actors::completion_target {
 public:
  record_set(std::size_t count, const produce_options& options) : options_(options), left_(count) {}
  record_set(const record_set&) = delete;
  record_set& operator=(const record_set&) = delete;
  ~record_set() override = default;

  /// Before anything else.
  void go_to(producer_body& body, admission_line& line, std::uint64_t cost) noexcept {
    body_ = &body;
    line_ = &line;
    cost_ = cost;
  }

  void keep(std::span<const record> records) {
    copies_.reserve(records.size());
    for (const record& each : records) copies_.emplace_back(each);
  }

  /// Where they go; empty: it is chosen when they are admitted.
  std::vector<placement>& places() noexcept { return places_; }

  /// In their order; those that can not be produced are refused in their turn, and no others.
  void admit_all(std::span<const record> records, bool waited = false) noexcept {
    const std::vector<placement> places = taken_places();
    for (std::size_t i = 0; i < records.size(); ++i)
      body_->admit_or_refuse(records[i], producer_body::track(options_, {this, i}), waited,
                             place_of(places, i));
    for (const placement& each : places) producer_body::arrived(each);
  }
  void refuse_all(std::span<const record> records, client_errc code, std::error_code cause = {},
                  std::string_view detail = {}) noexcept {
    const std::vector<placement> places = taken_places();
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (code == client_errc::admission_timeout)
        body_->refuse_in_turn(records[i], {this, i}, code, place_of(places, i));
      else
        body_->answer_at_once(records[i], {this, i}, code, cause, detail);
    }
    for (const placement& each : places) producer_body::arrived(each);
  }
  void wait() {
    if (line_->take_or_wait(cost_, *this, options_.admission_timeout)) admitted();
  }
  void share_free(const actors::partition_actor&) noexcept override { wait(); }
  void share_refused(client_errc code) noexcept override { refused(code); }

  void admitted() noexcept override {
    // Taken out first: the last answer, which may come at once, deletes this object.
    const std::vector<kept_record> copies = std::move(copies_);
    admit_all(views_of(copies), true);
  }
  void refused(client_errc code) noexcept override {
    const std::vector<kept_record> copies = std::move(copies_);
    if (code != client_errc::closed) return refuse_all(views_of(copies), code);
    const std::vector<placement> places = taken_places();
    const timestamp now = body_->wall_now();
    producer_body& body = *body_;
    for (std::size_t i = 0; i < copies.size(); ++i)
      body.refuse_closed(copies[i].view(), {this, i}, copies[i].owned(now));
    for (const placement& each : places) producer_body::arrived(each);
  }

  void complete(const actors::completion_run& run) noexcept final {
    for (std::size_t i = 0; i < run.size(); ++i) answered(run, i);
    if (left_.fetch_sub(run.size(), std::memory_order_acq_rel) != run.size()) return;
    all_answered();
    delete this;
  }

 protected:
  /// One answer. Parts of the call are answered on several lanes, at the same time perhaps.
  virtual void answered(const actors::completion_run& run, std::size_t at) noexcept = 0;
  virtual void all_answered() noexcept {}

 private:
  /// The last answer deletes this object.
  std::vector<placement> taken_places() { return std::move(places_); }
  static const placement& place_of(const std::vector<placement>& places, std::size_t index) {
    static const placement chosen_later;
    return places.empty() ? chosen_later : places[index];
  }
  static std::vector<record> views_of(const std::vector<kept_record>& copies) {
    std::vector<record> views;
    views.reserve(copies.size());
    for (const kept_record& each : copies) views.push_back(each.view());
    return views;
  }

  producer_body* body_ = nullptr;
  admission_line* line_ = nullptr;
  std::uint64_t cost_ = 0;
  const produce_options options_;  // each record is tracked from its admission on
  std::atomic<std::size_t> left_;
  std::vector<kept_record> copies_;
  std::vector<placement> places_;
};

namespace {

/// Tells all answers when the last one is known.
class collected_set final : public record_set {
 public:
  collected_set(std::size_t count, const produce_options& options,
                operation_state<std::vector<outcome>>& state)
      : record_set(count, options), answers_(count), state_(&state) {
    state_->retain();
  }
  ~collected_set() override { state_->release(); }

 private:
  // Each writes its own place.
  void answered(const actors::completion_run& run, std::size_t at) noexcept override {
    answers_[run.data(at)].emplace(run.at(at));
  }
  void all_answered() noexcept override {
    std::vector<outcome> all;
    all.reserve(answers_.size());
    for (std::optional<outcome>& each : answers_) all.push_back(std::move(*each));
    state_->result.emplace(std::move(all));
    state_->open();
  }

  std::vector<std::optional<outcome>> answers_;
  operation_state<std::vector<outcome>>* state_;
};

/// Tells each answer when it is known: whoever waited for the others could end, by recover(), the
/// halt of a failure that he has not seen.
class told_set final : public record_set {
 public:
  told_set(std::size_t count, const produce_options& options,
           std::unique_ptr<indexed_callback> callback)
      : record_set(count, options), callback_(std::move(callback)) {}

 private:
  void answered(const actors::completion_run& run, std::size_t at) noexcept override {
    const auto tell = [&](const outcome& answer) { callback_->call(run.data(at), answer); };
    run.call(tell, at);
  }

  const std::unique_ptr<indexed_callback> callback_;
};

}  // namespace

/// Where somebody waits for one of their partitions, for all of them: whoever is produced later
/// must not pass these either.
std::vector<const actors::partition_actor*> producer_body::lines_before(
    std::span<const record> records, std::vector<placement>& places) {
  std::vector<const actors::partition_actor*> all;
  bool grown = false;
  do {
    for (const placement& each : places) arrived(each);
    places.assign(records.size(), {});
    all.clear();
    grown = false;
    for (std::size_t i = 0; i < records.size() && !grown; ++i) {
      if (check_contents(records[i]) != client_errc{}) continue;  // it fails by itself
      const client_errc lost = place(records[i], wire::record_tail_size(records[i]), places[i]);
      if (lost != client_errc{}) continue;
      grown = !will_arrive(places[i]);
      if (places[i].known()) all.push_back(&places[i].actor());
    }
  } while (grown);
  const bool behind_somebody = std::any_of(
      all.begin(), all.end(), [&](const auto* each) { return shares_->has_waiters(*each); });
  if (!behind_somebody) all.clear();
  return all;
}

operation<std::vector<outcome>> producer_body::submit_batch(std::span<const record> records,
                                                            const produce_options& options) {
  auto* state = begun_operation<std::vector<outcome>>(reporter());
  operation<std::vector<outcome>> result(*state);
  if (records.empty()) {
    state->result.emplace();
    state->open();
    return result;
  }
  submit_set(records, options, *new collected_set(records.size(), options, *state));
  return result;
}

void producer_body::submit_batch(std::span<const record> records, const produce_options& options,
                                 std::unique_ptr<indexed_callback> told) {
  if (records.empty()) return;
  submit_set(records, options, *new told_set(records.size(), options, std::move(told)));
}

void producer_body::submit_set(std::span<const record> records, const produce_options& options,
                               record_set& set) {
  std::uint64_t cost = 0;
  for (const record& each : records) cost += cost_if_sound(each, options);
  set.go_to(*this, *line_, cost);
  if (shut()) return set.refuse_all(records, client_errc::closed, why_shut());
  if (cost > shared_.room.capacity())
    return set.refuse_all(records, client_errc::buffer_full, {},
                          "the records of the call take " + std::to_string(cost) +
                              " bytes of memory together; buffer.memory is " +
                              std::to_string(shared_.room.capacity()));
  std::vector<const actors::partition_actor*> before;
  if (shares_ != nullptr && shares_->awaited()) before = lines_before(records, set.places());
  if (before.empty() && line_->take_now(cost)) return set.admit_all(records);
  set.keep(records);
  // Like all that wait: by a later count it would come behind records that kept theirs.
  if (shares_ != nullptr && set.places().empty()) before = lines_before(records, set.places());
  if (before.empty())
    set.wait();
  else
    shares_->wait_for_all(std::move(before), set, options.admission_timeout);
}

}  // namespace partita::detail
