#include <partita/testing/mock_producer.hpp>

#include <partita/contract.hpp>
#include <partita/partitioner.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

namespace partita::testing {
namespace {

owned_record copy_of(const record& from) {
  owned_record made;
  made.topic = std::string{from.topic};
  if (from.key) made.key = std::string{*from.key};
  if (from.value) made.value = std::string{*from.value};
  for (const auto& header : from.headers) {
    auto& copied = made.headers.emplace_back();
    copied.key = std::string{header.key};
    if (header.value) copied.value = std::string{*header.value};
  }
  if (from.partition) made.partition = *from.partition;
  made.timestamp = from.timestamp.value_or(
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()));
  return made;
}

template <class T>
operation<T> finished(T value) {
  auto* state = new detail::operation_state<T>;
  operation<T> made{*state};
  state->result.emplace(std::move(value));
  state->open();
  return made;
}

void count(tally& all, const outcome& one) {
  const auto* failure = one.failure();
  if (failure == nullptr)
    ++all.delivered;
  else if (failure->fate == fate::not_written)
    ++all.not_written;
  else
    ++all.unknown;
}

using place = std::pair<std::string, std::int32_t>;

// A flush that is not over yet.
struct barrier {
  std::vector<std::size_t> waits_for;  // indexes of records
  tally answered;
  detail::operation_state<tally>* state;
};

}  // namespace

struct mock_producer::parts {
  explicit parts(const mock_options& wanted) : options(wanted) {}

  struct held_record {
    mock_record noted;
    callback answered;
    record_number number{};  // that of its first submission
  };
  struct partition {
    std::int64_t next_offset = 0;
    bool paused = false;
    std::optional<std::error_code> halted;  // all of it
    std::map<std::string, std::error_code> halted_keys;
    std::vector<std::size_t> failed;   // kept for recover()
    std::vector<std::size_t> written;  // records by offset
  };
  // User code that is owed an answer, called once the lock is free.
  struct owed {
    callback answered;
    outcome answer;
  };

  mock_options options;
  mutable std::mutex lock;
  std::deque<held_record> records;  // all of them: indexes stay
  std::deque<std::size_t> waiting;  // unanswered, in order
  std::map<place, partition> partitions;
  std::vector<barrier> barriers;
  std::vector<std::pair<std::vector<std::size_t>, detail::operation_state<std::vector<outcome>>*>>
      batches;
  std::vector<owed> debts;
  bool closed = false;
  std::uint64_t last_ticket = 0;

  [[nodiscard]] partition& of(const owned_record& record) {
    return partitions[{record.topic, record.partition.value}];
  }

  [[nodiscard]] outcome failure(const owned_record& record, fate what, std::error_code code,
                                std::error_code cause = {}, record_number number = {}) {
    failed made{what, code, cause};
    made.number = number;
    made.topic = record.topic;
    made.partition = record.partition;
    made.attempts = what == fate::unknown ? 1 : 0;
    if (what == fate::unknown) made.ticket = {++last_ticket};
    return made;
  }

  void owe(callback answered, outcome answer) {
    debts.push_back({std::move(answered), std::move(answer)});
  }

  // Answers a record that was taken, and whoever waits for it among others.
  void answer(std::size_t index, outcome with) {
    std::erase(waiting, index);
    auto& held = records[index];
    held.noted.answer.emplace(with);
    for (auto& one : barriers)
      if (std::erase(one.waits_for, index) > 0) count(one.answered, with);
    owe(std::exchange(held.answered, {}), std::move(with));
  }

  void deliver(std::size_t index) {
    const auto& record = records[index].noted.record;
    auto& where = of(record);
    delivered made{record.partition, offset{where.next_offset++}, record.timestamp};
    where.written.push_back(index);
    answer(index, made);
  }

