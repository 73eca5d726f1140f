// Asking the cluster. What an answer changes is in metadata_changes.cpp.
#include "actors/metadata_actor.hpp"

#include "actors/partition_actor.hpp"
#include "actors/refused_record.hpp"
#include "actors/retry.hpp"
#include "wire/messages/init_producer_id.hpp"
#include "wire/mutant.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::actors {
namespace {

constexpr std::uint64_t metadata_cookie = 1;
constexpr std::uint64_t id_cookie = 2;

}  // namespace

metadata_actor::metadata_actor(const metadata_settings& settings, producer_shared& shared,
                               topic_routes& routes, runtime& actors)
    : settings_(settings),
      shared_(shared),
      routes_(routes),
      actors_(actors),
      connection_(settings.connection, *this),
      course_({settings.rebootstrap, settings.rebootstrap_trigger}),
      map_(std::make_shared<const cluster_map>()),
      timer_(
          [](timer_node& node) noexcept {
            auto* self = static_cast<metadata_actor*>(node.owner);
            if (std::exchange(self->wake_queued_, true)) return;
            if (!self->self()->push(self->wake_command_)) self->wake_queued_ = false;
          },
          this) {
  PARTITA_EXPECTS(!settings_.bootstrap.empty());
  wake_command_.kind = command_kind::timer;
  observer_ = shared_.observe();
}

metadata_actor::~metadata_actor() = default;

// From any thread

void metadata_actor::want_topic(topic_route& route) noexcept {
  if (route.wanted.exchange(true, std::memory_order_acq_rel)) return;
  auto* wanted = new metadata_command;
  wanted->kind = metadata_command_kind;
  wanted->topic = &route;
  if (!self()->push(*wanted)) delete wanted;
}

void metadata_actor::wake_topic(topic_route& route) noexcept {
  if (!route.dormant.exchange(false, std::memory_order_seq_cst)) return;
  auto* wanted = new metadata_command;
  wanted->kind = metadata_command_kind;
  wanted->topic = &route;
  if (!self()->push(*wanted)) delete wanted;
}

void metadata_actor::refresh_metadata() noexcept {
  if (refresh_wanted_.exchange(true, std::memory_order_acq_rel)) return;
  auto* nudge = new metadata_command;
  nudge->kind = metadata_command_kind;
  if (!self()->push(*nudge)) delete nudge;
}

void metadata_actor::look_again() noexcept {
  auto* nudge = new metadata_command;
  nudge->kind = metadata_command_kind;
  if (!self()->push(*nudge)) delete nudge;
}

void metadata_actor::take_hints(leader_hints hints) noexcept {
  auto* news = new metadata_command;
  news->kind = metadata_command_kind;
  news->hints = std::move(hints);
  if (!self()->push(*news)) delete news;
}

void metadata_actor::want_producer_id(partition_actor& asking, bool fresh) noexcept {
  auto* wanted = new metadata_command;
  wanted->kind = metadata_command_kind;
  wanted->asks_for_id = &asking;
  wanted->fresh = fresh;
  if (!self()->push(*wanted)) delete wanted;
}

// The turn

void metadata_actor::on_command(command& what) {
  if (what.kind == command_kind::timer) {
    wake_queued_ = false;
    return;
  }
  if (what.kind == metadata_task_kind) return static_cast<metadata_task&>(what).run(*this);
  const std::unique_ptr<metadata_command> asked(static_cast<metadata_command*>(&what));
  if (asked->topic != nullptr) {
    if (std::find(interesting_.begin(), interesting_.end(), asked->topic) == interesting_.end())
      interesting_.push_back(asked->topic);
    if (topics_[asked->topic].asked)
      refresh_wanted_.store(true, std::memory_order_release);
    else if (std::find(new_topics_.begin(), new_topics_.end(), asked->topic) == new_topics_.end())
      new_topics_.push_back(asked->topic);
  } else if (asked->asks_for_id != nullptr) {
    const producer_id known = ids_.want(*asked->asks_for_id, asked->fresh);
    if (known.known()) tell_id(*asked->asks_for_id, {known, producer_epoch(0), {}});
  } else if (!asked->hints.empty()) {
    apply_hints(asked->hints);
  }
}

