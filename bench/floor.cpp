// What no client that sends the same batches can fall below: encode, checksum and write in one
// loop of one thread, or a codec's work alone.
//
//     floor write --bootstrap HOST:PORT,... --statistics FILE [--records N] [--value-size N]
//                 [--batch-records N] [--request-batches N]
//     floor codec --codec lz4|zstd [--records N] [--value-size N] [--batch-records N]
//
// Nothing is kept for a retry, no record is routed, and answers are read and thrown away.
#include "bench/connect_to.hpp"
#include "bench/kafka_bytes.hpp"
#include "bench/load.hpp"
#include "wire/compression.hpp"
#include "wire/record_batch.hpp"

#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <span>
#include <thread>

namespace partita::bench {
namespace {

constexpr std::int64_t timestamp_ms = 1'700'000'000'000;
constexpr std::uint64_t brokers = 3;

class batch_maker {
 public:
  explicit batch_maker(const load& records) : records_(records), builder_(&pool_) {}

  [[nodiscard]] wire::sealed_batch make(std::uint64_t from, std::uint64_t count) {
    for (std::uint64_t i = from; i < from + count; ++i) append(i);
    return builder_.seal(wire::batch_stamp::none());
  }

 private:
  void append(std::uint64_t i) {
    const record next{.topic = "floor", .key = records_.key(i), .value = records_.value(i)};
    std::byte* const end = wire::encode_record_tail(next, tail_.data());
    builder_.append(timestamp_ms, std::span<const std::byte>(tail_.data(), end));
  }

  const load& records_;
  wire::segment_pool pool_;
  wire::batch_builder builder_;
  std::array<std::byte, 16 * 1024> tail_{};
};

/// A produce request, version 12, for partitions that the first broker leads.
bool send_request(int socket, std::span<const wire::sealed_batch> batches) {
  std::string head;
  writer old_style(head);
  old_style.i32(0);  // the length, known below
  old_style.i16(0);
  old_style.i16(12);
  old_style.i32(1);
  old_style.string("partita");
  writer out(head, true);
  out.tags();
  out.null_string();  // transactional id
  out.i16(-1);
  out.i32(30'000);
  out.count(1);
  out.string("floor");
  out.count(batches.size());
  std::vector<std::string> between(batches.size());
  std::size_t size = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    writer to(i == 0 ? head : between[i - 1], true);
    if (i > 0) to.tags();
    to.i32(static_cast<std::int32_t>(i * brokers));
    to.count(batches[i].size());
    size += batches[i].size();
  }
  writer tail(between.back(), true);
  for (int level = 0; level < 3; ++level) tail.tags();
  size += head.size() - 4;
  for (const std::string& each : between) size += each.size();
  const std::uint32_t length = htobe32(static_cast<std::uint32_t>(size));
  std::memcpy(head.data(), &length, sizeof length);
  std::vector<iovec> pieces{{head.data(), head.size()}};
  for (std::size_t i = 0; i < batches.size(); ++i) {
    batches[i].bytes().for_each([&](std::span<const std::byte> piece) {
      pieces.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
    });
    pieces.push_back({between[i].data(), between[i].size()});
  }
  return ::writev(socket, pieces.data(), static_cast<int>(pieces.size())) ==
         static_cast<ssize_t>(size + 4);
}

int write_all(const arguments& given, const load& records, std::uint64_t count) {
  const std::uint64_t in_batch = std::max<std::uint64_t>(given.number("--batch-records", 1000), 1);
  const std::uint64_t in_request =
      std::clamp<std::uint64_t>(given.number("--request-batches", 1), 1, 4);
  const int socket = connect_to(given.text("--bootstrap", ""));
  broker_watch broker(given.text("--statistics", ""));
  if (socket < 0 || !broker.usable()) {
    std::perror("floor");
    return 1;
  }
  batch_maker maker(records);
  std::vector<wire::sealed_batch> batches;
  std::vector<char> answers(64 * 1024);
  const moment before = now();
  for (std::uint64_t made = 0; made < count;) {
    batches.clear();
    for (std::uint64_t i = 0; i < in_request && made < count; ++i) {
      const std::uint64_t size = std::min(in_batch, count - made);
      batches.push_back(maker.make(made, size));
      made += size;
    }
    if (!send_request(socket, batches)) {
      std::perror("floor: writev");
      return 1;
    }
    (void)::recv(socket, answers.data(), answers.size(), MSG_DONTWAIT);
  }
  const moment after = now();
  for (int i = 0; i < 10'000 && broker.records() < count; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  broker.tell_counts();
  ::close(socket);
  tell_cost(before, after, count);
  tell("answered", static_cast<double>(count));
  return broker.records() == count ? 0 : 1;
}

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// The codec is timed, the making of what it compresses is not.
int compress_all(const arguments& given, const load& records, std::uint64_t count) {
  const std::string_view name = given.text("--codec", "lz4");
  const wire::codec which = name == "zstd" ? wire::codec::zstd : wire::codec::lz4;
  const std::uint64_t in_batch = std::max<std::uint64_t>(given.number("--batch-records", 100), 1);
  batch_maker maker(records);
  wire::segment_pool pool;
  double seconds = 0;
  double in = 0, out = 0;
  for (std::uint64_t made = 0; made < count; made += in_batch) {
    const wire::sealed_batch batch = maker.make(made, std::min(in_batch, count - made));
    wire::segment_chain compressed(&pool);
    const double before = thread_seconds();
    if (wire::compress(which, wire::levels_of(which).preset, batch.bytes(), wire::batch_header_size,
                       compressed))
      return 1;
    seconds += thread_seconds() - before;
    in += static_cast<double>(batch.size());
    out += static_cast<double>(compressed.size());
  }
  tell("cpu_ns", seconds * 1e9 / static_cast<double>(count));
  tell("compression_ratio", in / out);
  return 0;
}

}  // namespace
}  // namespace partita::bench

int main(int argc, char** argv) {
  using namespace partita::bench;
  const arguments given(argc, argv);
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const std::uint64_t count = given.number("--records", 2'000'000);
  const std::uint64_t value_size = std::min<std::uint64_t>(given.number("--value-size", 100), 8000);
  const load records(value_size);
  if (mode == "write") return write_all(given, records, count);
  if (mode == "codec") return compress_all(given, records, count);
  std::fprintf(stderr, "floor: write or codec?\n");
  return 2;
}