  // The failure takes effect first: the halt, or the end of what lies behind.
  void fail(std::size_t index, fate what, std::error_code code) {
    const auto record = records[index].noted.record;
    auto& where = of(record);
    switch (options.on_failure) {
      case failure_policy::skip:
        break;
      case failure_policy::halt_key:
        if (record.key) {
          where.halted_keys.emplace(*record.key, code);
          where.failed.push_back(index);
        }
        break;
      case failure_policy::halt_partition:
        where.halted = code;
        where.failed.push_back(index);
        break;
      case failure_policy::fail_following:
        break;
    }
    answer(index, failure(record, what, code, {}, records[index].number));
    if (options.on_failure != failure_policy::fail_following) return;
    for (const auto other : std::vector<std::size_t>(waiting.begin(), waiting.end())) {
      const auto& behind = records[other].noted.record;
      if (other > index && behind.topic == record.topic && behind.partition == record.partition)
        answer(other, failure(behind, fate::not_written, code, {}, records[other].number));
    }
  }

  // Why a new record of this partition is refused, if it is.
  [[nodiscard]] std::optional<std::error_code> refusal(const owned_record& record) {
    auto& where = of(record);
    if (where.halted) return where.halted;
    if (!record.key) return std::nullopt;
    const auto key = where.halted_keys.find(*record.key);
    if (key == where.halted_keys.end()) return std::nullopt;
    return key->second;
  }

  // Unanswered, and neither paused nor halted.
  [[nodiscard]] std::optional<std::size_t> next() {
    for (const auto index : waiting) {
      const auto& record = records[index].noted.record;
      if (!of(record).paused && !refusal(record)) return index;
    }
    return std::nullopt;
  }

  // Delivers what a pause or a halt held up.
  void go_on() {
    if (!options.auto_complete) return;
    while (const auto index = next()) deliver(*index);
  }

  void admit(const record& from, callback answered) {
    auto record = copy_of(from);
    if (!record.partition
             .known())  // as Kafka's Java producer, but a record without key is never spread
      record.partition =
          partition_of_key(partitioner_kind::murmur2_random, record.key, options.partitions)
              .value_or(partition_id{0});
    if (closed) {
      owe(std::move(answered), failure(record, fate::not_written, client_errc::closed));
    } else if (record.partition.value >= options.partitions || record.partition.value < 0) {
      owe(std::move(answered), failure(record, fate::not_written, client_errc::invalid_partition));
    } else if (waiting.size() >= options.records_max) {
      owe(std::move(answered), failure(record, fate::not_written, client_errc::buffer_full));
    } else if (const auto why = refusal(record)) {
      owe(std::move(answered), failure(record, fate::not_written, client_errc::halted, *why));
    } else {
      const auto index = records.size();
      records.push_back({{std::move(record), {}}, std::move(answered), {index + 1}});
      waiting.push_back(index);
      if (options.auto_complete && !of(records[index].noted.record).paused) deliver(index);
    }
  }

  // Calls what is owed; more may be owed by what it calls.
  void settle(std::unique_lock<std::mutex>& held) {
    for (;;) {
      auto calls = std::exchange(debts, {});
      std::vector<barrier> over;
      for (auto at = barriers.begin(); at != barriers.end();)
        if (at->waits_for.empty()) {
          over.push_back(std::move(*at));
          at = barriers.erase(at);
        } else {
          ++at;
        }
      if (calls.empty() && over.empty()) return;
      held.unlock();
      for (auto& one : calls)
        if (one.answered) one.answered(one.answer);
      for (auto& one : over) {
        one.state->result.emplace(one.answered);
        one.state->open();
        one.state->release();
      }
      held.lock();
    }
  }

  template <class Wanted>
  operation<tally> flush(Wanted&& wanted) {
    auto* state = new detail::operation_state<tally>;
    operation<tally> made{*state};
    std::unique_lock held{lock};
    state->retain();
    auto& one = barriers.emplace_back();
    one.state = state;
    for (const auto index : waiting)
      if (wanted(records[index].noted.record)) one.waits_for.push_back(index);
    settle(held);
    return made;
  }

