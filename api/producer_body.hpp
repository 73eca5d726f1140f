// What is behind a producer: it starts the actors, walks a record from the call to its partition,
// and spreads control calls over the partitions they concern.
//
// Invariants
// 1. A record is paid for in the budget before it is queued anywhere, and answered once.
// 2. Who waits for room is served first come first served; nobody overtakes while somebody waits.
// 3. After shut() nothing is accepted.
//
// Threads: any.
#pragma once

#include "actors/control_command.hpp"
#include "actors/metadata_actor.hpp"
#include "actors/producer_shared.hpp"
#include "actors/runtime.hpp"
#include "actors/topic_routes.hpp"
#include "api/callback_reporter.hpp"
#include "api/fork_guard.hpp"
#include "api/placement.hpp"
#include "api/producer_environment.hpp"
#include "api/record_check.hpp"

#include <partita/config.hpp>
#include <partita/operation.hpp>
#include <partita/produce_options.hpp>
#include <partita/producer.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace partita::detail {

class admission_line;
class share_line;
class closing;
class refusal_line;
class record_set;

class producer_body {
 public:
  producer_body(const producer_config& config, environment_choice& environment);
  ~producer_body();
  producer_body(const producer_body&) = delete;
  producer_body& operator=(const producer_body&) = delete;

  /// Takes the record now or says why not; on `full` and `closed` the slot was not answered.
  admission try_submit(const record& what, actors::completion_slot slot);
  /// Takes it now or answers it at once.
  void submit(const record& what, actors::completion_slot slot);
  /// Takes it now or when there is room, or answers it. A record that waits is copied.
  void submit_waiting(const record& what, actors::completion_slot slot);
  operation<std::vector<outcome>> submit_batch(std::span<const record> records,
                                               const produce_options& options);
  /// Tells each answer as it is known.
  void submit_batch(std::span<const record> records, const produce_options& options,
                    std::unique_ptr<indexed_callback> told);
  /// Puts a tracked record before the receiver, if the options ask for anything.
  [[nodiscard]] static actors::completion_slot track(const produce_options& options,
                                                     actors::completion_slot receiver);

  operation<tally> flush_all();
  operation<tally> flush_topic(std::string_view topic);
  operation<tally> flush_partition(std::string_view topic, partition_id partition);
  operation<close_report> close(std::chrono::milliseconds deadline);
  operation<producer_status> status();
  event_stream events(std::size_t capacity);
  operation<settlement> settle(ticket which);

  /// Sends a control request to a partition. False: there is no such partition.
  bool control(std::string_view topic, partition_id partition,
               std::unique_ptr<actors::control_command> command);
  /// The partition's actor, null if its topic is not known (yet).
  [[nodiscard]] const actors::partition_table::entry* find_partition(std::string_view topic,
                                                                     partition_id partition);

  [[nodiscard]] actors::runtime& runtime() noexcept { return *runtime_; }
  /// Whom exceptions from callbacks of operations are told to.
  [[nodiscard]] callback_reporter& reporter() const noexcept { return reporter_.get(); }
  [[nodiscard]] tally answered() const noexcept { return shared_.answered.read(); }
  /// Records that waited for room are still on their way to their partitions.
  [[nodiscard]] bool letting_in() const noexcept;
  [[nodiscard]] std::vector<owned_record> take_closed_waiters();
  [[nodiscard]] timestamp wall_now() const noexcept { return clock_->wall_now(); }
  [[nodiscard]] bool shut() const noexcept { return shut_.load(std::memory_order_acquire); }
  void shut_gate() noexcept;
  /// This process is a forked child of the one that made the producer.
  [[nodiscard]] bool is_in_child() const noexcept { return fork_guard_.is_in_child(); }
  [[nodiscard]] actors::instant now() const noexcept { return clock_->now(); }
  [[nodiscard]] std::vector<actors::partition_table::entry> all_partitions() const;
  /// Answers the records that wait for their topic's partitions: closed. They are appended to
  /// `unsent`, topic by topic, in order.
  void fail_waiting_records(std::vector<owned_record>& unsent);

