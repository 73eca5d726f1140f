// The queue of an actor: many pushers, one reader, no lock, no allocation.
//
// Invariants
// 1. A pusher's nodes are read in the order of its pushes; if one push returned before another
//    began, its node is read first, whichever threads they came from (L5).
// 2. Exactly one push after a successful try_block() answers `wake`: that pusher schedules the
//    reader. So a reader is scheduled at most once at a time.
// 3. After close() every push answers `closed` and leaves the node with its pusher, who answers it.
// 4. A reader that dozes is woken by every push() and by the push_patiently() that uses up its
//    patience; what comes patiently before lies unread. So whoever dozes has a reason to come back.
// 5. A pusher takes its place by a compare-and-swap and then links its node behind the one before
//    it. Nobody hands that one out before he has: a reader that comes in between waits for him.
//
// The links go from old to new, because a reader that had to turn them round would wait for the
// other core's memory at every node, with nothing else to do (docs/decisions/0013).
//
// Threads: push() and push_patiently() from any thread; everything else from the reader only.
#pragma once

#include <partita/contract.hpp>

#include <atomic>
#include <cstdint>

namespace partita::actors {

/// What a command is, so that a reader can cast it. Values from `first_free` on belong to whoever
/// defines a command type of his own.
enum class command_kind : std::uint16_t {
  none,
  foreign_message,  ///< a CAF mailbox element; never reaches a body
  wake,             ///< makes an actor look at its state (start, stop); never reaches a body
  record,           ///< record_node
  control,          ///< control_command
  timer,
  batch,
  first_free = 64,
};

/// A node of an inbox. Whoever holds it owns it; ownership moves with push() and on_command().
/// There is no virtual destructor: the receiver knows the kind and gives the node back accordingly.
struct command {
  command* next = nullptr;
  command_kind kind = command_kind::none;
  std::uint16_t flags = 0;   ///< free for the command's own use
  std::uint32_t weight = 0;  ///< bytes, for the bound of a turn
};

inline constexpr int link_spins = 1000;
/// Leaves the core to somebody else, also to one who may run less urgently.
void await_link() noexcept;

/// The node behind `node`, for which its pusher may still have to link it (invariant 5).
template <class Node>
Node& linked_behind(Node& node) noexcept {
  const std::atomic_ref<Node*> link(node.next);
  for (int tries = 0;; ++tries)
    if (Node* const next = link.load(std::memory_order_acquire)) {
      return *next;
    } else if (tries > link_spins) {
      await_link();  // it was interrupted between two instructions
    }
}

/// A singly linked FIFO of nodes with one owner.
template <class Node>
class node_list {
 public:
  node_list() noexcept = default;
  /// Whole, but for links that are still to come.
  node_list(Node& first, Node& last) noexcept : head_(&first), tail_(&last) {}

  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }

  void push_back(Node& node) noexcept {
    node.next = nullptr;
    append({node, node});
  }

  /// Takes over all of it.
  void append(const node_list& other) noexcept {
    if (other.empty()) return;
    (head_ == nullptr ? head_ : tail_->next) = other.head_;
    tail_ = other.tail_;
  }

  /// Null when empty.
  [[nodiscard]] Node* front() const noexcept { return head_; }
  /// Null when empty.
  Node* pop_front() noexcept {
    Node* const node = head_;
    if (node == nullptr) return nullptr;
    head_ = node == tail_ ? nullptr : &linked_behind(*node);
    if (head_ != nullptr) fetch_soon(head_);
    node->next = nullptr;
    return node;
  }

 private:
  /// What another core wrote comes while the node before is worked on: a record and its bytes.
  static void fetch_soon(const Node* node) noexcept {
    const auto* const bytes = reinterpret_cast<const char*>(node);
    for (int line = 0; line < 4; ++line) __builtin_prefetch(bytes + 64 * line);
  }

  Node* head_ = nullptr;
  Node* tail_ = nullptr;  // meaningless while there is no head
};

enum class push_result : std::uint8_t {
  queued,  ///< the reader is awake and will come to it
  wake,    ///< the reader was idle: the pusher must schedule it
  closed,  ///< refused: the node is still the pusher's
};

/// The lock-free part, for any node with a `next` pointer of its own type.
template <class Node>
class mpsc_inbox {
 public:
  /// Starts idle: the first push answers `wake`.
  mpsc_inbox() noexcept : top_(idle_tag()) {}
  mpsc_inbox(const mpsc_inbox&) = delete;
  mpsc_inbox& operator=(const mpsc_inbox&) = delete;

