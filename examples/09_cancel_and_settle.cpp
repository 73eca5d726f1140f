// Two records whose fate is unknown when they are answered, and what became of them: one is
// cancelled after it was sent, the other's deadline passes without an answer.
//
//     09_cancel_and_settle
//
// The brokers are simulated, so that the trouble comes when it is wanted.
#include <partita/producer.hpp>
#include <partita/testing/cluster.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace testing = partita::testing;

std::future<partita::outcome> produce(partita::producer& producer, const std::string& payment,
                                      const partita::produce_options& options = {}) {
  auto answer = std::make_shared<std::promise<partita::outcome>>();
  producer.produce({.topic = "payments", .key = "account-1", .value = payment}, options,
                   [answer](const partita::outcome& result) { answer->set_value(result); });
  return answer->get_future();
}

/// The ticket of a record that was answered "unknown".
partita::ticket ticket_of(const std::string& payment, std::future<partita::outcome> pending) {
  const partita::outcome answer = pending.get();
  const partita::failed* failure = answer.failure();
  if (failure == nullptr || failure->fate != partita::fate::unknown) return {};
  std::cout << payment << ": unknown, " << failure->code.message() << '\n';
  return failure->ticket;
}

void tell(const std::string& payment, const partita::settlement& verdict) {
  std::cout << payment << ": ";
  if (const partita::delivered* found = verdict.delivery())
    std::cout << "the log holds it at offset " << (found->offset ? found->offset->value : -1);
  else if (verdict.is_never_written())
    std::cout << "it was never written";
  else
    std::cout << "undecidable, " << verdict.undecided()->reason.message();
  std::cout << '\n';
}

int main() {
  testing::loopback_cluster cluster{{.topics = {{"payments", {.partitions = 1}}}}};
  partita::producer producer{
      {.bootstrap_servers = cluster.bootstrap(), .delivery_timeout = 2s, .request_timeout = 500ms}};
  if (!produce(producer, "opened").get()) return 2;

  // The broker writes it and does not answer. The caller cancels: the answer comes at once.
  testing::fault silent;
  silent.value = "rent";
  silent.reply = testing::reply::never;
  cluster.inject(silent);
  partita::produce_options cancellable;
  cancellable.handle = partita::record_handle::make();
  auto rent = produce(producer, "rent", cancellable);
  while (cluster.log("payments", 0).size() < 2) std::this_thread::sleep_for(1ms);
  producer.cancel(cancellable.handle);
  // The batch goes on all the same. Its retry is recognised, and that settles the ticket.
  const partita::settlement of_rent = producer.settle(ticket_of("rent", std::move(rent))).get();
  tell("rent", of_rent);

  // The broker never looks at it. Nobody can know that, so the deadline answers "unknown".
  testing::fault deaf;
  deaf.value = "phone";
  deaf.times = 1000;
  deaf.execution = testing::execution::skip;
  deaf.reply = testing::reply::close_before;
  cluster.inject(deaf);
  partita::operation<partita::settlement> of_phone =
      producer.settle(ticket_of("phone", produce(producer, "phone")));
  // Its key is halted. The application goes on without it, and the next record shuts it out.
  static_cast<void>(producer.recover("payments", 0, partita::recovery::discard).get());
  if (!produce(producer, "closed").get()) return 2;
  const partita::settlement verdict = std::move(of_phone).get();
  tell("phone", verdict);

  return of_rent.is_delivered() && verdict.is_never_written() ? 0 : 2;
}
