#include "actors/partition_actor.hpp"

#include "actors/broker_actor.hpp"
#include "actors/failure_report.hpp"
#include "actors/lane.hpp"
#include "wire/mutant.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::actors {

partition_actor::partition_actor(std::string topic, topic_id topic_identity, partition_id index,
                                 const partition_settings& settings, producer_shared& shared,
                                 cluster_services& cluster)
    : topic_(std::move(topic)),
      topic_identity_(topic_identity),
      index_(index),
      shared_(shared),
      cluster_(cluster),
      numbered_(settings.idempotent),
      core_(settings, *this),
      timer_(&partition_actor::queue_timer, this),
      doze_timer_(&partition_actor::queue_timer, this) {
  timer_command_.kind = command_kind::timer;
  observer_ = shared.observe();
}

partition_actor::~partition_actor() = default;

void partition_actor::queue_timer(timer_node& node) noexcept {
  // Through the queue: a timer has its place in the order like everything else (L5).
  static_cast<partition_actor*>(node.owner)->ask_for_turn();
}

void partition_actor::ask_for_turn() noexcept {
  if (std::exchange(timer_queued_, true)) return;
  if (!self()->push(timer_command_)) timer_queued_ = false;
}

// Commands

void partition_actor::on_command(command& what) {
  if (what.kind == cancel_command_kind) return take_cancel(static_cast<cancel_command&>(what).who);
  cancel_unsent();
  switch (what.kind) {
    case command_kind::record:
      take_record(static_cast<record_node&>(what));
      return;
    case command_kind::batch:
      take_batch(static_cast<batch&>(what));
      return;
    case command_kind::control:
      take_control(static_cast<control_command&>(what));
      return;
    case command_kind::timer:
      timer_queued_ = false;
      core_.timer_fired(now());
      return;
    default:
      break;
  }
  if (what.kind == leader_command_kind) {
    take_leader(static_cast<leader_command&>(what));
    delete static_cast<leader_command*>(&what);
  } else if (what.kind == producer_id_command_kind) {
    auto& news = static_cast<producer_id_command&>(what);
    if (news.error && news.for_now)
      core_.obstructed(news.error);
    else if (news.error)
      core_.producer_id_refused(news.error, now());
    else
      core_.producer_id_arrived(news.id, news.epoch, now());
    delete &news;
  } else if (what.kind == log_command_kind) {
    const std::unique_ptr<log_command> news(static_cast<log_command*>(&what));
    core_.looked(news->findings, now());
  } else {
    PARTITA_ASSERT(what.kind == partition_task_kind, static_cast<int>(what.kind));
    static_cast<partition_task&>(what).run(*this);
  }
}

void partition_actor::take_record(record_node& node) {
  held_bytes_ += node.weight;
  if (node.tracked() && static_cast<const tracked_record*>(node.target)->cancelled())
    node.flags = static_cast<std::uint16_t>(client_errc::cancelled);
  core_.append(node, now(), came(node));
  releaser_.release(node);
}

/// What lay unread since the last turn has lingered meanwhile.
instant partition_actor::came(const record_node& node) const noexcept {
  const instant admitted{std::chrono::nanoseconds(node.admitted_ns)};
  return std::min(std::max(admitted, last_turn_end_.value_or(now())), now());
}

std::int64_t partition_actor::patience() noexcept {
  dozes_ = false;
  if (lane::current() != &home()) return 0;  // it has just moved
  home().cancel(doze_timer_);
  const auto [bytes, until] =
      shared_.room.awaited() ? partition_core::unseen{} : core_.patience(now());
  dozes_ = bytes > 0;
  if (until) {
    home().arm(doze_timer_, *until);
    lingers();  // as far as the leader is concerned: what lies unread can be brought along
  } else if (!core_.has_open() && reaches_leader()) {
    leader_->stop_lingering(*this);
  }
  return static_cast<std::int64_t>(bytes);
}

void partition_actor::end_doze() noexcept {
  home().cancel(doze_timer_);
  if (std::exchange(dozes_, false)) self()->end_doze();
}

