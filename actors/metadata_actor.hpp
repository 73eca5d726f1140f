// The body of the metadata actor: keeps the view of the cluster, makes the actors of brokers and
// partitions, tells partitions who leads them, and asks for producer ids. All on one control
// connection, apart from the produce connections: a broker serves one request of a connection at a
// time, and an acks=all wait would hold up everything behind it.
//
// Invariants
// 1. At most one metadata request and one producer id request are under way; both back off, but
//    topics that nobody has asked about yet are asked for at once, by themselves (SIZE-16).
// 2. A partition's actor, once made, lives as long as the producer: its numbering outlives whatever
//    happens to its topic (L10 e).
// 3. A route's table is published after its actors exist and have been told their leaders.
//
// Threads: its lane's; want_topic(), refresh_metadata() and want_producer_id() from any thread.
#pragma once

#include "actors/address_course.hpp"
#include "actors/broker_actor.hpp"
#include "actors/cluster_map.hpp"
#include "actors/cluster_services.hpp"
#include "actors/connection.hpp"
#include "actors/id_source.hpp"
#include "actors/log_gate.hpp"
#include "actors/partition_settings.hpp"
#include "actors/producer_shared.hpp"
#include "actors/runtime.hpp"
#include "actors/topic_routes.hpp"
#include "wire/messages/metadata.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace partita::actors {

inline constexpr command_kind metadata_command_kind{90};
inline constexpr command_kind metadata_task_kind{91};

struct bootstrap_address {
  std::string host;
  std::uint16_t port = 0;
};

