#include "actors/failure_report.hpp"

#include "actors/batch.hpp"
#include "actors/record_node.hpp"
#include "actors/topic_routes.hpp"

#include <vector>

namespace partita::actors {

std::size_t failure_report::count() const noexcept {
  return what_.failed == nullptr ? 1 : what_.failed->count();
}

void failure_report::read(const batch& from, std::uint64_t behind, record_visitor visit) const {
  from.read_records([&](std::size_t index, const record& one) {
    if (from.ordinal_of(index) < behind) return;
    record named = one;
    named.topic = told_.topic;
    named.partition = told_.partition;
    visit(named);
  });
}

void failure_report::for_each(record_visitor visit) const {
  if (what_.failed != nullptr) return read(*what_.failed, 0, visit);
  record one;
  std::vector<header> headers;
  if (what_.refused->tail_size != 0) view_of(*what_.refused, one, headers);
  if (what_.refused->flags != 0) one.value.reset();  // it is the size
  one.topic = told_.topic;
  one.partition = told_.partition;
  visit(one);
}

std::size_t failure_report::behind_count() const noexcept {
  std::size_t count = 0;
  for (const batch* each : what_.behind)
    count += each->count() - each->records_before(what_.ordinal + 1);
  return count;
}

void failure_report::for_each_behind(record_visitor visit) const {
  for (const batch* each : what_.behind) read(*each, what_.ordinal + 1, visit);
}

}  // namespace partita::actors
