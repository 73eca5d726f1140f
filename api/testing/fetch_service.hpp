// Fetch: batches below the high watermark, with the long poll of consumers.
//
// Invariants
// 1. Without fetch sessions: every answer carries session 0, so that clients stay with full
// requests.
// 2. The first non-empty partition yields at least one batch, however small the limits are.
// 3. A request waits only while it has fewer than min_bytes and no error, and at most max_wait_ms.
//
// Threads: the core's.
#pragma once

#include "api/testing/partition_model.hpp"
#include "wire/messages/fetch.hpp"

#include <cstdint>
#include <list>
#include <vector>

namespace partita::testing {

class cluster_core;

class fetch_service {
 public:
  explicit fetch_service(cluster_core& core) : core_(core) {}

  bool serve(std::uint64_t connection, std::int32_t broker, const wire::request_header& header,
             byte_view body);
  void settle();
  void forget(std::uint64_t connection);

 private:
  struct operation {
    std::uint64_t connection = 0;
    std::int32_t broker = -1;
    std::int16_t version = 0;
    std::int32_t correlation_id = 0;
    wire::fetch_request request;
    std::int64_t deadline_ns = -1;
  };
  struct reading {
    wire::fetch_response response;
    std::list<std::vector<std::byte>> records;  // what the response refers to
    std::int64_t bytes = 0;
    bool error = false;
  };

  [[nodiscard]] reading read(const operation& work) const;
  void read_partition(const operation& work, const wire::fetch_request::topic& topic,
                      const wire::fetch_request::partition& asked, reading& all,
                      wire::fetch_response::partition& part) const;
  bool complete(const operation& work, bool time_is_over);

  cluster_core& core_;
  std::list<operation> waiting_;
};

}  // namespace partita::testing
