// What the null broker answers: frames in, frames out, no socket and no clock.
//
// Invariants
// 1. Base offsets of a partition rise by what was appended; a batch with a wrong sequence is
// refused.
//
// Threads: one.
#pragma once

#include "bench/broker_statistics.hpp"
#include "bench/kafka_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace partita::bench {

inline constexpr std::size_t topics_max = 1000;
inline constexpr std::int16_t produce_key = 0;
inline constexpr std::int16_t metadata_key = 3;
inline constexpr std::int16_t api_versions_key = 18;
inline constexpr std::int16_t init_producer_id_key = 22;

struct served {
  std::int16_t key, first, last, first_flexible;
};
// Fetch and ListOffsets are named only because librdkafka infers record batch v2 from them.
inline constexpr served apis[] = {{produce_key, 0, 13, 9},
                                  {1, 0, 12, 12},
                                  {2, 0, 7, 6},
                                  {metadata_key, 0, 13, 9},
                                  {api_versions_key, 0, 4, 3},
                                  {init_producer_id_key, 0, 5, 2}};

inline constexpr std::int16_t corrupt_message = 2;
inline constexpr std::int16_t unknown_topic_or_partition = 3;
inline constexpr std::int16_t not_leader = 6;
inline constexpr std::int16_t unsupported_version = 35;
inline constexpr std::int16_t out_of_order_sequence = 45;
inline constexpr std::int16_t invalid_producer_epoch = 47;
inline constexpr std::int16_t unknown_topic_id = 100;

struct partition_log {
  std::int64_t next_offset = 0;
  std::int64_t producer_id = -1;  ///< the last one that wrote
  std::int16_t producer_epoch = -1;
  std::int32_t next_sequence = 0;
};

struct topic {
  std::string name;
  std::string id;  ///< 16 bytes
  std::vector<partition_log> partitions;
};

struct request_head {
  std::int16_t key, version;
  std::int32_t correlation;
  bool flexible;
};

class broker_answers {
 public:
  broker_answers(std::vector<std::uint16_t> ports, int partitions, broker_statistics& counters)
      : ports_(std::move(ports)), partitions_(partitions), counters_(counters) {}

  /// Adds the answer to a frame that came to this broker, without its length; nothing where nothing
  /// is answered (acks=0). False for a frame that does not parse.
  bool answer(std::int32_t broker, const char* frame, std::size_t size, std::string& out);

 private:
  [[nodiscard]] std::int32_t brokers() const { return static_cast<std::int32_t>(ports_.size()); }
  void answer_api_versions(const request_head& head, std::string& out);
  bool answer_metadata(const request_head& head, reader& in, std::string& out);
  void write_topic(const request_head& head, writer& out, const topic* found, std::string_view name,
                   std::string_view id);
  bool answer_produce(std::int32_t broker, const request_head& head, reader& in, std::string& out);
  std::int16_t append(partition_log& log, std::string_view records, std::int64_t& base_offset);
  topic* topic_named(std::string_view name);
  topic* topic_with(std::string_view id);

  const std::vector<std::uint16_t> ports_;  ///< of the brokers, by their ids
  const int partitions_;
  broker_statistics& counters_;
  std::vector<std::unique_ptr<topic>> topics_;
  std::int64_t next_producer_id_ = 1000;
};

inline bool broker_answers::answer(std::int32_t broker, const char* frame, std::size_t size,
                                   std::string& out) {
  reader in(frame, size);
  request_head head{};
  head.key = in.i16();
  head.version = in.i16();
  head.correlation = in.i32();
  in.string(false);
  const served* api = nullptr;
  for (const served& each : apis)
    if (each.key == head.key) api = &each;
  if (in.failed() || api == nullptr) return false;
  const bool known = head.version >= api->first && head.version <= api->last;
  if (!known && head.key != api_versions_key) return false;
  head.flexible = known && head.version >= api->first_flexible;
  in.tags(head.flexible);
  writer(out).i32(head.correlation);
  // An answer to ApiVersions has the old header in every version.
  if (head.flexible && head.key != api_versions_key) writer(out).i8(0);
  switch (head.key) {
    case api_versions_key:
      answer_api_versions(head, out);
      break;
    case metadata_key:
      return answer_metadata(head, in, out);
    case produce_key:
      return head.version >= 3 && answer_produce(broker, head, in, out);
    case init_producer_id_key: {
      writer to(out, head.flexible);
      to.i32(0);
      to.i16(0);
      to.i64(next_producer_id_++);
      to.i16(0);
      to.tags();
      break;
    }
    default:
      return false;
  }
  return true;
}

