// Hints that answers carry about a partition's leader (KIP-951).
#pragma once

#include <partita/ids.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace partita::wire {

struct leader_hint {
  broker_id leader;
  partita::leader_epoch leader_epoch;

  static void describe(auto& io, auto& m) { io(m.leader, m.leader_epoch); }
  friend bool operator==(const leader_hint&, const leader_hint&) = default;
};

struct node_endpoint {
  broker_id node_id;
  std::string host;
  std::int32_t port = 0;
  std::optional<std::string> rack;

  static void describe(auto& io, auto& m) { io(m.node_id, m.host, m.port, m.rack); }
  friend bool operator==(const node_endpoint&, const node_endpoint&) = default;
};

}  // namespace partita::wire
