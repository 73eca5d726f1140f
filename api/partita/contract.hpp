// Contracts that stay on in release builds.
//
// PARTITA_EXPECTS(condition, values...) states what a caller owes; a breach is the caller's bug.
// PARTITA_ASSERT(condition, values...)  states what we owe; a breach is our bug.
// PARTITA_EXPECTS_OR_SAY(condition, sentence, values...)  the same as the first, where an
// application is the caller: the sentence says what it did wrong.
// All print the condition and the values (integers, enums), then call one replaceable handler that
// aborts by default. Never use them for bytes from a peer: those are errors, not bugs.
#pragma once

#include <initializer_list>

namespace partita {

/// What was broken, handed to the contract handler. Pointers live for the length of the call only.
struct contract_breach {
  const char* kind;       ///< "EXPECTS" or "ASSERT"
  const char* condition;  ///< the condition as written
  const char* names;      ///< the printed values as written, comma separated; "" if none
  std::initializer_list<long long> values;
  const char* file;
  int line;
  const char* sentence;  ///< what the caller did wrong; "" where the condition has to say it
};

/// Called once per breach, on the thread that found it. It must not return normally; if it does,
/// the program is aborted. Tests may throw from it.
using contract_handler = void (*)(const contract_breach&);

/// Replaces the handler and returns the one before it. The default prints to stderr and aborts.
/// Thread-safe.
contract_handler set_contract_handler(contract_handler handler) noexcept;

namespace detail {
// Cold: what is never run does not lie between what is.
[[noreturn, gnu::cold]] void contract_broken(const contract_breach& breach);

template <class... Values>
[[noreturn, gnu::cold, gnu::noinline]] void contract_broken_with(
    const char* kind, const char* condition, const char* sentence, const char* names,
    const char* file, int line, Values... values) {
  contract_broken(
      {kind, condition, names, {static_cast<long long>(values)...}, file, line, sentence});
}
}  // namespace detail
}  // namespace partita

#define PARTITA_CONTRACT_(kind, condition, sentence, ...)                                         \
  do {                                                                                            \
    if (!(condition)) [[unlikely]]                                                                \
      ::partita::detail::contract_broken_with(kind, #condition, sentence, #__VA_ARGS__, __FILE__, \
                                              __LINE__ __VA_OPT__(, ) __VA_ARGS__);               \
  } while (false)

#define PARTITA_EXPECTS(condition, ...) \
  PARTITA_CONTRACT_("EXPECTS", condition, "" __VA_OPT__(, ) __VA_ARGS__)
#define PARTITA_EXPECTS_OR_SAY(condition, sentence, ...) \
  PARTITA_CONTRACT_("EXPECTS", condition, sentence __VA_OPT__(, ) __VA_ARGS__)
#define PARTITA_ASSERT(condition, ...) \
  PARTITA_CONTRACT_("ASSERT", condition, "" __VA_OPT__(, ) __VA_ARGS__)
