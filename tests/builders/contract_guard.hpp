// While it lives, a broken contract throws instead of aborting, so that a test can expect it.
#pragma once

#include <partita/contract.hpp>

#include <stdexcept>

namespace partita::testing {

struct broken_contract : std::logic_error {
  using std::logic_error::logic_error;
};

class contract_guard {
 public:
  contract_guard()
      : before_(set_contract_handler([](const contract_breach& breach) {
          const bool explained = breach.sentence[0] != '\0';
          throw broken_contract(explained ? breach.sentence : breach.condition);
        })) {}
  ~contract_guard() { set_contract_handler(before_); }
  contract_guard(const contract_guard&) = delete;
  contract_guard& operator=(const contract_guard&) = delete;

 private:
  contract_handler before_;
};

}  // namespace partita::testing
