#include <partita/producer.hpp>

#include "actors/control_command.hpp"
#include "actors/tracked_record.hpp"
#include "api/begun_operation.hpp"
#include "api/operation_reply.hpp"
#include "api/producer_body.hpp"
#include "api/producer_environment.hpp"
#include "api/wrong_config.hpp"

#include <memory>
#include <type_traits>
#include <utility>

namespace partita {
namespace {

/// What the answer of one partition means; an error means "no".
template <class T, class Answer>
T answer_or_nothing(actors::control_answer& answer) {
  auto* good = std::get_if<Answer>(&answer);
  if constexpr (std::is_same_v<T, bool>)
    return good != nullptr;
  else
    return good != nullptr ? std::move(*good) : T{};
}

/// In a forked child nobody is there to carry anything out (MEM-11).
template <class T>
operation<T> done_at_once(T value) {
  auto* state = new detail::operation_state<T>;
  operation<T> result(*state);
  state->result.emplace(std::move(value));
  state->open();
  return result;
}

template <class T, class Answer>
operation<T> ask(detail::producer_body& body, std::string_view topic, partition_id partition,
                 actors::control_request request) {
  if (body.is_in_child()) return done_at_once(T{});
  auto* state = detail::begun_operation<T>(body.reporter());
  operation<T> result(*state);
  auto reply = std::make_unique<detail::operation_reply<T>>(*state, &answer_or_nothing<T, Answer>);
  body.control(topic, partition,
               std::make_unique<actors::control_command>(std::move(request), std::move(reply)));
  return result;
}

const producer_config& checked(const producer_config& config) {
  if (const config_error wrong = validate(config)) throw detail::wrong_config(wrong);
  return config;
}

}  // namespace

producer::producer(const producer_config& config) : body_(nullptr) {
  checked(config);
  detail::environment_choice own = detail::own_lanes(config);
  body_ = new detail::producer_body(config, own);
}

producer::producer(const producer_config& config, detail::environment_choice& environment)
    : body_(new detail::producer_body(checked(config), environment)) {}

/// In a forked child nothing of it may be touched: it is the parent's.
producer::~producer() {
  if (!body_->is_in_child()) delete body_;
}

void producer::submit(const record& record, detail::callback_ref callback) {
  body_->submit(record, {callback.target, callback.captured});
}

void producer::submit(const record& record, const produce_options& options,
                      detail::callback_ref callback) {
  body_->submit(record,
                detail::producer_body::track(options, {callback.target, callback.captured}));
}

admission producer::try_submit(const record& record, const produce_options& options,
                               detail::callback_ref callback) {
  const actors::completion_slot slot =
      detail::producer_body::track(options, {callback.target, callback.captured});
  const admission taken = body_->try_submit(record, slot);
  if (taken == admission::accepted) return taken;
  if (slot.tracked != nullptr) slot.tracked->abandon();
  if (callback.drop != nullptr) callback.drop(callback.captured);
  return taken;
}

admission producer::try_submit(const record& record, detail::callback_ref callback) {
  const admission taken = body_->try_submit(record, {callback.target, callback.captured});
  if (taken != admission::accepted && callback.drop != nullptr) callback.drop(callback.captured);
  return taken;
}

bool producer::cancel(record_handle handle) noexcept {
  // In a forked child the record is the parent's.
  return !body_->is_in_child() && handle.cancel();
}

operation<std::vector<outcome>> producer::produce_batch(std::span<const record> records,
                                                        const produce_options& options) {
  return body_->submit_batch(records, options);
}

void producer::submit_batch(std::span<const record> records, const produce_options& options,
                            detail::indexed_callback* owned) {
  body_->submit_batch(records, options, std::unique_ptr<detail::indexed_callback>(owned));
}

operation<tally> producer::flush() {
  return body_->is_in_child() ? done_at_once(tally{}) : body_->flush_all();
}
operation<tally> producer::flush(std::string_view topic) {
  return body_->is_in_child() ? done_at_once(tally{}) : body_->flush_topic(topic);
}
operation<tally> producer::flush(std::string_view topic, partition_id partition) {
  return body_->is_in_child() ? done_at_once(tally{}) : body_->flush_partition(topic, partition);
}

operation<close_report> producer::close(std::chrono::milliseconds deadline) {
  return body_->is_in_child() ? done_at_once(close_report{}) : body_->close(deadline);
}

operation<bool> producer::pause(std::string_view topic, partition_id partition, pause_mode mode) {
  return ask<bool, control_done>(*body_, topic, partition,
                                 pause_request{mode == pause_mode::abort_buffered});
}

operation<bool> producer::resume(std::string_view topic, partition_id partition) {
  return ask<bool, control_done>(*body_, topic, partition, resume_request{});
}

operation<recovery_report> producer::recover(std::string_view topic, partition_id partition,
                                             recovery how, recover_options options) {
  return ask<recovery_report, recovery_report>(*body_, topic, partition,
                                               recover_request{how, {}, options.allow_duplicates});
}

operation<recovery_report> producer::recover(std::string_view topic, partition_id partition,
                                             std::string_view key, recovery how,
                                             recover_options options) {
  return ask<recovery_report, recovery_report>(
      *body_, topic, partition, recover_request{how, std::string(key), options.allow_duplicates});
}

operation<bool> producer::halt(std::string_view topic, partition_id partition) {
  return ask<bool, control_done>(*body_, topic, partition, halt_request{});
}

operation<bool> producer::halt(std::string_view topic, partition_id partition,
                               std::string_view key) {
  return ask<bool, control_done>(*body_, topic, partition, halt_request{std::string(key)});
}

operation<settlement> producer::settle(ticket which) {
  if (body_->is_in_child()) return done_at_once(settlement(undecidable{client_errc::closed}));
  return body_->settle(which);
}

operation<producer_status> producer::status() {
  return body_->is_in_child() ? done_at_once(producer_status{}) : body_->status();
}

event_stream producer::events(std::size_t capacity) { return body_->events(capacity); }

}  // namespace partita
