#include "api/testing/cluster_core.hpp"

#include "api/testing/broker_apis.hpp"
#include "api/testing/lenient_decode.hpp"
#include "api/testing/refused_answer.hpp"

#include <algorithm>

namespace partita::testing {
namespace {

constexpr std::int32_t frame_bytes_max = 100 * 1024 * 1024;  // socket.request.max.bytes
constexpr std::size_t compact_bytes = 64 * 1024;

std::int32_t read_length(byte_view bytes) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < 4; ++i)
    length = length << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return static_cast<std::int32_t>(length);
}

}  // namespace

struct cluster_core::connection {
  connection_id id = 0;
  std::int32_t broker = -1;
  connection_sink* sink = nullptr;  // null: the client is gone
  std::vector<std::byte> input;
  std::size_t at = 0;
  bool busy = false;     // a request is being executed
  bool pumping = false;  // inside pump(): whoever ends a request leaves the next one to it
  bool input_ended = false;
  bool blocked = false;  // its request is never answered
  bool silent = false;   // its answers are lost on the way
  int sends_left = 0;    // once the client is gone

  [[nodiscard]] std::optional<std::int32_t> next_length() const {
    if (input.size() - at < 4) return std::nullopt;
    return read_length(byte_view{input}.subspan(at));
  }
  [[nodiscard]] bool complete(std::int32_t length) const {
    return input.size() - at - 4 >= static_cast<std::size_t>(length);
  }
};

cluster_core::cluster_core(const cluster_options& options, clock now)
    : now_(std::move(now)), state_(options), produce_(*this), fetch_(*this) {}

cluster_core::~cluster_core() = default;

cluster_core::connection* cluster_core::find(connection_id id) noexcept {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

cluster_core::connection_id cluster_core::open(std::int32_t broker, connection_sink& sink) {
  const auto* asked = state_.broker(broker);
  if (asked == nullptr || !asked->running) return 0;
  auto made = std::make_shared<connection>();
  made->id = ++last_connection_;
  made->broker = broker;
  made->sink = &sink;
  connections_.emplace(made->id, made);
  ++counters_.connections;
  return made->id;
}

void cluster_core::received(connection_id id, byte_view bytes) {
  auto* link = find(id);
  if (link == nullptr || link->sink == nullptr) return;
  link->input.insert(link->input.end(), bytes.begin(), bytes.end());
  if (state_.pass_time(now_())) settle_waiting();
  pump(id);
  settle_waiting();
}

void cluster_core::input_ended(connection_id id) {
  auto* link = find(id);
  if (link == nullptr) return;
  link->input_ended = true;
  if (link->blocked) close(id, false);
  pump(id);
  settle_waiting();
}

void cluster_core::lost(connection_id id, bool reset) {
  auto* link = find(id);
  if (link == nullptr) return;
  link->sink = nullptr;
  link->input_ended = true;
  link->sends_left = reset ? 0 : 1;
  if (link->blocked) close(id, false);
  pump(id);
  settle_waiting();
}

std::size_t cluster_core::unread(connection_id id) const noexcept {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return 0;
  const auto& link = *found->second;
  const bool waits =
      link.busy || state_.brokers()[static_cast<std::size_t>(link.broker) - 1].paused;
  return waits ? link.input.size() - link.at : 0;
}

void cluster_core::pump(connection_id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || found->second->pumping) return;
  const auto link = found->second;  // stays alive although a handler may close it
  const auto* broker = state_.broker(link->broker);
  link->pumping = true;
  while (find(id) != nullptr && !link->busy && broker->running && !broker->paused) {
    const auto length = link->next_length();
    if (length && (*length < 0 || *length > frame_bytes_max)) {
      close(id, false);
      break;
    }
    if (!length || !link->complete(*length)) {
      if (link->input_ended) close(id, false);
      break;
    }
    const auto size = static_cast<std::size_t>(*length);
    const auto frame = byte_view{link->input}.subspan(link->at + 4, size);
    link->at += 4 + size;
    link->busy = true;
    ++counters_.requests;
    if (!execute(*link, frame)) close(id, false);
  }
  link->pumping = false;
  if (link->at == link->input.size()) {
    link->input.clear();
    link->at = 0;
  } else if (link->at > compact_bytes) {
    link->input.erase(link->input.begin(),
                      link->input.begin() + static_cast<std::ptrdiff_t>(link->at));
    link->at = 0;
  }
}

