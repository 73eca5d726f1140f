#include "actors/broker_actor.hpp"

#include "actors/cluster_map.hpp"
#include "actors/partition_actor.hpp"
#include "actors/retry.hpp"
#include "wire/mutant.hpp"
#include "wire/messages/produce.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace partita::actors {
namespace {

/// What a request adds around its batches, at most, per partition (index, length, tags, topic
/// name).
constexpr std::size_t request_overhead = 512;

/// The first version of Produce whose brokers take zstd (KIP-110).
constexpr std::int16_t version_with_zstd = 7;

}  // namespace

broker_actor::broker_actor(broker_id id, const broker_settings& settings, producer_shared& shared,
                           cluster_services& cluster)
    : id_(id),
      settings_(settings),
      shared_(shared),
      cluster_(cluster),
      connection_(settings.connection, *this),
      control_(settings.connection, settings.idle_max),
      timer_(
          [](timer_node& node) noexcept { static_cast<broker_actor*>(node.owner)->timer_fired(); },
          this) {
  pump_command_.kind = broker_pump_kind;
}

broker_actor::~broker_actor() = default;

// Partitions

void broker_actor::add(partition_actor& ready, std::size_t bytes) {
  if (failed_connects_ > 0) ready.obstructed(last_error_);
  outbox_.add(ready, bytes);
  wake();
}

void broker_actor::let_linger(partition_actor& waiting) {
  outbox_.let_linger(waiting);
  if (shared_.room.awaited()) end_linger();
}

void broker_actor::end_linger() {
  linger_over_ = true;
  if (has_work()) wake();
}

void broker_actor::stop_lingering(partition_actor& idle) noexcept { outbox_.stop_lingering(idle); }

void broker_actor::remove(partition_actor& gone) { outbox_.remove(gone); }

bool broker_actor::withdraw(const batch& sent) {
  const auto found = std::find_if(exchanges_.begin(), exchanges_.end(),
                                  [&](const auto& each) { return each.carries(sent); });
  return found != exchanges_.end() && connection_.withdraw(found->cookie());
}

