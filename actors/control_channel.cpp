#include "actors/control_channel.hpp"

#include <partita/contract.hpp>

#include <algorithm>
#include <utility>

namespace partita::actors {

control_channel::control_channel(const connection_settings& settings,
                                 std::chrono::milliseconds idle_max)
    : connection_(settings, *this),
      idle_max_(idle_max),
      idle_timer_(
          [](timer_node& node) noexcept {
            static_cast<control_channel*>(node.owner)->idle_timer_fired();
          },
          this) {}

void control_channel::submit(control_client& asking, lane& home, const std::string& host,
                             std::uint16_t port) {
  home_ = &home;
  waiting_.push_back(&asking);
  if (connection_.is_down())
    connection_.open(home, host, port);
  else
    send_waiting();
}

void control_channel::withdraw(control_client& gone) {
  std::erase(waiting_, &gone);
  for (sent_request& each : sent_)
    if (each.client == &gone) each.client = nullptr;  // its answer still takes its place
}

void control_channel::stop(std::error_code why) {
  if (home_ != nullptr) home_->cancel(idle_timer_);
  connection_.close(why);
  tell_waiting(why);
}

void control_channel::on_ready() { send_waiting(); }

void control_channel::send_waiting() {
  while (connection_.ready() && !waiting_.empty() && sent_.size() < in_flight_max) {
    control_client* client = waiting_.front();
    waiting_.pop_front();
    const std::uint64_t cookie = next_cookie_++;
    sent_.push_back({cookie, client});
    last_used_ = home_->now();
    if (client->ask(connection_, cookie)) continue;
    // Its end may have been told while it was being sent.
    const auto unsent = std::find_if(sent_.begin(), sent_.end(), [&](const sent_request& each) {
      return each.cookie == cookie;
    });
    if (unsent == sent_.end()) continue;
    sent_.erase(unsent);
    client->unanswered(client_errc::unsupported_version);
  }
  arm_idle();
}

void control_channel::on_answer(const wire::session_answer& answer, std::int16_t version) {
  PARTITA_ASSERT(!sent_.empty() && sent_.front().cookie == answer.cookie);
  control_client* client = sent_.front().client;
  sent_.pop_front();
  if (client != nullptr) client->answered(answer, version, connection_);
  send_waiting();
}

void control_channel::on_ended(std::uint64_t cookie, bool, std::error_code reason) {
  const auto found = std::find_if(sent_.begin(), sent_.end(),
                                  [&](const sent_request& each) { return each.cookie == cookie; });
  PARTITA_ASSERT(found != sent_.end());
  control_client* client = found->client;
  sent_.erase(found);
  if (client != nullptr) client->unanswered(reason);
}

void control_channel::on_down(std::error_code code, const std::string&) {
  home_->cancel(idle_timer_);
  tell_waiting(code);
}

void control_channel::tell_waiting(std::error_code why) {
  for (control_client* each : std::exchange(waiting_, {})) each->unanswered(why);
}

void control_channel::arm_idle() {
  if (idle_max_.count() > 0 && connection_.ready() && !idle_timer_.armed())
    home_->arm(idle_timer_, last_used_ + idle_max_);
}

void control_channel::idle_timer_fired() {
  if (!connection_.ready()) return;
  if (sent_.empty() && waiting_.empty() && home_->now() - last_used_ >= idle_max_)
    return connection_.close(client_errc::connection_closed);
  home_->arm(idle_timer_, std::max(last_used_ + idle_max_, home_->now()));
}

}  // namespace partita::actors
