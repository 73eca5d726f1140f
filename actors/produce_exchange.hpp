// One produce request under way: which batches it carries, how it is encoded, and how its answer is
// matched against what was asked. Pure but for the batches it points to.
//
// Invariants
// 1. A partition is in it once; sent_ has the same topics and partitions as request_.
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
  explicit produce_exchange(std::uint64_t cookie) : cookie_(cookie) {}

  /// Lets go of the batches, not of the memory: one request is much like the one before.
  void clear() noexcept;
  /// Another request, once it was cleared.
  void begin_anew(std::uint64_t cookie) noexcept { cookie_ = cookie; }

  [[nodiscard]] std::uint64_t cookie() const noexcept { return cookie_; }
  [[nodiscard]] bool empty() const noexcept { return partitions_ == 0; }
  [[nodiscard]] std::size_t partitions() const noexcept { return partitions_; }
  /// Whether every topic can be named by its id (Produce 13).
  [[nodiscard]] bool ids_known() const noexcept;

  void add(const std::string& topic, topic_id identity, partition_id index, batch& sent);

  [[nodiscard]] wire::encoded_frame encode(std::int16_t version, acks required,
                                           std::chrono::milliseconds timeout,
                                           std::string_view client_id);

  [[nodiscard]] bool carries(const batch& sent) const noexcept;
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const std::vector<batch*>& topic : sent_)
      for (batch* const each : topic) visit(*each);
  }

  /// Writes into each batch's note what the answer says of it. Partitions that the answer lacks are
  /// noted as lost. The returned text is empty, or says what the answer claims that was not asked.
  [[nodiscard]] std::string match(const wire::produce_response& answer, std::int16_t version) const;

  /// The leaders that an answer names with NOT_LEADER_OR_FOLLOWER (KIP-951). Only of an answer that
  /// matched.
  [[nodiscard]] leader_hints hints(const wire::produce_response& answer,
                                   std::int16_t version) const;

 private:
  static constexpr std::size_t not_asked = static_cast<std::size_t>(-1);

  /// The place of a topic in the request.
  [[nodiscard]] std::size_t find(const wire::produce_response::topic_answer& topic,
                                 std::int16_t version) const noexcept;
  void drop_topics_of_before();

  std::uint64_t cookie_;
  wire::produce_request request_;
  std::vector<std::vector<batch*>> sent_;  // by topic and partition, as in the request
  std::size_t partitions_ = 0;
};

}  // namespace partita::actors
