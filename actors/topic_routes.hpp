// From a topic's name to its partitions' actors, for the threads that produce.
//
// A topic that is not known yet holds its records, in order, until metadata names its partitions;
// then they are forwarded, and only after that the table is published: an early record can not be
// overtaken by one that found the table.
//
// Invariants
// 1. A published table never changes and lives as long as its route; a topic that grows gets a new
// one.
// 2. Records wait at most until their admission plus max.block.ms; they hold their room in the
// budget.
// 3. Routes live as long as the producer.
//
// Threads: find() and send() from any thread; publish(), expire() and fail_waiting() from the
// metadata actor's lane; close() from any.
#pragma once

#include "actors/actor_cell.hpp"
#include "actors/completion.hpp"
#include "actors/fitting_size.hpp"
#include "actors/record_node.hpp"
#include "actors/instant.hpp"
#include "actors/timer_wheel.hpp"

#include <partita/error.hpp>
#include <partita/ids.hpp>
#include <partita/outcome.hpp>
#include <partita/record.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace partita::actors {

class growth_drain;
class partition_actor;
class topic_route;
class tracked_record;

/// The partitions of a topic, by index.
struct partition_table {
  struct entry {
    partition_actor* actor = nullptr;
    ordered_actor_handle handle;
  };
  [[nodiscard]] const entry* find(partition_id partition) const noexcept {
    const auto index = static_cast<std::size_t>(partition.value);
    if (partition.value < 0 || index >= partitions.size() + former.size()) return nullptr;
    return index < partitions.size() ? &partitions[index] : &former[index - partitions.size()];
  }

  std::vector<entry> partitions;
  /// Keys that moved when the topic grew to this table wait here for their old partitions; null:
  /// they do not.
  growth_drain* drain = nullptr;
  /// The next indexes, which the topic had before it was made anew with fewer partitions: nothing
  /// is placed there, but what they hold is still to be answered or recovered.
  std::vector<entry> former;
};

/// Chooses partitions for one topic's records. Implemented by the api layer.
class record_router {
 public:
  struct choice {
    partition_id partition;
    client_errc error{};
  };
  virtual ~record_router() = default;
  [[nodiscard]] virtual choice choose(const record& what, std::size_t size,
                                      const partition_table& table) noexcept = 0;
  /// Where the record's key belongs among that many partitions; absent where no key decides.
  [[nodiscard]] virtual std::optional<partition_id> of_key(const record& /*what*/,
                                                           std::int32_t /*count*/) const noexcept {
    return std::nullopt;
  }
  /// Neither its key nor its name nor the application decides where it goes.
  [[nodiscard]] virtual bool goes_anywhere(const record& /*what*/) const noexcept { return false; }
  /// What this thread has seen of the partitions is out of date.
  virtual void look_again() noexcept {}
};

/// Waits in a route's line behind the records that came before it.
struct route_barrier : command {
  virtual ~route_barrier() = default;
  /// Everything before it is on its way to these partitions; null: nothing is, the topic has none.
  virtual void reached(const partition_table* table) noexcept = 0;
  tally failed_before;                ///< of the records before it that ended in the route
  std::uint64_t failed_at_entry = 0;  ///< the route's count then
};

enum class route_answer : std::uint8_t { waiting, published, closed };

class topic_route {
 public:
  /// Answers a record that was taken out of a line, on a lane.
  using withdrawn_function = void (*)(void* context, topic_route& from, record_node& node);

  topic_route(std::string name, std::unique_ptr<record_router> router,
              withdrawn_function on_withdrawn = nullptr, void* context = nullptr);
  ~topic_route();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Null while the partitions are not known.
  [[nodiscard]] const partition_table* table() const noexcept {
    return table_.load(std::memory_order_acquire);
  }
  [[nodiscard]] record_router& router() noexcept { return *router_; }
  /// The metadata actor was told that somebody waits here; it takes the mark away when nobody does.
  std::atomic<bool> wanted{false};
  const std::shared_ptr<fitting_size> fitting = std::make_shared<fitting_size>();
  /// Produced to since the metadata actor last looked. Read before it is written, so that threads
  /// do not pass the cache line around.
  std::atomic<bool> used{false};
  /// Not asked about any more (metadata.max.idle.ms): who produces again must say so.
  std::atomic<bool> dormant{false};

  /// Waits in line. `published`: the table is there now, send it directly; the node is still the
  /// caller's.
  [[nodiscard]] route_answer wait(record_node& node);
  /// Takes a cancelled record out of the line and hands it to the routes' owner to be answered.
  /// False: it is not in the line.
  bool withdraw(tracked_record& who);
  /// False if nothing waits: everything before it is on its way or answered.
  [[nodiscard]] bool wait(route_barrier& barrier);

