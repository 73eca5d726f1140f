// Several records under one admission.
#include "api/producer_body.hpp"

#include "api/admission_line.hpp"
#include "api/closing.hpp"
#include "api/kept_record.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace partita::detail {
namespace {

/// Owns copies while it waits for room: the caller's views are his again when the call returns.
class record_set final : public admission_waiter, public actors::completion_target {
 public:
  record_set(producer_body& body, std::span<const record> records, const produce_options& options,
             operation_state<std::vector<outcome>>& state)
      : body_(body),
        options_(options),
        left_(records.size()),
        answers_(records.size()),
        state_(&state) {
    state_->retain();
  }
  ~record_set() override { state_->release(); }

  void keep(std::span<const record> records) {
    copies_.reserve(records.size());
    for (const record& each : records) copies_.emplace_back(each);
  }

  /// In their order; those that can not be produced are refused in their turn, and no others.
  void admit_all(std::span<const record> records, bool waited = false) noexcept {
    for (std::size_t i = 0; i < records.size(); ++i)
      body_.admit_or_refuse(records[i], producer_body::track(options_, {this, i}), waited);
  }
  void refuse_all(std::span<const record> records, client_errc code) noexcept {
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (code == client_errc::admission_timeout)
        body_.refuse_in_turn(records[i], {this, i}, code);
      else
        body_.answer_at_once(records[i], {this, i}, code);
    }
  }

  void admitted() noexcept override {
    // Taken out first: the last answer, which may come at once, deletes this object.
    const std::vector<kept_record> copies = std::move(copies_);
    admit_all(views_of(copies), true);
  }
  void refused(client_errc code) noexcept override {
    const std::vector<kept_record> copies = std::move(copies_);
    if (code != client_errc::closed) return refuse_all(views_of(copies), code);
    const timestamp now = body_.wall_now();
    producer_body& body = body_;
    for (std::size_t i = 0; i < copies.size(); ++i)
      body.refuse_closed(copies[i].view(), {this, i}, copies[i].owned(now));
  }

  // Parts of it are answered on several lanes; each writes its own places.
  void complete(const actors::completion_run& run) noexcept override {
    for (std::size_t i = 0; i < run.size(); ++i) answers_[run.data(i)].emplace(run.at(i));
    if (left_.fetch_sub(run.size(), std::memory_order_acq_rel) != run.size()) return;
    std::vector<outcome> all;
    all.reserve(answers_.size());
    for (std::optional<outcome>& each : answers_) all.push_back(std::move(*each));
    state_->result.emplace(std::move(all));
    state_->open();
    delete this;
  }

 private:
  static std::vector<record> views_of(const std::vector<kept_record>& copies) {
    std::vector<record> views;
    views.reserve(copies.size());
    for (const kept_record& each : copies) views.push_back(each.view());
    return views;
  }

  producer_body& body_;
  const produce_options options_;  // each record is tracked from its admission on
  std::atomic<std::size_t> left_;
  std::vector<std::optional<outcome>> answers_;
  operation_state<std::vector<outcome>>* state_;
  std::vector<kept_record> copies_;
};

}  // namespace

operation<std::vector<outcome>> producer_body::submit_batch(std::span<const record> records,
                                                            const produce_options& options) {
  auto* state = new operation_state<std::vector<outcome>>;
  operation<std::vector<outcome>> result(*state);
  if (records.empty()) {
    state->result.emplace();
    state->open();
    return result;
  }
  auto* set = new record_set(*this, records, options, *state);
  std::uint64_t cost = 0;
  for (const record& each : records) cost += cost_if_sound(each, options);
  client_errc wrong{};
  if (shut())
    wrong = client_errc::closed;
  else if (cost > shared_.room.capacity())
    wrong = client_errc::buffer_full;
  if (wrong != client_errc{}) {
    set->refuse_all(records, wrong);
  } else if (line_->take_now(cost)) {
    set->admit_all(records);
  } else {
    set->keep(records);
    if (line_->take_or_wait(cost, *set, options.admission_timeout)) set->admitted();
  }
  return result;
}

}  // namespace partita::detail