template <class Request>
bool cluster_core::serve(connection& link, const wire::request_header& header, byte_view body) {
  const auto request = decode_leniently<Request>(header.version, body);
  if (!request) return false;
  auto made = answer(state_, call{link.broker, header.version, now_()}, *request);
  if constexpr (std::is_same_v<Request, wire::metadata_request>) api_faults_.lie(made, link.broker);
  auto version = header.version;
  if (const auto* fault = refusal_of(link.id)) {
    refuse(made, *fault);
    if constexpr (std::is_same_v<Request, wire::api_versions_request>)
      if (fault->code == broker_errc::unsupported_version) {
        made = unknown_api_versions(state_);
        version = 0;  // what a broker does not know it answers in version 0 (KIP-511)
      }
  }
  reply(link.id, encode_answer(made, version, header.correlation_id));
  return true;
}

bool cluster_core::execute(connection& link, byte_view frame) {
  const auto request = wire::parse_request_header(frame);
  if (request.failure) return false;
  const auto& header = request.header;
  const auto key = static_cast<wire::api_key>(header.key);
  if (key != wire::api_key::produce) choose_fault(link.id, header.key, link.broker);
  if (!state_.serves(header.key, header.version)) {
    if (key != wire::api_key::api_versions) return false;
    reply(link.id, encode_answer(unknown_api_versions(state_), 0, header.correlation_id));
    return true;
  }
  switch (key) {
    case wire::api_key::produce:
      return produce_.serve(link.id, link.broker, header, request.body);
    case wire::api_key::fetch:
      return fetch_.serve(link.id, link.broker, header, request.body);
    case wire::api_key::list_offsets:
      return serve<wire::list_offsets_request>(link, header, request.body);
    case wire::api_key::metadata:
      return serve<wire::metadata_request>(link, header, request.body);
    case wire::api_key::find_coordinator:
      return serve<find_coordinator_request>(link, header, request.body);
    case wire::api_key::api_versions:
      return serve<wire::api_versions_request>(link, header, request.body);
    case wire::api_key::create_topics:
      return serve<create_topics_request>(link, header, request.body);
    case wire::api_key::delete_topics:
      return serve<delete_topics_request>(link, header, request.body);
    case wire::api_key::delete_records:
      return serve<delete_records_request>(link, header, request.body);
    case wire::api_key::init_producer_id:
      return serve<wire::init_producer_id_request>(link, header, request.body);
    case wire::api_key::offset_for_leader_epoch:
      return serve<offset_for_leader_epoch_request>(link, header, request.body);
    case wire::api_key::add_partitions_to_txn:
      return serve<add_partitions_to_txn_request>(link, header, request.body);
    case wire::api_key::end_txn:
      return serve<end_txn_request>(link, header, request.body);
    case wire::api_key::describe_configs:
      return serve<describe_configs_request>(link, header, request.body);
    case wire::api_key::incremental_alter_configs:
      return serve<incremental_alter_configs_request>(link, header, request.body);
    case wire::api_key::elect_leaders:
      return serve<elect_leaders_request>(link, header, request.body);
    case wire::api_key::alter_partition_reassignments:
      return serve<alter_partition_reassignments_request>(link, header, request.body);
    case wire::api_key::create_partitions:
      return serve<create_partitions_request>(link, header, request.body);
    case wire::api_key::describe_cluster:
      return serve<describe_cluster_request>(link, header, request.body);
    case wire::api_key::describe_producers:
      return serve<wire::describe_producers_request>(link, header, request.body);
    default:
      return false;
  }
}

