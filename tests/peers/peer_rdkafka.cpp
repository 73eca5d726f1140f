// librdkafka behind `partita drive`'s lines: produce, cancel (a purge, which is all it has) and
// close.
//
//     peer_rdkafka BOOTSTRAP DELIVERY-MS REQUEST-MS LINGER-MS
#include <librdkafka/rdkafka.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace {

using nlohmann::json;

std::mutex output;

void tell(const json& event) {
  std::lock_guard lock(output);
  std::cout << event.dump() << std::endl;
}

/// It tells more than its error does, to those who ask.
const char* fate_of(const rd_kafka_message_t& message) {
  switch (rd_kafka_message_status(&message)) {
    case RD_KAFKA_MSG_STATUS_NOT_PERSISTED:
      return "not_written";
    case RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED:
      return "unknown";
    default:
      return "failed";
  }
}

void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  const std::unique_ptr<std::string> name(static_cast<std::string*>(message->_private));
  json event{{"event", "outcome"}, {"name", *name}, {"partition", message->partition}};
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    event["outcome"] = "delivered";
    event["offset"] = message->offset;
  } else {
    event["outcome"] = fate_of(*message);
    event["code"] = rd_kafka_err2name(message->err);
  }
  tell(event);
}

void set(rd_kafka_conf_t* conf, const char* key, const std::string& value) {
  char reason[256];
  if (rd_kafka_conf_set(conf, key, value.c_str(), reason, sizeof reason) != RD_KAFKA_CONF_OK) {
    std::cerr << reason << '\n';
    std::exit(1);
  }
}

void produce(rd_kafka_t* producer, const json& command) {
  const std::string topic = command.at("topic");
  const std::string value = command.value("value", "");
  const std::string key = command.value("key", "");
  auto name = std::make_unique<std::string>(command.at("name"));
  const rd_kafka_resp_err_t error = rd_kafka_producev(
      producer, RD_KAFKA_V_TOPIC(topic.c_str()),
      RD_KAFKA_V_PARTITION(command.value("partition", RD_KAFKA_PARTITION_UA)),
      RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
      RD_KAFKA_V_KEY(key.empty() ? nullptr : key.data(), key.size()),
      RD_KAFKA_V_TIMESTAMP(command.value("timestamp", std::int64_t{0})),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_OPAQUE(name.get()), RD_KAFKA_V_END);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    static_cast<void>(name.release());
    return;
  }
  tell({{"event", "outcome"},
        {"name", *name},
        {"outcome", "not_written"},
        {"code", rd_kafka_err2name(error)}});
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 1;
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", arguments[1]);
  set(conf, "message.timeout.ms", arguments[2]);
  set(conf, "socket.timeout.ms", arguments[3]);
  set(conf, "request.timeout.ms", arguments[3]);
  set(conf, "linger.ms", arguments[4]);
  set(conf, "enable.idempotence", "true");
  set(conf, "reconnect.backoff.max.ms", "500");
  set(conf, "log_level", "0");
  rd_kafka_conf_set_dr_msg_cb(conf, &on_delivery);
  char reason[256];
  rd_kafka_t* producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
  if (producer == nullptr) {
    std::cerr << reason << '\n';
    return 1;
  }
  std::atomic<bool> ends{false};
  std::thread poller([&] {
    while (!ends) rd_kafka_poll(producer, 20);
  });
  for (std::string line; std::getline(std::cin, line);) {
    const json command = json::parse(line, nullptr, false);
    const std::string verb = command.is_object() ? command.value("do", "") : "";
    if (verb == "produce") produce(producer, command);
    if (verb == "cancel")
      rd_kafka_purge(producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  }
  rd_kafka_flush(producer, std::atoi(arguments[2]) + 2000);
  ends = true;
  poller.join();
  rd_kafka_destroy(producer);
  return 0;
}
