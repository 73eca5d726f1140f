#include "actors/actor_bridge.hpp"

#include "actors/runtime.hpp"
#include "tests/actors/message_receiver.hpp"

#include <partita/caf.hpp>

#include <caf/exit_reason.hpp>
#include <caf/actor_cast.hpp>
#include <caf/sec.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace partita::actors {
namespace {

/// Answers each request with something that can be told apart.
class answering_body final : public actor_body {
 public:
  void on_command(command& what) override {
    std::unique_ptr<control_command> asked(static_cast<control_command*>(&what));
    std::visit([&](auto& request) { answer(*asked, request); }, asked->request);
  }
  void on_refused(command& what) noexcept override {
    refuse_control(std::unique_ptr<control_command>(static_cast<control_command*>(&what)),
                   client_errc::closed);
  }

 private:
  void answer(control_command& asked, const pause_request& request) {
    if (request.abort_buffered)
      asked.answer(make_error_code(broker_errc::unknown_server_error));
    else
      asked.answer(control_done{});
  }
  void answer(control_command& asked, const resume_request&) {
    asked.answer(make_error_code(client_errc::halted));
  }
  /// An error unless somebody still listens.
  void answer(control_command& asked, const halt_request&) {
    if (subscribed_ == nullptr || subscribed_->ended())
      asked.answer(make_error_code(client_errc::closed));
    else
      asked.answer(control_done{});
  }
  void answer(control_command& asked, const unsubscribe_request&) {
    if (subscribed_ != nullptr && subscribed_->same_receiver(*asked.events)) subscribed_.reset();
    asked.answer(control_done{});
  }
  void answer(control_command& asked, const recover_request& request) {
    recovery_report result;
    result.discarded = request.how == recovery::discard ? 9 : 0;
    asked.answer(std::move(result));
  }
  void answer(control_command& asked, const flush_request&) {
    asked.answer(tally{.delivered = 3, .not_written = 2, .unknown = 1});
  }
  void answer(control_command& asked, const status_request&) {
    asked.answer(partition_status{.topic = "orders", .partition = 7});
  }
  void answer(control_command& asked, const settle_request& request) {
    asked.answer(settlement(undecidable{request.which.value == 7 ? client_errc::ticket_foreign
                                                                 : client_errc::ticket_unknown}));
  }
  void answer(control_command& asked, const subscribe_request&) {
    asked.answer(control_done{});
    subscribed_ = asked.events;
    asked.events->on_event({.change = partition_change::halted, .topic = "orders"});
  }
  void answer(control_command& asked, const produce_request& request) {
    std::vector<completion_entry> entries;
    for (std::uint32_t i = 0; i < request.records.size(); ++i)
      entries.push_back(
          {.target = asked.reports.get(), .data = request.first_tag + i, .position = i});
    completion_observer observer;
    complete_all(entries, delivered_run{.partition = 7, .base_offset = 100}, observer);
    asked.answer(control_done{});
  }

  std::shared_ptr<partition_event_sink> subscribed_;
};

class ActorBridge : public testing::Test {
 protected:
  ~ActorBridge() override {
    EXPECT_FALSE(outside.receiver().handed_a_unit()) << "foreign actors run at home";
    handle = nullptr;
  }

  /// The content of the next message to the outside.
  template <class Content>
  Content next() {
    const auto message = outside.receiver().take();
    if (!message->content().match_elements<Content>()) throw std::logic_error("another type");
    return message->content().get_as<Content>(0);
  }
  /// The answer to a request, checked to be a response to it.
  template <class Answer, class Request>
  Answer ask(const caf::actor& whom, Request request) {
    outside.send(whom, std::move(request), ++requests);
    const auto message = outside.receiver().take();
    EXPECT_EQ(message->mid, caf::make_message_id(requests).response_id());
    if (!message->content().match_elements<Answer>()) throw std::logic_error("another type");
    return message->content().get_as<Answer>(0);
  }
  template <class Request>
  std::error_code refused(const caf::actor& whom, Request request) {
    return to_error_code(ask<caf::error>(whom, std::move(request)));
  }