  /// Paid for: encodes and queues it. `waited`: not at once.
  void admit(const record& what, std::uint32_t tail_size, actors::completion_slot slot,
             bool waited = false, const placement& at = {}) noexcept;
  /// What a record takes of the budget; nothing if it can not be produced anyway.
  [[nodiscard]] std::uint64_t cost_if_sound(const record& what,
                                            const produce_options& options) const noexcept;
  /// The same record, after that much was taken.
  void admit_or_refuse(const record& what, actors::completion_slot slot, bool waited = false,
                       const placement& at = {}) noexcept;
  /// A record that waited is in its partition or has failed.
  static void arrived(const placement& at);
  void give_back_room(std::uint64_t bytes) noexcept { shared_.room.give_back(bytes); }
  /// No route or partition has it, and none will.
  void answer_at_once(const record& what, actors::completion_slot slot, client_errc code,
                      std::error_code cause = {}, std::string_view detail = {});
  /// A record that waited for room when the producer was closed. `close()` hands it back.
  void refuse_closed(const record& what, actors::completion_slot slot, owned_record copy);
  /// It fails before it is buffered, and takes its turn in its partition, so that the failure
  /// policy acts in order.
  void refuse_in_turn(const record& what, actors::completion_slot slot, client_errc code,
                      const placement& at = {});

 private:
  void submit_set(std::span<const record> records, const produce_options& options, record_set& set);
  [[nodiscard]] std::error_code why_shut() const noexcept;
  [[nodiscard]] std::string detail_of(const record& what, client_errc code) const;
  [[nodiscard]] actors::topic_route* route_seen(std::string_view topic) const noexcept;
  actors::topic_route& route_of(std::string_view topic);
  /// Chooses the partition of a record; the code says why it has none.
  [[nodiscard]] static client_errc choose(const record& what, std::size_t tail_size,
                                          actors::topic_route& route,
                                          const actors::partition_table& table,
                                          placement& at) noexcept;
  /// The same before it has room, where partitions have shares. Unknown while its topic is.
  [[nodiscard]] client_errc place(const record& what, std::size_t tail_size, placement& at);
  [[nodiscard]] bool open(const placement& at) const;
  /// Of a record that is going to wait. False: its topic has grown, and it has to be placed anew.
  [[nodiscard]] bool will_arrive(placement& at) const;
  /// Places the records of a call; what it has to wait for first, if somebody waits before it.
  [[nodiscard]] std::vector<const actors::partition_actor*> lines_before(
      std::span<const record> records, std::vector<placement>& places);
  /// What is wrong with it, before there is a question of room. `route`: its topic's, if known.
  [[nodiscard]] client_errc judge(const record& what, const record_size& size,
                                  const std::optional<std::chrono::milliseconds>& delivery_timeout,
                                  const actors::topic_route* route) const noexcept;
  void refuse(const record& what, actors::completion_slot slot, client_errc code);
  actors::record_node* refused_node(const record& what, bool needs_key) noexcept;
  void deliver(actors::record_node& node, const record& what, actors::topic_route& route,
               const placement& at) noexcept;
  [[nodiscard]] std::int64_t now_ns() const noexcept;
  [[nodiscard]] std::int64_t wall_ms_at(std::int64_t steady_ns) const noexcept;
  [[nodiscard]] std::function<void()> when_full();
  static std::unique_ptr<actors::record_router> make_router(void* self, std::string_view topic);
  static void answer_withdrawn(void* self, actors::topic_route& from, actors::record_node& node);
  [[nodiscard]] client_errc queue(actors::record_node& node, const record& what,
                                  actors::topic_route& route, placement at) noexcept;
  producer_config config_;
  std::shared_ptr<void> keeps_alive_;
  const actors::clock_source* clock_;
  actors::producer_shared shared_;
  reporter_owner reporter_;
  std::unique_ptr<refusal_line> refusals_;
  std::unique_ptr<actors::topic_routes> routes_;
  std::unique_ptr<actors::runtime> runtime_;
  actors::metadata_actor* metadata_ = nullptr;
  actors::ordered_actor_handle metadata_handle_;
  std::unique_ptr<admission_line> line_;
  std::unique_ptr<share_line> shares_;  // null: partitions have no share of their own
  std::mutex closings_mutex_;
  std::vector<std::unique_ptr<closing>> closings_;
  std::vector<owned_record> closed_waiters_;  // under the same mutex
  std::atomic<bool> shut_{false};
  fork_guard fork_guard_{shut_};
  std::uint64_t instance_;  // tells producers apart in thread-local caches
  std::uint64_t seed_;
};

}  // namespace partita::detail
