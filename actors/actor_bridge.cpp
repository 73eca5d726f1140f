#include "actors/actor_bridge.hpp"

#include "actors/ordered_actor.hpp"

#include <partita/caf.hpp>
#include <partita/error.hpp>

#include <caf/actor_cast.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>

#include <atomic>
#include <utility>

namespace partita {

std::error_code to_error_code(const caf::error& error) {
  if (error.category() == caf_client_category)
    return {static_cast<int>(error.code()), client_category()};
  if (error.category() == caf_broker_category) {
    // Kafka's only negative code travels as 255.
    const int code = error.code() == 255 ? -1 : static_cast<int>(error.code());
    return {code, broker_category()};
  }
  return {};
}

namespace actors {

namespace {

// Without an execution unit: the receiver is scheduled by its own system.
void send_to(const caf::strong_actor_ptr& receiver, const caf::strong_actor_ptr& sender,
             caf::message_id id, caf::message content) {
  receiver->enqueue(caf::make_mailbox_element(sender, id, {}, std::move(content)), nullptr);
}

struct to_message {
  bool as_response;

  caf::message operator()(std::error_code code) const {
    return as_response ? caf::make_message(to_caf_error(code))
                       : caf::make_message(control_failure{code});
  }
  template <class Value>
  caf::message operator()(Value& value) const {
    return caf::make_message(std::move(value));
  }
};

/// Sends the answer to whoever asked, as a response if he made a request.
class message_reply final : public control_reply {
 public:
  message_reply(caf::strong_actor_ptr self, const caf::mailbox_element& asked)
      : self_(std::move(self)), asker_(asked.sender), id_(asked.mid) {}
  message_reply(const message_reply&) = delete;
  message_reply& operator=(const message_reply&) = delete;
  ~message_reply() override { complete(make_error_code(client_errc::closed)); }

  void complete(control_answer answer) noexcept override {
    const caf::strong_actor_ptr asker = std::exchange(asker_, nullptr);
    if (asker == nullptr) return;
    const bool as_response = id_.is_request();
    send_to(asker, self_, as_response ? id_.response_id() : caf::make_message_id(),
            std::visit(to_message{as_response}, answer));
  }

 private:
  caf::strong_actor_ptr self_;
  caf::strong_actor_ptr asker_;
  const caf::message_id id_;
};

class actor_target final : public completion_target {
 public:
  explicit actor_target(caf::strong_actor_ptr receiver) : receiver_(std::move(receiver)) {}

  void complete(const completion_run& run) noexcept override {
    if (receiver_ == nullptr) return;
    delivery_report report;
    report.outcomes.reserve(run.size());
    for (std::size_t i = 0; i < run.size(); ++i)
      report.outcomes.push_back({run.data(i), run.at(i)});
    const outcome& first = report.outcomes.front().answer;
    if (const failed* failure = first.failure()) {
      report.topic = failure->topic;
      report.partition = failure->partition;
    } else {
      report.partition = first.delivery()->partition;
    }
    send_to(receiver_, nullptr, caf::make_message_id(), caf::make_message(std::move(report)));
  }

 private:
  const caf::strong_actor_ptr receiver_;
};

/// Keeps no subscriber alive, and ends with it.
class actor_event_sink final : public partition_event_sink {
 public:
  explicit actor_event_sink(const caf::strong_actor_ptr& receiver) : receiver_(receiver.get()) {}

  /// From now on the end of the subscriber ends it too. Once.
  void watch() {
    const caf::strong_actor_ptr receiver = receiver_.lock();
    if (receiver != nullptr)
      receiver->get()->attach_functor(
          [gone = gone_] { gone->store(true, std::memory_order_relaxed); });
  }
  void on_event(const partition_event& what) noexcept override {
    if (const caf::strong_actor_ptr receiver = receiver_.lock())
      send_to(receiver, nullptr, caf::make_message_id(), caf::make_message(what));
  }
  [[nodiscard]] bool ended() const noexcept override {
    return gone_->load(std::memory_order_relaxed) || receiver_.lock() == nullptr;
  }
  [[nodiscard]] bool same_receiver(const partition_event_sink& other) const noexcept override {
    const auto* sink = dynamic_cast<const actor_event_sink*>(&other);
    return sink != nullptr && sink->receiver_.get() == receiver_.get();
  }

 private:
  const caf::weak_actor_ptr receiver_;
  const std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
};

template <class Request>
bool read_as(caf::mailbox_element& message, control_request& out) {
  caf::message_view& view = message;
  if (!view.content().match_elements<Request>()) return false;
  out = view.move_content_to_message().move_if_unshared<Request>(0);
  return true;
}

bool read(caf::mailbox_element& message, control_request& out) {
  return read_as<produce_request>(message, out) || read_as<pause_request>(message, out) ||
         read_as<resume_request>(message, out) || read_as<halt_request>(message, out) ||
         read_as<recover_request>(message, out) || read_as<flush_request>(message, out) ||
         read_as<status_request>(message, out) || read_as<subscribe_request>(message, out) ||
         read_as<unsubscribe_request>(message, out) || read_as<settle_request>(message, out);
}

}  // namespace

caf::error to_caf_error(std::error_code code) {
  if (!code) return {};
  const auto category =
      code.category() == broker_category() ? caf_broker_category : caf_client_category;
  return {static_cast<std::uint8_t>(code.value()), category, caf::make_message(code.message())};
}

std::unique_ptr<control_command> translate(const caf::strong_actor_ptr& self,
                                           caf::mailbox_element& message) {
  control_request request;
  if (!read(message, request)) return nullptr;
  auto meant = std::make_unique<control_command>(std::move(request),
                                                 std::make_unique<message_reply>(self, message));
  if (std::holds_alternative<produce_request>(meant->request))
    meant->reports = make_actor_target(message.sender);
  const bool subscribes = std::holds_alternative<subscribe_request>(meant->request);
  if ((subscribes || std::holds_alternative<unsubscribe_request>(meant->request)) &&
      message.sender != nullptr) {
    auto sink = std::make_shared<actor_event_sink>(message.sender);
    if (subscribes) sink->watch();
    meant->events = std::move(sink);
  }
  return meant;
}

bool refuse(const caf::strong_actor_ptr& self, caf::mailbox_element& message, std::error_code why) {
  auto meant = translate(self, message);
  if (meant == nullptr) return false;
  refuse_control(std::move(meant), why);
  return true;
}

void answer_with_error(const caf::strong_actor_ptr& self, const caf::mailbox_element& message,
                       const caf::error& why) {
  if (message.sender != nullptr && message.mid.is_request())
    send_to(message.sender, self, message.mid.response_id(), caf::make_message(why));
}

std::shared_ptr<completion_target> make_actor_target(caf::strong_actor_ptr receiver) {
  return std::make_shared<actor_target>(std::move(receiver));
}

std::shared_ptr<completion_target> make_actor_target(const caf::actor& receiver) {
  return make_actor_target(caf::actor_cast<caf::strong_actor_ptr>(receiver));
}

caf::actor actor_handle(ordered_actor_handle of) {
  PARTITA_EXPECTS(static_cast<bool>(of));
  auto* shell = dynamic_cast<caf::abstract_actor*>(&of.cell()->shell());
  return shell == nullptr ? caf::actor{} : caf::actor_cast<caf::actor>(shell);
}

}  // namespace actors
}  // namespace partita