  recovery_report recover(partition& where, recovery how, recover_options allowed) {
    recovery_report made;
    made.was_halted = where.halted.has_value() || !where.halted_keys.empty();
    if (!made.was_halted) return made;
    const auto kept = std::exchange(where.failed, {});
    where.halted.reset();
    where.halted_keys.clear();
    for (const auto index : kept) {
      const auto& held = records[index].noted;
      const auto& failure = *held.answer->failure();
      if (how == recovery::take) {
        made.taken.push_back({held.record, failure});
      } else if (how == recovery::discard) {
        ++made.discarded;
      } else if (failure.fate == fate::unknown && !allowed.allow_duplicates) {
        made.left_out.push_back(failure);
      } else {
        // A new submission: it is delivered, as the second try of a test usually is.
        const auto again = records.size();
        const record_number number = records[index].number;
        records.push_back({{held.record, {}}, {}, number});
        waiting.push_back(again);
        deliver(again);
        made.resubmitted.push_back({number, *records[again].noted.answer});
      }
    }
    return made;
  }
};

bool mock_operation::awaiter::await_suspend(std::coroutine_handle<> handle) {
  // An answer that comes before this returns must not resume the coroutine from within it.
  struct started {
    std::mutex lock;
    bool inside = true;
    bool answered = false;
  };
  auto shared = std::make_shared<started>();
  owner.take(sent, [this, handle, shared](const outcome& answered) {
    answer.emplace(answered);
    {
      const std::lock_guard held{shared->lock};
      shared->answered = true;
      if (shared->inside) return;
    }
    handle.resume();
  });
  const std::lock_guard held{shared->lock};
  shared->inside = false;
  return !shared->answered;
}

mock_producer::mock_producer(const mock_options& options)
    : parts_(std::make_unique<parts>(options)) {
  PARTITA_EXPECTS(options.partitions > 0, options.partitions);
}

mock_producer::~mock_producer() { static_cast<void>(close(std::chrono::milliseconds{0})); }

void mock_producer::take(const record& record, callback answered) {
  std::unique_lock held{parts_->lock};
  parts_->admit(record, std::move(answered));
  parts_->settle(held);
}

admission mock_producer::try_take(const record& record, callback answered) {
  std::unique_lock held{parts_->lock};
  if (parts_->closed) return admission::closed;
  if (parts_->waiting.size() >= parts_->options.records_max) return admission::full;
  parts_->admit(record, std::move(answered));
  parts_->settle(held);
  return admission::accepted;
}

operation<std::vector<outcome>> mock_producer::produce_batch(std::span<const record> records,
                                                             const produce_options&) {
  struct gathered {
    explicit gathered(std::size_t count) : answers(count), left(count) {}
    std::mutex lock;
    std::vector<std::optional<outcome>> answers;
    std::size_t left;
  };
  auto* state = new detail::operation_state<std::vector<outcome>>;
  operation<std::vector<outcome>> made{*state};
  if (records.empty()) {
    state->result.emplace();
    state->open();
    return made;
  }
  auto all = std::make_shared<gathered>(records.size());
  state->retain();
  std::unique_lock held{parts_->lock};
  for (std::size_t i = 0; i < records.size(); ++i)
    parts_->admit(records[i], [all, i, state](const outcome& answer) {
      {
        const std::lock_guard guard{all->lock};
        all->answers[i].emplace(answer);
        if (--all->left > 0) return;
      }
      auto& result = state->result.emplace();
      for (auto& one : all->answers) result.push_back(std::move(*one));
      state->open();
      state->release();
    });
  parts_->settle(held);
  return made;
}

operation<tally> mock_producer::flush() {
  return parts_->flush([](const owned_record&) { return true; });
}

operation<tally> mock_producer::flush(std::string_view topic) {
  return parts_->flush([&](const owned_record& record) { return record.topic == topic; });
}

operation<tally> mock_producer::flush(std::string_view topic, partition_id partition) {
  return parts_->flush([&](const owned_record& record) {
    return record.topic == topic && record.partition == partition;
  });
}

operation<close_report> mock_producer::close(std::chrono::milliseconds) {
  close_report made;
  std::unique_lock held{parts_->lock};
  parts_->closed = true;
  for (const auto index :
       std::vector<std::size_t>(parts_->waiting.begin(), parts_->waiting.end())) {
    const auto record = parts_->records[index].noted.record;
    made.unsent.push_back(record);
    ++made.answered.not_written;
    parts_->answer(index, parts_->failure(record, fate::not_written, client_errc::closed));
  }
  parts_->settle(held);
  return finished(std::move(made));
}

