// Carrying out what the core decides about the log and about tickets.
#include "actors/partition_actor.hpp"

#include "actors/broker_actor.hpp"
#include "actors/lane.hpp"

#include <memory>
#include <string>
#include <utility>

namespace partita::actors {

void partition_actor::look_into_log(const log_question& question) {
  stop_inquiry();
  // After a move the leader is reached from the next turn on, on the new lane.
  if (leader_ == nullptr || leader_->self_lane() != &home() || lane::current() != &home()) {
    log_search unasked(question);
    return take_findings(
        unasked.abandoned(search_end::interrupted, client_errc::connection_closed));
  }
  broker_actor& leader = *leader_;
  inquiry_ = std::make_unique<log_inquiry>(
      log_place{topic_, topic_identity_, index_}, question, home(),
      [&leader](control_client& asking) { leader.ask(asking); },
      [this](log_findings findings) { take_findings(std::move(findings)); });
  inquiry_->start();
}

/// Through the queue, like every answer of a broker (L5).
void partition_actor::take_findings(log_findings findings) {
  auto* news = new log_command;
  news->kind = log_command_kind;
  news->findings = std::move(findings);
  if (!self()->push(*news)) delete news;
}

void partition_actor::stop_inquiry() noexcept {
  if (inquiry_ == nullptr) return;
  inquiry_->withdraw(*leader_);
  inquiry_.reset();
}

// Tickets

/// Numbers for all its records. Listed before anybody is told one of them.
std::uint64_t partition_actor::give_tickets(const batch& unknown) {
  return numbered_ ? shared_.tickets.give(unknown.count(), handle())
                   : shared_.tickets.give_unlisted(unknown.count());
}

struct partition_actor::pending_settlement final : settle_command {
  std::unique_ptr<control_command> asked;
};

void partition_actor::take_settle(std::unique_ptr<control_command> asked) {
  const ticket which = std::get<settle_request>(asked->request).which;
  std::error_code wrong = shared_.tickets.judge(which);
  if (!wrong && !numbered_) wrong = client_errc::not_numbered;
  if (wrong) return asked->answer(settlement(undecidable{wrong}));
  auto* pending = new pending_settlement;
  pending->ticket = which.value;
  pending->asked = std::move(asked);
  core_.settle_ticket(*pending, now());
}

void partition_actor::settled(settle_command& command, const ticket_answer& answer) {
  const std::unique_ptr<pending_settlement> done(static_cast<pending_settlement*>(&command));
  switch (answer.state) {
    case ticket_state::delivered: {
      delivered verdict{index_, std::nullopt,
                        timestamp(std::chrono::milliseconds(answer.timestamp_ms))};
      if (answer.at.known()) verdict.offset = answer.at;
      return done->asked->answer(settlement(verdict));
    }
    case ticket_state::never_written:
      return done->asked->answer(settlement(never_written{}));
    case ticket_state::open:
    case ticket_state::undecidable:
      return done->asked->answer(settlement(undecidable{answer.reason, answer.cause}));
  }
}

void partition_actor::batch_settled(const unknown_batch& batch) {
  partition_event event{partition_change::settled, topic_, index_, batch.verdict.reason};
  event.first = {batch.first_ticket};
  event.count = batch.count();
  for (const auto& each : subscribers_) each->on_event(event);
  shared_.events.tell(event);
  shared_.log(log_level::info, [&] {
    const char* verdict = batch.verdict.state == ticket_state::delivered       ? "delivered"
                          : batch.verdict.state == ticket_state::never_written ? "never written"
                                                                               : "undecidable";
    return topic_ + "-" + std::to_string(index_.value) + ": " + std::to_string(batch.count()) +
           (batch.count() == 1 ? " record of unknown fate is settled: "
                               : " records of unknown fate are settled: ") +
           verdict;
  });
}

}  // namespace partita::actors
