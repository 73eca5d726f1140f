// Historic bugs of producers, each put back by a switch, to show that the histories catch them.
//
// The switches exist where PARTITA_MUTANTS is defined: in objects of their own that only the
// program `simulate` links (tests/CMakeLists.txt). Everywhere else planted() is the constant false
// and leaves nothing behind.
//
// Invariants
// 1. Each mutant has one name here, with the report it comes from and what it breaks.
// 2. Asked in .cpp files that tests/CMakeLists.txt lists as mutable, nowhere in a header.
//
// Threads: the switches are set before a history begins.
#pragma once

#include <cstddef>

#define PARTITA_MUTANT_LIST(X)                                                                    \
  X(reuse_tuple, "franz-go #1217",                                                                \
    "a batch whose records are cancelled leaves its sequences to the next records")               \
  X(rewind_at_deadline, "redpanda #5026", "so does a batch given up at its deadline")             \
  X(rewind_after_error, "franz-go #1484", "so does a batch given up after an error")              \
  X(halt_is_late, "franz-go #852", "what was produced before a failure was told passes the halt") \
  X(news_is_late, "ORD-17", "the same of a halted key")                                           \
  X(restamp_in_doubt, "librdkafka #4953", "a new epoch renumbers batches in doubt")               \
  X(renumber_in_doubt, "SEQ-20, redpanda #3039", "45 or 59 renumbers a batch in doubt")           \
  X(back_dated_blind, "SEQ-21", "a back-dated batch in doubt is sent again blindly")              \
  X(window_ignores_footing, "SEQ-22, KAFKA-15591", "five in flight before the first success")     \
  X(numbering_restarts, "SEQ-23", "without a leader the numbering begins anew in its epoch")      \
  X(success_is_inferred, "LOSS-10", "a later success answers earlier batches too")                \
  X(doubt_wiped_by_refusal, "CORE-03, CORE-04", "the last attempt's verdict replaces the others") \
  X(timeout_is_refusal, "redpanda #4261", "REQUEST_TIMED_OUT counts as not appended")             \
  X(not_leader_is_refusal, "CORE-05", "NOT_LEADER_OR_FOLLOWER counts as not appended")            \
  X(after_append_is_refusal, "KAFKA-1555", "NOT_ENOUGH_REPLICAS_AFTER_APPEND as not appended")    \
  X(storage_error_is_refusal, "LOSS-03", "KAFKA_STORAGE_ERROR counts as not appended")            \
  X(unlisted_is_refusal, "ODD-03", "unknown codes count as not appended")                         \
  X(offset_not_believed, "kafka-semantics 2", "a refusal's code is believed over its offset")     \
  X(lost_answer_is_refusal, "rust-rdkafka #518", "a lost answer counts as not appended")          \
  X(kernel_has_it_not, "kafka-go #1139", "a frame that was handed over counts as not sent")       \
  X(under_way_is_no_doubt, "kafka-go #1427", "an attempt under way at the end is no doubt")       \
  X(close_calls_it_delivered, "ceph #54215", "close answers what is in flight as delivered")      \
  X(close_forgets_unsent, "FluidFramework #9244", "close drops unsent records unanswered")        \
  X(completes_twice, "confluent-kafka-dotnet #406", "a late answer completes a batch again")      \
  X(freed_under_way, "KAFKA-19012", "a batch's memory is reused while its attempt is open")       \
  X(one_answer_for_all, "redpanda connect #4387", "a request's first answer stands for all")      \
  X(younger_before_retry, "sarama #2619", "younger batches are sent while the head is retried")   \
  X(bump_keeps_sequence, "KAFKA-12152", "a new epoch goes on with the old sequence")              \
  X(no_bump, "sarama #3354", "the sequence begins anew without a new epoch")                      \
  X(no_halt_on_timeout, "vector #14290", "a record that times out halts nothing")                 \
  X(halted_appends, "fluent-bit #9495", "a halted partition takes new records")                   \
  X(held_records_pass, "cockroach #122326", "what is held behind a failure is sent")              \
  X(resubmit_at_the_back, "cppkafka #153", "resubmitted records go behind the held ones")         \
  X(resubmits_unknown, "redpanda connect #3551", "records of unknown fate are sent again")        \
  X(take_backwards, "tiflow #11935", "recover(take) hands the records back in reverse")           \
  X(discard_drops_held, "ORD-11", "recover(discard) drops held records unanswered")               \
  X(answers_late, "sarama #2377", "a batch in flight is not answered at its deadline")            \
  X(unsent_never_expire, "telegraf #19446", "unsent records wait for ever")                       \
  X(close_waits_for_all, "sarama #2121", "close returns when everything is answered")             \
  X(room_is_kept, "confluent-kafka-dotnet #732", "room of failed records is not given back")      \
  X(old_metadata_spins, "SEQ-07", "a timer in the past is armed while metadata is awaited")       \
  X(ledger_off, "protection", "tuples and offsets are not checked")

namespace partita {

enum class mutant : std::size_t {
#define PARTITA_MUTANT_ID(name, report, text) name,
  PARTITA_MUTANT_LIST(PARTITA_MUTANT_ID)
#undef PARTITA_MUTANT_ID
      count
};

#ifdef PARTITA_MUTANTS

inline bool planted_mutants[static_cast<std::size_t>(mutant::count)];

/// Whether this bug is put back.
[[nodiscard]] inline bool planted(mutant which) noexcept {
  return planted_mutants[static_cast<std::size_t>(which)];
}

#else

[[nodiscard]] constexpr bool planted(mutant) noexcept { return false; }

#endif

}  // namespace partita