operation<bool> mock_producer::pause(std::string_view topic, partition_id partition,
                                     pause_mode mode) {
  std::unique_lock held{parts_->lock};
  const bool known = partition.value >= 0 && partition.value < parts_->options.partitions;
  if (known) {
    parts_->partitions[{std::string{topic}, partition.value}].paused = true;
    if (mode == pause_mode::abort_buffered)
      for (const auto index :
           std::vector<std::size_t>(parts_->waiting.begin(), parts_->waiting.end())) {
        const auto record = parts_->records[index].noted.record;
        if (record.topic == topic && record.partition == partition)
          parts_->answer(index, parts_->failure(record, fate::not_written, client_errc::aborted));
      }
  }
  parts_->settle(held);
  return finished(known);
}

operation<bool> mock_producer::resume(std::string_view topic, partition_id partition) {
  std::unique_lock held{parts_->lock};
  const bool known = partition.value >= 0 && partition.value < parts_->options.partitions;
  if (known) parts_->partitions[{std::string{topic}, partition.value}].paused = false;
  parts_->go_on();
  parts_->settle(held);
  return finished(known);
}

operation<recovery_report> mock_producer::recover(std::string_view topic, partition_id partition,
                                                  recovery how, recover_options options) {
  std::unique_lock held{parts_->lock};
  const auto found = parts_->partitions.find({std::string{topic}, partition.value});
  auto made = found == parts_->partitions.end() ? recovery_report{}
                                                : parts_->recover(found->second, how, options);
  parts_->go_on();
  parts_->settle(held);
  return finished(std::move(made));
}

bool mock_producer::deliver_next() {
  std::unique_lock held{parts_->lock};
  const auto next = parts_->next();
  if (next) parts_->deliver(*next);
  parts_->settle(held);
  return next.has_value();
}

bool mock_producer::fail_next(std::error_code code) {
  std::unique_lock held{parts_->lock};
  const auto next = parts_->next();
  if (next) parts_->fail(*next, fate::not_written, code);
  parts_->settle(held);
  return next.has_value();
}

bool mock_producer::doubt_next(std::error_code code) {
  std::unique_lock held{parts_->lock};
  const auto next = parts_->next();
  if (next) parts_->fail(*next, fate::unknown, code);
  parts_->settle(held);
  return next.has_value();
}

std::size_t mock_producer::deliver_all() {
  std::size_t count = 0;
  while (deliver_next()) ++count;
  return count;
}

void mock_producer::set_auto_complete(bool on) {
  const std::lock_guard held{parts_->lock};
  parts_->options.auto_complete = on;
}

void mock_producer::halt(std::string_view topic, partition_id partition, std::error_code cause) {
  const std::lock_guard held{parts_->lock};
  parts_->partitions[{std::string{topic}, partition.value}].halted = cause;
}

std::size_t mock_producer::pending() const {
  const std::lock_guard held{parts_->lock};
  return parts_->waiting.size();
}

bool mock_producer::halted(std::string_view topic, partition_id partition) const {
  const std::lock_guard held{parts_->lock};
  const auto found = parts_->partitions.find({std::string{topic}, partition.value});
  return found != parts_->partitions.end() &&
         (found->second.halted.has_value() || !found->second.halted_keys.empty());
}

std::vector<mock_record> mock_producer::history() const {
  const std::lock_guard held{parts_->lock};
  std::vector<mock_record> made;
  for (const auto& one : parts_->records) made.push_back(one.noted);
  return made;
}

std::vector<owned_record> mock_producer::log(std::string_view topic, partition_id partition) const {
  const std::lock_guard held{parts_->lock};
  std::vector<owned_record> made;
  const auto found = parts_->partitions.find({std::string{topic}, partition.value});
  if (found == parts_->partitions.end()) return made;
  for (const auto index : found->second.written)
    made.push_back(parts_->records[index].noted.record);
  return made;
}

}  // namespace partita::testing
