// The floor of a round trip: one thread, a blocking socket, a ready-made produce request of one
// record, patched and sent, its answer read. No client can be faster by more than it avoids the
// kernel.
//
//     raw_socket --bootstrap HOST:PORT [--records N] [--value-size N]
#include "bench/connect_to.hpp"
#include "bench/kafka_bytes.hpp"
#include "bench/load.hpp"

#include <endian.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

namespace partita::bench {
namespace {

std::string one_record(const std::string& key, const std::string& value) {
  std::string body, all;
  writer in(body);
  in.i8(0);             // attributes
  in.record_length(0);  // timestamp delta
  in.record_length(0);  // offset delta
  for (const std::string* part : {&key, &value}) {
    in.record_length(part->size());
    in.raw(*part);
  }
  in.record_length(0);  // headers
  writer out(all);
  out.record_length(body.size());
  out.raw(body);
  return all;
}

/// A record batch as the null broker checks it: without a producer id, its checksum left out.
std::string batch_of(const std::string& record) {
  std::string batch;
  writer out(batch);
  out.i64(0);
  out.i32(static_cast<std::int32_t>(49 + record.size()));
  out.i32(-1);
  out.i8(2);
  out.i32(0);
  out.i16(0);
  out.i32(0);
  out.i64(0);
  out.i64(0);
  out.i64(-1);
  out.i16(-1);
  out.i32(-1);
  out.i32(1);
  out.raw(record);
  return batch;
}

/// Produce version 12, with the frame's length in front.
std::string request_of(const std::string& batch) {
  std::string body, frame;
  writer head(body);
  head.i16(0);
  head.i16(12);
  head.i32(0);  // correlation, at byte 8 of the frame
  head.string("partita");
  writer out(body, true);
  out.tags();
  out.null_string();  // transactional id
  out.i16(-1);
  out.i32(30'000);
  out.count(1);
  out.string("raw_socket");
  out.count(1);
  out.i32(0);
  out.count(batch.size());
  out.raw(batch);
  for (int level = 0; level < 3; ++level) out.tags();
  writer length(frame);
  length.i32(static_cast<std::int32_t>(body.size()));
  length.raw(body);
  return frame;
}

bool read_answer(int socket, char* into, std::size_t room) {
  std::size_t have = 0;
  std::size_t wanted = 4;
  while (have < wanted) {
    const ssize_t got = ::recv(socket, into + have, room - have, 0);
    if (got <= 0) return false;
    have += static_cast<std::size_t>(got);
    if (have < 4) continue;
    std::uint32_t size = 0;
    std::memcpy(&size, into, 4);
    wanted = 4 + be32toh(size);
    if (wanted > room) return false;
  }
  return true;
}

}  // namespace
}  // namespace partita::bench

int main(int argc, char** argv) {
  using namespace partita::bench;
  const arguments given(argc, argv);
  const std::uint64_t count = given.number("--records", 20'000);
  const std::uint64_t warm_up = 2000;
  const int socket = connect_to(given.text("--bootstrap", ""));
  if (socket < 0) {
    std::perror("raw_socket");
    return 1;
  }
  const load records(given.number("--value-size", 100));
  std::string request = request_of(batch_of(one_record(records.key(0), records.value(0))));
  char answer[4096];
  std::vector<double> microseconds;
  microseconds.reserve(count);
  for (std::uint64_t i = 0; i < warm_up + count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const std::uint32_t correlation = htobe32(static_cast<std::uint32_t>(i));
    std::memcpy(request.data() + 8, &correlation, sizeof correlation);
    const ssize_t sent = ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(request.size()) ||
        !read_answer(socket, answer, sizeof answer)) {
      std::fprintf(stderr, "raw_socket: the connection failed\n");
      return 1;
    }
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (i >= warm_up) microseconds.push_back(took.count());
  }
  tell_percentiles(microseconds);
  ::close(socket);
  return 0;
}
