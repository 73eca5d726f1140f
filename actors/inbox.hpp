// The queue of an actor: many pushers, one reader, no lock, no allocation.
//
// Invariants
// 1. A pusher's nodes are read in the order of its pushes; if one push returned before another
//    began, its node is read first, whichever threads they came from (L5).
// 2. Exactly one push after a successful try_block() answers `wake`: that pusher schedules the
//    reader. So a reader is scheduled at most once at a time.
// 3. After close() every push answers `closed` and leaves the node with its pusher, who answers it.
//
// Threads: push() from any thread; everything else from the reader only.
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
      const bool was_idle = seen == idle_tag();
      node.next = was_idle ? nullptr : seen;
      // acquire: a pusher that ends the idle phase must see what the reader wrote before it, in
      // particular the lane that it moved to.
      if (top_.compare_exchange_weak(seen, &node, std::memory_order_acq_rel,
                                     std::memory_order_relaxed))
        return was_idle ? push_result::wake : push_result::queued;
    }
  }

  /// Everything pushed so far, oldest first, ending in nullptr. Null when there is nothing.
  Node* take_all() noexcept {
    Node* newest = top_.load(std::memory_order_relaxed);
    if (newest == nullptr || newest == idle_tag() || newest == closed_tag()) return nullptr;
    return oldest_first(top_.exchange(nullptr, std::memory_order_acquire));
  }

  /// Goes idle. False if something was pushed meanwhile. After true the reader's owner may already
  /// be running again on another thread: touch nothing of it.
  bool try_block() noexcept {
    Node* seen = nullptr;
    return top_.compare_exchange_strong(seen, idle_tag(), std::memory_order_acq_rel,
                                        std::memory_order_relaxed) ||
           seen == idle_tag();  // a reader that was run without having been woken
  }

  /// Refuses later pushes and returns what was left, oldest first.
  Node* close() noexcept {
    Node* newest = top_.exchange(closed_tag(), std::memory_order_acq_rel);
    if (newest == idle_tag() || newest == closed_tag()) return nullptr;
    return oldest_first(newest);
  }

  [[nodiscard]] bool closed() const noexcept {
    return top_.load(std::memory_order_acquire) == closed_tag();
  }

 private:
  // Addresses that no node can have: nodes are aligned to pointers at least.
  static Node* idle_tag() noexcept { return reinterpret_cast<Node*>(std::uintptr_t{1}); }
  static Node* closed_tag() noexcept { return reinterpret_cast<Node*>(std::uintptr_t{2}); }

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
};

using inbox = mpsc_inbox<command>;
using command_list = node_list<command>;

}  // namespace partita::actors