struct metadata_settings {
  std::vector<bootstrap_address> bootstrap;
  connection_settings connection;
  std::chrono::milliseconds max_age = std::chrono::seconds(300);
  std::chrono::milliseconds topic_wait_max = std::chrono::seconds(60);   ///< max.block.ms
  std::chrono::milliseconds topic_grace = std::chrono::seconds(30);      ///< for one that is denied
  std::chrono::milliseconds topic_idle_max = std::chrono::seconds(300);  ///< metadata.max.idle.ms
  std::chrono::milliseconds retry_backoff{100};
  std::chrono::milliseconds retry_backoff_max{1'000};
  std::chrono::milliseconds reconnect_backoff{50};
  std::chrono::milliseconds reconnect_backoff_max{1'000};
  bool rebootstrap = true;
  std::chrono::milliseconds rebootstrap_trigger = std::chrono::seconds(300);
  bool auto_create_topics = true;
  bool drain_first = false;  ///< partita.partition.growth
  partition_settings partition;
  std::map<std::string, failure_policy> on_failure_of;  ///< by topic, where it differs
  broker_settings broker;

  [[nodiscard]] partition_settings partition_of(const std::string& topic) const {
    partition_settings own = partition;
    if (const auto found = on_failure_of.find(topic); found != on_failure_of.end())
      own.on_failure = found->second;
    return own;
  }
};

class metadata_actor;

struct metadata_command : command {
  topic_route* topic = nullptr;            ///< its partitions are wanted
  partition_actor* asks_for_id = nullptr;  ///< with `fresh`
  bool fresh = false;
  leader_hints hints;
};

struct metadata_task : command {
  metadata_task() { kind = metadata_task_kind; }
  virtual ~metadata_task() = default;
  virtual void run(metadata_actor& at) = 0;
  virtual void refuse() noexcept = 0;
};

class metadata_actor final : public actor_body, public cluster_services, private connection_events {
 public:
  metadata_actor(const metadata_settings& settings, producer_shared& shared, topic_routes& routes,
                 runtime& actors);
  ~metadata_actor() override;

  /// A record waits in this route.
  void want_topic(topic_route& route) noexcept;
  /// Something that waits in a route ends sooner than was known.
  void look_again() noexcept;
  /// A dormant topic is produced to again.
  void wake_topic(topic_route& route) noexcept;
  // cluster_services
  void refresh_metadata() noexcept override;
  void take_hints(leader_hints hints) noexcept override;
  void want_producer_id(partition_actor& asking, bool fresh) noexcept override;

  /// Answers what waits in a route, and refuses what comes. On this actor's lane. `unsent`: gets
  /// copies of the records.
  void close_route(topic_route& route, std::vector<owned_record>* unsent = nullptr) {
    route.close(&answer_in_route, this, unsent);
  }

  // For tasks, inside the turn.
  void answer_cancelled(const topic_route& from, record_node& node) noexcept;
  struct broker_entry {
    broker_actor* actor = nullptr;
    ordered_actor_handle handle;
    std::string host;
    std::uint16_t port = 0;
  };
  [[nodiscard]] const std::map<std::int32_t, broker_entry>& brokers() const noexcept {
    return brokers_;
  }
  [[nodiscard]] std::error_code last_error() const noexcept { return error_; }
  [[nodiscard]] const std::string& last_error_text() const noexcept { return error_text_; }

  // actor_body
  void on_command(command& what) override;
  void on_turn_end() override;
  void on_refused(command& what) noexcept override;
  void on_stopped() noexcept override;

 private:
  struct known_partition {
    partition_actor* actor = nullptr;
    ordered_actor_handle handle;
    broker_id leader;
    leader_epoch epoch;
    std::error_code why;  // it has no leader
    bool told = false;
  };
  struct known_topic {
    topic_id identity;
    std::uint32_t incarnation = 0;            // for topics without ids
    std::vector<known_partition> partitions;  // of all incarnations; none is ever taken away
    std::size_t tabled = 0;                   // how many the published table has
    instant used_at{};
    bool asked = false;     // it was in a request, since it was last forgotten
    bool answered = false;  // an answer said something about it, or left it out
  };

  void on_ready() override;
  void on_answer(const wire::session_answer& answer, std::int16_t version) override;
  void on_sent(std::uint64_t) override {}
  void on_ended(std::uint64_t cookie, bool handed_over, std::error_code reason) override;
  void on_down(std::error_code code, const std::string& text) override;
  void on_slow(std::error_code code, const std::string& text) override;

  void note_trouble(std::error_code code, const std::string& text);
  void pump();
  [[nodiscard]] bool needs_cluster(instant now) const;
  void connect();
  void note_rebootstrap(std::string_view why);
  void note_other_cluster(const std::string& before);
  [[nodiscard]] std::vector<unled_partition> unled_partitions() const;
  [[nodiscard]] bool another_should_be_asked(const cluster_map& before) const;
  void throttle(std::int32_t throttle_ms);
  void ask_when_due(instant now);
  void ask_for_all();
  void ask_for_new_topics();
  void ask_for(const std::vector<topic_route*>& routes);
  void forget_idle_topics(instant now);
  void ask_for_id();
  void take_metadata(const wire::session_answer& answer, std::int16_t version);
  void take_id(const wire::session_answer& answer, std::int16_t version);
  struct id_news {
    producer_id id;
    producer_epoch epoch;
    std::error_code error;
  };
  static void tell_id(partition_actor& waiting, const id_news& news, bool for_now = false);
  void refuse_ids(std::error_code why);
  void apply_map();
  void apply_hints(const leader_hints& hints);
  void tell_addresses();
  void tell_address(broker_entry& entry, const broker_endpoint& endpoint);
  void apply_topic(topic_route& route, bool& unresolved);
  void make_partitions(topic_route& route, known_topic& known, const topic_facts& facts);
  bool tell_leaders(known_topic& known, const topic_facts& facts);
  bool publish_table(topic_route& route, known_topic& known, std::size_t count, bool replaced);
  bool unknown_for_now(topic_route& route, const known_topic& known, const topic_facts* facts);
  [[nodiscard]] broker_entry* broker_for(broker_id id);
  void expire_waiting();
  [[nodiscard]] std::error_code cause_for(const topic_route& route) const;
  void arm(instant at);
  void answer_waiting(record_node& node, const failed& answer,
                      completion_observer& observer) noexcept;
  static void answer_in_route(void* self, record_node& node, const failed& answer);
  static void answer_held(void* self, record_node& node, const failed& answer);
  [[nodiscard]] lane& home() const noexcept { return self()->home(); }

  const metadata_settings settings_;
  producer_shared& shared_;
  topic_routes& routes_;
  runtime& actors_;
  connection connection_;
  address_course course_;
  broker_id asked_;  // who is at the other end, where that is known
  log_gate gate_;

  cluster_snapshot map_;
  std::map<std::int32_t, broker_entry> brokers_;
  std::unordered_map<const topic_route*, known_topic> topics_;
  std::vector<topic_route*> interesting_;  // every route somebody produced to
  std::vector<topic_route*> new_topics_;   // those of them that no request has named yet
  id_source ids_;
  completion_observer observer_;

  bool stopping_ = false;
  bool asking_metadata_ = false;
  bool asked_for_all_ = false;  // by that request
  bool asking_id_ = false;
  std::atomic<bool> refresh_wanted_{false};
  int refresh_attempts_ = 0;  // in a row that left something open
  int id_attempts_ = 0;
  int failed_connects_ = 0;
  instant refreshed_at_{};
  instant refresh_not_before_{};
  instant throttled_until_{};
  instant id_not_before_{};
  instant connect_not_before_{};
  timer_node timer_;
  command wake_command_;
  bool wake_queued_ = false;

  std::error_code error_;
  std::string error_text_;
};

}  // namespace partita::actors
