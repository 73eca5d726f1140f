#include <partita/contract.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace partita {
namespace {

void print_and_abort(const contract_breach& breach) {
  const bool explained = breach.sentence[0] != '\0';
  std::fprintf(stderr, "%s:%d: %s%sPARTITA_%s(%s) is broken", breach.file, breach.line,
               breach.sentence, explained ? ": " : "", breach.kind, breach.condition);
  if (breach.values.size() != 0) {
    std::fprintf(stderr, "; %s =", breach.names);
    for (long long value : breach.values) std::fprintf(stderr, " %lld", value);
  }
  std::fputc('\n', stderr);
  std::abort();
}

std::atomic<contract_handler> current_handler{print_and_abort};

}  // namespace

contract_handler set_contract_handler(contract_handler handler) noexcept {
  return current_handler.exchange(handler == nullptr ? print_and_abort : handler);
}

namespace detail {

void contract_broken(const contract_breach& breach) {
  current_handler.load()(breach);
  std::abort();
}

}  // namespace detail
}  // namespace partita