void broker_actor::note_stuck() noexcept {
  constexpr duration forgotten_after = std::chrono::seconds(10);
  const instant now = lane_->now();
  const instant until = now + settings_.request_timeout + forgotten_after;
  stuck_until_ns_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  if (stuck_since_ns_.load(std::memory_order_relaxed) == never.time_since_epoch().count())
    stuck_since_ns_.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

/// An answer came: what is still out there waits from now on.
void broker_actor::note_progress() noexcept {
  const instant since = exchanges_.empty() ? never : lane_->now();
  stuck_since_ns_.store(since.time_since_epoch().count(), std::memory_order_relaxed);
}

void broker_actor::ask(control_client& asking) {
  if (stopping_ || port_ == 0) return asking.unanswered(client_errc::connection_closed);
  control_.submit(asking, *lane_, host_, port_);
}

/// Asks for a turn, behind the partitions that are about to become ready in this round: they share
/// the request.
void broker_actor::wake() {
  if (stopping_ || std::exchange(woken_, true)) return;
  if (!self()->push(pump_command_)) woken_ = false;
}

void broker_actor::on_command(command& what) {
  if (what.kind == broker_pump_kind) {
    woken_ = false;
  } else if (what.kind == broker_address_kind) {
    auto& address = static_cast<broker_address_command&>(what);
    const bool moved = address.host != host_ || address.port != port_;
    host_ = std::move(address.host);
    port_ = address.port;
    delete &address;
    if (moved) control_.stop(client_errc::connection_closed);
    if (moved && !connection_.is_down()) {
      connection_.close(client_errc::connection_closed);
      ++disconnects_;
    }
  } else {
    PARTITA_ASSERT(what.kind == broker_task_kind, static_cast<int>(what.kind));
    static_cast<broker_task&>(what).run(*this);
  }
}

void broker_actor::on_turn_end() { pump(); }

// Sending

bool broker_actor::has_work() const noexcept {
  return !outbox_.empty() || (linger_over_ && outbox_.any_lingering());
}

void broker_actor::pump() {
  if (stopping_ || !has_work() || port_ == 0) return;
  if (lane_->now() < not_before_) return retry_later(not_before_);
  if (connection_.is_down()) return connect();
  if (!connection_.ready()) return;
  if (exchanges_.size() < settings_.requests_in_flight_max && std::exchange(linger_over_, false))
    take_lingering_along();
  while (!outbox_.empty() && exchanges_.size() < settings_.requests_in_flight_max)
    if (!send_one()) return;
}

void broker_actor::take_lingering_along() {
  while (outbox_node* node = outbox_.pop_lingering()) {
    auto& partition = static_cast<partition_actor&>(*node);
    const bool read = partition.read_unread();
    partition.end_linger();
    if (const std::size_t bytes = partition.next_bytes(lane_->now())) {
      outbox_.add(partition, bytes);
      continue;
    }
    partition.end_doze();  // nobody would bring along what came now
    if (read) partition.ask_for_turn();
  }
}

bool broker_actor::send_one() {
  const instant now = lane_->now();
  const outbox_limits limits{
      settings_.request_bytes_max - std::min(settings_.request_bytes_max / 2, request_overhead),
      std::numeric_limits<std::size_t>::max()};
  outbox_pick picked = outbox_.pick(limits, [now](outbox_node& node) {
    const std::size_t bytes = static_cast<partition_actor&>(node).next_bytes(now);
    return bytes;
  });
  if (picked.empty()) return false;
  const bool sent = send_picked(picked, now);
  // Once the frame is on its way: in a round trip of one record nothing else waits for this.
  for (partition_actor* const each : asked_) each->after_sending();
  asked_.clear();
  return sent;
}

bool broker_actor::send_picked(outbox_pick& picked, instant now) {
  std::int16_t version = *connection_.version_of(wire::api_key::produce);
  produce_exchange exchange = take_exchange();
  while (outbox_node* node = picked.pop()) {
    auto& partition = static_cast<partition_actor&>(*node);
    asked_.push_back(&partition);
    if (batch* sent =
            partition.next_to_send(connection_.number(), now, version >= version_with_zstd))
      exchange.add(partition.topic(), partition.topic_identity(), partition.index(), *sent);
  }
  if (exchange.empty()) {  // their own turns come before they are asked again
    keep_exchange(std::move(exchange));
    wake();
    return false;
  }

  if (!exchange.ids_known()) version = std::min<std::int16_t>(version, 12);
  wire::encoded_frame encoded = exchange.encode(version, settings_.required_acks,
                                                settings_.request_timeout, connection_.client_id());
  PARTITA_ASSERT(!encoded.error, encoded.error.value());
  const std::uint64_t cookie = exchange.cookie();
  exchanges_.push_back(std::move(exchange));
  ++requests_;
  last_used_ = now;
  note_stuck();
  connection_.send(std::move(encoded.frame), wire::api_key::produce, version, cookie,
                   settings_.required_acks != acks::none);
  return connection_.ready();
}

produce_exchange broker_actor::take_exchange() {
  if (done_exchanges_.empty()) return produce_exchange(next_cookie_++);
  produce_exchange exchange = std::move(done_exchanges_.back());
  done_exchanges_.pop_back();
  exchange.begin_anew(next_cookie_++);
  return exchange;
}

void broker_actor::keep_exchange(produce_exchange&& done) {
  constexpr std::size_t partitions_max = 64;  // larger ones are rare enough to be made anew
  if (done.partitions() > partitions_max) return;
  if (done_exchanges_.size() >= settings_.requests_in_flight_max) return;
  done.clear();
  done_exchanges_.push_back(std::move(done));
}

void broker_actor::connect() {
  note_stuck();
  connection_.open(*lane_, host_, port_, failed_connects_);
}

void broker_actor::retry_later(instant at) {
  if (!timer_.armed() || timer_.deadline() > at) lane_->arm(timer_, at);
}

void broker_actor::timer_fired() {
  if (stopping_) return;
  if (has_work()) return wake();
  if (settings_.idle_max.count() > 0 && connection_.ready() && exchanges_.empty() &&
      lane_->now() - last_used_ >= settings_.idle_max) {
    connection_.close(client_errc::connection_closed);
    return;
  }
  arm_idle();
}

void broker_actor::arm_idle() {
  if (settings_.idle_max.count() > 0 && connection_.ready())
    retry_later(last_used_ + settings_.idle_max);
}

// The connection

void broker_actor::on_ready() {
  failed_connects_ = 0;
  last_used_ = lane_->now();
  if (settings_.codec == wire::codec::zstd &&
      *connection_.version_of(wire::api_key::produce) < version_with_zstd)
    shared_.log(log_level::warning, [&] {
      return "broker " + std::to_string(id_.value) + " does not know zstd: lz4 is used there";
    });
  arm_idle();
  wake();
}

void broker_actor::on_sent(std::uint64_t cookie) {
  const auto found = std::find_if(exchanges_.begin(), exchanges_.end(),
                                  [&](const auto& each) { return each.cookie() == cookie; });
  PARTITA_ASSERT(found != exchanges_.end());
  // From here on the broker may execute it (L3).
  found->for_each([](batch& sent) { sent.attempts.frame_may_have_left(); });
}

void broker_actor::on_answer(const wire::session_answer& answer, std::int16_t version) {
  PARTITA_ASSERT(!exchanges_.empty() && exchanges_.front().cookie() == answer.cookie);
  produce_exchange exchange = std::move(exchanges_.front());
  exchanges_.pop_front();
  note_progress();
  auto decoded = wire::decode_response<wire::produce_response>(version, answer.body());
  std::string wrong = decoded.ok() ? exchange.match(decoded.value, version)
                                   : decoded.failure.describe("Produce", version);
  if (!wrong.empty()) {
    exchange.for_each([](batch& sent) {
      sent.note = attempt_note{attempt_end::answer_lost(), -1, client_errc::malformed_answer};
      static_cast<partition_actor*>(sent.owner())->give_back(sent, batch_return::lost);
    });
    return connection_.distrust(
        decoded.ok() ? client_errc::unexpected_answer : client_errc::malformed_answer, wrong);
  }
  // Before the batches go back, so that their retries can go to the new leader at once.
  if (leader_hints hints = exchange.hints(decoded.value, version); !hints.empty())
    cluster_.take_hints(std::move(hints));
  exchange.for_each([](batch& sent) {
    const bool found = sent.note.end.stage == attempt_stage::answered;
    static_cast<partition_actor*>(sent.owner())
        ->give_back(sent, found ? batch_return::answered : batch_return::lost);
  });
  keep_exchange(std::move(exchange));
  throttle(decoded.value.throttle_time_ms);
  if (has_work()) wake();
}

/// The broker answers at once and then mutes the channel; the client must hold back too (KIP-219).
void broker_actor::throttle(std::int32_t throttle_ms) {
  if (throttle_ms <= 0) return;
  not_before_ = std::max(not_before_, lane_->now() + connection::throttle(throttle_ms));
}

void broker_actor::on_ended(std::uint64_t cookie, bool handed_over, std::error_code reason) {
  const auto found = std::find_if(exchanges_.begin(), exchanges_.end(),
                                  [&](const auto& each) { return each.cookie() == cookie; });
  PARTITA_ASSERT(found != exchanges_.end());
  const produce_exchange exchange = std::move(*found);
  exchanges_.erase(found);
  if (exchanges_.empty() && handed_over && !reason) note_progress();
  if (planted(mutant::kernel_has_it_not)) handed_over = false;
  const bool never_answered = handed_over && !reason && settings_.required_acks == acks::none;
  batch_return how = handed_over ? batch_return::lost : batch_return::not_sent;
  if (never_answered) how = batch_return::never_answered;
  exchange.for_each([&](batch& sent) {
    if (handed_over && !never_answered && reason == client_errc::connection_closed)
      sent.note.cause = client_errc::answer_lost;
    else if (!handed_over && !reason)  // withdrawn: the connection took no byte of it
      sent.note.cause = client_errc::request_timeout;
    else
      sent.note.cause = reason;
    static_cast<partition_actor*>(sent.owner())->give_back(sent, how);
  });
  if (has_work()) wake();
}

void broker_actor::on_slow(std::error_code code, const std::string& text) {
  note_trouble(code, text);
}

void broker_actor::note_trouble(std::error_code code, const std::string& text) {
  last_error_ = code;
  last_error_text_ = text;
  const bool news = gate_.passes(code, lane_->now());
  shared_.log(news ? log_level::warning : log_level::debug,
              [&] { return "broker " + std::to_string(id_.value) + ": " + last_error_text_; });
  outbox_.for_each(
      [code](outbox_node& each) { static_cast<partition_actor&>(each).obstructed(code); });
}

void broker_actor::on_down(std::error_code code, const std::string& text) {
  ++disconnects_;
  note_stuck();
  note_trouble(code, with_message(text, code));
  cluster_.refresh_metadata();
  ++failed_connects_;
  not_before_ =
      lane_->now() + backoff_after({settings_.reconnect_backoff, settings_.reconnect_backoff_max},
                                   failed_connects_, lane_->random().fraction());
  if (has_work()) retry_later(not_before_);
}

broker_status broker_actor::status() const {
  broker_status snapshot;
  snapshot.id = id_;
  snapshot.host = host_;
  snapshot.port = port_;
  snapshot.connected = connection_.ready();
  snapshot.requests_in_flight = static_cast<int>(exchanges_.size());
  snapshot.requests = requests_;
  snapshot.disconnects = disconnects_;
  snapshot.last_error = last_error_;
  snapshot.last_error_text = last_error_text_;
  return snapshot;
}

// The stop

void broker_actor::on_refused(command& what) noexcept {
  if (what.kind == broker_address_kind)
    delete static_cast<broker_address_command*>(&what);
  else if (what.kind == broker_task_kind)
    static_cast<broker_task&>(what).refuse();
}

void broker_actor::on_stopped() noexcept {
  stopping_ = true;
  lane_->cancel(timer_);
  control_.stop(client_errc::closed);
  connection_.close(client_errc::closed);
}

}  // namespace partita::actors