  using answer_function = void (*)(void* context, record_node& node, const failed& answer);
  /// Forwards what waits, then lets everybody see the table.
  void publish(std::unique_ptr<const partition_table> table, answer_function answer, void* context);
  /// The same for a table of more partitions, whose moved keys wait for their old ones.
  /// `answer_held` is called from any lane.
  void publish_drained(std::unique_ptr<partition_table> table, answer_function answer,
                       answer_function answer_held, void* context);
  /// What waits for a growth and is past its deadline goes to its partition, which fails it.
  void forward_expired(instant now, duration delivery_timeout);
  /// A growth is not over.
  [[nodiscard]] bool draining() const;
  /// Calls `pause`, which queues the partition's pause and no more, and aborts what waits for a
  /// growth on its way there, too.
  void abort_partition(partition_id partition, const std::function<void()>& pause);
  /// Of a record that `table` placed in its partition. True: it waits, its key has moved.
  [[nodiscard]] bool hold_moved(record_node& node, const record& what,
                                const partition_table& table);
  /// After it was pushed to `partition` of `table`, which may have been replaced meanwhile.
  void note_placed(const partition_table& table, partition_id partition);
  /// A record that waits outside will be placed in `partition` of `table`: a growth is not over
  /// before it has arrived. Absent: the topic has grown meanwhile, choose by the new count.
  [[nodiscard]] std::optional<std::size_t> expect(const partition_table& table,
                                                  partition_id partition);
  /// It was pushed there, or failed. `since` is what expect() said.
  void arrived(partition_id partition, std::size_t since);
  [[nodiscard]] bool has_waiting() const;

  /// Answers what has waited too long; returns when to come back, `never` when nothing waits.
  instant expire(instant now, duration waiting_max, std::error_code cause, answer_function answer,
                 void* context);
  /// Answers all that waits.
  void fail_waiting(std::error_code code, std::error_code cause, answer_function answer,
                    void* context);
  /// The same for good. Copies of the records are appended to `unsent`, if it is wanted.
  void close(answer_function answer, void* context, std::vector<owned_record>* unsent = nullptr);

 private:
  [[nodiscard]] std::error_code forward(record_node& node, const partition_table& table);
  /// Of a topic that was made anew while it grew, several.
  [[nodiscard]] std::vector<growth_drain*> drains_under_way() const;
  [[nodiscard]] owned_record copy_of(const record_node& node) const;
  [[nodiscard]] failed failure_of(std::error_code code, std::error_code cause,
                                  limit ended_by) const;
  /// Takes records off the front while `ends` says so, and barriers that then have nothing before
  /// them.
  template <class Ends>
  void take_front(std::vector<command*>& taken, Ends&& ends);
  void answer_taken(const std::vector<command*>& taken, const failed& with, answer_function answer,
                    void* context);

  /// Records with limits of their own end anywhere in the line.
  instant expire_own(instant now, duration waiting_max, std::error_code cause,
                     answer_function answer, void* context);
  record_node* take_from_middle(std::size_t index);

  const std::string name_;
  const std::unique_ptr<record_router> router_;
  const withdrawn_function on_withdrawn_;
  void* const context_;
  std::atomic<const partition_table*> table_{nullptr};
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<const partition_table>> tables_;  // the current one is the last
  std::vector<std::unique_ptr<growth_drain>> drains_;           // the last one may be under way
  std::unordered_map<std::int32_t, std::size_t> expected_;      // records, by partition
  std::size_t drains_that_expect_ = 0;  // of all drains: those that count the expected records
  std::deque<command*> waiting_;        // records and barriers, in order
  std::uint64_t failed_ = 0;            // records that ended here, ever
  bool closed_ = false;
  bool own_limits_ = false;  // some record in the line has limits of its own
};

class topic_routes {
 public:
  using make_router = std::unique_ptr<record_router> (*)(void* context, std::string_view topic);

  topic_routes(make_router make, void* context,
               topic_route::withdrawn_function on_withdrawn = nullptr)
      : make_router_(make), on_withdrawn_(on_withdrawn), context_(context) {}

  /// The route of a topic; made when it is new (then `is_new` is set).
  [[nodiscard]] topic_route& find(std::string_view topic, bool& is_new);
  /// Null if nobody has asked for it yet.
  [[nodiscard]] topic_route* find_existing(std::string_view topic) const;
  [[nodiscard]] std::vector<topic_route*> all() const;

 private:
  make_router make_router_;
  topic_route::withdrawn_function on_withdrawn_;
  void* context_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<topic_route>> routes_;
};

/// A record with this key failed without getting a partition: where the policy halts keys or
/// partitions, the key is halted in each of them from here on. Nothing without a key.
void tell_key_failure(const partition_table& table, const std::optional<std::string_view>& key,
                      std::error_code code);

/// Reads a node's key, value and headers back from its encoded tail. The views point into the node.
void view_of(const record_node& node, record& out, std::vector<header>& headers);

}  // namespace partita::actors