inline void broker_answers::answer_api_versions(const request_head& head, std::string& out) {
  const bool known = head.version <= 4;
  writer to(out, head.flexible);
  to.i16(known ? std::int16_t{0} : unsupported_version);
  to.count(std::size(apis));
  for (const served& each : apis) {
    to.i16(each.key);
    to.i16(each.first);
    to.i16(each.last);
    to.tags();
  }
  if (known && head.version >= 1) to.i32(0);
  to.tags();
}

inline topic* broker_answers::topic_named(std::string_view name) {
  for (const auto& each : topics_)
    if (each->name == name) return each.get();
  if (topics_.size() == topics_max || name.empty()) return nullptr;
  auto made = std::make_unique<topic>();
  made->name = name;
  made->id.assign(15, 'n');
  made->id.insert(made->id.begin(), static_cast<char>(topics_.size() % 250 + 1));
  made->partitions.resize(static_cast<std::size_t>(partitions_));
  topics_.push_back(std::move(made));
  return topics_.back().get();
}

inline topic* broker_answers::topic_with(std::string_view id) {
  for (const auto& each : topics_)
    if (each->id == id) return each.get();
  return nullptr;
}

inline void broker_answers::write_topic(const request_head& head, writer& to, const topic* found,
                                        std::string_view name, std::string_view id) {
  to.i16(found != nullptr ? std::int16_t{0}
         : id.empty()     ? unknown_topic_or_partition
                          : unknown_topic_id);
  if (found == nullptr && head.version >= 12 && name.empty())
    to.null_string();
  else
    to.string(found != nullptr ? std::string_view(found->name) : name);
  if (head.version >= 10)
    to.raw(found != nullptr ? std::string_view(found->id)
           : id.empty()     ? std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16)
                            : id);
  if (head.version >= 1) to.i8(0);
  const std::size_t partitions = found != nullptr ? found->partitions.size() : 0;
  to.count(partitions);
  for (std::size_t i = 0; i < partitions; ++i) {
    const auto leader = static_cast<std::int32_t>(i) % brokers();
    to.i16(0);
    to.i32(static_cast<std::int32_t>(i));
    to.i32(leader);
    if (head.version >= 7) to.i32(0);
    for (int list = 0; list < 2; ++list) {  // replicas, and those in sync
      to.count(1);
      to.i32(leader);
    }
    if (head.version >= 5) to.count(0);
    to.tags();
  }
  if (head.version >= 8) to.i32(INT32_MIN);
  to.tags();
}

inline bool broker_answers::answer_metadata(const request_head& head, reader& in,
                                            std::string& out) {
  writer to(out, head.flexible);
  if (head.version >= 3) to.i32(0);
  to.count(ports_.size());
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    to.i32(static_cast<std::int32_t>(i));
    to.string("127.0.0.1");
    to.i32(ports_[i]);
    if (head.version >= 1) to.null_string();
    to.tags();
  }
  if (head.version >= 2) to.string("null");
  if (head.version >= 1) to.i32(0);
  const std::int64_t asked = in.length(head.flexible, false);
  if (asked < 0 || (asked == 0 && head.version == 0)) {
    to.count(topics_.size());
    for (const auto& each : topics_) write_topic(head, to, each.get(), {}, {});
  } else {
    if (asked > static_cast<std::int64_t>(topics_max)) return false;
    to.count(static_cast<std::size_t>(asked));
    for (std::int64_t i = 0; i < asked && !in.failed(); ++i) {
      const std::string_view id = head.version >= 10 ? in.raw(16) : std::string_view();
      const std::string_view name = in.string(head.flexible);
      in.tags(head.flexible);
      write_topic(head, to, name.empty() ? topic_with(id) : topic_named(name), name, id);
    }
  }
  if (head.version >= 8 && head.version <= 10) to.i32(INT32_MIN);
  if (head.version >= 13) to.i16(0);
  to.tags();
  return !in.failed();
}