  push_result push(Node& node) noexcept {
    node.next = nullptr;
    Node* seen = top_.load(std::memory_order_relaxed);
    for (;;) {
      if (seen == closed_tag()) return push_result::closed;
      const bool wakes = seen == idle_tag() || dozes(seen);
      // acquire: a pusher that ends the idle phase must see what the reader wrote before it, in
      // particular the lane that it moved to.
      if (!top_.compare_exchange_weak(seen, &node, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
        continue;
      link(seen == idle_tag() ? nullptr : node_of(seen), node);
      return wakes ? push_result::wake : push_result::queued;
    }
  }

  /// As push(), for a node that a dozing reader need not see at once. `weight` is in the unit of
  /// its patience. Queuing and waking a reader for each node costs more than the node.
  push_result push_patiently(Node& node, std::uint32_t weight) noexcept {
    node.next = nullptr;
    Node* seen = top_.load(std::memory_order_acquire);
    bool counted = false;
    bool wakes_dozer = false;
    for (;;) {
      if (!dozes(seen)) return push(node);
      if (!counted) {
        counted = true;
        wakes_dozer = patience_.fetch_sub(weight, std::memory_order_relaxed) <= weight;
      }
      if (!top_.compare_exchange_weak(seen, wakes_dozer ? &node : dozing(&node),
                                      std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      link(node_of(seen), node);
      return wakes_dozer ? push_result::wake : push_result::queued;
    }
  }

  /// Everything pushed so far, oldest first.
  node_list<Node> take_all() noexcept {
    Node* seen = top_.load(std::memory_order_relaxed);
    if (seen == dozing(nullptr) &&
        top_.compare_exchange_strong(seen, nullptr, std::memory_order_acq_rel,
                                     std::memory_order_relaxed))
      return {};
    if (seen == nullptr || is_tag(seen)) return {};
    Node& oldest = take_oldest();
    return {oldest, *node_of(top_.exchange(nullptr, std::memory_order_acq_rel))};
  }

  /// Goes idle. False if something was pushed meanwhile. After true the reader's owner may already
  /// be running again on another thread: touch nothing of it.
  bool try_block() noexcept { return rest(idle_tag()); }

  /// As try_block(), until more than `patience` was pushed patiently (it is not looked at exactly:
  /// a push that falls together with this call may not count).
  bool try_doze(std::int64_t patience) noexcept {
    patience_.store(patience, std::memory_order_relaxed);
    return rest(dozing(nullptr));
  }

  /// The same; a reader that dozes goes on dozing. Only where nobody else runs the reader
  /// meanwhile: on its lane.
  node_list<Node> take_unread() noexcept {
    Node* seen = top_.load(std::memory_order_relaxed);
    if (is_tag(seen) || node_of(seen) == nullptr) return {};
    Node& oldest = take_oldest();
    while (!top_.compare_exchange_weak(seen, dozes(seen) ? dozing(nullptr) : nullptr,
                                       std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    return {oldest, *node_of(seen)};
  }

  /// Ends a doze, there as well. True: it dozed, and the caller schedules the reader; if there is
  /// nothing to read it becomes idle, unless it is `needed`.
  [[nodiscard]] bool end_doze(bool needed) noexcept {
    Node* seen = top_.load(std::memory_order_relaxed);
    while (dozes(seen)) {
      Node* const unread = node_of(seen);
      const bool runs = needed || unread != nullptr;
      if (top_.compare_exchange_weak(seen, runs ? unread : idle_tag(), std::memory_order_acq_rel,
                                     std::memory_order_relaxed))
        return runs;
    }
    return false;
  }

  /// Refuses later pushes and returns what was left, oldest first.
  node_list<Node> close() noexcept {
    Node* const newest = top_.exchange(closed_tag(), std::memory_order_acq_rel);
    if (is_tag(newest) || node_of(newest) == nullptr) return {};
    return {take_oldest(), *node_of(newest)};
  }

  [[nodiscard]] bool closed() const noexcept {
    return top_.load(std::memory_order_acquire) == closed_tag();
  }

 private:
  // Addresses that no node can have: nodes are aligned to pointers at least. A reader that dozes
  // is a bit of the address, so that every pusher sees it.
  static Node* idle_tag() noexcept { return reinterpret_cast<Node*>(std::uintptr_t{1}); }
  static Node* closed_tag() noexcept { return reinterpret_cast<Node*>(std::uintptr_t{2}); }
  static constexpr std::uintptr_t doze_bit = 4;
  static bool dozes(Node* top) noexcept {
    return (reinterpret_cast<std::uintptr_t>(top) & doze_bit) != 0;
  }
  static Node* dozing(Node* top) noexcept {
    static_assert(alignof(Node) > doze_bit);
    return reinterpret_cast<Node*>(reinterpret_cast<std::uintptr_t>(top) | doze_bit);
  }
  static Node* node_of(Node* top) noexcept {
    return reinterpret_cast<Node*>(reinterpret_cast<std::uintptr_t>(top) & ~doze_bit);
  }

  bool rest(Node* how) noexcept {
    Node* seen = nullptr;
    return top_.compare_exchange_strong(seen, how, std::memory_order_acq_rel,
                                        std::memory_order_relaxed) ||
           seen == idle_tag();  // a reader that was run without having been woken
  }

  static bool is_tag(Node* top) noexcept { return top == idle_tag() || top == closed_tag(); }

  void link(Node* before, Node& node) noexcept {
    if (before == nullptr)
      oldest_.store(&node, std::memory_order_release);
    else
      std::atomic_ref<Node*>(before->next).store(&node, std::memory_order_release);
  }

  /// Of what lies here, before it is taken out: whoever pushes first after that stores it anew.
  Node& take_oldest() noexcept {
    for (int tries = 0;; ++tries)
      if (Node* const oldest = oldest_.load(std::memory_order_acquire)) {
        oldest_.store(nullptr, std::memory_order_relaxed);
        return *oldest;
      } else if (tries > link_spins) {
        await_link();
      }
  }

  std::atomic<Node*> top_;              // the newest
  std::atomic<Node*> oldest_{nullptr};  // null while nothing lies here, or it is to be stored yet
  std::atomic<std::int64_t> patience_{0};  // what may still come while it dozes
};

using inbox = mpsc_inbox<command>;
using command_list = node_list<command>;

}  // namespace partita::actors