void metadata_actor::on_turn_end() { pump(); }

bool metadata_actor::needs_cluster(instant now) const {
  return refresh_wanted_.load(std::memory_order_acquire) || ids_.hungry() || !new_topics_.empty() ||
         (!interesting_.empty() && now >= refreshed_at_ + settings_.max_age);
}

void metadata_actor::pump() {
  if (stopping_) return;
  const instant now = home().now();
  home().cancel(timer_);
  expire_waiting();
  // Once it is due, what is awaited below (an answer, a connection, a backoff) calls here again; a
  // timer that is due at once would spin until then.
  const instant aged = refreshed_at_ + settings_.max_age;
  if (!interesting_.empty() && (aged > now || planted(mutant::old_metadata_spins)))
    arm(std::max(aged, now));
  if (!needs_cluster(now)) return;
  if (connection_.is_down()) {
    if (now < connect_not_before_) return arm(connect_not_before_);
    return connect();
  }
  if (!connection_.ready()) return;
  if (!asking_metadata_) ask_when_due(now);
  if (ids_.hungry() && !asking_id_ && connection_.ready()) {
    if (now < id_not_before_)
      arm(id_not_before_);
    else
      ask_for_id();
  }
}

void metadata_actor::ask_when_due(instant now) {
  const bool refresh =
      refresh_wanted_.load(std::memory_order_acquire) || now >= refreshed_at_ + settings_.max_age;
  if (!refresh && new_topics_.empty()) return;
  if (now < throttled_until_) return arm(throttled_until_);
  if (refresh && now >= refresh_not_before_) return ask_for_all();
  if (refresh) arm(refresh_not_before_);
  // The pause is for what is asked again and again; each topic is new once.
  if (!new_topics_.empty()) ask_for_new_topics();
}

void metadata_actor::arm(instant at) {
  if (at == never) return;
  if (!timer_.armed() || timer_.deadline() > at) home().arm(timer_, at);
}

void metadata_actor::connect() {
  const auto known = map_->brokers();
  const std::uint64_t before = course_.rebootstraps();
  const address_course::choice chosen =
      course_.next(known.size(), settings_.bootstrap.size(), home().now());
  if (course_.rebootstraps() != before) note_rebootstrap("no known broker answers");
  // Each address gets more time than before only when all of them had their turn.
  const int rounds = failed_connects_ / static_cast<int>(known.size() + settings_.bootstrap.size());
  asked_ = chosen.bootstrap ? broker_id() : known[chosen.index].id;
  if (chosen.bootstrap) {
    const bootstrap_address& server = settings_.bootstrap[chosen.index];
    connection_.open(home(), server.host, server.port, rounds, chosen.others);
  } else {
    const broker_endpoint& server = known[chosen.index];
    connection_.open(home(), server.host, static_cast<std::uint16_t>(server.port), rounds,
                     chosen.others);
  }
}

void metadata_actor::note_rebootstrap(std::string_view why) {
  shared_.rebootstraps.store(course_.rebootstraps(), std::memory_order_relaxed);
  shared_.log(log_level::notice, [&] {
    return "cluster: " + std::string(why) + ", starting again from bootstrap.servers";
  });
}

/// Topics that nobody produced to for a while are not asked about (KIP-526). Their partitions stay:
/// the numbering outlives it (L10 e).
void metadata_actor::forget_idle_topics(instant now) {
  std::erase_if(interesting_, [&](topic_route* route) {
    known_topic& known = topics_[route];
    if (route->used.exchange(false, std::memory_order_seq_cst) || route->has_waiting() ||
        known.used_at == instant{})
      known.used_at = now;
    if (now - known.used_at < settings_.topic_idle_max) return false;
    const bool busy =
        std::any_of(known.partitions.begin(), known.partitions.end(),
                    [](const known_partition& each) { return each.actor->queued_bytes() != 0; });
    if (busy) return false;
    known.asked = false;
    route->dormant.store(true, std::memory_order_seq_cst);
    // Somebody produced between the look and the mark: he has not seen it.
    if (!route->used.load(std::memory_order_seq_cst) || !route->dormant.exchange(false))
      return true;
    known.asked = true;
    return false;
  });
}

