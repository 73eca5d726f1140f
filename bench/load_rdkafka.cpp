// The same runs as load_partita with librdkafka, through its C interface as its manual advises.
//
//     load_rdkafka MODE --bootstrap HOST:PORT,... [--statistics FILE] [--records N] [--value-size
//     N]
#include "bench/load.hpp"

#include <librdkafka/rdkafka.h>

namespace partita::bench {
namespace {

struct counts {
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
};

void on_report(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  auto& counted = *static_cast<counts*>(opaque);
  ++counted.answered;
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) ++counted.failed;
}

/// All of it is librdkafka's default but what the comparison fixes.
class client {
 public:
  client(const arguments& given, const char* linger_ms, const char* batch_records) {
    rd_kafka_conf_t* const settings = rd_kafka_conf_new();
    set(settings, "bootstrap.servers", given.text("--bootstrap", "localhost:9092"));
    set(settings, "enable.idempotence", "true");
    set(settings, "acks", "all");
    set(settings, "linger.ms", linger_ms);
    set(settings, "log_level", "3");  // its farewell to a full queue is no news here
    if (batch_records != nullptr) set(settings, "batch.num.messages", batch_records);
    if (const char* const queue = given.text("--queue", nullptr))
      set(settings, "queue.buffering.max.messages", queue);
    rd_kafka_conf_set_dr_msg_cb(settings, &on_report);
    rd_kafka_conf_set_opaque(settings, &counted_);
    char error[256];
    handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, settings, error, sizeof error);
    if (handle_ == nullptr) fail(error);
    topic_ = rd_kafka_topic_new(handle_, "librdkafka", nullptr);
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  ~client() {
    rd_kafka_topic_destroy(topic_);
    rd_kafka_destroy(handle_);
  }

  void produce(const load& records, std::uint64_t from, std::uint64_t until) {
    for (std::uint64_t i = from; i < until; ++i) {
      const std::string& key = records.key(i);
      const std::string& value = records.value(i);
      while (rd_kafka_produce(topic_, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                              const_cast<char*>(value.data()), value.size(), key.data(), key.size(),
                              nullptr) != 0) {
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL)
          fail(rd_kafka_err2str(rd_kafka_last_error()));
        rd_kafka_poll(handle_, 5);
      }
      if (i % 64 == 0) rd_kafka_poll(handle_, 0);
    }
  }
  void flush() {
    while (rd_kafka_outq_len(handle_) > 0) rd_kafka_flush(handle_, 1000);
  }
  void await_one() {
    const std::uint64_t before = counted_.answered;
    while (counted_.answered == before) rd_kafka_poll(handle_, 1000);
  }
  [[nodiscard]] int report(std::uint64_t produced) const {
    if (counted_.failed == 0 && counted_.answered == produced) return 0;
    std::fprintf(stderr, "load_rdkafka: %llu of %llu records answered, %llu failed\n",
                 static_cast<unsigned long long>(counted_.answered),
                 static_cast<unsigned long long>(produced),
                 static_cast<unsigned long long>(counted_.failed));
    return 1;
  }

 private:
  [[noreturn]] static void fail(const char* why) {
    std::fprintf(stderr, "load_rdkafka: %s\n", why);
    std::exit(1);
  }
  static void set(rd_kafka_conf_t* settings, const char* name, const char* value) {
    char error[256];
    if (rd_kafka_conf_set(settings, name, value, error, sizeof error) != RD_KAFKA_CONF_OK)
      fail(error);
  }

  counts counted_;
  rd_kafka_t* handle_ = nullptr;
  rd_kafka_topic_t* topic_ = nullptr;
};

int saturate(const arguments& given) {
  const std::uint64_t count = given.number("--records", 2'000'000);
  const std::uint64_t warm_up = given.number("--warm-up", 200'000);
  const load records(given.number("--value-size", 100));
  client to(given, given.text("--linger-ms", "5"), nullptr);
  to.produce(records, 0, warm_up);
  to.flush();
  broker_watch broker(given.text("--statistics", ""));
  const moment before = now();
  to.produce(records, warm_up, warm_up + count);
  to.flush();
  const moment after = now();
  tell_cost(before, after, count);
  if (broker.usable()) broker.tell_counts();
  return to.report(warm_up + count);
}

int pipeline(const arguments& given) {
  const auto delay = static_cast<double>(given.number("--delay-ms", 100)) * 1e-3;
  const auto length = std::chrono::milliseconds(given.number("--milliseconds", 4000));
  const load records(given.number("--value-size", 100));
  client to(given, "5", given.text("--batch-records", "1000"));
  broker_watch broker(given.text("--statistics", ""));
  if (!broker.usable()) return 2;
  std::uint64_t made = 0;
  const auto flat_out = [&](std::chrono::milliseconds during) {
    const auto end = std::chrono::steady_clock::now() + during;
    while (std::chrono::steady_clock::now() < end) {
      to.produce(records, made, made + 100);
      made += 100;
    }
  };
  flat_out(std::chrono::milliseconds(1500));
  broker.begin();
  flat_out(length);
  broker.tell_pipelining(delay);
  broker.tell_counts();
  return 0;  // a full queue of this client would take minutes to drain here
}

int round_trip(const arguments& given) {
  const std::uint64_t count = given.number("--records", 20'000);
  const load records(given.number("--value-size", 100));
  client to(given, "0", nullptr);
  std::vector<double> microseconds;
  for (std::uint64_t i = 0; i < 2000 + count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    to.produce(records, i, i + 1);
    to.await_one();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (i >= 2000) microseconds.push_back(took.count());
  }
  tell_percentiles(microseconds);
  return to.report(2000 + count);
}

}  // namespace
}  // namespace partita::bench

int main(int argc, char** argv) {
  const partita::bench::arguments given(argc, argv);
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "saturate") return partita::bench::saturate(given);
  if (mode == "round_trip") return partita::bench::round_trip(given);
  if (mode == "pipeline") {
    const int result = partita::bench::pipeline(given);
    std::fflush(stdout);
    std::_Exit(result);
  }
  std::fprintf(stderr, "load_rdkafka: saturate, round_trip or pipeline?\n");
  return 2;
}
