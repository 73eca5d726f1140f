#include "api/testing/produce_service.hpp"

#include "api/testing/cluster_core.hpp"
#include "api/testing/lenient_decode.hpp"

#include <partita/contract.hpp>

#include <algorithm>

namespace partita::testing {
namespace {

constexpr std::int16_t oldest_described = 3;
constexpr std::int64_t ns_per_ms = 1'000'000;

bool carries_transaction(const framed_batch& framed) {
  return !framed.refused.refused() && framed.batch.size() >= batch_header_bytes &&
         read_batch_header(framed.batch).transactional();
}

}  // namespace

std::vector<produce_service::part> produce_service::take_parts(const wire::produce_request& request,
                                                               std::int16_t version) {
  std::vector<part> parts;
  for (const auto& topic : request.topics)
    for (const auto& partition : topic.partitions) {
      part one;
      if (version < 13) one.topic = topic.name;
      if (version >= 13) one.id = topic.topic_id;
      one.index = partition.index.value;
      const auto bytes = partition.records.view();
      one.records.assign(bytes.begin(), bytes.end());
      const auto twice = std::find_if(parts.begin(), parts.end(), [&](const part& other) {
        return other.topic == one.topic && other.id == one.id && other.index == one.index;
      });
      if (twice == parts.end()) {
        parts.push_back(std::move(one));
      } else {
        *twice = std::move(one);
      }
    }
  return parts;
}

bool produce_service::serve(std::uint64_t connection, std::int32_t broker,
                            const wire::request_header& header, byte_view body) {
  // Before version 3 the request had no transactional id; what is sent here is version 3 with none.
  std::vector<std::byte> with_id;
  auto version = header.version;
  if (version < oldest_described) {
    with_id.assign(2, std::byte{0xff});
    with_id.insert(with_id.end(), body.begin(), body.end());
    body = with_id;
    version = oldest_described;
  }
  const auto request = decode_leniently<wire::produce_request>(version, body);
  if (!request) return false;
  ++core_.counters().produce_requests;
  // A null records field is never answered, and nothing behind it either (ORDER-26).
  for (const auto& topic : request->topics)
    for (const auto& partition : topic.partitions)
      if (partition.records.is_null()) {
        core_.block(connection);
        return true;
      }

  operation work;
  work.number = ++last_number_;
  work.connection = connection;
  work.broker = broker;
  work.version = version;
  work.asked_version = header.version;
  work.correlation_id = header.correlation_id;
  work.acks = request->acks;
  work.timeout_ms = request->timeout_ms;
  work.transactional_id = request->transactional_id;
  work.parts = take_parts(*request, version);
  for (auto& one : work.parts)
    if (header.version >= 13)
      if (const auto* topic = core_.state().topic(one.id)) one.topic = topic->name;
  choose_faults(work);

  if (work.hit && work.hit->cut_first) core_.close(connection, true);
  if (work.hit && work.hit->held) {
    held_.push_back(std::move(work));
    return true;
  }
  const auto wait = work.hit ? std::chrono::nanoseconds{work.hit->execute_after}.count() : 0;
  if (wait <= 0) {
    execute(work);
  } else {
    core_.at(
        core_.now().steady_ns + wait,
        [this, later = std::make_shared<operation>(std::move(work))] { execute_late(*later); });
  }
  return true;
}

// A broker that stopped meanwhile has lost what it had not executed.
void produce_service::execute_late(operation& work) {
  const auto* asked = core_.state().broker(work.broker);
  if (asked != nullptr && asked->running) execute(work);
}

void produce_service::release_held(std::string_view topic, std::int32_t partition) {
  std::list<operation> released;
  for (auto at = held_.begin(); at != held_.end();) {
    const auto next = std::next(at);
    const bool named =
        topic.empty() || std::any_of(at->parts.begin(), at->parts.end(), [&](const part& one) {
          return one.topic == topic && one.index == partition;
        });
    if (named) released.splice(released.end(), held_, at);
    at = next;
  }
  for (auto& work : released) execute_late(work);
}

void produce_service::choose_faults(operation& work) {
  for (auto& one : work.parts) {
    one.number = ++last_attempt_;
    one.hit = ask_script(work, one);
    if (!one.hit) one.hit = core_.faults().next({one.topic, one.index, work.broker, one.records});
    if (one.hit && !work.hit) work.hit = one.hit;
  }
  if (!work.hit) {
    work.hit = core_.faults().draw(core_.state().draws());
    if (work.hit)
      for (auto& one : work.parts) one.hit = work.hit;
  }
  if (work.hit) ++core_.counters().faults_hit;
}

void produce_service::execute(operation& work) {
  std::optional<std::int64_t> producer;
  for (auto& one : work.parts)
    if (const auto framed = check_framing(one.records, work.version); carries_transaction(framed)) {
      const auto id = read_batch_header(framed.batch).producer_id;
      work.mixed_producers = work.mixed_producers || (producer && *producer != id);
      producer = id;
    }
  const bool whole_request_refused = !work.transactional_id && producer;
  bool waits = false;
  for (auto& one : work.parts) {
    if (one.hit && one.hit->execution == execution::skip) {
      one.settled = true;
      forge(one);
      tell_executed(one, {});
      continue;
    }
    one.result = whole_request_refused
                     ? produce_result::refused(broker_errc::transactional_id_authorization_failed)
                     : append(work, one);
    auto& counters = core_.counters();
    if (one.result.code != broker_errc::none) ++counters.batches_refused;
    if (one.result.deduplicated) ++counters.batches_deduplicated;
    if (one.result.committed_at >= 0 && !one.result.deduplicated) ++counters.batches_appended;
    tell_executed(one, one.result);
    // What shows nothing true of a batch needs no commit to show it. One fault decides what becomes
    // of the answer, though it may have been meant for another batch.
    const auto shown = work.hit ? work.hit->reply : reply::truthful;
    const bool shows =
        shown == reply::truthful || shown == reply::close_after || shown == reply::error;
    const bool forged = one.hit && one.hit->reply == reply::error;
    one.settled = work.acks != -1 || one.result.committed_at < 0 || !shows || forged;
    waits = waits || !one.settled;
  }
  if (!waits || settle(work)) {
    finish(work);
    return;
  }
  work.waiting = true;
  work.deadline_ns = core_.now().steady_ns + std::max<std::int64_t>(0, work.timeout_ms) * ns_per_ms;
  core_.at(work.deadline_ns, [] {});  // settle() runs after every timer
  waiting_.push_back(std::move(work));
}

std::optional<produce_result> produce_service::check_request(const operation& work, part& one,
                                                             framed_batch& framed) {
  if (work.version >= 13 && core_.state().topic(one.id) == nullptr)
    return produce_result::refused(broker_errc::unknown_topic_id);
  if (core_.state().denied(right::write, one.topic))
    return produce_result::refused(broker_errc::topic_authorization_failed);
  auto* topic = core_.state().topic(one.topic);
  auto* partition = topic == nullptr ? nullptr : topic->partition(one.index);
  if (partition == nullptr) return produce_result::refused(broker_errc::unknown_topic_or_partition);
  framed = check_framing(one.records, work.version);
  if (framed.refused.refused()) {
    auto result = produce_result::refused(framed.refused.code);
    result.message = framed.refused.message;
    return result;
  }
  if (carries_transaction(framed) && partition->leads(work.broker)) {
    if (auto refused = check_transaction(work, one, read_batch_header(framed.batch)))
      return refused;
  }
  if (work.acks < -1 || work.acks > 1)
    return produce_result::refused(broker_errc::invalid_required_acks);
  if (topic->internal) return produce_result::refused(broker_errc::invalid_topic_exception);
  if (!partition->leads(work.broker))
    return produce_result::refused(broker_errc::not_leader_or_follower);
  return std::nullopt;
}

// What the leader asks the coordinator before the first batch of a transaction (KIP-890).
std::optional<produce_result> produce_service::check_transaction(const operation& work,
                                                                 const part& one,
                                                                 const batch_header& header) {
  constexpr std::int16_t server_driven_from = 12;
  constexpr std::int16_t abortable_from = 11;
  const auto refuse = [](broker_errc code, const char* message = nullptr) {
    auto result = produce_result::refused(code);
    if (message != nullptr) result.message = message;
    return result;
  };
  if (work.mixed_producers)
    return refuse(broker_errc::invalid_producer_id_mapping, "more than one producer id");
  auto& state = core_.state();
  auto* partition = state.topic(one.topic)->partition(one.index);
  if (partition->in_transaction(header.producer_id, header.producer_epoch, state.options().version))
    return std::nullopt;
  partition->begin_verification(header);
  auto& transactions = state.transactions();
  const auto code =
      transactions.check(*work.transactional_id, header.producer_id, header.producer_epoch);
  if (code == broker_errc::invalid_producer_id_mapping)
    return refuse(code, "the producer id does not belong to the transactional id");
  if (code != broker_errc::none) return refuse(broker_errc::invalid_producer_epoch);
  if (work.version >= server_driven_from) {
    transactions.add(*work.transactional_id, one.topic, one.index, core_.now());
    return std::nullopt;
  }
  const auto* found = transactions.find(*work.transactional_id);
  if (found->status == transaction_status::ongoing &&
      found->partitions.contains({one.topic, one.index}))
    return std::nullopt;
  if (work.version >= abortable_from) return refuse(broker_errc::transaction_abortable);
  return refuse(broker_errc::invalid_txn_state, "the partition is not part of a transaction");
}

produce_result produce_service::append(operation& work, part& one) {
  framed_batch framed;
  if (auto refused = check_request(work, one, framed)) return std::move(*refused);
  auto* topic = core_.state().topic(one.topic);
  auto* partition = topic->partition(one.index);
  one.id = topic->id;
  one.leader_epoch = partition->leader_epoch(work.broker);
  auto result =
      partition->append({framed.batch, work.acks, core_.now().wall_ms,
                         core_.state().options().version, work.broker, work.version >= 12},
                        topic->settings);
  if (result.committed_at >= 0) {
    partition->replicate(topic->settings);
    partition->retain(core_.state().options().retention_bytes);
  }
  return result;
}

// A skipped batch that is to look like a success: the next offset, which something else will get.
void produce_service::forge(part& one) {
  if (one.hit->reply == reply::error) return;
  if (one.hit->reply != reply::truthful && one.hit->reply != reply::close_after) {
    // Its own fault answers nothing; the request is answered for the sake of another partition.
    one.result.code = broker_errc::unknown_server_error;
    return;
  }
  const auto* partition = core_.state().partition(one.topic, one.index);
  if (partition == nullptr) {
    one.result.code = broker_errc::unknown_topic_or_partition;
    return;
  }
  one.result.code = one.hit->code;
  if (one.hit->code != broker_errc::none) return;
  one.result.base_offset = partition->log().end();
  one.result.log_start = partition->log().start();
}

bool produce_service::settle(operation& work) {
  const auto now = core_.now();
  bool all = true;
  for (auto& one : work.parts) {
    if (one.settled) continue;
    auto* topic = core_.state().topic(one.topic);
    auto* partition =
        topic == nullptr || topic->id != one.id ? nullptr : topic->partition(one.index);
    one.settled = true;
    if (partition == nullptr) {
      one.result.code = broker_errc::unknown_topic_or_partition;
      continue;
    }
    switch (partition->committed(one.result.committed_at, work.broker, one.leader_epoch,
                                 topic->settings)) {
      case commit_state::committed:
        break;
      case commit_state::under_replicated:
        one.result.code = broker_errc::not_enough_replicas_after_append;
        break;
      case commit_state::lost_leadership:
        one.result.code = broker_errc::not_leader_or_follower;
        break;
      case commit_state::waiting:
        if (work.waiting && now.steady_ns >= work.deadline_ns) {
          one.result.code = broker_errc::request_timed_out;
        } else {
          one.settled = all = false;
        }
    }
  }
  return all;
}

void produce_service::settle() {
  std::list<operation> done;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto next = std::next(at);
    const auto* broker = core_.state().broker(at->broker);
    if (!broker->paused && settle(*at)) done.splice(done.end(), waiting_, at);
    at = next;
  }
  for (auto& work : done) finish(work);
}

void produce_service::forget(std::uint64_t connection) {
  waiting_.remove_if([&](const operation& work) { return work.connection == connection; });
}

}  // namespace partita::testing
