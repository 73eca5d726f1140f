// Commands and sending. Answers, failures and recovery are in the files beside it.
#include "actors/partition_core.hpp"

#include "actors/refused_record.hpp"

#include "actors/record_node.hpp"
#include "actors/core_visits.hpp"
#include "wire/mutant.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <chrono>

namespace partita::actors {
namespace {

/// After a minute without a success a broker may have forgotten the producer (L10 a).
constexpr duration established_for = std::chrono::minutes(1);

/// How much later a record may be answered for the sake of one order of deadlines.
constexpr duration deadlines_apart_max = std::chrono::seconds(1);

/// For brokers before 2.1 (KIP-110): near to zstd in what it costs.
constexpr wire::codec zstd_replacement = wire::codec::lz4;

/// What a broker remembers, and what the ledger has room for.
constexpr int in_flight_max = 5;

instant admitted_at(const record_node& node) noexcept {
  return instant(std::chrono::nanoseconds(node.admitted_ns));
}

}  // namespace

partition_core::partition_core(const partition_settings& settings, partition_effects& effects)
    : settings_(settings),
      effects_(effects),
      numbering_(settings.idempotent ? numbering::absent : numbering::none_needed),
      book_({settings.ticket_records_max, settings.ticket_retention}, effects) {
  settings_.max_in_flight = std::clamp(settings_.max_in_flight, 1, in_flight_max);
  if (settings_.fitting == nullptr) settings_.fitting = std::make_shared<fitting_size>();
  if (settings_.habit == nullptr) settings_.habit = std::make_shared<linger_habit>();
}

partition_core::~partition_core() {
  for (batch_queue* queue : {&open_, &unfinished_, &held_, &failed_})
    while (!queue->empty()) effects_.free_batch(queue->pop_front());
}

// Records

void partition_core::append(const record_node& node, instant now, instant came) {
  PARTITA_VISIT(core_event::append, state());
  now_ = now;
  const bool own_deadline = node.own_timeout().count() != 0;
  const duration timeout = own_deadline ? duration(node.own_timeout()) : settings_.delivery_timeout;
  if (gate_ == gate::closed) return refuse(node, {fate::not_written, client_errc::closed, {}});
  if (settings_.while_halted == while_halted::refuse && !planted(mutant::halted_appends))
    if (const auto cause = halted_for(node))
      return refuse(node, {fate::not_written, client_errc::halted, *cause});
  if (node.flags != 0) {
    // It failed before it could be buffered; it takes its turn so that the halt falls in order.
    const auto code = static_cast<client_errc>(node.flags);
    const failure_facts facts{
        fate::not_written,
        code,
        {},
        limit_of(code),
        0,
        detail_of_refused(node, settings_.request_bytes_max, settings_.memory_bytes)};
    // What the application itself ended is no failure.
    if (code == client_errc::cancelled || code == client_errc::aborted) return refuse(node, facts);
    const bool answered = fail_unbuffered(node, facts);
    PARTITA_ASSERT(answered, node.flags);
    return;
  }
  instant deadline = admitted_at(node) + timeout;
  if (deadline <= now) {
    const failure_facts facts{fate::not_written, client_errc::delivery_timeout,
                              halted_for(node).value_or(last_trouble_), limit::delivery_timeout};
    if (fail_unbuffered(node, facts)) return;
    deadline = now + timeout;
  }
  // Of two threads the one that stamped first may push second. Its record can not end before the
  // one it lies behind, so it gets that one's deadline. Not where it is much older: it waited for
  // its topic, and a callback produced what lies before it.
  const bool own = own_deadline || deadline + deadlines_apart_max < newest_deadline_;
  if (!own) deadline = newest_deadline_ = std::max(deadline, newest_deadline_);
  const std::uint64_t ordinal = next_ordinal_;
  tail_for(node, deadline, now).append(node, ordinal, deadline, came);
  ++next_ordinal_;
  ++unanswered_;
  note_deadline(own, deadline);
  if (node.call == 0) return;
  if (node.waited()) end_linger();
  if (node.tracked()) effects_.buffered(node, ordinal);
}

void partition_core::refuse(const record_node& node, const failure_facts& facts) {
  ++answered_.not_written;
  effects_.complete_refused(node, facts);
}

// The world around

void partition_core::set_leader(broker_id leader, leader_epoch epoch, instant now) {
  PARTITA_VISIT(core_event::set_leader, state());
  const bool same = leader == leader_ && epoch == leader_epoch_;
  if (leader != leader_) lose_footing();
  if (leader.known() && leader != leader_) obstacle_ = {};
  if (planted(mutant::numbering_restarts) && !leader.known() && unfinished_.empty() &&
      numbering_ == numbering::usable)
    stamp_ = producer_stamp(stamp_.id(), stamp_.epoch());
  leader_ = leader;
  leader_epoch_ = epoch;
  if (!same) note_new_leader(now);
  if (same || !leader.known()) return;
  // A new leader is worth trying at once: backoff was for the old one. Not when the old one is
  // merely named again, or each refresh that a retry asks for would undo its backoff.
  if (batch* waiting = first_awaiting_retry()) waiting->retry_at = std::min(waiting->retry_at, now);
}

void partition_core::producer_id_arrived(producer_id id, producer_epoch epoch, instant) {
  PARTITA_VISIT(core_event::id_arrived, state());
  if (numbering_ != numbering::asked) return;
  stamp_ = producer_stamp(id, epoch);
  numbering_ = numbering::usable;
  obstacle_ = {};
  new_id_wanted_ = false;
  book_.producer_id_changed(id);
  lose_footing();
}

void partition_core::producer_id_refused(std::error_code code, instant now) {
  PARTITA_VISIT(core_event::id_refused, state());
  if (numbering_ != numbering::asked) return;
  numbering_ = numbering::absent;
  last_error_ = last_trouble_ = code;
  now_ = now;
  // Also what was sent under a spent id and is proven unwritten: asking for ever would not help it.
  for (;;) {
    set_aside_halted();
    // What a failure handler has sent again waits until it has its numbers, or for its deadline.
    if (open_.empty() || !passes_gate(*open_.front()) || open_.front()->renewed) break;
    batch& next = *open_.pop_front();
    fail(next, {fate::not_written, code, code, limit::none, next.attempts.attempts()});
  }
  fail_followers();
}

void partition_core::ask_for_producer_id() {
  numbering_ = numbering::asked;
  effects_.ask_producer_id();
}

void partition_core::pause(pause_mode mode, instant) {
  PARTITA_VISIT(core_event::pause, state());
  paused_ = true;
  if (mode != pause_mode::abort_buffered) return;
  for (batch_queue* queue : {&open_, &held_}) {
    batch_queue kept;
    while (!queue->empty()) {
      batch* next = queue->pop_front();
      if (next->attempts.attempts() > 0) {
        kept.push_back(*next);  // it was sent: proven unwritten, but not "never sent"
        continue;
      }
      next->enter(batch_state::failed);
      answer_failed(*next, {fate::not_written, client_errc::aborted, {}});
      effects_.release_budget(next->cost());
      dispose(next);
    }
    while (!kept.empty()) queue->push_back(*kept.pop_front());
  }
  note_aside_expiry();
}

void partition_core::resume(instant) {
  PARTITA_VISIT(core_event::resume, state());
  paused_ = false;
}

// Sending

batch* partition_core::first_awaiting_retry() const noexcept {
  for (batch* at = unfinished_.front(); at != nullptr; at = batch_queue::after(*at))
    if (at->state() == batch_state::awaiting_retry) return at;
  return nullptr;
}

bool partition_core::passes_gate(const batch& candidate) const noexcept {
  if (planted(mutant::held_records_pass) && gate_ == gate::halted) return true;
  if (planted(mutant::halted_appends) && gate_ == gate::halted) return true;
  return gate_ == gate::open ||
         (gate_ == gate::halted && candidate.first_ordinal() < halt_ordinal_);
}

int partition_core::window(instant now) const noexcept {
  if (planted(mutant::window_ignores_footing) || planted(mutant::success_is_inferred))
    return settings_.max_in_flight;
  if (!settings_.idempotent || !established_ || now - last_success_ >= established_for) return 1;
  // While a batch is tried again, too: a broker that has forgotten refuses nothing behind it.
  if (!unfinished_.empty() && unfinished_.front()->repeated) return 1;
  return settings_.max_in_flight;
}

bool partition_core::back_dated(const batch& candidate) const {
  if (planted(mutant::back_dated_blind)) return false;
  return settings_.idempotent &&
         candidate.max_timestamp() < (effects_.wall_clock() - settings_.state_horizon).count();
}

bool partition_core::open_batch_is_due(instant now) const {
  const batch& front = *open_.front();
  if (front.state() == batch_state::sealed) return now >= front.retry_at;
  return !lingers_alone(front) || now >= front.opened_at() + settings_.linger;
}

/// Nothing but its time, or a nudge, ends its linger.
bool partition_core::lingers_alone(const batch& front) const noexcept {
  return front.state() == batch_state::open && open_.size() == 1 &&
         front.first_ordinal() >= flush_ordinal_ && front.count() < settings_.batch_records_max;
}

namespace {

/// The lane takes in what came while the caches still hold it, and beside the producing thread.
constexpr std::size_t unseen_bytes_max = 16'384;

}  // namespace

// A record of a halted key, or of a partition that is halted or paused, is answered or put aside at
// once, and one that is alone in the producer may go at once (linger_habit). Behind a batch that
// went the next record may come unseen for the time of one linger and a tick more: then the first
// of those that came is due when it is seen. A partition where nothing came wants to see the next
// one.
partition_core::unseen partition_core::patience(instant now) const {
  if (settings_.linger.count() == 0 || paused_ || gate_ != gate::open) return {};
  if (!keys_.empty() || !recoveries_.empty()) return {};
  if (own_deadlines_) return {};  // the timer may be armed for one that ends later than they do
  if (open_.empty()) {
    if (now >= quiet_until_ || effects_.is_alone()) return {};
    return {room_of(wire::batch_header_size, 0), quiet_until_};
  }
  const batch& tail = *open_.back();
  if (tail.state() != batch_state::open) return {};
  return {room_of(tail.size(), tail.count()), {}};
}

/// What fills a batch makes it due, so it is not to come unseen.
std::size_t partition_core::room_of(std::size_t size, std::size_t count) const noexcept {
  const std::size_t bytes = settings_.batch_bytes_max - std::min(size, settings_.batch_bytes_max);
  const std::size_t records =
      settings_.batch_records_max - std::min(count, settings_.batch_records_max);
  return std::min({unseen_bytes_max, bytes, records * unseen_record_bytes});
}

partition_core::sending partition_core::may_send(instant now) const {
  if (!leader_.known() || paused_) return sending::barred;
  if (numbering_ != numbering::usable && numbering_ != numbering::none_needed)
    return sending::barred;
  const batch* waiting = first_awaiting_retry();
  const bool backs_off = waiting != nullptr && now < waiting->retry_at;
  if (waiting != nullptr && !(backs_off && planted(mutant::younger_before_retry))) {
    // The head goes first and alone: behind a hole every younger batch would be refused, or worse,
    // accepted by a broker that forgot.
    const bool due = outstanding_ == 0 && waiting == unfinished_.front() && !backs_off &&
                     !waits_for_log(*waiting, now);
    return due ? sending::due : sending::barred;
  }
  if (!recoveries_.empty()) return sending::barred;  // what failed must come before it
  if (open_.empty() || outstanding_ >= window(now)) return sending::barred;
  if (unfinished_.size() >= static_cast<std::size_t>(settings_.max_in_flight))
    return sending::barred;
  const batch& next = *open_.front();
  if (was_replaced(next) || !passes_gate(next)) return sending::barred;
  if (!open_batch_is_due(now))
    return next.state() == batch_state::open ? sending::lingers : sending::barred;
  if (unfinished_.empty()) return sending::due;
  // A held record behind a resubmitted one ends first, so it must not depend on it.
  if (!own_deadlines_ && next.deadline() < unfinished_.back()->deadline()) return sending::barred;
  // A back-dated batch goes alone, in both directions (L10 c).
  const bool alone = back_dated(next) || back_dated(*unfinished_.back());
  return outstanding_ == 0 || !alone ? sending::due : sending::barred;
}

std::size_t partition_core::next_bytes(instant now) const {
  return may_send(now) == sending::due ? size_of_next() : 0;
}

std::size_t partition_core::size_of_next() const {
  const batch* waiting = first_awaiting_retry();
  return waiting != nullptr ? waiting->size() : open_.front()->size();
}

bool partition_core::is_lone_record() const {
  return unfinished_.empty() && open_.size() == 1 && open_.front()->count() == 1 &&
         effects_.is_alone();
}

void partition_core::tell_what_can_be_sent(instant now) {
  const sending next = may_send(now);
  if (next == sending::barred) return;
  if (next == sending::lingers) {
    if (!settings_.habit->goes_at_once(is_lone_record())) return effects_.lingers();
    end_linger();
  } else if (settings_.linger.count() > 0 && !open_.empty() && lingers_alone(*open_.front()) &&
             first_awaiting_retry() == nullptr) {
    settings_.habit->lingered(is_lone_record());
    effects_.linger_is_over();
  }
  effects_.ready(size_of_next());
}

batch* partition_core::next_to_send(std::uint64_t connection, instant now, bool knows_zstd) {
  set_aside_halted();
  if (may_send(now) != sending::due) return nullptr;
  if (connection != connection_) {
    lose_footing();
    // An answer on the old connection is still to come, perhaps behind a long queue of commands.
    // Without footing one under way is enough: nothing is ready until it has ended.
    if (outstanding_ > 0 && !planted(mutant::window_ignores_footing)) return nullptr;
    connection_ = connection;
  }
  batch* next = first_awaiting_retry();
  if (planted(mutant::younger_before_retry) && next && now < next->retry_at) next = nullptr;
  const bool repeated = next != nullptr;
  if (next == nullptr) {
    next = open_.pop_front();
    quiet_until_ = now + settings_.linger + std::chrono::milliseconds(1);
    next->renewed = false;
    const auto count = static_cast<std::int32_t>(next->count());
    const bool replaced = settings_.codec == wire::codec::zstd && !knows_zstd;
    next->stamp(settings_.idempotent ? stamp_.take(count) : wire::batch_stamp::none(),
                replaced ? zstd_replacement : settings_.codec,
                replaced ? wire::levels_of(zstd_replacement).preset : settings_.codec_level);
    next->doubt.from = last_offset_.known() ? offset(last_offset_.value + 1) : offset();
    next->doubt.anchor = anchor_;
    unfinished_.push_back(*next);
  }
  if (settings_.idempotent && !write_is_sound(*next, now)) return nullptr;
  PARTITA_VISIT(core_event::send, state());
  next->enter(batch_state::in_flight);
  // Written by whatever attempt, and found in the log or not, it leaves a state that is forgotten
  // as soon as it is written (L10 c).
  if (back_dated(*next)) established_ = false;
  next->footing = footing_;
  next->repeated = repeated;
  next->faults.clear();
  next->broker_text.clear();
  next->sent_to = leader_;
  next->sent_in = leader_epoch_;
  next->doubt.asked = leader_;
  if (!next->attempts.doubted()) next->doubt.doubted_in = leader_epoch_;
  // What was looked for before it was sent again says nothing about what comes of this attempt.
  if (!look_.for_tickets || looks_for(*next)) look_.running = false;
  next->attempts.begun();
  obstacle_ = {};
  ++outstanding_;
  return next;
}

/// L1, checked before the write: the only place where reuse of a tuple can still be stopped.
bool partition_core::write_is_sound(batch& next, instant now) {
  const batch_tuple tuple = tuple_of(next);
  const ledger_answer answer = ledger_.check_before_write(tuple);
  if (answer == ledger_answer::ok) {
    ledger_.record_sent(tuple);
    return true;
  }
  // Never full: what is unfinished is what is outstanding there, and may_send() limits that.
  PARTITA_ASSERT(answer == ledger_answer::contradiction, answer, ledger_.outstanding());
  effects_.contradicted();
  new_id_wanted_ = true;  // the numbering itself can not be trusted any more
  start_fencing();
  if (next.state() == batch_state::sealed) next.enter(batch_state::in_flight);
  if (next.state() == batch_state::in_flight) next.enter(batch_state::awaiting_retry);
  // Older ones may be under way: it is answered after them.
  next.hopeless = attempt_note{attempt_end::answer_lost(), -1, client_errc::invariant_broken};
  finish_heads(now);
  return false;
}

/// A success of an attempt that began before says nothing about the broker that is asked next.
void partition_core::lose_footing() noexcept {
  established_ = false;
  ++footing_;
}

// Bookkeeping

std::optional<instant> partition_core::next_event(instant now) const {
  instant next = instant::max();
  if (!unfinished_.empty()) next = unfinished_.front()->deadline();
  if (const batch* waiting = first_awaiting_retry(); waiting != nullptr && waiting->retry_at > now)
    next = std::min(next, waiting->retry_at);
  if (!open_.empty()) {
    const batch& front = *open_.front();
    next = std::min(next, front.deadline());
    const instant due = front.state() == batch_state::sealed ? front.retry_at
                                                             : front.opened_at() + settings_.linger;
    if (due > now && !open_batch_is_due(now)) next = std::min(next, due);
  }
  if (held_expiry_) next = std::min(next, *held_expiry_);
  if (early_expiry_) next = std::min(next, *early_expiry_);
  if (aside_expiry_) next = std::min(next, *aside_expiry_);
  if (const auto look = next_look(now)) next = std::min(next, *look);
  if (next == instant::max()) return std::nullopt;
  return next;
}

void partition_core::settle(instant now) {
  now_ = now;
  bump_when_drained(now);
  set_aside_halted();
  cut_to_fit(now);
  if (own_deadlines_ && unanswered_ == 0) find_early_expiry();
  look_when_due(now);
  if (numbering_ == numbering::absent && !open_.empty() && passes_gate(*open_.front()))
    ask_for_producer_id();
  tell_what_can_be_sent(now);
  effects_.arm_timer(next_event(now));
}

partition_state partition_core::state() const noexcept {
  if (gate_ == gate::closed) return partition_state::closing;
  if (gate_ == gate::halted) return partition_state::halted;
  if (paused_) return partition_state::paused;
  if (numbering_ == numbering::fencing) return partition_state::fencing;
  if (!unfinished_.empty() && unfinished_.front()->state() == batch_state::awaiting_retry &&
      unfinished_.front()->attempts.doubted())
    return partition_state::settling;
  if (!leader_.known()) return partition_state::leaderless;
  if (numbering_ == numbering::asked) return partition_state::starting;
  return partition_state::normal;
}

void partition_core::describe(partition_status& status) const {
  status.state = state();
  status.leader = leader_;
  status.leader_epoch = leader_epoch_;
  status.producer_id = stamp_.id();
  status.producer_epoch = stamp_.epoch();
  status.buffered_records = unanswered_;
  for (const batch_queue* queue : {&open_, &unfinished_, &held_, &failed_}) {
    for (const batch* at = queue->front(); at != nullptr; at = batch_queue::after(*at)) {
      status.buffered_bytes += at->cost();
      if (queue == &failed_)
        status.failed_records_kept += at->count();
      else if (at->attempts.doubted())
        ++status.batches_in_doubt;
      if (queue == &held_ || (queue == &open_ && !passes_gate(*at)))
        status.held_records += at->count();
    }
  }
  describe_halts(status);
  status.batches_in_flight = outstanding_;
  status.tickets_kept = book_.records();
  status.epoch_bumps = epoch_bumps_;
  status.last_offset = last_offset_;
  status.answered = answered_;
  status.last_error = last_error_;
}

}  // namespace partita::actors
