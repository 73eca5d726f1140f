#include "chaos/ticket_box.hpp"

#include <partita/settlement.hpp>

#include <utility>

namespace partita::chaos {

void ticket_box::take(ticket which) {
  std::lock_guard lock(mutex_);
  given_.push_back(which);
  fresh_.push_back(which);
}

void ticket_box::ask_one(producer& whom, std::uint64_t draw) {
  ticket which;
  {
    std::lock_guard lock(mutex_);
    if (fresh_.empty()) return;
    std::swap(fresh_[draw % fresh_.size()], fresh_.back());
    which = fresh_.back();
    fresh_.pop_back();
    ++early_;
  }
  ask(whom, which);
}

bool ticket_box::ask_all(producer& whom, std::chrono::milliseconds limit) {
  std::vector<ticket> all;
  {
    std::lock_guard lock(mutex_);
    all = given_;
  }
  for (const ticket which : all) ask(whom, which);
  std::unique_lock lock(mutex_);
  return answered_.wait_for(lock, limit, [this] { return open_ == 0; });
}

void ticket_box::ask(producer& whom, ticket which) {
  {
    std::lock_guard lock(mutex_);
    ++open_;
  }
  whom.settle(which).then([this, which](const settlement& said) {
    history_.settled(which, said);
    std::lock_guard lock(mutex_);
    if (--open_ == 0) answered_.notify_all();
  });
}

std::uint64_t ticket_box::given() const {
  std::lock_guard lock(mutex_);
  return given_.size();
}

std::uint64_t ticket_box::asked_early() const {
  std::lock_guard lock(mutex_);
  return early_;
}

}  // namespace partita::chaos
