#include "api/cli/open_records.hpp"

#include <partita/contract.hpp>

#include <utility>

namespace partita::cli {
namespace {

constexpr std::size_t open_records_max = 1'000'000;
constexpr std::size_t open_bytes_max = 64 * 1024 * 1024;

std::size_t bytes_of(const input_record& content) noexcept {
  std::size_t bytes = sizeof content;
  if (content.key) bytes += content.key->size();
  if (content.value) bytes += content.value->size();
  for (const owned_header& each : content.headers)
    bytes += sizeof each + each.key.size() + (each.value ? each.value->size() : 0);
  return bytes;
}

}  // namespace

void open_records::entry::answer(const outcome& told) {
  const failed* failure = told.failure();
  if (failure != nullptr) failure_ = std::make_unique<failed>(*failure);
  topic_.ledger->answered(topic_, told);
  open_records& owner = owner_;
  // With acks=0 no answer is all that can come.
  const bool failure_ends = failure != nullptr && failure->code != client_errc::no_acknowledgement;
  if (failure_ends) owner.any_failed_.store(true);
  // The last that is touched: the main thread may take it away from here on.
  answered_.store(true, std::memory_order_release);
  if (failure != nullptr && owner.on_failure_ != nullptr) owner.on_failure_(owner.context_);
}

open_records::entry& open_records::add(delivery_ledger::topic_entry& topic, std::uint64_t line,
                                       std::unique_ptr<input_record> content) {
  entry& made = entries_.emplace_back(*this, topic, line);
  made.content_ = std::move(content);
  if (made.content_) made.bytes_ = bytes_of(*made.content_);
  bytes_ += made.bytes_;
  return made;
}

void open_records::withdraw_last() {
  PARTITA_EXPECTS(!entries_.empty());
  bytes_ -= entries_.back().bytes_;
  entries_.pop_back();
}

bool open_records::is_full() const noexcept {
  return entries_.size() >= open_records_max || bytes_ >= open_bytes_max;
}

}  // namespace partita::cli
