#include "api/closing.hpp"

#include "actors/metadata_actor.hpp"
#include "actors/named_wait.hpp"
#include "actors/partition_actor.hpp"
#include "api/producer_body.hpp"

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

closing::~closing() { state_->release(); }

void closing::begin(std::chrono::milliseconds deadline) {
  body_.shut_gate();
  actors::lane& home = body_.runtime().lane_at(0);
  const actors::instant at = body_.now() + actors::wait_of(deadline);
  home.post([this, &home, at] {
    if (!done()) home.arm(timer_, at);
  });
  body_.flush_all().then([this](const tally& counts) { flushed(counts); });
}

void closing::flushed(const tally& counts) noexcept {
  {
    std::lock_guard lock(mutex_);
    report_.answered = counts;
    flushed_ = true;
  }
  finish_when_complete();
}

void closing::deadline_passed() {
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
    state_->result.emplace(std::move(report_));
    done_.store(true, std::memory_order_release);
  }
  state_->open();
}

}  // namespace partita::detail
