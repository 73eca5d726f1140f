#include "actors/outbox.hpp"

#include <partita/contract.hpp>

namespace partita::actors {

outbox_node::~outbox_node() { PARTITA_EXPECTS(place_ == place::nowhere, place_); }

void outbox_list::push_back(outbox_node& node) noexcept {
  node.previous_ = last_;
  node.next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = &node;
  last_ = &node;
  ++size_;
}

void outbox_list::unlink(outbox_node& node) noexcept {
  (node.previous_ != nullptr ? node.previous_->next_ : first_) = node.next_;
  (node.next_ != nullptr ? node.next_->previous_ : last_) = node.previous_;
  node.previous_ = node.next_ = nullptr;
  --size_;
}

outbox_pick::outbox_pick(outbox_pick&& other) noexcept
    : nodes_(other.nodes_), bytes_(other.bytes_) {
  other.nodes_ = {};
  other.bytes_ = 0;
}

outbox_pick::~outbox_pick() {
  while (pop() != nullptr) {
  }
}

outbox_node* outbox_pick::pop() noexcept {
  outbox_node* node = nodes_.front();
  if (node == nullptr) return nullptr;
  nodes_.unlink(*node);
  node->place_ = outbox_node::place::nowhere;
  bytes_ -= node->bytes_;
  return node;
}

outbox::~outbox() {
  while (!ready_.empty()) take_out(*ready_.front());
  while (pop_lingering() != nullptr) {
  }
}

void outbox::let_linger(outbox_node& node) noexcept {
  if (node.place_ != outbox_node::place::nowhere) return;
  lingering_.push_back(node);
  node.place_ = outbox_node::place::lingering;
}

outbox_node* outbox::pop_lingering() noexcept {
  outbox_node* const node = lingering_.front();
  if (node == nullptr) return nullptr;
  lingering_.unlink(*node);
  node->place_ = outbox_node::place::nowhere;
  return node;
}

void outbox::add(outbox_node& node, std::size_t approximate_bytes) {
  PARTITA_EXPECTS(node.place_ != outbox_node::place::picked);
  PARTITA_EXPECTS(approximate_bytes > 0);
  if (node.waiting()) {
    bytes_ -= node.bytes_;
  } else {
    if (node.place_ == outbox_node::place::lingering) lingering_.unlink(node);
    ready_.push_back(node);
    node.place_ = outbox_node::place::outbox;
  }
  node.bytes_ = approximate_bytes;
  bytes_ += approximate_bytes;
}

void outbox::remove(outbox_node& node) {
  PARTITA_EXPECTS(node.place_ != outbox_node::place::picked);
  if (node.waiting()) return take_out(node);
  stop_lingering(node);
}

void outbox::stop_lingering(outbox_node& node) noexcept {
  if (node.place_ != outbox_node::place::lingering) return;
  lingering_.unlink(node);
  node.place_ = outbox_node::place::nowhere;
}

outbox_node* outbox::begin_pick(const outbox_limits& limits) const {
  PARTITA_EXPECTS(limits.max_request_bytes > 0);
  PARTITA_EXPECTS(limits.max_partitions > 0);
  return ready_.front();
}

// Returns the node to consider next, or null when the request is complete.
outbox_node* outbox::consider(outbox_node& node, std::size_t bytes, const outbox_limits& limits,
                              outbox_pick& picked, std::size_t& passed_over) {
  PARTITA_ASSERT(node.waiting());
  outbox_node* next = outbox_list::after(node);
  if (bytes == 0) {
    take_out(node);
    return next;
  }
  // The first batch may be larger than the limit, so the room left is not a plain difference.
  const std::size_t room =
      picked.bytes_ < limits.max_request_bytes ? limits.max_request_bytes - picked.bytes_ : 0;
  if (!picked.empty() && bytes > room) return ++passed_over <= passed_over_max ? next : nullptr;

  take_out(node);
  node.bytes_ = bytes;
  node.place_ = outbox_node::place::picked;
  picked.nodes_.push_back(node);
  picked.bytes_ += bytes;
  const bool full =
      picked.size() >= limits.max_partitions || picked.bytes_ >= limits.max_request_bytes;
  return full ? nullptr : next;
}

void outbox::take_out(outbox_node& node) noexcept {
  ready_.unlink(node);
  bytes_ -= node.bytes_;
  node.place_ = outbox_node::place::nowhere;
}

}  // namespace partita::actors
