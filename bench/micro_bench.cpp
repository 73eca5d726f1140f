// The steps of a record's way, one by one, without a network or a second thread.
//
//     micro_bench [--benchmark_filter=NAME]
#include "actors/inbox.hpp"
#include "actors/record_node.hpp"
#include "actors/timer_wheel.hpp"
#include "api/partitioner_hash.hpp"
#include "wire/crc32c.hpp"
#include "wire/record_batch.hpp"

#include <partita/record.hpp>

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace partita::bench {
namespace {

const std::string key_text = "customer-0000042";

record record_of(const std::string& value) {
  return {.topic = "orders", .key = key_text, .value = value};
}

/// What the producing thread does: node, copy, encoding; freed as the partition frees it.
void make_node(benchmark::State& state) {
  const std::string value(static_cast<std::size_t>(state.range(0)), 'v');
  const record what = record_of(value);
  actors::record_releaser releaser;
  for (auto _ : state) {
    const auto size = static_cast<std::uint32_t>(wire::record_tail_size(what));
    actors::record_node* const node = actors::make_record_node(what, size);
    benchmark::DoNotOptimize(node);
    releaser.release(*node);
  }
}
BENCHMARK(make_node)->Arg(100)->Arg(1000);

void encode_tail(benchmark::State& state) {
  const std::string value(static_cast<std::size_t>(state.range(0)), 'v');
  const record what = record_of(value);
  std::vector<std::byte> out(wire::record_tail_size(what));
  for (auto _ : state) {
    benchmark::DoNotOptimize(wire::encode_record_tail(what, out.data()));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(encode_tail)->Arg(100)->Arg(1000);

/// Batches of 1000 records; the time is that of one record.
void append_and_seal(benchmark::State& state) {
  constexpr int records = 1000;
  const std::string value(static_cast<std::size_t>(state.range(0)), 'v');
  const record what = record_of(value);
  std::vector<std::byte> tail(wire::record_tail_size(what));
  wire::encode_record_tail(what, tail.data());
  wire::segment_pool pool;
  wire::batch_builder builder(&pool);
  std::int32_t sequence = 0;
  while (state.KeepRunningBatch(records)) {
    for (int i = 0; i < records; ++i) builder.append(1'700'000'000'000 + i / 100, tail);
    const wire::sealed_batch sealed = builder.seal({7, 0, sequence});
    sequence += records;
    benchmark::DoNotOptimize(sealed.crc());
  }
}
BENCHMARK(append_and_seal)->Arg(100)->Arg(1000);

void checksum(benchmark::State& state) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(state.range(0)), std::byte{42});
  for (auto _ : state) benchmark::DoNotOptimize(wire::crc32c(bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(checksum)->Arg(128)->Arg(16 * 1024);

void key_hash(benchmark::State& state) {
  const std::string key(static_cast<std::size_t>(state.range(0)), 'k');
  for (auto _ : state) benchmark::DoNotOptimize(murmur2(key));
}
BENCHMARK(key_hash)->Arg(16)->Arg(64);

/// One thread plays both sides: the cost without the traffic between caches.
void inbox_push_and_take(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<actors::command> nodes(count);
  actors::inbox queue;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
    for (actors::command& node : nodes) benchmark::DoNotOptimize(queue.push(node));
    actors::command_list taken = queue.take_all();
    while (actors::command* at = taken.pop_front()) benchmark::DoNotOptimize(at);
    benchmark::DoNotOptimize(queue.try_block());
  }
}
BENCHMARK(inbox_push_and_take)->Arg(16)->Arg(1024);

/// A timer that is armed and cancelled, as a linger or a request's deadline mostly is.
void timer_arm_and_cancel(benchmark::State& state) {
  const actors::instant origin{};
  actors::timer_wheel wheel(origin);
  actors::timer_node timer([](actors::timer_node&) noexcept {});
  int delay = 0;
  for (auto _ : state) {
    delay = (delay + 37) % 30'000;
    wheel.arm(timer, origin + std::chrono::milliseconds(1 + delay));
    wheel.cancel(timer);
  }
}
BENCHMARK(timer_arm_and_cancel);

/// Many armed timers; one fires, and is armed again, per iteration.
void timer_fire(benchmark::State& state) {
  struct context {
    actors::timer_wheel wheel{actors::instant{}};
    actors::instant now{};
  } shared;
  const auto again = [](actors::timer_node& timer) noexcept {
    auto& all = *static_cast<context*>(timer.owner);
    all.wheel.arm(timer, all.now + std::chrono::milliseconds(1000));
  };
  std::vector<std::unique_ptr<actors::timer_node>> timers;
  for (int i = 0; i < 1000; ++i) {
    timers.push_back(std::make_unique<actors::timer_node>(again, &shared));
    shared.wheel.arm(*timers.back(), actors::instant(std::chrono::milliseconds(1 + i)));
  }
  for (auto _ : state) {
    shared.now += std::chrono::milliseconds(1);
    benchmark::DoNotOptimize(shared.wheel.advance(shared.now));
  }
  for (const auto& each : timers) shared.wheel.cancel(*each);
}
BENCHMARK(timer_fire);

}  // namespace
}  // namespace partita::bench

BENCHMARK_MAIN();
