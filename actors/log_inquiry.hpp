// Drives one search of a log: turns its steps into requests over the leader's control channel, and
// the answers into the next step.
//
// Invariants
// 1. The findings are given once, by the callback; not after withdraw().
// 2. An answer that is not for what was asked is not believed, and ends the connection.
//
// Threads: the lane of the leader's channel.
#pragma once

#include "actors/control_channel.hpp"
#include "actors/log_search.hpp"

#include <functional>
#include <string>

namespace partita::actors {

/// Where the log lies.
struct log_place {
  std::string topic;
  topic_id identity;  ///< all zero: not known
  partition_id partition;
};

class log_inquiry final : private control_client {
 public:
  using channel_call = std::function<void(control_client&)>;

  /// `submit` puts a client into the leader's channel; `tell` must not destroy the inquiry.
  log_inquiry(log_place place, log_question question, lane& home, channel_call submit,
              std::function<void(log_findings)> tell);
  ~log_inquiry();
  log_inquiry(const log_inquiry&) = delete;
  log_inquiry& operator=(const log_inquiry&) = delete;

  void start() { perform(search_.begin()); }
  /// Before the inquiry ends early: takes it out of the channel.
  template <class Channel>
  void withdraw(Channel& from) {
    home_.cancel(wait_timer_);
    from.withdraw(*this);
  }

 private:
  bool ask(connection& at, std::uint64_t cookie) override;
  void answered(const wire::session_answer& answer, std::int16_t version,
                connection& from) override;
  void unanswered(std::error_code why) override;

  void perform(search_step step);
  void finish(log_findings findings);
  [[nodiscard]] bool ask_for_offset(connection& at, std::uint64_t cookie,
                                    const ask_offset& wanted) const;
  [[nodiscard]] bool ask_for_records(connection& at, std::uint64_t cookie,
                                     const ask_records& wanted) const;
  void take_offset(const wire::session_answer& answer, std::int16_t version, connection& from);
  void take_records(const wire::session_answer& answer, std::int16_t version, connection& from);
  void distrust(connection& from, const std::string& what);

  const log_place place_;
  log_search search_;
  lane& home_;
  const channel_call submit_;
  const std::function<void(log_findings)> tell_;
  search_step step_;
  int waits_ = 0;
  timer_node wait_timer_;
};

}  // namespace partita::actors
