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

/// A plain singly linked FIFO of nodes with one owner.
template <class Node>
class node_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }

  void push_back(Node& node) noexcept {
    node.next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = &node;
    tail_ = &node;
  }

  /// Takes over a chain that ends in nullptr.
  void append_chain(Node* first) noexcept {
    if (first == nullptr) return;
    (head_ == nullptr ? head_ : tail_->next) = first;
    while (first->next != nullptr) first = first->next;
    tail_ = first;
  }

  /// Null when empty.
  [[nodiscard]] Node* front() const noexcept { return head_; }
  /// Null when empty.
  Node* pop_front() noexcept {
    Node* node = head_;
    if (node != nullptr) {
      head_ = node->next;
      node->next = nullptr;
    }
    return node;
  }

 private:
  Node* head_ = nullptr;
  Node* tail_ = nullptr;
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
    Node* seen = top_.load(std::memory_order_relaxed);
    for (;;) {
      if (seen == closed_tag()) return push_result::closed;
      const bool wakes = seen == idle_tag() || dozes(seen);
      node.next = seen == idle_tag() ? nullptr : node_of(seen);
      // acquire: a pusher that ends the idle phase must see what the reader wrote before it, in
      // particular the lane that it moved to.
      if (top_.compare_exchange_weak(seen, &node, std::memory_order_acq_rel,
                                     std::memory_order_relaxed))
        return wakes ? push_result::wake : push_result::queued;
    }
  }

  /// As push(), for a node that a dozing reader need not see at once. `weight` is in the unit of
  /// its patience. Queuing and waking a reader for each node costs more than the node.
  push_result push_patiently(Node& node, std::uint32_t weight) noexcept {
    Node* seen = top_.load(std::memory_order_acquire);
    bool counted = false;
    bool wakes_dozer = false;
    for (;;) {
      if (!dozes(seen)) return push(node);
      if (!counted) {
        counted = true;
        wakes_dozer = patience_.fetch_sub(weight, std::memory_order_relaxed) <= weight;
      }
      node.next = node_of(seen);
      if (top_.compare_exchange_weak(seen, wakes_dozer ? &node : dozing(&node),
                                     std::memory_order_acq_rel, std::memory_order_acquire))
        return wakes_dozer ? push_result::wake : push_result::queued;
    }
  }

  /// Everything pushed so far, oldest first, ending in nullptr. Null when there is nothing.
  Node* take_all() noexcept {
    Node* newest = top_.load(std::memory_order_relaxed);
    if (newest == nullptr || newest == idle_tag() || newest == closed_tag()) return nullptr;
    return oldest_first(node_of(top_.exchange(nullptr, std::memory_order_acquire)));
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

  /// What lies unread, oldest first, as take_all(); a reader that dozes goes on dozing. Only where
  /// nobody else runs the reader meanwhile: on its lane.
  Node* take_unread() noexcept {
    Node* seen = top_.load(std::memory_order_relaxed);
    while (dozes(seen))
      if (top_.compare_exchange_weak(seen, dozing(nullptr), std::memory_order_acq_rel,
                                     std::memory_order_relaxed))
        return oldest_first(node_of(seen));
    return take_all();
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
  Node* close() noexcept {
    Node* newest = top_.exchange(closed_tag(), std::memory_order_acq_rel);
    if (newest == idle_tag() || newest == closed_tag()) return nullptr;
    return oldest_first(node_of(newest));
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

  static Node* oldest_first(Node* newest) noexcept {
    Node* oldest = nullptr;
    while (newest != nullptr) {
      Node* older = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = older;
    }
    return oldest;
  }

  std::atomic<Node*> top_;
  std::atomic<std::int64_t> patience_{0};  // what may still come while it dozes
};

using inbox = mpsc_inbox<command>;
using command_list = node_list<command>;

}  // namespace partita::actors
