// The transaction coordinator, as far as producers' requests reach it: ids, epochs, partitions,
// markers. Both protocols: driven by the client (TV1) and by the server (TV2, KIP-890).
//
// Invariants
// 1. Markers are written in the same step that ends the transaction: there is no state in between.
// 2. A transactional id has one producer id and epoch at a time; every other epoch is fenced.
//
// Threads: pure, one owner; time is an argument.
#pragma once

#include <partita/error.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace partita::testing {

class cluster_state;
struct moment;

enum class transaction_status : std::uint8_t { empty, ongoing, committed, aborted };

/// A transactional id, the producer it has now, and its transaction.
struct transaction {
  std::int64_t producer_id = -1;
  std::int16_t epoch = -1;
  std::int16_t epoch_before = -1;  ///< of which a repeated call is recognised; -1: none
  transaction_status status = transaction_status::empty;
  std::int64_t timeout_ms = 60'000;
  std::int64_t started_ns = 0;
  std::set<std::pair<std::string, std::int32_t>> partitions;
};

/// A producer as an answer tells it; of a refusal, none.
struct transaction_answer {
  broker_errc code = broker_errc::none;
  std::int64_t producer_id = -1;
  std::int16_t epoch = -1;
};

class transaction_coordinator {
 public:
  explicit transaction_coordinator(cluster_state& state) : state_(state) {}

  /// `producer_id` and `epoch` are -1, or what the client thinks it has.
  transaction_answer init(const std::string& id, std::int64_t producer_id, std::int16_t epoch,
                          std::int64_t timeout_ms, bool new_codes, std::int32_t broker, moment now);
  /// None if this producer may change the id's transaction, else 49 or 90.
  [[nodiscard]] broker_errc check(const std::string& id, std::int64_t producer_id,
                                  std::int16_t epoch) const;
  /// After check(): the partition takes part.
  void add(const std::string& id, std::string_view topic, std::int32_t partition, moment now);
  /// By the client's protocol, or with the bump of the epoch by the server's.
  transaction_answer end(const std::string& id, std::int64_t producer_id, std::int16_t epoch,
                         bool commit, bool bump, moment now);
  /// Aborts what ran into its timeout. True when something did.
  bool pass_time(moment now);
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept;
  /// Null if nobody asked for it.
  [[nodiscard]] const transaction* find(const std::string& id) const noexcept;

 private:
  void bump(transaction& one, std::int32_t broker);
  void finish(transaction& one, bool commit, moment now);

  cluster_state& state_;
  std::map<std::string, transaction> transactions_;
};

}  // namespace partita::testing