bool partition_actor::push(record_node& node) noexcept {
  // Not what failed already, has its own deadline or has waited before.
  const bool may_wait = node.flags == 0 && !node.waited() && node.own_timeout().count() == 0;
  return may_wait
             ? handle().push_patiently(node, node.tail_size + partition_core::unseen_record_bytes)
             : handle().push(node);
}

void partition_actor::take_batch(batch& back) {
  const auto how = static_cast<batch_return>(back.flags);
  back.returning = false;
  switch (how) {
    case batch_return::answered:
      note_refusal(back);
      return core_.answered(
          back, {back.note.end.code, back.note.end.base_offset, back.note.log_append_time_ms},
          now());
    case batch_return::never_answered:
      return core_.never_answered(back, now());
    case batch_return::not_sent:
    case batch_return::lost:
      return core_.attempt_lost(back, how == batch_return::lost, back.note.cause, now());
  }
}

/// It says that it is not the leader, or does not have the partition.
void partition_actor::note_refusal(const batch& back) noexcept {
  if (leader_ == nullptr || back.sent_to != leader_->id()) return;
  const broker_errc code = back.note.end.code;
  refused_.store(code == broker_errc::not_leader_or_follower ||
                     code == broker_errc::unknown_topic_or_partition ||
                     code == broker_errc::fenced_leader_epoch ||
                     code == broker_errc::unknown_leader_epoch,
                 std::memory_order_relaxed);
}

void partition_actor::give_back(batch& sent, batch_return how) noexcept {
  sent.flags = static_cast<std::uint16_t>(how);
  sent.returning = true;
  // After the stop nobody waits for it any more; only its memory is left to be freed.
  if (!self()->push(sent)) on_refused(sent);
}

void partition_actor::on_turn_end() {
  cancel_sent();
  if (next_leader_) adopt_leader();
  settle();
  last_turn_end_ = now();
  if (lane* const other = std::exchange(moving_to_, nullptr)) move_to(*other);
}

/// The last thing of a turn: nothing of the other lane may be touched from here. A command makes
/// sure that there is a turn there, which sends what waits and arms the timer.
void partition_actor::move_to(lane& other) {
  home().cancel(timer_);
  home().cancel(doze_timer_);
  if (!std::exchange(timer_queued_, true)) self()->push_front_list(timer_command_);
  self()->move_to(other);
}

void partition_actor::settle() {
  core_.settle(now());
  releaser_.flush();
  give_back_room();
}

void partition_actor::give_back_room() noexcept {
  if (shared_.on_room != nullptr) {
    // Not all that came was expected.
    const std::uint64_t came = held_bytes_ - measured_bytes_;
    coming_bytes_.fetch_sub(std::min(came, coming_bytes_.load(std::memory_order_relaxed)),
                            std::memory_order_relaxed);
  }
  const std::size_t freed = std::exchange(freed_bytes_, 0);
  held_bytes_ -= std::min(freed, held_bytes_);
  measured_bytes_ = held_bytes_;
  queued_bytes_.store(held_bytes_, std::memory_order_relaxed);
  if (freed == 0 || (planted(mutant::room_is_kept) && observer_.not_written > 0)) return;
  shared_.room.give_back(freed);
  if (shared_.on_room != nullptr) shared_.on_room(shared_.room_context, *this);
}

// The leader

void partition_actor::take_leader(const leader_command& news) {
  // An id that is first heard of belongs to the topic that was there all the time (META-14).
  if (news.topic_identity.known() && news.topic_identity != topic_identity_) {
    const bool replaced = topic_identity_.known();
    topic_identity_ = news.topic_identity;
    if (replaced) core_.new_incarnation(now());
  }
  if (std::exchange(incarnation_, news.incarnation) != news.incarnation)
    core_.new_incarnation(now());
  next_leader_ = news;
  adopt_leader();
}

