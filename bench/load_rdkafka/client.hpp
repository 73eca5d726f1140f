// librdkafka's producer through its C interface, as its manual advises, with the answers counted.
//
// Invariants
// 1. All of it is librdkafka's default but what the comparison fixes.
//
// Threads: one; answers come inside poll() and flush().
#pragma once

#include "bench/load.hpp"

#include <librdkafka/rdkafka.h>

namespace partita::bench {

/// Told of one record's answer, inside poll().
class answer_listener {
 public:
  virtual void answered() = 0;

 protected:
  ~answer_listener() = default;
};

class client {
 public:
  client(const arguments& given, const char* linger_ms, const char* batch_records = nullptr);
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client();

  /// Polls while the queue is full.
  void produce(const load& records, std::uint64_t i, answer_listener* listener = nullptr,
               std::int32_t partition = RD_KAFKA_PARTITION_UA);
  /// Polls at every 64th record.
  void produce_many(const load& records, std::uint64_t from, std::uint64_t until);
  void poll(int milliseconds) { rd_kafka_poll(handle_, milliseconds); }
  void flush();

  [[nodiscard]] std::uint64_t answered() const { return answered_; }
  /// Tells the count; an exit code: 1 when not all were delivered.
  [[nodiscard]] int report(std::uint64_t produced) const;

 private:
  [[noreturn]] static void fail(const char* why);
  static void set(rd_kafka_conf_t* settings, const char* name, const char* value);
  static void on_report(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque);

  std::uint64_t answered_ = 0, failed_ = 0;
  rd_kafka_t* handle_ = nullptr;
  rd_kafka_topic_t* topic_ = nullptr;
};

/// Notes how long one record took.
class stopwatch : public answer_listener {
 public:
  explicit stopwatch(std::vector<double>& into) : into_(into) {}
  virtual ~stopwatch() = default;
  void start() { since_ = std::chrono::steady_clock::now(); }
  void answered() override {
    const std::chrono::duration<double, std::micro> took =
        std::chrono::steady_clock::now() - since_;
    into_.push_back(took.count());
  }

 private:
  std::vector<double>& into_;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace partita::bench