void metadata_actor::ask_for_all() {
  forget_idle_topics(home().now());
  if (interesting_.empty()) {
    // Nothing to ask; what comes meanwhile asks again.
    refresh_wanted_.store(false, std::memory_order_release);
    refreshed_at_ = home().now();
    return;
  }
  // What asks from now on wants an answer that is newer than this one.
  refresh_wanted_.store(false, std::memory_order_release);
  asked_for_all_ = true;
  new_topics_.clear();
  ask_for(interesting_);
}

void metadata_actor::ask_for_new_topics() {
  asked_for_all_ = false;
  ask_for(std::exchange(new_topics_, {}));
}

void metadata_actor::ask_for(const std::vector<topic_route*>& routes) {
  wire::metadata_request ask;
  ask.topics.emplace();
  for (topic_route* route : routes) {
    ask.topics->push_back({{}, route->name()});
    topics_[route].asked = true;
  }
  ask.allow_auto_topic_creation = settings_.auto_create_topics;
  asking_metadata_ = connection_.request(ask, metadata_cookie);
}

void metadata_actor::ask_for_id() {
  wire::init_producer_id_request ask;
  ask.transaction_timeout_ms =
      60'000;  // looked at for transactional ids only, but must be positive
  asking_id_ = connection_.request(ask, id_cookie);
  if (!asking_id_) refuse_ids(client_errc::unsupported_version);
}

// The connection

void metadata_actor::on_ready() {
  failed_connects_ = 0;
  pump();
}

void metadata_actor::on_answer(const wire::session_answer& answer, std::int16_t version) {
  if (answer.cookie == metadata_cookie)
    take_metadata(answer, version);
  else
    take_id(answer, version);
  pump();
}

void metadata_actor::on_ended(std::uint64_t cookie, bool, std::error_code) {
  if (cookie == metadata_cookie) {
    asking_metadata_ = false;
    refresh_wanted_.store(true, std::memory_order_release);
  } else {
    asking_id_ = false;
  }
}

void metadata_actor::on_down(std::error_code code, const std::string& text) {
  ++failed_connects_;
  const instant now = home().now();
  course_.failed(now);
  connect_not_before_ =
      now + backoff_after({settings_.reconnect_backoff, settings_.reconnect_backoff_max},
                          failed_connects_, home().random().fraction());
  if (!stopping_ && needs_cluster(now)) {
    note_trouble(code, with_message(text, code));
    arm(connect_not_before_);
  }
}

void metadata_actor::on_slow(std::error_code code, const std::string& text) {
  note_trouble(code, text);
}

void metadata_actor::note_trouble(std::error_code code, const std::string& text) {
  error_ = code;
  error_text_ = text;
  shared_.log(gate_.passes(code, home().now()) ? log_level::warning : log_level::debug,
              [&] { return "cluster: " + error_text_; });
  ids_.for_each_waiting([code](partition_actor& each) { tell_id(each, {{}, {}, code}, true); });
}

