// Cases that run flat out: P1 to P4, P8, P9, P11, P12, and the older saturated, heap, pipelining.
#include "bench/compare/comparison.hpp"

#include <algorithm>
#include <cmath>

namespace partita::bench {
namespace {

const words three_by_twelve = {"--brokers", "3", "--partitions", "12"};

words saturate(std::uint64_t records) { return {"saturate", "--records", std::to_string(records)}; }

std::string rounded(const values& told, const char* name) {
  const auto at = told.find(name);
  return std::to_string(at == told.end() ? 1 : std::max(1L, std::lround(at->second)));
}

/// The floor writes the same records in batches and requests of the size that partita made.
values floor_of(comparison& all, const values& ours, const cluster& brokers) {
  return all.measure({all.program("floor")},
                     {"write", "--records", std::to_string(all.options().records),
                      "--batch-records", rounded(ours, "records_per_batch"), "--request-batches",
                      rounded(ours, "batches_per_request")},
                     &brokers);
}

}  // namespace

void flat_out(comparison& all) {
  const cluster brokers(all.options().directory, three_by_twelve);
  case_table& table = all.table("P1 to P4: 100 B with keys, idempotent, flat out");
  for (int i = 0; i < all.rounds(); ++i) {
    auto found = all.measure_round(i, saturate(all.options().records), brokers, table);
    const values& ours = found["partita"];
    if (all.wanted("P1"))
      table.add_ratio("P1 CPU per record, partita / librdkafka", ours, found["librdkafka"],
                      "cpu_ns", {1.0 / 5});
    if (all.wanted("P2")) {
      table.add_ratio("P2 CPU per record, partita / franz-go", ours, found["franz-go"], "cpu_ns",
                      {1.0 / 3});
      table.add_ratio("P2 CPU per record, partita / Java", ours, found["Java"], "cpu_ns",
                      {1.0 / 5});
    }
    if (all.wanted("P3") && !ours.empty()) {
      const values floor = floor_of(all, ours, brokers);
      table.take("floor", floor);
      table.add_ratio("P3 CPU per record, partita / floor", ours, floor, "cpu_ns", {3});
    }
    if (all.wanted("P4"))
      table.add_ratio("P4 records/s, partita / librdkafka", ours, found["librdkafka"],
                      "records_per_second", {4, false});
  }
}

void saturated(comparison& all) {
  const cluster brokers(all.options().directory, three_by_twelve);
  case_table& table = all.table("saturated: 100 B with keys, idempotent, flat out");
  for (int i = 0; i < all.rounds(); ++i) {
    auto found = all.measure_round(i, saturate(all.options().records), brokers, table,
                                   {"partita", "librdkafka"});
    table.add_ratio("saturated: CPU per record, partita / librdkafka", found["partita"],
                    found["librdkafka"], "cpu_ns", {0.5});
  }
}

/// The clients run with a counter of allocations preloaded; librdkafka once, for information.
void heap(comparison& all) {
  const cluster brokers(all.options().directory, three_by_twelve);
  const std::string counter = all.program("libheap_counter.so");
  const words mode = saturate(all.options().records);
  case_table& table = all.table("heap: allocations while flat out");
  for (int i = 0; i < all.rounds(); ++i) {
    const values ours = all.measure(all.command_of("partita"), mode, &brokers, counter);
    table.add("heap: per record, partita", "allocations", ours, "allocations", {0.1});
    if (i > 0) continue;
    const values theirs = all.measure(all.command_of("librdkafka"), mode, &brokers, counter);
    table.add("heap: per record, librdkafka", "allocations", theirs, "allocations");
  }
}

void pipelining(comparison& all) {
  const cluster slow(all.options().directory,
                     {"--brokers", "1", "--partitions", "1", "--delay-ms", "100"});
  const bool by_number = all.wanted("P8");
  case_table& table = all.table(std::string(by_number ? "P8" : "pipelining") +
                                ": one partition, idempotent, round trip of 100 ms");
  for (int i = 0; i < all.rounds(); ++i) {
    auto found = all.measure_round(i, {"pipeline"}, slow, table, {"partita", "librdkafka"});
    if (by_number)
      table.add("P8 per round trip, partita", "batches", found["partita"], "batches_per_round_trip",
                {4.8, false});
    if (all.wanted("pipelining"))
      table.add("pipelining: per round trip, partita", "batches", found["partita"],
                "batches_per_round_trip", {4.5, false});
  }
}

/// All partitions get a record and are idle then; twelve of them get the load.
void many_partitions(comparison& all) {
  constexpr int few = 12;
  constexpr int many = 10'000;
  const std::string directory = all.options().directory;
  const cluster small(directory, three_by_twelve);
  const cluster large(directory, {"--brokers", "3", "--partitions", std::to_string(many)});
  case_table& table = all.table("P9: twelve busy partitions, alone and among 10,000");
  for (int i = 0; i < all.rounds(); ++i) {
    for (const char* const who : {"partita", "librdkafka"}) {
      const auto run = [&](int partitions, const cluster& against) {
        values told = all.measure(all.command_of(who),
                                  {"partitions", "--touch", std::to_string(partitions), "--records",
                                   std::to_string(all.options().records / 2)},
                                  &against);
        table.take(std::string(who) + ", " + std::to_string(partitions), told);
        return told;
      };
      const values alone = run(few, small);
      const values among = run(many, large);
      const bool is_ours = std::string_view(who) == "partita";
      table.add_ratio(std::string("P9 CPU per record, among 10,000 / alone, ") + who, among, alone,
                      "cpu_ns", is_ours ? bound{1.5} : bound{});
      if (alone.empty() || among.empty()) continue;
      const double more = among.at("resident_bytes") - alone.at("resident_bytes");
      table.add(std::string("P9 memory per idle partition, ") + who, "bytes",
                {{"each", more / (many - few)}}, "each", is_ours ? bound{2048} : bound{});
    }
  }
}

void codecs(comparison& all) {
  const cluster brokers(all.options().directory, three_by_twelve);
  for (const std::string codec : {"lz4", "zstd"}) {
    case_table& table = all.table("P11: 1000 B with keys, flat out, " + codec);
    for (int i = 0; i < all.rounds(); ++i) {
      const std::uint64_t records = std::max<std::uint64_t>(all.options().records / 8, 1);
      words mode = saturate(records);
      mode.insert(mode.end(), {"--warm-up", std::to_string(records / 10), "--value-size", "1000",
                               "--codec", codec});
      auto found = all.measure_round(i, mode, brokers, table, {"partita", "librdkafka"});
      const values& ours = found["partita"];
      if (ours.empty()) continue;
      const values alone = all.measure(
          {all.program("floor")},
          {"codec", "--codec", codec, "--value-size", "1000", "--records", std::to_string(records),
           "--batch-records", rounded(ours, "records_per_batch")},
          nullptr);
      table.take("codec alone", alone);
      table.add_ratio("P11 CPU per record, partita / codec alone, " + codec, ours, alone, "cpu_ns",
                      {1.1});
    }
  }
}

void real_brokers(comparison& all) {
  if (all.options().kafka.empty()) return all.fail("P12 needs --kafka BOOTSTRAP");
  const cluster brokers(all.options().kafka);
  // Brokers that take their time are kept busy by a larger backlog: partita's default.
  words mode = saturate(all.options().records / 2);
  mode.insert(mode.end(), {"--window", std::to_string(64 << 20)});
  case_table& table = all.table("P12: three real brokers, 100 B with keys, idempotent, flat out");
  for (int i = 0; i < all.rounds(); ++i) {
    auto found = all.measure_round(i, mode, brokers, table);
    const values ours = found["partita"];
    found.erase("partita");
    values best;
    for (const auto& [name, told] : found)
      if (!told.empty() &&
          (best.empty() || told.at("records_per_second") > best.at("records_per_second")))
        best = told;
    table.add_ratio("P12 records/s, partita / the fastest other client", ours, best,
                    "records_per_second", {1, false});
    table.add_ratio("P12 CPU per record, partita / the same client", ours, best, "cpu_ns",
                    {1.0 / 3});
  }
}

}  // namespace partita::bench
