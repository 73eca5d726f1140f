#include "api/cli/cluster_faults.hpp"

#include <charconv>

namespace partita::cli {
namespace {

using testing::answer_shape;
using testing::api;
using testing::execution;
using testing::reply;
using testing::right;

constexpr std::pair<std::string_view, reply> replies[] = {
    {"truthful", reply::truthful},
    {"error", reply::error},
    {"close_before", reply::close_before},
    {"close_after", reply::close_after},
    {"reset", reply::reset},
    {"never", reply::never},
    {"lost", reply::lost},
    {"wrong_correlation_id", reply::wrong_correlation_id},
    {"truncated", reply::truncated},
    {"garbage", reply::garbage},
    {"cut_answer", reply::cut_answer},
};

constexpr std::pair<std::string_view, answer_shape> shapes[] = {
    {"usual", answer_shape::usual},
    {"left_out", answer_shape::left_out},
    {"twice", answer_shape::twice},
    {"other_partition", answer_shape::other_partition},
    {"other_topic", answer_shape::other_topic},
};

// A fault that names a code means it.
reply read_reply(command_object& from) {
  if (!from.has("reply") && from.has("code")) return reply::error;
  return from.choice("reply", replies);
}

broker_errc read_code(command_object& from, const char* name = "code") {
  return broker_errc{from.number_from<std::int16_t>(-1, name, 0)};
}

// A number of times; 2147483647 is always.
int read_times(command_object& from, int otherwise) {
  if (!from.has("times")) return otherwise;
  return from.count<int>("times");
}

std::optional<std::size_t> read_cut(command_object& from) {
  if (!from.has("cut_at")) return std::nullopt;
  return from.number<std::uint32_t>("cut_at");
}

// 32 hexadecimal digits, with or without the hyphens of a UUID.
std::optional<topic_id> read_topic_id(command_object& from) {
  constexpr std::size_t digits_of_half = 16;
  if (!from.has("other_topic_id")) return std::nullopt;
  auto digits = from.text("other_topic_id");
  std::erase(digits, '-');
  const auto read = [&](std::size_t at, std::uint64_t& half) {
    const auto* first = digits.data() + at;
    const auto* last = first + digits_of_half;
    return std::from_chars(first, last, half, 16).ptr == last;
  };
  topic_id id;
  if (digits.size() == 2 * digits_of_half && read(0, id.high) && read(digits_of_half, id.low))
    return id;
  from.refuse("other_topic_id: not 32 hexadecimal digits");
  return std::nullopt;
}

}  // namespace

testing::fault read_fault(command_object& from) {
  constexpr std::pair<std::string_view, execution> executions[] = {{"append", execution::append},
                                                                   {"skip", execution::skip}};
  testing::fault made;
  made.topic = from.text("topic", "");
  made.partition = from.optional_id<partition_id>("partition");
  made.broker = from.optional_id<broker_id>("broker");
  made.value = from.text("value", "");
  made.skip_first = from.count<int>("skip_first", 0);
  made.times = read_times(from, 1);
  made.execution = from.choice("execution", executions);
  made.reply = read_reply(from);
  made.code = read_code(from);
  made.real_offset = from.flag("real_offset", false);
  made.base_offset = from.optional_id<offset>("base_offset", -1);
  made.cut_at = read_cut(from);
  made.shape = from.choice("shape", shapes);
  made.execute_after = from.duration("execute_after_ms");
  made.cut_first = from.flag("cut_first", false);
  made.held = from.flag("held", false);
  made.answer_after = from.duration("answer_after_ms");
  made.throttle = from.duration("throttle_ms");
  return made;
}

testing::fault_mix read_fault_mix(command_object& from) {
  testing::fault_mix made;
  made.lose_request = from.share("lose_request");
  made.lose_answer = from.share("lose_answer");
  made.close_after_answer = from.share("close_after_answer");
  made.refuse = from.share("refuse");
  made.append_then_error = from.share("append_then_error");
  made.delay = from.share("delay");
  made.never_answer = from.share("never_answer");
  made.corrupt_answer = from.share("corrupt_answer");
  made.execute_late = from.share("execute_late");
  made.disturb_others = from.share("disturb_others");
  if (from.has("delay_max_ms")) made.delay_max = from.duration("delay_max_ms");
  return made;
}

api read_api(command_object& from, api otherwise) {
  constexpr std::pair<std::string_view, api> apis[] = {
      {"any", api::any},
      {"produce", api::produce},
      {"fetch", api::fetch},
      {"list_offsets", api::list_offsets},
      {"metadata", api::metadata},
      {"find_coordinator", api::find_coordinator},
      {"api_versions", api::api_versions},
      {"init_producer_id", api::init_producer_id},
      {"add_partitions_to_txn", api::add_partitions_to_txn},
      {"end_txn", api::end_txn},
      {"describe_producers", api::describe_producers},
  };
  return from.has("api") ? from.choice("api", apis) : otherwise;
}

testing::api_fault read_api_fault(command_object& from) {
  testing::api_fault made;
  made.api = read_api(from, api::any);
  made.broker = from.optional_id<broker_id>("broker");
  made.skip_first = from.count<int>("skip_first", 0);
  made.times = read_times(from, 1);
  made.reply = read_reply(from);
  made.code = read_code(from);
  made.topic = from.text("topic", "");
  made.cut_at = read_cut(from);
  made.answer_after = from.duration("answer_after_ms");
  made.throttle = from.duration("throttle_ms");
  return made;
}

testing::metadata_lie read_metadata_lie(command_object& from) {
  testing::metadata_lie made;
  made.topic = from.text("topic", "");
  made.broker = from.optional_id<broker_id>("broker");
  made.skip_first = from.count<int>("skip_first", 0);
  made.times = read_times(from, testing::always);
  if (from.has("topic_code")) made.topic_code = read_code(from, "topic_code");
  made.leave_out_topic = from.flag("leave_out_topic", false);
  made.without_topic_id = from.flag("without_topic_id", false);
  made.other_topic_id = read_topic_id(from);
  if (from.has("partition_count"))
    made.partition_count = from.count<std::int32_t>("partition_count");
  made.partition = from.optional_id<partition_id>("partition");
  made.leave_out_partition = from.flag("leave_out_partition", false);
  made.leader = from.optional_id<broker_id>("leader", -1);
  made.leader_epoch = from.optional_id<leader_epoch>("leader_epoch", -1);
  if (from.has("partition_code")) made.partition_code = read_code(from, "partition_code");
  return made;
}

right read_right(command_object& from) {
  constexpr std::pair<std::string_view, right> rights[] = {
      {"write", right::write},
      {"read", right::read},
      {"describe", right::describe},
      {"idempotent_write", right::idempotent_write},
  };
  if (!from.has("right")) from.refuse("right: missing");
  return from.choice("right", rights);
}

}  // namespace partita::cli
