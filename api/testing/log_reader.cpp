#include <partita/testing/log_reader.hpp>

#include "api/bootstrap_servers.hpp"
#include "api/testing/batch_records.hpp"
#include "api/testing/blocking_client.hpp"
#include "wire/messages/api_versions.hpp"
#include "wire/messages/fetch.hpp"
#include "wire/messages/list_offsets.hpp"
#include "wire/messages/metadata.hpp"

#include <algorithm>
#include <optional>

namespace partita::testing {
namespace {

// From Kafka 2.1, the oldest one that clients of today talk to (KIP-896), to the last versions with
// topics by name, which all later brokers know as well.
constexpr wire::version_range metadata_versions{4, 9};
constexpr wire::version_range list_offsets_versions{1, 6};
constexpr wire::version_range fetch_versions{4, 12};
constexpr std::int16_t first_with_operations = 8;  // of Metadata: KIP-430
constexpr std::int32_t fetch_bytes = 8 * 1024 * 1024;

read_end refused(broker_errc code, const std::string& what) {
  const auto error = make_error_code(code);
  return {error, what + ": " + error.message()};
}

}  // namespace

struct log_reader::parts {
  parts(std::string bootstrap, std::chrono::milliseconds limit)
      : bootstrap_(parse_bootstrap_servers(bootstrap).servers), client_(limit) {}

  /// Connects, and asks what the broker serves.
  read_end connect(const std::string& host, std::uint16_t port);
  /// The version to speak with the broker of the connection.
  read_end choose(wire::api_key api, wire::version_range known, std::int16_t& version) const;
  read_end ask_topic(const std::string& topic, wire::metadata_response& answer);
  read_end describe(const std::string& topic, wire::metadata_response& answer);
  read_end connect_leader(const std::string& topic, partition_id partition);
  read_end offset_of(const std::string& topic, partition_id partition, std::int64_t which,
                     std::int64_t& found);
  read_end fetch(const std::string& topic, partition_id partition, std::int64_t from,
                 wire::fetch_response& answer, std::vector<std::byte>& storage);