/// A leader on another lane has to wait until nothing of this partition is under way here.
void partition_actor::adopt_leader() {
  broker_actor* next = next_leader_->leader;
  const bool moves =
      next != nullptr && next->self_lane() != nullptr && next->self_lane() != &home();
  if (moves && core_.outstanding() > 0) {
    leave_outbox();
    core_.set_leader(broker_id(), next_leader_->epoch, now());
    return;
  }
  if (next != leader_ || moves) leave_outbox();
  refused_.store(false, std::memory_order_relaxed);
  leader_ = next;
  core_.set_leader(next == nullptr ? broker_id() : next_leader_->id, next_leader_->epoch, now());
  if (next == nullptr) core_.obstructed(next_leader_->why);
  led_by_.store(next, std::memory_order_release);
  tell(next == nullptr ? partition_change::leaderless : partition_change::leader_changed, {});
  next_leader_.reset();
  moving_to_ = moves ? next->self_lane() : nullptr;
}

bool partition_actor::can_be_sent_to(instant now, duration patience) const noexcept {
  const broker_actor* leader = led_by_.load(std::memory_order_acquire);
  return leader != nullptr && (patience.count() == 0 || !leader->stuck(now, patience));
}

void partition_actor::leave_outbox() {
  stop_inquiry();
  if (leader_ != nullptr) leader_->remove(*this);
}

/// After a move the next turn, on the new lane, says it again.
bool partition_actor::reaches_leader() const noexcept {
  return leader_ != nullptr && leader_->self_lane() == &home() && lane::current() == &home();
}

void partition_actor::ready(std::size_t bytes) {
  if (reaches_leader()) leader_->add(*this, bytes);
}

void partition_actor::lingers() {
  if (reaches_leader()) leader_->let_linger(*this);
}

void partition_actor::linger_is_over() {
  if (reaches_leader()) leader_->end_linger();
}

batch* partition_actor::next_to_send(std::uint64_t connection, instant now, bool knows_zstd) {
  batch* next = core_.next_to_send(connection, now, knows_zstd);
  if (next != nullptr) sends_ = leader_;
  return next;
}

void partition_actor::after_sending() {
  settle();
  if (dozes_ && patience() == 0) self()->end_doze();  // there is nothing to wait with any more
}

bool partition_actor::withdraw(batch& queued) {
  return sends_ != nullptr && sends_->withdraw(queued);
}

// Control

struct partition_actor::pending_flush {
  flush_barrier barrier;
  std::unique_ptr<control_command> asked;
};

/// Collects the answers of the resubmitted records, then answers the command.
struct partition_actor::pending_recovery final : completion_target {
  void complete(const completion_run& run) noexcept override {
    for (std::size_t i = 0; i < run.size(); ++i) answers[run.data(i)].emplace(run.at(i));
    left -= run.size();
    finish_when_done();
  }
  void finish_when_done() noexcept {
    if (!reported || left != 0) return;
    for (std::size_t i = 0; i < answers.size(); ++i)
      work.report.resubmitted.push_back({work.resubmitted[i], std::move(*answers[i])});
    asked->answer(std::move(work.report));
    delete this;
  }

  recover_command work;
  std::unique_ptr<control_command> asked;
  std::vector<std::optional<outcome>> answers;
  std::size_t left = 0;
  bool reported = false;
};

