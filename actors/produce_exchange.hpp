// One produce request under way: which batches it carries, how it is encoded, and how its answer is
// matched against what was asked. Pure but for the batches it points to.
//
// Invariants
// 1. A partition is in it once.
// 2. match() says nothing about a batch unless the whole answer fits what was asked.
//
// Threads: one owner at a time.
#pragma once

#include "actors/batch.hpp"
#include "actors/cluster_map.hpp"
#include "wire/frame.hpp"
#include "wire/messages/produce.hpp"

#include <partita/config.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace partita::actors {

class partition_actor;

class produce_exchange {
 public:
  struct part {
    partition_id index;
    batch* sent;
  };
  struct topic_part {
    std::string name;
    topic_id identity;
    std::vector<part> partitions;
  };

  explicit produce_exchange(std::uint64_t cookie) : cookie_(cookie) {}

  [[nodiscard]] std::uint64_t cookie() const noexcept { return cookie_; }
  [[nodiscard]] bool empty() const noexcept { return topics_.empty(); }
  [[nodiscard]] std::size_t partitions() const noexcept { return partitions_; }
  /// Whether every topic can be named by its id (Produce 13).
  [[nodiscard]] bool ids_known() const noexcept;

  void add(const std::string& topic, topic_id identity, partition_id index, batch& sent);

  [[nodiscard]] wire::encoded_frame encode(std::int16_t version, acks required,
                                           std::chrono::milliseconds timeout,
                                           std::string_view client_id) const;

  [[nodiscard]] bool carries(const batch& sent) const noexcept;
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const topic_part& topic : topics_)
      for (const part& each : topic.partitions) visit(*each.sent);
  }

  /// Writes into each batch's note what the answer says of it. Partitions that the answer lacks are
  /// noted as lost. The returned text is empty, or says what the answer claims that was not asked.
  [[nodiscard]] std::string match(const wire::produce_response& answer, std::int16_t version) const;

  /// The leaders that an answer names with NOT_LEADER_OR_FOLLOWER (KIP-951). Only of an answer that
  /// matched.
  [[nodiscard]] leader_hints hints(const wire::produce_response& answer,
                                   std::int16_t version) const;

 private:
  [[nodiscard]] const topic_part* find(const wire::produce_response::topic_answer& topic,
                                       std::int16_t version) const noexcept;

  std::uint64_t cookie_;
  std::vector<topic_part> topics_;
  std::size_t partitions_ = 0;
};

}  // namespace partita::actors
