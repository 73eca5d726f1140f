#include "bench/load_rdkafka/client.hpp"

namespace partita::bench {

client::client(const arguments& given, const char* linger_ms, const char* batch_records) {
  rd_kafka_conf_t* const settings = rd_kafka_conf_new();
  set(settings, "bootstrap.servers", given.text("--bootstrap", "localhost:9092"));
  set(settings, "enable.idempotence", "true");
  set(settings, "acks", "all");
  set(settings, "linger.ms", given.text("--linger-ms", linger_ms));
  set(settings, "compression.codec", given.text("--codec", "none"));
  set(settings, "log_level", "3");  // its farewell to a full queue is no news here
  if (batch_records != nullptr) set(settings, "batch.num.messages", batch_records);
  if (const char* const queue = given.text("--queue", nullptr))
    set(settings, "queue.buffering.max.messages", queue);
  if (const std::uint64_t room = given.number("--room-mib", 0); room != 0) {
    set(settings, "queue.buffering.max.kbytes", std::to_string(room * 1024).c_str());
    set(settings, "queue.buffering.max.messages", "10000000");
  }
  if (const char* const bytes = given.text("--message-bytes-max", nullptr))
    set(settings, "message.max.bytes", bytes);
  rd_kafka_conf_set_dr_msg_cb(settings, &on_report);
  rd_kafka_conf_set_opaque(settings, this);
  char error[256];
  handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, settings, error, sizeof error);
  if (handle_ == nullptr) fail(error);
  topic_ = rd_kafka_topic_new(handle_, "librdkafka", nullptr);
}

client::~client() {
  rd_kafka_topic_destroy(topic_);
  rd_kafka_destroy(handle_);
}

void client::on_report(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  auto& self = *static_cast<client*>(opaque);
  ++self.answered_;
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) ++self.failed_;
  if (message->_private != nullptr) static_cast<answer_listener*>(message->_private)->answered();
}

void client::produce(const load& records, std::uint64_t i, answer_listener* listener,
                     std::int32_t partition) {
  const std::string& key = records.key(i);
  const std::string& value = records.value(i);
  while (rd_kafka_produce(topic_, partition, RD_KAFKA_MSG_F_COPY, const_cast<char*>(value.data()),
                          value.size(), key.data(), key.size(), listener) != 0) {
    if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL)
      fail(rd_kafka_err2str(rd_kafka_last_error()));
    poll(5);
  }
}

void client::produce_many(const load& records, std::uint64_t from, std::uint64_t until) {
  for (std::uint64_t i = from; i < until; ++i) {
    produce(records, i);
    if (i % 64 == 0) poll(0);
  }
}

void client::flush() {
  while (rd_kafka_outq_len(handle_) > 0) rd_kafka_flush(handle_, 1000);
}

int client::report(std::uint64_t produced) const {
  tell("answered", static_cast<double>(answered_));
  if (failed_ == 0 && answered_ == produced) return 0;
  std::fprintf(stderr, "load_rdkafka: %llu of %llu records answered, %llu failed\n",
               static_cast<unsigned long long>(answered_),
               static_cast<unsigned long long>(produced), static_cast<unsigned long long>(failed_));
  return 1;
}

void client::fail(const char* why) {
  std::fprintf(stderr, "load_rdkafka: %s\n", why);
  std::exit(1);
}

void client::set(rd_kafka_conf_t* settings, const char* name, const char* value) {
  char error[256];
  if (rd_kafka_conf_set(settings, name, value, error, sizeof error) != RD_KAFKA_CONF_OK)
    fail(error);
}

}  // namespace partita::bench