void partition_actor::take_control(control_command& asked) {
  std::unique_ptr<control_command> owned(&asked);
  if (const auto* pause = std::get_if<pause_request>(&asked.request)) {
    core_.pause(pause->abort_buffered ? pause_mode::abort_buffered : pause_mode::hold, now());
    asked.answer(control_done{});
  } else if (std::holds_alternative<resume_request>(asked.request)) {
    core_.resume(now());
    asked.answer(control_done{});
    tell(partition_change::resumed, {});
  } else if (const auto* recover = std::get_if<recover_request>(&asked.request)) {
    auto* pending = new pending_recovery;
    pending->work.how = recover->how;
    pending->work.key = recover->key;
    pending->work.options.allow_duplicates = recover->allow_duplicates;
    pending->work.resubmitted_target = pending;
    pending->asked = std::move(owned);
    core_.recover(pending->work, now());
  } else if (std::holds_alternative<flush_request>(asked.request)) {
    auto* pending = new pending_flush{{}, std::move(owned)};
    if (core_.flush(pending->barrier, now())) barrier_done(pending->barrier);
  } else if (std::holds_alternative<status_request>(asked.request)) {
    asked.answer(status());
  } else if (const auto* halt = std::get_if<halt_request>(&asked.request)) {
    core_.halt_on_request(halt->key);
    asked.answer(control_done{});
  } else if (std::holds_alternative<produce_request>(asked.request)) {
    take_produced(asked);
  } else if (std::holds_alternative<settle_request>(asked.request)) {
    take_settle(std::move(owned));
  } else {
    take_subscription(asked);
  }
}

void partition_actor::take_subscription(control_command& asked) {
  const auto is_his = [&](const auto& each) {
    return asked.events != nullptr && each->same_receiver(*asked.events);
  };
  std::erase_if(subscribers_, is_his);  // twice is once
  if (std::holds_alternative<subscribe_request>(asked.request) && asked.events != nullptr)
    subscribers_.push_back(asked.events);
  asked.answer(control_done{});
}

void partition_actor::barrier_done(flush_barrier& barrier) {
  // The barrier is the first member of what is pending.
  static_assert(offsetof(pending_flush, barrier) == 0);
  const std::unique_ptr<pending_flush> done(reinterpret_cast<pending_flush*>(&barrier));
  done->asked->answer(barrier.answered);
}

void partition_actor::recovered(recover_command& command) {
  auto& pending = static_cast<pending_recovery&>(*command.resubmitted_target);
  for (taken_record& each : command.report.taken) {
    each.record.topic = topic_;
    each.record.partition = index_;
  }
  pending.left = command.resubmitted.size();
  pending.answers.resize(pending.left);
  pending.reported = true;
  if (command.report.was_halted)
    tell(partition_change::resumed, {},
         command.key ? std::vector{*command.key} : std::vector<std::string>{});
  pending.finish_when_done();
}

partition_status partition_actor::status() const {
  partition_status snapshot;
  snapshot.topic = topic_;
  snapshot.partition = index_;
  core_.describe(snapshot);
  return snapshot;
}

void partition_actor::tell(partition_change change, std::error_code code,
                           std::vector<std::string> keys) {
  if (subscribers_.empty() && shared_.events.empty()) return;
  const partition_event event{change, topic_, index_, code, std::move(keys)};
  std::erase_if(subscribers_, [](const auto& each) { return each->ended(); });
  for (const auto& each : subscribers_) each->on_event(event);
  shared_.events.tell(event);
}

void partition_actor::halted(std::error_code cause, const std::vector<std::string>& keys) {
  shared_.log(log_level::warning, [&] {
    const std::string what = keys.empty() ? " is halted"
                             : keys.size() == 1
                                 ? ": a key is halted"
                                 : ": " + std::to_string(keys.size()) + " keys are halted";
    return topic_ + "-" + std::to_string(index_.value) + what +
           ", and what lies behind is not sent: " + cause.message();
  });
  tell(partition_change::halted, cause, keys);
}

failure_verdict partition_actor::judge_failure(const failure_case& what) {
  const failed told = make_failed(
      what.facts, {}, what.failed != nullptr ? what.failed->number_of(0) : record_number{});
  const failure_report view(what, told);
  auto said = failure_verdict::use_policy;
  call_guarded(observer_, [&] { said = shared_.judge(view); });
  return said;
}

void partition_actor::verdict_was_impossible() {
  shared_.impossible_verdicts.fetch_add(1, std::memory_order_relaxed);
  shared_.log(log_level::error, [&] {
    return topic_ + "-" + std::to_string(index_.value) +
           ": the failure handler's verdict is not possible (retry of what may be written or was "
           "never buffered, or no verdict at all); the policy acts";
  });
}

