// Tests an application's own code without brokers: what it does when a record fails.
//
//     07_testing
#include <partita/testing/mock_producer.hpp>

#include <iostream>
#include <string>
#include <vector>

// The application's code takes whatever has the producer's interface.
template <class Producer>
class order_book {
 public:
  explicit order_book(Producer& producer) : producer_(producer) {}

  void place(const std::string& customer, const std::string& order) {
    producer_.produce({.topic = "orders", .key = customer, .value = order},
                      [this, order](const partita::outcome& answer) {
                        if (answer)
                          accepted.push_back(order);
                        else
                          refused.push_back(order);
                      });
  }

  /// Gets a halted partition going again: what failed is sent first, so the order stays.
  void try_again() {
    producer_.recover("orders", 0, partita::recovery::resubmit)
        .then(
            [this](const partita::recovery_report& report) { again = report.resubmitted.size(); });
  }

  std::vector<std::string> accepted;
  std::vector<std::string> refused;
  std::size_t again = 0;

 private:
  Producer& producer_;
};

int main() {
  partita::testing::mock_producer producer{{.auto_complete = false}};
  order_book book{producer};
  book.place("ada", "tea");
  book.place("ada", "milk");
  producer.fail_next(partita::broker_errc::not_enough_replicas);  // tea: the key halts
  book.place("ada", "sugar");                                     // refused at once
  book.try_again();
  producer.deliver_all();  // tea, then milk

  std::string log;
  for (const auto& record : producer.log("orders", 0)) log += *record.value + " ";
  std::cout << "log: " << log << "\nrefused: " << book.refused.size() << '\n';
  const bool good = log == "tea milk " && book.refused.size() == 2 && book.again == 1;
  std::cout << (good ? "OK" : "not as expected") << '\n';
  return good ? 0 : 1;
}