  std::vector<bootstrap_server> bootstrap_;
  blocking_client client_;
  wire::api_versions_response served_;  // by the broker of the connection
};

read_end log_reader::parts::connect(const std::string& host, std::uint16_t port) {
  constexpr std::int16_t known_to_all = 0;
  if (auto end = client_.connect(host, port); !end.ok()) return end;
  std::vector<std::byte> storage;
  const wire::api_versions_request request;
  if (auto end = client_.call(request, known_to_all, served_, storage); !end.ok()) return end;
  const auto code = served_.error_code;
  return code == broker_errc::none ? read_end{} : refused(code, "ApiVersions");
}

read_end log_reader::parts::choose(wire::api_key api, wire::version_range known,
                                   std::int16_t& version) const {
  const auto offered = served_.range_of(api);
  const auto common = offered ? wire::highest_common(known, *offered) : std::nullopt;
  if (!common)
    return {client_errc::unsupported_version,
            "the broker does not serve " + std::string{wire::name_of(api)} +
                " in any version from " + std::to_string(known.first) + " to " +
                std::to_string(known.last)};
  version = *common;
  return {};
}

read_end log_reader::parts::ask_topic(const std::string& topic, wire::metadata_response& answer) {
  std::int16_t version = 0;
  if (auto end = choose(wire::api_key::metadata, metadata_versions, version); !end.ok()) return end;
  wire::metadata_request request;
  request.topics.emplace();
  request.topics->push_back({{}, topic});
  request.allow_auto_topic_creation = false;
  request.include_topic_authorized_operations = version >= first_with_operations;
  std::vector<std::byte> storage;
  return client_.call(request, version, answer, storage);
}

read_end log_reader::parts::describe(const std::string& topic, wire::metadata_response& answer) {
  read_end end{client_errc::invalid_value, "no bootstrap server"};
  for (const auto& server : bootstrap_) {
    end = connect(server.host, server.port);
    if (end.ok()) end = ask_topic(topic, answer);
    if (end.ok()) break;
  }
  if (!end.ok()) return end;
  if (answer.topics.size() != 1) return {client_errc::unexpected_answer, "metadata of " + topic};
  const auto code = answer.topics.front().error_code;
  return code == broker_errc::none ? read_end{} : refused(code, "topic " + topic);
}

read_end log_reader::parts::connect_leader(const std::string& topic, partition_id partition) {
  wire::metadata_response answer;
  if (auto end = describe(topic, answer); !end.ok()) return end;
  for (const auto& one : answer.topics.front().partitions) {
    if (one.index != partition) continue;
    for (const auto& broker : answer.brokers)
      if (broker.node_id == one.leader)
        return connect(broker.host, static_cast<std::uint16_t>(broker.port));
    return refused(broker_errc::leader_not_available, topic);
  }
  return refused(broker_errc::unknown_topic_or_partition,
                 topic + "-" + std::to_string(partition.value));
}

read_end log_reader::parts::offset_of(const std::string& topic, partition_id partition,
                                      std::int64_t which, std::int64_t& found) {
  std::int16_t version = 0;
  if (auto end = choose(wire::api_key::list_offsets, list_offsets_versions, version); !end.ok())
    return end;
  wire::list_offsets_request request;
  request.topics.push_back({topic, {{partition, {}, which}}});
  wire::list_offsets_response answer;
  std::vector<std::byte> storage;
  if (auto end = client_.call(request, version, answer, storage); !end.ok()) return end;
  if (answer.topics.size() != 1 || answer.topics.front().partitions.size() != 1)
    return {client_errc::unexpected_answer, "offsets of " + topic};
  const auto& part = answer.topics.front().partitions.front();
  if (part.error_code != broker_errc::none) return refused(part.error_code, "offsets of " + topic);
  found = part.offset.value;
  return {};
}

read_end log_reader::parts::fetch(const std::string& topic, partition_id partition,
                                  std::int64_t from, wire::fetch_response& answer,
                                  std::vector<std::byte>& storage) {
  std::int16_t version = 0;
  if (auto end = choose(wire::api_key::fetch, fetch_versions, version); !end.ok()) return end;
  wire::fetch_request request;
  request.max_wait_ms = 500;
  request.min_bytes = 1;
  request.max_bytes = fetch_bytes;
  wire::fetch_request::partition part;
  part.index = partition;
  part.fetch_offset = from;
  part.partition_max_bytes = fetch_bytes;
  request.topics.push_back({topic, {}, {part}});
  if (auto end = client_.call(request, version, answer, storage); !end.ok()) return end;
  if (answer.error_code != broker_errc::none) return refused(answer.error_code, "fetch");
  if (answer.topics.size() != 1 || answer.topics.front().partitions.size() != 1)
    return {client_errc::unexpected_answer, "fetch of " + topic};
  const auto code = answer.topics.front().partitions.front().error_code;
  return code == broker_errc::none ? read_end{} : refused(code, "fetch of " + topic);
}

log_reader::log_reader(std::string bootstrap, std::chrono::milliseconds limit)
    : parts_(std::make_unique<parts>(std::move(bootstrap), limit)) {}

log_reader::~log_reader() = default;

read_end log_reader::describe(std::string_view topic, topic_description& found) {
  wire::metadata_response answer;
  if (auto end = parts_->describe(std::string{topic}, answer); !end.ok()) return end;
  found = {};
  const auto& told = answer.topics.front();
  for (const auto& one : told.partitions) {
    topic_description::leader leader{one.index, one.leader, {}, 0};
    for (const auto& broker : answer.brokers) {
      if (broker.node_id != one.leader) continue;
      leader.host = broker.host;
      leader.port = broker.port;
    }
    found.leaders.push_back(std::move(leader));
  }
  std::sort(found.leaders.begin(), found.leaders.end(),
            [](const auto& left, const auto& right) { return left.partition < right.partition; });
  constexpr std::int32_t write_operation = 1 << 4;
  if (told.authorized_operations != wire::metadata_response::operations_unknown)
    found.may_be_written = (told.authorized_operations & write_operation) != 0;
  return {};
}

read_end log_reader::partitions(std::string_view topic, std::vector<partition_id>& found) {
  wire::metadata_response answer;
  if (auto end = parts_->describe(std::string{topic}, answer); !end.ok()) return end;
  found.clear();
  for (const auto& one : answer.topics.front().partitions) found.push_back(one.index);
  std::sort(found.begin(), found.end());
  return {};
}

read_end log_reader::read(std::string_view topic, partition_id partition,
                          const std::function<void(const log_record&)>& visit,
                          partita::offset first) {
  const std::string name{topic};
  std::int64_t start = 0;
  std::int64_t end_offset = 0;
  if (auto end = parts_->connect_leader(name, partition); !end.ok()) return end;
  if (auto end = parts_->offset_of(name, partition, wire::earliest_offset, start); !end.ok())
    return end;
  if (auto end = parts_->offset_of(name, partition, wire::latest_offset, end_offset); !end.ok())
    return end;
  auto next = std::max(start, first.value);
  while (next < end_offset) {
    wire::fetch_response answer;
    std::vector<std::byte> storage;
    if (auto end = parts_->fetch(name, partition, next, answer, storage); !end.ok()) return end;
    const auto& part = answer.topics.front().partitions.front();
    const auto before = next;
    const bool readable = visit_records(
        part.records.view(),
        [&](const log_record& record) {
          if (record.offset.value >= next && record.offset.value < end_offset) visit(record);
        },
        next);
    if (!readable) return {client_errc::corrupt_data, "a batch that does not read"};
    if (next == before) return {client_errc::corrupt_data, "the broker sent no further batch"};
  }
  return {};
}

}  // namespace partita::testing
