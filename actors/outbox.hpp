// Which ready partitions share the next produce request to a broker.
//
// A partition is in the outbox while it has a batch that may be sent now. Picking takes partitions
// from the front; one that has more to send is added again, at the back. So the start rotates by
// itself. Beside them are those that wait for more records: they can be brought along.
//
// Invariants
// 1. A node is in at most one place, once: a request never carries two batches of one partition
// (the
//    broker keeps the last and drops the other in silence, kafka-semantics 1.2).
// 2. Nodes passed over because they did not fit stay at the front, in order. Each pick takes at
// least
//    the first node that has something to send, so a node with n others before it is served within
//    n + 1 picks.
// 3. A pick looks at no more than max_partitions + passed_over_max + 1 nodes that have something to
//    send, however many are ready. One that has nothing leaves, so it is looked at once per add.
//
// Threads: owned by one broker actor. No allocation: the links are in the nodes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita::actors {

class outbox;
class outbox_pick;

/// To be embedded in (or inherited by) whatever stands for a partition at its broker.
class outbox_node {
 public:
  outbox_node() noexcept = default;
  outbox_node(const outbox_node&) = delete;
  outbox_node& operator=(const outbox_node&) = delete;
  ~outbox_node();

  /// True while it waits in an outbox.
  [[nodiscard]] bool waiting() const noexcept { return place_ == place::outbox; }
  /// Before a pick: as told by add. After it: as told by size_of.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  friend class outbox;
  friend class outbox_pick;
  friend class outbox_list;
  enum class place : std::uint8_t { nowhere, lingering, outbox, picked };

  outbox_node* previous_ = nullptr;
  outbox_node* next_ = nullptr;
  std::size_t bytes_ = 0;
  place place_ = place::nowhere;
};

/// A doubly linked list through the nodes.
class outbox_list {
 public:
  [[nodiscard]] outbox_node* front() const noexcept { return first_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] static outbox_node* after(const outbox_node& node) noexcept { return node.next_; }
  void push_back(outbox_node& node) noexcept;
  void unlink(outbox_node& node) noexcept;

 private:
  outbox_node* first_ = nullptr;
  outbox_node* last_ = nullptr;
  std::size_t size_ = 0;
};

/// The partitions of one request, in order. Take them all out in the same turn: a picked node can
/// neither be added, removed nor destroyed.
class outbox_pick {
 public:
  outbox_pick() noexcept = default;
  outbox_pick(outbox_pick&& other) noexcept;
  outbox_pick& operator=(outbox_pick&&) = delete;
  ~outbox_pick();  ///< what was not popped is in no list any more

  [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// The next one, or null. From now on it may be added again.
  outbox_node* pop() noexcept;

 private:
  friend class outbox;
  outbox_list nodes_;
  std::size_t bytes_ = 0;
};

struct outbox_limits {
  std::size_t max_request_bytes = 0;  ///< the first batch is taken even when it is larger
  std::size_t max_partitions = 0;
};

class outbox {
 public:
  /// How many nodes that do not fit are passed over in the hope of smaller ones behind them.
  static constexpr std::size_t passed_over_max = 16;

  outbox() noexcept = default;
  outbox(const outbox&) = delete;
  outbox& operator=(const outbox&) = delete;
  ~outbox();

  /// The partition has something to send, of about this size. Its place is kept if it waits
  /// already.
  void add(outbox_node& node, std::size_t approximate_bytes);
  /// It waits for more records, or dozes until they come. No effect if it is here already.
  void let_linger(outbox_node& node) noexcept;
  /// Nothing of it is waited with. No effect if it is elsewhere.
  void stop_lingering(outbox_node& node) noexcept;
  /// It has not (paused, halted, moved to another broker). No effect if it does not wait.
  void remove(outbox_node& node);
  /// Takes out the one that has lingered longest; null if none does.
  outbox_node* pop_lingering() noexcept;
  [[nodiscard]] bool any_lingering() const noexcept { return !lingering_.empty(); }

  [[nodiscard]] bool empty() const noexcept { return ready_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return ready_.size(); }
  /// Sum of what add() was told: enough to see whether a request would be full.
  [[nodiscard]] std::size_t approximate_bytes() const noexcept { return bytes_; }

  template <class Visit>
  void for_each(Visit&& visit) {
    for (outbox_node* at = ready_.front(); at != nullptr; at = outbox_list::after(*at)) visit(*at);
  }

  /// Takes out the partitions of the next request. `size_of(outbox_node&)` tells the exact size of
  /// what the partition would send now, 0 for nothing; it must not touch the outbox.
  template <class SizeOf>
  [[nodiscard]] outbox_pick pick(const outbox_limits& limits, SizeOf&& size_of) {
    outbox_pick picked;
    std::size_t passed_over = 0;
    outbox_node* node = begin_pick(limits);
    while (node != nullptr) node = consider(*node, size_of(*node), limits, picked, passed_over);
    return picked;
  }

 private:
  [[nodiscard]] outbox_node* begin_pick(const outbox_limits& limits) const;
  outbox_node* consider(outbox_node& node, std::size_t bytes, const outbox_limits& limits,
                        outbox_pick& picked, std::size_t& passed_over);
  void take_out(outbox_node& node) noexcept;

  outbox_list ready_;
  outbox_list lingering_;
  std::size_t bytes_ = 0;
};

}  // namespace partita::actors
