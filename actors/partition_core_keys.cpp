// Halted keys: their records are taken out of the way, the others go on.
//
// A record of a halted key is met in one of four places. New: it is refused, or it goes to held_.
// In open_: it is taken out when its batch is next in line, so that each batch is looked through
// once. In unfinished_: it may be written already and is answered truthfully; proven unwritten it
// returns to open_. In failed_: it was answered and waits for recover().
#include "actors/partition_core.hpp"

#include "actors/core_visits.hpp"
#include "actors/record_node.hpp"
#include "wire/mutant.hpp"
#include "actors/topic_routes.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::actors {
namespace {

constexpr std::size_t keys_shown_max = 10;

}  // namespace

std::optional<std::error_code> partition_core::halted_for(const record_node& node) const {
  if (gate_ == gate::halted) return halt_cause_;
  if (keys_.empty()) return std::nullopt;
  const halted_key* key = keys_.find(node.key_hash);
  if (key == nullptr) return std::nullopt;
  return key->cause;
}

/// The batch that the next record joins.
batch& partition_core::tail_for(const record_node& node, instant deadline, instant now) {
  const bool aside = gate_ != gate::halted && keys_.holds(node.key_hash, next_ordinal_);
  batch_queue& queue = aside ? held_ : open_;
  batch* tail = queue.back();
  // A batch of held records that was begun before a later halt may not take records of that later
  // key: what is taken out of open_ for it lies behind that batch's first record.
  const bool joins =
      tail != nullptr && tail->first_ordinal() >= joined_from_ && (!aside || tail->swept == halts_);
  if (!joins || !tail->fits(node, batch_bytes_now(now), settings_.batch_records_max)) {
    tail = effects_.new_batch();
    tail->swept = aside ? halts_ : 0;
    queue.push_back(*tail);
  }
  if (aside) aside_expiry_ = std::min(aside_expiry_.value_or(deadline), deadline);
  return *tail;
}

/// What a waiting recovery collects is not halted again; what lies behind it is held for it.
void partition_core::halt_keys_of(const batch& victim, const std::vector<std::size_t>& which,
                                  const failure_facts& facts) {
  std::vector<std::size_t> wanted;  // indexes
  for (const std::size_t i : which) {
    const completion_entry& each = victim.entries()[i];
    if (each.key_hash == 0) continue;
    const std::uint64_t ordinal = victim.ordinal_of(i);
    waiting_recovery* asked = recovery_of_key(ordinal, each.key_hash);
    if (asked == nullptr)
      wanted.push_back(i);
    else if (asked->keys.full() && asked->keys.find(each.key_hash) == nullptr)
      asked->held_from = std::min(asked->held_from, ordinal);
    else
      asked->keys.add(each.key_hash, ordinal, facts.code, {});
  }
  if (wanted.empty()) return;
  ++halts_;
  std::vector<std::string> added;
  auto next = wanted.begin();
  victim.read_records([&](std::size_t index, const record& what) {
    if (next == wanted.end() || *next != index) return;
    ++next;
    const std::uint32_t hash = victim.entries()[index].key_hash;
    if (keys_.full() && keys_.find(hash) == nullptr) return;
    const std::uint64_t from =
        planted(mutant::news_is_late) ? next_ordinal_ : victim.ordinal_of(index);
    if (keys_.add(hash, from, facts.code, *what.key)) added.push_back(keys_.find(hash)->key);
  });
  if (!added.empty()) effects_.halted(facts.code, added);
  // Bounded, whatever an application that never recovers does: the whole partition stops.
  if (keys_.full() || kept_bytes_ + victim.cost() > settings_.kept_bytes_max)
    halt(victim.first_ordinal(), facts.code);
}

void partition_core::halt_key_of(const record_node& node, const failure_facts& facts) {
  if (node.key_hash == 0) return;
  if (keys_.full() && keys_.find(node.key_hash) == nullptr) return halt(next_ordinal_, facts.code);
  ++halts_;
  record what;
  std::vector<header> headers;
  if (node.tail_size != 0) view_of(node, what, headers);
  if (keys_.add(node.key_hash, next_ordinal_, facts.code, what.key.value_or(std::string_view())))
    effects_.halted(facts.code, {keys_.find(node.key_hash)->key});
}

bool partition_core::halt_on_request(const std::optional<std::string>& key) {
  PARTITA_VISIT(core_event::halt_request, state());
  if (gate_ == gate::closed || gate_ == gate::halted) return false;
  const std::error_code cause = client_errc::halt_requested;
  const std::uint32_t hash = key_hash_of(key);
  if (key && keys_.find(hash) != nullptr) return false;
  if (!key || keys_.full()) {
    halt(0, cause);
    return true;
  }
  keys_.add(hash, 0, cause, *key);
  ++halts_;
  effects_.halted(cause, {*key});
  return true;
}