void partition_actor::contradicted() {
  shared_.contradictions.fetch_add(1, std::memory_order_relaxed);
  shared_.log(log_level::error, [&] {
    return topic_ + "-" + std::to_string(index_.value) +
           ": an answer contradicts what was sent; the partition is halted";
  });
}

// Completion

void partition_actor::complete_delivered(batch& done) {
  const delivered_run success{index_, done.acknowledged_offset.value_or(offset()),
                              done.base_timestamp(), done.log_append_time_ms};
  complete_all(done.entries(), success, observer_);
}

void partition_actor::complete_failed(batch& done, const failure_facts& facts) {
  if (facts.fate == fate::unknown && done.first_ticket == 0) done.first_ticket = give_tickets(done);
  const failed shared_answer = make_failed(facts, {done.first_ticket}, done.number_of(0));
  complete_all(done.entries(), shared_answer, observer_);
}

void partition_actor::complete_refused(const record_node& node, const failure_facts& facts) {
  const failed answer = make_failed(facts, {}, {});
  const completion_entry entry{node.target, node.data, 0, 0, 0, node.key_hash};
  complete_all({&entry, 1}, answer, observer_);
  freed_bytes_ += node.weight;
}

failed partition_actor::describe_failure(const batch& done, std::size_t index) const {
  return make_failed(done.failure, done.ticket_of(index), done.number_of(index));
}

failed partition_actor::make_failed(const failure_facts& facts, ticket first,
                                    record_number number) const {
  return partita::detail::without_success({facts.fate, facts.code, facts.cause, facts.ended_by,
                                           topic_, index_, facts.attempts, first, facts.detail,
                                           number});
}

// The rest of the effects

void partition_actor::arm_timer(std::optional<instant> at) {
  if (!at) return home().cancel(timer_);
  if (timer_.armed() && timer_.deadline() == *at) return;
  home().arm(timer_, *at);
}

void partition_actor::ask_producer_id() {
  cluster_.want_producer_id(*this, std::exchange(asked_before_, true));
}

std::chrono::milliseconds partition_actor::wall_clock() const {
  return home().wall_now().time_since_epoch();
}

double partition_actor::draw() { return home().random().fraction(); }

// The stop

/// A flush that the end has overtaken counts what the end answered before it in the queue.
void partition_actor::refuse(std::unique_ptr<control_command> asked) noexcept {
  if (!std::holds_alternative<flush_request>(asked->request))
    return refuse_control(std::move(asked), client_errc::closed);
  const tally& all = core_.answered();
  asked->answer(tally{all.delivered - answered_before_end_->delivered,
                      all.not_written - answered_before_end_->not_written,
                      all.unknown - answered_before_end_->unknown});
}

void partition_actor::on_refused(command& what) noexcept {
  if (!answered_before_end_) answered_before_end_ = core_.answered();
  core_.close(nullptr);  // what was accepted before is answered before
  switch (what.kind) {
    case command_kind::record:
      take_record(static_cast<record_node&>(what));
      break;
    case command_kind::batch:
      take_batch(static_cast<batch&>(what));
      break;
    case command_kind::control:
      refuse(std::unique_ptr<control_command>(&static_cast<control_command&>(what)));
      break;
    case command_kind::timer:
      break;
    default:
      if (what.kind == leader_command_kind)
        delete static_cast<leader_command*>(&what);
      else if (what.kind == producer_id_command_kind)
        delete static_cast<producer_id_command*>(&what);
      else if (what.kind == cancel_command_kind)
        static_cast<cancel_command&>(what).who.release();
      else if (what.kind == log_command_kind)
        delete static_cast<log_command*>(&what);
      else
        static_cast<partition_task&>(what).refuse();
  }
  releaser_.flush();
  give_back_room();
}

void partition_actor::on_stopped() noexcept {
  core_.close(nullptr);
  forget_answered_cancels();
  leave_outbox();
  home().cancel(timer_);
  home().cancel(doze_timer_);
  releaser_.flush();
  give_back_room();
}

}  // namespace partita::actors
