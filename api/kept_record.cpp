#include "api/kept_record.hpp"

#include <string>

namespace partita {

kept_record::kept_record(const record& what)
    : partition_(what.partition), timestamp_(what.timestamp) {
  owned_.topic = what.topic;
  if (what.key) owned_.key.emplace(*what.key);
  if (what.value) owned_.value.emplace(*what.value);
  owned_.headers.reserve(what.headers.size());
  for (const header& each : what.headers) {
    owned_header& copy = owned_.headers.emplace_back();
    copy.key = each.key;
    if (each.value) copy.value.emplace(*each.value);
  }
  headers_.reserve(owned_.headers.size());
  for (const owned_header& each : owned_.headers) headers_.push_back({each.key, each.value});
}

record kept_record::view() const noexcept {
  record seen;
  seen.topic = owned_.topic;
  seen.key = owned_.key;
  seen.value = owned_.value;
  seen.headers = headers_;
  seen.partition = partition_;
  seen.timestamp = timestamp_;
  return seen;
}

owned_record kept_record::owned(partita::timestamp now) const {
  owned_record copy = owned_;
  copy.partition = partition_.value_or(partition_id());
  copy.timestamp = timestamp_.value_or(now);
  return copy;
}

}  // namespace partita