  foreign_system outside;
  runtime running{{}};
  ordered_actor_handle actor =
      running.spawn(std::make_unique<answering_body>(), running.lane_at(0));
  caf::actor handle = actor_handle(actor);
  std::uint64_t requests = 0;
};

TEST_F(ActorBridge, AnswersRequestsWithTheirTypes) {
  ask<control_done>(handle, pause_request{});
  EXPECT_EQ(ask<tally>(handle, flush_request{}),
            (tally{.delivered = 3, .not_written = 2, .unknown = 1}));
  EXPECT_EQ(ask<partition_status>(handle, status_request{}).partition, partition_id{7});
  EXPECT_EQ(ask<recovery_report>(handle, recover_request{.how = recovery::discard}).discarded, 9U);
  EXPECT_EQ(ask<settlement>(handle, settle_request{{7}}).undecided()->reason,
            client_errc::ticket_foreign);
}

TEST_F(ActorBridge, AnswersWithOurErrorCodes) {
  EXPECT_EQ(refused(handle, resume_request{}), client_errc::halted);
  EXPECT_EQ(refused(handle, pause_request{.abort_buffered = true}),
            broker_errc::unknown_server_error);
}

TEST(ActorBridgeErrors, EveryCodeSurvivesTheWayThroughCaf) {
  for (int code = 1; code <= 60; ++code) {
    const std::error_code ours{code, client_category()};
    EXPECT_EQ(to_error_code(to_caf_error(ours)), ours);
  }
  for (int code = -1; code <= 133; ++code) {
    if (code == 0) continue;
    const std::error_code kafka{code, broker_category()};
    EXPECT_EQ(to_error_code(to_caf_error(kafka)), kafka);
  }
  EXPECT_FALSE(to_error_code(caf::make_error(caf::sec::unexpected_message)));
}

TEST_F(ActorBridge, APlainMessageIsAnsweredByAPlainMessage) {
  outside.send(handle, resume_request{});

  const auto message = outside.receiver().take();
  EXPECT_FALSE(message->mid.is_response());
  ASSERT_TRUE(message->content().match_elements<control_failure>());
  EXPECT_EQ(message->content().get_as<control_failure>(0).code, client_errc::halted);
}

TEST_F(ActorBridge, ReportsComeAsOneMessageForARun) {
  outside.send(handle, produce_request{.records = std::vector<owned_record>(5), .first_tag = 40});

  const auto report = next<delivery_report>();
  ASSERT_EQ(report.outcomes.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(report.outcomes[i].tag, 40 + i);
    ASSERT_TRUE(report.outcomes[i].answer.is_delivered());
    EXPECT_EQ(report.outcomes[i].answer.delivery()->offset,
              offset{100 + static_cast<std::int64_t>(i)});
  }
  EXPECT_EQ(report.partition, partition_id{7});
  next<control_done>();
}

TEST_F(ActorBridge, EventsComeAsMessages) {
  outside.send(handle, subscribe_request{});

  next<control_done>();
  EXPECT_EQ(next<partition_event>().change, partition_change::halted);
}

TEST_F(ActorBridge, ASubscriptionEndsWhenItsOwnerAsks) {
  foreign_system other;
  outside.send(handle, subscribe_request{});
  next<control_done>();
  next<partition_event>();

  other.send(handle, unsubscribe_request{});
  other.receiver().take();
  ask<control_done>(handle, halt_request{});  // somebody else's request changes nothing
  ask<control_done>(handle, unsubscribe_request{});

  EXPECT_EQ(refused(handle, halt_request{}), client_errc::closed);
}

TEST_F(ActorBridge, ASubscriptionEndsWithItsOwner) {
  foreign_system other;
  other.send(handle, subscribe_request{});
  other.receiver().take();
  other.receiver().take();
  ask<control_done>(handle, halt_request{});

  other.receiver().cleanup(caf::make_error(caf::exit_reason::kill), nullptr);

  EXPECT_EQ(refused(handle, halt_request{}), client_errc::closed);
}

TEST_F(ActorBridge, AfterTheStopRequestsAreRefusedAndRecordsReportedNotWritten) {
  running.stop();

  EXPECT_EQ(refused(handle, flush_request{}), client_errc::closed);
  outside.send(handle, produce_request{.records = std::vector<owned_record>(2), .first_tag = 1});
  const auto report = next<delivery_report>();
  ASSERT_EQ(report.outcomes.size(), 2U);
  for (const auto& each : report.outcomes) {
    ASSERT_FALSE(each.answer.is_delivered());
    EXPECT_EQ(each.answer.failure()->fate, fate::not_written);
    EXPECT_EQ(each.answer.failure()->code, client_errc::closed);
  }
  EXPECT_EQ(next<control_failure>().code, client_errc::closed);
}

TEST_F(ActorBridge, AnUnknownRequestIsAnsweredWithAnError) {
  EXPECT_EQ(ask<caf::error>(handle, std::string("what is this")),
            caf::make_error(caf::sec::unexpected_message));
}

TEST_F(ActorBridge, AnActorThatWatchesIsToldOfTheEnd) {
  std::atomic<int> told{0};
  caf::actor_cast<caf::abstract_actor*>(handle)->attach_functor([&] { ++told; });

  EXPECT_EQ(told, 0);
  running.stop();
  EXPECT_EQ(told, 1);
}

TEST_F(ActorBridge, TheHandleMayOutliveTheRuntime) {
  caf::actor survivor;
  {
    runtime short_lived({});
    survivor =
        actor_handle(short_lived.spawn(std::make_unique<answering_body>(), short_lived.lane_at(0)));
  }

  EXPECT_EQ(refused(survivor, flush_request{}), client_errc::closed);
}

}  // namespace
}  // namespace partita::actors
