// Cases at less than full speed: P5, P6, P7 (round_trip) and P10; and what including us costs.
#include "bench/compare/comparison.hpp"

#include <unistd.h>

#include <cstdio>

namespace partita::bench {
namespace {

const words three_by_twelve_brokers = {"--brokers", "3", "--partitions", "12"};

}  // namespace

void steady_rates(comparison& all) {
  const cluster brokers(all.options().directory, three_by_twelve_brokers);
  for (const std::string thousands : {"10", "50"}) {
    case_table& table =
        all.table("P5: " + thousands + ",000 records/s, linger 5 ms, 12 partitions on 3 brokers");
    for (int i = 0; i < all.rounds(); ++i) {
      auto found = all.measure_round(i, {"fixed", "--rate", thousands + "000"}, brokers, table);
      table.add_ratio("P5 CPU per record, partita / librdkafka, " + thousands + " k/s",
                      found["partita"], found["librdkafka"], "cpu_ns", {1.0 / 4});
    }
  }
}

void awaiting(comparison& all) {
  const cluster brokers(all.options().directory, three_by_twelve_brokers);
  case_table& table = all.table("P6: 256 records awaited at a time, linger 0");
  for (int i = 0; i < all.rounds(); ++i) {
    auto found =
        all.measure_round(i, {"closed", "--window", "256", "--linger-ms", "0"}, brokers, table);
    table.add_ratio("P6 CPU per record, partita / librdkafka", found["partita"],
                    found["librdkafka"], "cpu_ns", {1.0 / 4});
    table.add_ratio("P6 p99, partita / librdkafka", found["partita"], found["librdkafka"], "p99_us",
                    {1.0 / 2});
  }
}

/// One record at a time, and the same bytes by a blocking socket.
void round_trip(comparison& all) {
  const cluster one(all.options().directory, {"--brokers", "1", "--partitions", "1"});
  const bool by_number = all.wanted("P7");
  case_table& table =
      all.table(std::string(by_number ? "P7" : "round trip") + ": one record at a time, linger 0");
  for (int i = 0; i < all.rounds(); ++i) {
    const values floor = all.measure({all.program("raw_socket")}, {"floor"}, &one);
    auto found = all.measure_round(
        i, {"closed", "--window", "1", "--linger-ms", "0", "--records", "20000"}, one, table,
        by_number ? std::vector<std::string>{} : std::vector<std::string>{"partita", "librdkafka"});
    table.take("raw socket", floor);
    if (by_number)
      table.add_ratio("P7 p50, partita / raw socket", found["partita"], floor, "p50_us", {1.15});
    if (all.wanted("round_trip"))
      table.add_ratio("round trip: p50, partita / raw socket", found["partita"], floor, "p50_us",
                      {1.3});
  }
}

void one_silent(comparison& all) {
  const cluster brokers(all.options().directory, three_by_twelve_brokers);
  case_table& table =
      all.table("P10: 10,000 records/s, one of three brokers silent; the others' partitions");
  for (int i = 0; i < all.rounds(); ++i) {
    auto found = all.measure_round(i, {"one_silent"}, brokers, table, {"partita", "librdkafka"});
    for (const char* const who : {"partita", "librdkafka"}) {
      const values& told = found[who];
      const auto silent = told.find("silent_p99_us");
      values now;
      if (silent != told.end()) now["normal_p99_us"] = silent->second;
      const bool is_ours = std::string_view(who) == "partita";
      table.add_ratio(std::string("P10 p99, one silent / all well, ") + who, now, told,
                      "normal_p99_us", is_ours ? bound{1.2} : bound{});
    }
  }
}

/// CPU time of the compiler, which other work on the machine changes less than its duration.
void compile_time(comparison& all) {
  const std::string name = "/tmp/partita-bench-" + std::to_string(::getpid()) + ".cpp";
  if (std::FILE* const file = std::fopen(name.c_str(), "w")) {
    std::fputs("#include <partita/producer.hpp>\n", file);
    std::fclose(file);
  }
  case_table& table = all.table("compile: what including us costs");
  for (int i = 0; i < all.rounds(); ++i) {
    const finished result = run(
        {"g++", "-std=c++20", "-O0", "-I", all.options().headers, "-c", name, "-o", "/dev/null"});
    if (!result.good) all.fail("g++");
    table.add("compile: <partita/producer.hpp>, g++ -O0", "s", {{"cpu", result.cpu_seconds}}, "cpu",
              {1});
  }
  ::unlink(name.c_str());
}

}  // namespace partita::bench
