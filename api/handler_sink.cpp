#include <partita/handler_sink.hpp>

#include "actors/completion.hpp"
#include "api/producer_body.hpp"

#include <partita/contract.hpp>
#include <partita/producer.hpp>

#include <utility>

namespace partita::detail {

waiting_handler::waiting_handler() noexcept = default;
waiting_handler::~waiting_handler() = default;

void handler_sink::list::append(waiting_handler& node) noexcept {
  node.previous_ = last;
  node.next_ = nullptr;
  (last == nullptr ? first : last->next_) = &node;
  last = &node;
}

void handler_sink::list::remove(waiting_handler& node) noexcept {
  (node.previous_ == nullptr ? first : node.previous_->next_) = node.next_;
  (node.next_ == nullptr ? last : node.next_->previous_) = node.previous_;
}

waiting_handler* handler_sink::list::pop() noexcept {
  waiting_handler* node = first;
  if (node != nullptr) remove(*node);
  return node;
}

void handler_sink::list::prepend(list& others) noexcept {
  if (others.first == nullptr) return;
  if (first == nullptr) {
    last = others.last;
  } else {
    others.last->next_ = first;
    first->previous_ = others.last;
  }
  first = std::exchange(others.first, nullptr);
  others.last = nullptr;
}

void handler_sink::start(producer& owner, const record& what, const produce_options& options,
                         waiting_handler& handler) {
  {
    std::lock_guard lock(mutex_);
    PARTITA_EXPECTS_OR_SAY(
        !shut_, "a record was produced with a handler whose execution context has ended");
    waiting_.append(handler);
    ++holders_;
  }
  owner.body().submit_waiting(
      what, producer_body::track(options, {this, reinterpret_cast<std::uint64_t>(&handler)}));
}

/// The lock is held while the drain is posted: otherwise the execution context could end between
/// the decision to post to it and the post (its end waits in shut_down() for this lock).
void handler_sink::complete(const actors::completion_run& run) noexcept {
  std::unique_lock lock(mutex_);
  if (shut_) return complete_shut(run, lock);
  for (std::size_t i = 0; i < run.size(); ++i) {
    auto& handler = *reinterpret_cast<waiting_handler*>(run.data(i));
    PARTITA_ASSERT(handler.phase_ == waiting_handler::phase::waiting);
    --holders_;
    handler.answer_.emplace(run.at(i));
    handler.phase_ = waiting_handler::phase::answered;
    waiting_.remove(handler);
    answered_.append(handler);
  }
  if (!std::exchange(draining_, true)) answered_.first->post_drain(*this);
}

/// The execution context has ended or is ending: nobody is called any more.
void handler_sink::complete_shut(const actors::completion_run& run,
                                 std::unique_lock<std::mutex>& lock) noexcept {
  list doomed;
  for (std::size_t i = 0; i < run.size(); ++i) {
    auto& handler = *reinterpret_cast<waiting_handler*>(run.data(i));
    --holders_;
    if (handler.phase_ == waiting_handler::phase::dropping) {
      handler.phase_ = waiting_handler::phase::answered;  // shut_down() deletes it
      continue;
    }
    if (handler.phase_ == waiting_handler::phase::waiting) waiting_.remove(handler);
    doomed.append(handler);
  }
  const bool last = holders_ == 0;
  lock.unlock();
  while (waiting_handler* handler = doomed.pop()) delete handler;
  if (last) delete this;
}

void handler_sink::drain() {
  list taken;
  {
    std::lock_guard lock(mutex_);
    std::swap(taken, answered_);
  }
  struct on_exit {
    handler_sink& sink;
    list& taken;
    ~on_exit() { sink.after_drain(taken); }
  } rest{*this, taken};
  while (waiting_handler* handler = taken.pop()) {
    outcome answer = std::move(*handler->answer_);
    handler->call(std::move(answer));
  }
}

void handler_sink::after_drain(list& left) {
  std::lock_guard lock(mutex_);
  answered_.prepend(left);
  draining_ = answered_.first != nullptr;
  if (draining_) answered_.first->post_drain(*this);
}

/// Destroying a handler may run any code of the application's, for example the end of the producer,
/// which answers its records here: so no lock is held meanwhile, and lists are taken one by one.
void handler_sink::shut_down() noexcept {
  std::unique_lock lock(mutex_);
  shut_ = true;
  while (waiting_handler* handler = answered_.pop()) {
    lock.unlock();
    delete handler;
    lock.lock();
  }
  while (waiting_handler* handler = waiting_.pop()) {
    handler->phase_ = waiting_handler::phase::dropping;
    lock.unlock();
    handler->drop_handler();
    lock.lock();
    if (handler->phase_ == waiting_handler::phase::answered)
      delete handler;
    else
      handler->phase_ = waiting_handler::phase::dropped;
  }
  const bool last = --holders_ == 0;
  lock.unlock();
  if (last) delete this;
}

namespace {

class inline_target final : public actors::completion_target {
 public:
  void complete(const actors::completion_run& run) noexcept override {
    for (std::size_t i = 0; i < run.size(); ++i) {
      auto& handler = *reinterpret_cast<waiting_handler*>(run.data(i));
      run_call(
          run, i,
          [](void* context, const outcome& answer) {
            static_cast<waiting_handler*>(context)->call(answer);
          },
          &handler);
    }
  }
};

constinit inline_target without_executor;

}  // namespace

void start_inline(producer& owner, const record& what, const produce_options& options,
                  waiting_handler& handler) {
  owner.body().submit_waiting(
      what, producer_body::track(options,
                                 {&without_executor, reinterpret_cast<std::uint64_t>(&handler)}));
}

}  // namespace partita::detail