inline bool broker_answers::answer_produce(std::int32_t broker, const request_head& head,
                                           reader& in, std::string& out) {
  const std::size_t start = out.size();
  writer to(out, head.flexible);
  in.string(head.flexible);  // transactional id
  const std::int16_t acks = in.i16();
  in.i32();  // timeout
  const std::int64_t topics = in.length(head.flexible, false);
  if (topics < 0 || topics > static_cast<std::int64_t>(topics_max)) return false;
  to.count(static_cast<std::size_t>(topics));
  for (std::int64_t t = 0; t < topics && !in.failed(); ++t) {
    const bool by_id = head.version >= 13;
    const std::string_view name = by_id ? in.raw(16) : in.string(head.flexible);
    topic* const found = by_id ? topic_with(name) : topic_named(name);
    by_id ? to.raw(name) : to.string(name);
    const std::int64_t partitions = in.length(head.flexible, false);
    if (in.failed() || partitions < 0 || partitions > 100'000) return false;
    to.count(static_cast<std::size_t>(partitions));
    for (std::int64_t p = 0; p < partitions && !in.failed(); ++p) {
      const std::int32_t index = in.i32();
      const std::string_view records = in.bytes(head.flexible);
      in.tags(head.flexible);
      std::int64_t base_offset = -1;
      std::int16_t error = 0;
      if (found == nullptr || index < 0 || index >= partitions_)
        error = by_id && found == nullptr ? unknown_topic_id : unknown_topic_or_partition;
      else if (index % brokers() != broker)
        error = not_leader;
      else
        error = append(found->partitions[static_cast<std::size_t>(index)], records, base_offset);
      to.i32(index);
      to.i16(error);
      to.i64(base_offset);
      to.i64(-1);
      if (head.version >= 5) to.i64(error == 0 ? 0 : -1);
      if (head.version >= 8) {
        to.count(0);
        to.null_string();
      }
      to.tags();
    }
    in.tags(head.flexible);
    to.tags();
  }
  to.i32(0);
  to.tags();
  counters_.produce_requests.fetch_add(1, std::memory_order_relaxed);
  if (acks == 0) out.resize(start - (head.flexible ? 5 : 4));
  return !in.failed();
}

/// The batch's header is checked, its records are not read.
inline std::int16_t broker_answers::append(partition_log& log, std::string_view records,
                                           std::int64_t& base_offset) {
  reader in(records.data(), records.size());
  in.i64();  // base offset
  const std::int32_t length = in.i32();
  in.i32();  // leader epoch
  const std::int8_t magic = in.i8();
  in.i32();  // checksum
  in.i16();  // attributes
  const std::int32_t last_delta = in.i32();
  in.i64();  // base timestamp
  in.i64();  // max timestamp
  const std::int64_t producer = in.i64();
  const std::int16_t epoch = in.i16();
  const std::int32_t sequence = in.i32();
  const std::int32_t count = in.i32();
  if (in.failed() || magic != 2 || count <= 0 || last_delta != count - 1 ||
      std::int64_t{length} + 12 != static_cast<std::int64_t>(records.size())) {
    counters_.broken.fetch_add(1, std::memory_order_relaxed);
    return corrupt_message;
  }
  if (producer >= 0) {
    const bool same = producer == log.producer_id;
    if (same && epoch < log.producer_epoch) return invalid_producer_epoch;
    const std::int32_t expected = !same                        ? sequence
                                  : epoch > log.producer_epoch ? 0
                                                               : log.next_sequence;
    if (sequence != expected) {
      counters_.out_of_sequence.fetch_add(1, std::memory_order_relaxed);
      return out_of_order_sequence;
    }
    log.producer_id = producer;
    log.producer_epoch = epoch;
    log.next_sequence = static_cast<std::int32_t>((std::int64_t{sequence} + count) & 0x7fffffff);
  }
  base_offset = log.next_offset;
  log.next_offset += count;
  counters_.batches.fetch_add(1, std::memory_order_relaxed);
  counters_.records.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed);
  counters_.bytes.fetch_add(records.size(), std::memory_order_relaxed);
  return 0;
}

}  // namespace partita::bench
