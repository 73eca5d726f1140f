// AddPartitionsToTxn and EndTxn, as far as a cluster without transactions has to answer them.
#pragma once

#include "wire/frame.hpp"

namespace partita::testing {

struct add_partitions_to_txn_response;

struct add_partitions_to_txn_request {
  static constexpr wire::api_key key = wire::api_key::add_partitions_to_txn;
  static constexpr wire::version_range versions{0, 5};
  static constexpr std::int16_t first_flexible = 3;
  using response_type = add_partitions_to_txn_response;

  struct topic {
    std::string name;
    std::vector<std::int32_t> partitions;
    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
    friend bool operator==(const topic&, const topic&) = default;
  };
  struct transaction {
    std::string transactional_id;
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = -1;
    bool verify_only = false;
    std::vector<topic> topics;
    static void describe(auto& io, auto& m) {
      io(m.transactional_id, m.producer_id, m.producer_epoch, m.verify_only, m.topics);
    }
    friend bool operator==(const transaction&, const transaction&) = default;
  };

  std::vector<transaction> transactions;  ///< brokers only
  std::string transactional_id;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) {
    io.since(4, m.transactions);
    io.until(3, m.transactional_id, wire::ignorable);
    io.until(3, m.producer_id, wire::ignorable);
    io.until(3, m.producer_epoch, wire::ignorable);
    io.until(3, m.topics, wire::ignorable);
  }
};

struct add_partitions_to_txn_response {
  static constexpr wire::api_key key = wire::api_key::add_partitions_to_txn;
  static constexpr wire::version_range versions{0, 5};
  static constexpr std::int16_t first_flexible = 3;

  struct partition {
    std::int32_t index = 0;
    broker_errc error_code = broker_errc::none;
    static void describe(auto& io, auto& m) { io(m.index, m.error_code); }
    friend bool operator==(const partition&, const partition&) = default;
  };
  struct topic {
    std::string name;
    std::vector<partition> partitions;
    static void describe(auto& io, auto& m) { io(m.name, m.partitions); }
    friend bool operator==(const topic&, const topic&) = default;
  };
  struct transaction {
    std::string transactional_id;
    std::vector<topic> topics;
    static void describe(auto& io, auto& m) { io(m.transactional_id, m.topics); }
    friend bool operator==(const transaction&, const transaction&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  broker_errc error_code = broker_errc::none;
  std::vector<transaction> transactions;
  std::vector<topic> topics;

  static void describe(auto& io, auto& m) {
    io(m.throttle_time_ms);
    io.since(4, m.error_code, wire::ignorable);
    io.since(4, m.transactions, wire::ignorable);
    io.until(3, m.topics, wire::ignorable);
  }
};

struct end_txn_response;

struct end_txn_request {
  static constexpr wire::api_key key = wire::api_key::end_txn;
  static constexpr wire::version_range versions{0, 5};
  static constexpr std::int16_t first_flexible = 3;
  using response_type = end_txn_response;

  std::string transactional_id;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  bool committed = false;

  static void describe(auto& io, auto& m) {
    io(m.transactional_id, m.producer_id, m.producer_epoch, m.committed);
  }
};

struct end_txn_response {
  static constexpr wire::api_key key = wire::api_key::end_txn;
  static constexpr wire::version_range versions{0, 5};
  static constexpr std::int16_t first_flexible = 3;

  std::int32_t throttle_time_ms = 0;
  broker_errc error_code = broker_errc::none;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;

  static void describe(auto& io, auto& m) {
    io(m.throttle_time_ms, m.error_code);
    io.since(5, m.producer_id, wire::ignorable);
    io.since(5, m.producer_epoch, wire::ignorable);
  }
};

}  // namespace partita::testing