void metadata_actor::take_id(const wire::session_answer& answer, std::int16_t version) {
  asking_id_ = false;
  auto decoded = wire::decode_response<wire::init_producer_id_response>(version, answer.body());
  if (!decoded.ok()) {
    return connection_.distrust(client_errc::malformed_answer,
                                decoded.failure.describe("InitProducerId", version));
  }
  course_.answered();
  throttle(decoded.value.throttle_time_ms);
  const broker_errc code = decoded.value.error_code;
  const bool usable =
      decoded.value.producer_id.value >= 0 && decoded.value.producer_epoch.value >= 0;
  if (code == broker_errc::none && !usable) {
    id_not_before_ = home().now() + settings_.retry_backoff_max;
    return connection_.distrust(client_errc::malformed_answer,
                                "InitProducerId: a negative producer id or epoch without an error");
  }
  if (code == broker_errc::none) {
    id_attempts_ = 0;
    for (const id_source::grant& grant : ids_.feed(decoded.value.producer_id))
      tell_id(*grant.to, {grant.id, decoded.value.producer_epoch, {}});
    return;
  }
  shared_.log(gate_.passes(code, home().now()) ? log_level::warning : log_level::debug,
              [&] { return "no producer id: " + make_error_code(code).message(); });
  // 14, 15, 16 and their like pass; a refusal is told to those who wait, who ask again for new
  // records.
  if (code == broker_errc::cluster_authorization_failed ||
      code == broker_errc::transactional_id_authorization_failed)
    refuse_ids(code);
  ids_.for_each_waiting([code](partition_actor& each) { tell_id(each, {{}, {}, code}, true); });
  id_not_before_ =
      home().now() + backoff_after({settings_.retry_backoff, settings_.retry_backoff_max},
                                   ++id_attempts_, home().random().fraction());
}

void metadata_actor::throttle(std::int32_t throttle_ms) {
  if (throttle_ms <= 0) return;
  const instant until = home().now() + connection::throttle(throttle_ms);
  throttled_until_ = std::max(throttled_until_, until);
  id_not_before_ = std::max(id_not_before_, until);
}

void metadata_actor::tell_id(partition_actor& waiting, const id_news& news, bool for_now) {
  auto* told = new producer_id_command;
  told->kind = producer_id_command_kind;
  told->id = news.id;
  told->epoch = news.epoch;
  told->error = news.error;
  told->for_now = for_now;
  if (!waiting.handle().push(*told)) delete told;
}

void metadata_actor::refuse_ids(std::error_code why) {
  for (partition_actor* each : ids_.refuse()) tell_id(*each, {{}, {}, why});
}

// Waiting records and the stop

void metadata_actor::answer_in_route(void* self, record_node& node, const failed& answer) {
  auto* at = static_cast<metadata_actor*>(self);
  at->answer_waiting(node, answer, at->observer_);
}

/// From any lane: the actor's own observer belongs to its turn.
void metadata_actor::answer_held(void* self, record_node& node, const failed& answer) {
  auto* at = static_cast<metadata_actor*>(self);
  completion_observer observer = at->shared_.observe();
  at->answer_waiting(node, answer, observer);
}

void metadata_actor::answer_waiting(record_node& node, const failed& answer,
                                    completion_observer& observer) noexcept {
  const completion_entry entry{node.target, node.data, 0, 0, 0, node.key_hash};
  failed own = answer;
  if (node.flags != 0) {
    // It had failed before it came here.
    own.code = static_cast<client_errc>(node.flags);
    own.cause = answer.code;
    own.ended_by = limit_of(static_cast<client_errc>(node.flags));
    own.detail = detail_of_refused(node, settings_.partition.request_bytes_max,
                                   settings_.partition.memory_bytes);
  } else if (own.code == client_errc::invalid_partition && node.partition < 0) {
    own.detail = no_partition_text;
  }
  complete_all({&entry, 1}, own, observer);
  shared_.room.give_back(node.weight);
  release_record_node(node);
}

void metadata_actor::answer_cancelled(const topic_route& from, record_node& node) noexcept {
  answer_waiting(node,
                 {fate::not_written,
                  client_errc::cancelled,
                  {},
                  limit::none,
                  from.name(),
                  partition_id(node.partition),
                  0,
                  ticket{}},
                 observer_);
}

void metadata_actor::on_refused(command& what) noexcept {
  if (what.kind == command_kind::timer) return;
  if (what.kind == metadata_task_kind)
    static_cast<metadata_task&>(what).refuse();
  else
    delete static_cast<metadata_command*>(&what);
}

void metadata_actor::on_stopped() noexcept {
  stopping_ = true;
  home().cancel(timer_);
  connection_.close(client_errc::closed);
  for (topic_route* route : routes_.all()) route->close(&answer_in_route, this);
}

}  // namespace partita::actors
