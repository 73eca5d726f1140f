// Produce: the checks of a request, the wait for replication, the faults, the answer.
//
// Invariants
// 1. Checks run in the order of kafka-semantics 1.2; errors are per partition. Of a partition named
// twice
//    the last entry counts and the first is silently dropped, as in Kafka.
// 2. An acks=all request with at least one append waits until every appended partition is settled:
// 0, 20,
//    6 or 3 with the real base offset, or 7 when its time is over.
// 3. acks=0 is never answered; any partition error ends the connection.
//
// Threads: the core's.
#pragma once

#include "api/testing/fault_plan.hpp"
#include "api/testing/partition_model.hpp"
#include "wire/messages/produce.hpp"

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace partita::testing {

class cluster_core;

class produce_service {
 public:
  explicit produce_service(cluster_core& core) : core_(core) {}

  /// False: the request does not parse. The frame's bytes are used only during the call.
  bool serve(std::uint64_t connection, std::int32_t broker, const wire::request_header& header,
             byte_view body);
  /// Settles what can be settled now.
  void settle();
  /// Forgets the waiting requests of a connection; held ones are executed all the same.
  void forget(std::uint64_t connection);
  /// Executes what faults hold back: the requests that name this partition; an empty topic: all.
  void release_held(std::string_view topic, std::int32_t partition);
  [[nodiscard]] std::size_t held() const noexcept { return held_.size(); }

 private:
  struct part {
    std::uint64_t number = 0;  // of the attempt
    std::string topic;
    partita::topic_id id;
    std::int32_t index = -1;
    std::vector<std::byte> records;
    std::optional<fault> hit;
    produce_result result;
    std::int32_t leader_epoch = -1;  // of the append
    bool settled = false;
  };
  struct operation {
    std::uint64_t number = 0;
    std::uint64_t connection = 0;
    std::int32_t broker = -1;
    std::int16_t version = 0;
    std::int16_t asked_version = 0;  // below 3 where brokers still serve it
    std::int32_t correlation_id = 0;
    std::int16_t acks = -1;
    std::int64_t timeout_ms = 0;
    std::optional<std::string> transactional_id;
    std::vector<part> parts;
    std::optional<fault> hit;  // what concerns the whole request
    std::int64_t deadline_ns = -1;
    bool waiting = false;
    bool mixed_producers = false;  // among its transactional batches
  };

  static std::vector<part> take_parts(const wire::produce_request& request, std::int16_t version);
  void choose_faults(operation& work);
  std::optional<fault> ask_script(const operation& work, const part& one);
  void tell_executed(const part& one, const produce_result& result);
  void tell_answered(const operation& work);
  void execute(operation& work);
  produce_result append(operation& work, part& one);
  std::optional<produce_result> check_request(const operation& work, part& one,
                                              framed_batch& framed);
  std::optional<produce_result> check_transaction(const operation& work, const part& one,
                                                  const batch_header& header);
  void execute_late(operation& work);
  void forge(part& one);
  bool settle(operation& work);
  void finish(operation& work);
  void send(const operation& work);
  static void reshape(wire::produce_response& made, answer_shape shape);
  [[nodiscard]] wire::produce_response response(const operation& work) const;

  cluster_core& core_;
  std::list<operation> waiting_;
  std::list<operation> held_;
  std::uint64_t last_number_ = 0;
  std::uint64_t last_attempt_ = 0;
};

}  // namespace partita::testing
