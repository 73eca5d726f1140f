#include "api/closing.hpp"

#include "actors/metadata_actor.hpp"
#include "actors/named_wait.hpp"
#include "actors/partition_actor.hpp"
#include "api/producer_body.hpp"
#include "wire/mutant.hpp"

#include <iterator>
#include <utility>

namespace partita::detail {
namespace {

using unsent_records = gathering<std::vector<owned_record>>;

struct close_partition_task final : actors::partition_task {
  std::shared_ptr<unsent_records> into;

  void run(actors::partition_actor& at) override {
    actors::close_command command;
    at.close(&command);
    for (owned_record& each : command.unsent) {
      each.topic = at.topic();
      each.partition = at.index();
    }
    into->add([&](std::vector<owned_record>& all) {
      all.insert(all.end(), std::make_move_iterator(command.unsent.begin()),
                 std::make_move_iterator(command.unsent.end()));
    });
    delete this;
  }
  void refuse() noexcept override {
    into->add([](std::vector<owned_record>&) {});
    delete this;
  }
};

}  // namespace

closing::closing(producer_body& body, operation_state<close_report>& state)
    : body_(body),
      state_(&state),
      timer_(
          [](actors::timer_node& node) noexcept {
            static_cast<closing*>(node.owner)->deadline_passed();
          },
          this) {
  state_->retain();
}

closing::~closing() {
  // The lanes ended first.
  if (!done()) {
    state_->result.emplace(std::move(report_));
    state_->open();
  }
  state_->release();
}

void closing::begin(std::chrono::milliseconds deadline) {
  answered_before_ = body_.answered();
  deadline_ = body_.now() + actors::wait_of(deadline);
  body_.shut_gate();
  never_admitted_ = body_.take_closed_waiters();
  flush_when_all_are_in();
}

/// Records that got room are on their way through lane 0: before them the barrier would miss them.
void closing::flush_when_all_are_in() {
  actors::lane& home = body_.runtime().lane_at(0);
  if (body_.letting_in()) return home.post([this] { flush_when_all_are_in(); });
  body_.flush_all().then([this](const tally&) { flushed(); });
  // Only now: with a deadline that is over the partitions would close before the flush comes.
  home.post([this, &home] {
    if (!done()) home.arm(timer_, deadline_);
  });
}

void closing::flushed() noexcept {
  {
    std::lock_guard lock(mutex_);
    flushed_ = true;
  }
  finish_when_complete();
}

void closing::deadline_passed() {
  if (planted(mutant::close_waits_for_all)) return;
  {
    std::lock_guard lock(mutex_);
    if (flushed_) return;
    deadline_passed_ = true;
  }
  auto unsent = unsent_records::make();
  body_.fail_waiting_records(never_routed_);
  for (const actors::partition_table::entry& each : body_.all_partitions()) {
    unsent->expect_one_more();
    auto* task = new close_partition_task;
    task->into = unsent;
    if (!each.handle.push(*task)) task->refuse();
  }
  unsent->when_done([this](std::vector<owned_record>& all) { unsent_gathered(all); });
}

void closing::unsent_gathered(std::vector<owned_record>& unsent) noexcept {
  {
    std::lock_guard lock(mutex_);
    report_.unsent = std::move(unsent);
    report_.unsent.insert(report_.unsent.end(), std::make_move_iterator(never_routed_.begin()),
                          std::make_move_iterator(never_routed_.end()));
    gathered_ = true;
  }
  finish_when_complete();
}

void closing::finish_when_complete() noexcept {
  {
    std::lock_guard lock(mutex_);
    if (!flushed_ || (deadline_passed_ && !gathered_) || done_.load()) return;
    const tally all = body_.answered();
    report_.answered = {all.delivered - answered_before_.delivered,
                        all.not_written - answered_before_.not_written + never_admitted_.size(),
                        all.unknown - answered_before_.unknown};
    report_.unsent.insert(report_.unsent.end(), std::make_move_iterator(never_admitted_.begin()),
                          std::make_move_iterator(never_admitted_.end()));
    state_->result.emplace(std::move(report_));
    done_.store(true, std::memory_order_release);
  }
  state_->open();
}

}  // namespace partita::detail
