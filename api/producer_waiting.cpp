// Records that can not go on at once: their partition holds its share, or there is no room.
#include "api/producer_body.hpp"

#include "actors/partition_actor.hpp"
#include "actors/tracked_record.hpp"
#include "api/admission_line.hpp"
#include "api/kept_record.hpp"
#include "api/share_line.hpp"

namespace partita::detail {

void placement::move_to(const actors::partition_actor& with_room) noexcept {
  table = route->table();
  partition = with_room.index();
}

/// Of a record that may go anywhere the choice is made by what was seen a while ago.
client_errc producer_body::place(const record& what, std::size_t tail_size, placement& at) {
  actors::topic_route& route = route_of(what.topic);
  const actors::partition_table* table = route.table();
  if (table == nullptr) return {};
  at.anywhere = route.router().goes_anywhere(what);
  const client_errc wrong = choose(what, tail_size, route, *table, at);
  if (wrong != client_errc{} || !at.anywhere || open(at)) return wrong;
  route.router().look_again();
  return choose(what, tail_size, route, *table, at);
}

bool producer_body::open(const placement& at) const {
  return !at.known() || shares_->open(at.actor());
}

bool producer_body::will_arrive(placement& at) const {
  // A key alone is waited for: what goes anywhere has no order with what the growth moves.
  if (!at.known() || at.anywhere || config_.growth != partition_growth::drain_first) return true;
  at.expected = at.route->expect(*at.table, at.partition);
  return at.expected.has_value();
}

void producer_body::arrived(const placement& at) {
  if (at.expected) at.route->arrived(at.partition, *at.expected);
}

namespace {

/// One record whose caller is suspended. It has a copy, because the caller may be gone before its
/// turn comes: a coroutine that waits can be destroyed.
class waiting_record final : public admission_waiter,
                             public share_waiter,
                             private actors::admission_place {
 public:
  waiting_record(producer_body& body, admission_line& line, const record& what,
                 std::size_t tail_size, actors::completion_slot slot, const placement& at)
      : body_(body), line_(line), what_(what), tail_size_(tail_size), slot_(slot), at_(at) {}
  ~waiting_record() override { producer_body::arrived(at_); }

  /// Lines up behind those for the same partition. This object may be gone when it returns.
  void wait_for_share(share_line& shares) {
    actors::tracked_record* const tracked = slot_.tracked;
    if (tracked == nullptr) return line_up(shares, {});
    tracked->retain();
    if (tracked->enters_line(*this)) {
      shares_ = &shares;
      line_up(shares, tracked->admission_timeout());
      tracked->is_queued();
    } else {
      refused(client_errc::cancelled);
    }
    tracked->release();
  }
  void share_free(const actors::partition_actor& with_room) noexcept override {
    const bool wanted = slot_.tracked == nullptr || slot_.tracked->leaves_line();
    shares_ = nullptr;  // only now: until it has left, a cancellation looks there
    if (!wanted) return refused(client_errc::cancelled);
    if (at_.anywhere) at_.move_to(with_room);
    wait();
  }
  void share_refused(client_errc code) noexcept override { refused(code); }

  /// Lines up. This object may be gone when it returns.
  void wait() {
    actors::tracked_record* const tracked = slot_.tracked;
    const std::uint64_t cost = actors::record_cost(tail_size_);
    if (tracked == nullptr) {
      if (line_.take_or_wait(cost, *this)) admitted();
      return;
    }
    tracked->retain();
    if (!tracked->enters_line(*this))
      refused(client_errc::cancelled);
    else if (line_.take_or_wait(cost, *this, tracked->admission_timeout()))
      admitted();
    else
      tracked->is_queued();
    tracked->release();
  }
  void admitted() noexcept override {
    if (slot_.tracked == nullptr || slot_.tracked->leaves_line()) {
      body_.admit(what_.view(), static_cast<std::uint32_t>(tail_size_), slot_, true, at_);
      delete this;
      return;
    }
    body_.give_back_room(actors::record_cost(tail_size_));
    refused(client_errc::cancelled);
  }
  void refused(client_errc code) noexcept override {
    if (slot_.tracked != nullptr) static_cast<void>(slot_.tracked->leaves_line());
    // Who waits behind it may get room a moment later, so its failure has to be in force by then.
    if (code == client_errc::admission_timeout)
      body_.refuse_in_turn(what_.view(), slot_, code, at_);
    else if (code == client_errc::closed)
      body_.refuse_closed(what_.view(), slot_, what_.owned(body_.wall_now()));
    else
      body_.answer_at_once(what_.view(), slot_, code);
    delete this;
  }

 private:
  void line_up(share_line& shares, share_line::limit wait_max) {
    if (at_.anywhere)
      shares.wait_anywhere(*at_.table, *this, wait_max);
    else
      shares.wait(at_.actor(), *this, wait_max);
  }
  bool withdraw() noexcept override {
    return shares_ != nullptr ? shares_->withdraw(*this) : line_.withdraw(*this);
  }

  producer_body& body_;
  admission_line& line_;
  share_line* shares_ = nullptr;  // while it waits there
  const kept_record what_;
  const std::size_t tail_size_;
  const actors::completion_slot slot_;
  placement at_;
};

}  // namespace

void producer_body::submit_waiting(const record& what, actors::completion_slot slot) {
  if (shut()) return answer_at_once(what, slot, client_errc::closed, why_shut());
  const auto [tail_size, cost] = size_of(what);
  const auto own_timeout =
      slot.tracked != nullptr ? slot.tracked->delivery_timeout() : std::nullopt;
  placement at;
  at.route = route_seen(what.topic);
  const client_errc wrong = judge(what, {tail_size, cost}, own_timeout, at.route);
  if (wrong != client_errc{}) return refuse(what, slot, wrong);
  bool is_open = true;
  do {
    if (shares_ != nullptr) {
      const client_errc lost = place(what, tail_size, at);
      if (lost != client_errc{}) return answer_at_once(what, slot, lost);
      is_open = open(at);
    }
    if (is_open && line_->take_now(cost))
      return admit(what, static_cast<std::uint32_t>(tail_size), slot, false, at);
    if (shut()) return answer_at_once(what, slot, client_errc::closed, why_shut());
  } while (!will_arrive(at));
  auto* const waits = new waiting_record(*this, *line_, what, tail_size, slot, at);
  if (is_open)
    waits->wait();
  else
    waits->wait_for_share(*shares_);
}

}  // namespace partita::detail