void cluster_core::reply(connection_id id, std::vector<std::byte> bytes) {
  auto* link = find(id);
  if (link == nullptr || answer_badly(id, bytes)) return;
  if (link->silent) {
    // Lost on the way.
  } else if (link->sink != nullptr) {
    link->sink->send(std::move(bytes));
  } else if (link->sends_left-- <= 0) {
    close(id, true);  // the answer could not be sent: what lies behind is dropped
    return;
  }
  reply_nothing(id);
}

void cluster_core::reply_nothing(connection_id id) {
  auto* link = find(id);
  if (link == nullptr) return;
  link->busy = false;
  pump(id);
}

void cluster_core::send_only(connection_id id, std::vector<std::byte> bytes) {
  auto* link = find(id);
  if (link != nullptr && link->sink != nullptr && !link->silent) link->sink->send(std::move(bytes));
}

void cluster_core::silence(connection_id id) {
  if (auto* link = find(id)) link->silent = true;
}

void cluster_core::block(connection_id id) {
  if (auto* link = find(id)) link->blocked = true;
}

void cluster_core::close(connection_id id, bool reset) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const auto link = found->second;
  connections_.erase(found);
  hits_.erase(id);
  produce_.forget(id);
  fetch_.forget(id);
  if (link->sink != nullptr) link->sink->end(reset);
}

void cluster_core::at(std::int64_t steady_ns, std::function<void()> action) {
  timers_.emplace(steady_ns, std::move(action));
}

void cluster_core::settle_waiting() {
  // An answer lets the requests behind it run, and those may end further waits.
  for (auto before = ~counters_.requests; before != counters_.requests;) {
    before = counters_.requests;
    produce_.settle();
    fetch_.settle();
  }
}

void cluster_core::advance() {
  const auto time = now_();
  state_.pass_time(time);
  while (!timers_.empty() && timers_.begin()->first <= time.steady_ns) {
    const auto action = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    action();
  }
  settle_waiting();
}

std::int64_t cluster_core::next_deadline_ns() const noexcept {
  const auto by_state = state_.next_deadline_ns();
  const auto by_timer = timers_.empty() ? -1 : timers_.begin()->first;
  if (by_state < 0) return by_timer;
  return by_timer < 0 ? by_state : std::min(by_state, by_timer);
}

void cluster_core::stop_broker(std::int32_t broker, stop_kind kind) {
  // A kill leaves no time for answers; a clean stop hands its leaderships over and answers 6 first.
  if (kind == stop_kind::kill) drop_connections(broker, true);
  state_.stop_broker(broker);
  state_.replicate();
  settle_waiting();
  drop_connections(broker, false);
}

void cluster_core::start_broker(std::int32_t broker) {
  state_.start_broker(broker);
  state_.replicate();
  settle_waiting();
}

void cluster_core::pause_broker(std::int32_t broker) { state_.pause_broker(broker, now_()); }

void cluster_core::resume_broker(std::int32_t broker) {
  state_.resume_broker(broker);
  state_.replicate();
  settle_waiting();
  std::vector<connection_id> waiting;
  for (const auto& [id, link] : connections_)
    if (link->broker == broker) waiting.push_back(id);
  for (const auto id : waiting) pump(id);
  settle_waiting();
}

void cluster_core::release_held(std::string_view topic, std::int32_t partition) {
  produce_.release_held(topic, partition);
  settle_waiting();
}

std::size_t cluster_core::held() const noexcept { return produce_.held(); }

void cluster_core::drop_connections(std::int32_t broker, bool reset) {
  std::vector<connection_id> dropped;
  for (const auto& [id, link] : connections_)
    if (link->broker == broker) dropped.push_back(id);
  for (const auto id : dropped) close(id, reset);
}

}  // namespace partita::testing