/// Where it would have gone nobody knows, so under both halting policies its key is halted, and
/// under none the whole partition.
void partition_core::key_failed(const std::string& key, std::error_code code) {
  const bool halts = settings_.on_failure == failure_policy::halt_key ||
                     settings_.on_failure == failure_policy::halt_partition;
  if (!halts || gate_ != gate::open) return;
  if (keys_.full()) return halt(next_ordinal_, code);
  if (!keys_.add(key_hash_of(key), next_ordinal_, code, key)) return;
  ++halts_;
  effects_.halted(code, {keys_.find(key_hash_of(key))->key});
}

// Taking out and bringing back

batch* partition_core::take_part(batch*& whole,
                                 const std::function<bool(const completion_entry&)>& picked) {
  const auto& entries = whole->entries();
  const auto count =
      static_cast<std::size_t>(std::count_if(entries.begin(), entries.end(), picked));
  if (count == 0) return nullptr;
  if (count == entries.size()) return std::exchange(whole, nullptr);
  batch* part = effects_.new_batch();
  whole->extract([&](std::size_t, const completion_entry& each) { return picked(each); }, *part);
  return part;
}

/// Afterwards the front of open_ holds nothing of a halted key.
void partition_core::set_aside_halted() {
  if (keys_.empty()) return;
  while (!open_.empty() && open_.front()->swept != halts_) {
    batch* front = open_.pop_front();
    const batch& in = *front;
    batch* halted = take_part(front, [&](const completion_entry& each) {
      return keys_.holds(each.key_hash, in.ordinal_of(each));
    });
    if (halted != nullptr) put_aside(*halted);
    // Behind a halt of all, records of these keys are not put aside: they may not join a batch that
    // lies before what was.
    if (halted != nullptr && gate_ == gate::halted) joined_from_ = next_ordinal_;
    if (front == nullptr) continue;
    front->swept = halts_;
    open_.insert_by_order(*front);
  }
}

void partition_core::put_aside(batch& what) {
  what.swept = 0;  // nothing new may join it
  held_.insert_by_order(what);
  aside_expiry_ = std::min(aside_expiry_.value_or(what.first_deadline()), what.first_deadline());
}

/// What was held for it lies among the unsent again; nothing of that is sent before the recovery is
/// carried out.
void partition_core::bring_back(const waiting_recovery& asked) {
  batch_queue kept;
  while (!held_.empty()) {
    batch* next = held_.pop_front();
    batch* mine = take_part(next, [&](const completion_entry& each) {
      return !asked.key || each.key_hash == *asked.key;
    });
    if (mine != nullptr) open_.insert_by_order(*mine);
    if (next != nullptr) kept.insert_by_order(*next);
  }
  while (!kept.empty()) held_.push_back(*kept.pop_front());
  note_aside_expiry();
  note_held_expiry();
  if (own_deadlines_) find_early_expiry();
}

void partition_core::note_aside_expiry() noexcept {
  aside_expiry_.reset();
  for (const batch* at = held_.front(); at != nullptr; at = batch_queue::after(*at))
    aside_expiry_ = std::min(aside_expiry_.value_or(at->first_deadline()), at->first_deadline());
}

void partition_core::expire_aside(instant now) {
  if (!aside_expiry_ || *aside_expiry_ > now) return;
  std::vector<batch*> expired;
  batch_queue kept;
  while (!held_.empty()) part_expired(*held_.pop_front(), now, kept, expired);
  while (!kept.empty()) held_.push_back(*kept.pop_front());
  for (batch* each : expired)
    fail(*each, {fate::not_written, client_errc::delivery_timeout, cause_of(*each),
                 limit::delivery_timeout, each->attempts.attempts()});
  note_aside_expiry();
}

void partition_core::describe_halts(partition_status& status) const {
  if (gate_ == gate::halted) status.halt_cause = halt_cause_;
  status.halted_keys = keys_.size();
  for (const auto& [hash, each] : keys_.all()) {
    if (status.some_halted_keys.size() == keys_shown_max) break;
    status.some_halted_keys.push_back({each.key, each.cause});
  }
  if (keys_.empty() || gate_ == gate::halted) return;
  for (const batch* at = open_.front(); at != nullptr; at = batch_queue::after(*at))
    status.held_records += static_cast<std::uint64_t>(std::count_if(
        at->entries().begin(), at->entries().end(), [&](const completion_entry& each) {
          return keys_.holds(each.key_hash, at->ordinal_of(each));
        }));
}

}  // namespace partita::actors
