// Seeded mutations of valid bytes through the fuzz targets, for builds without a fuzzer. Worth most
// under the address and undefined-behaviour sanitizers.

#include "tests/fuzz/targets.hpp"
#include "tests/wire/sample_messages.hpp"
#include "tests/wire/sample_records.hpp"

#include <gtest/gtest.h>

namespace partita::wire {
namespace {

using bytes = std::vector<std::byte>;

/// Flips, overwrites, cuts, doubles or inserts, one to four times.
bytes mutated(bytes input, std::mt19937& draw) {
  for (unsigned changes = 1 + draw() % 4; changes > 0 && !input.empty(); --changes) {
    const std::size_t at = draw() % input.size();
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    switch (draw() % 6) {
      case 0:
        input[at] ^= static_cast<std::byte>(1u << draw() % 8);
        break;
      case 1:
        input[at] = static_cast<std::byte>(draw());
        break;
      case 2:
        input[at] = draw() % 2 == 0 ? std::byte{0xff} : std::byte{0x7f};
        break;
      case 3:
        input.resize(at);
        break;
      case 4:
        input.insert(place, static_cast<std::byte>(draw()));
        break;
      default:
        input.erase(place);
        break;
    }
  }
  return input;
}

template <class Request>
void add_bodies(std::vector<bytes>& corpus, std::byte selector) {
  using response = typename Request::response_type;
  for (std::int16_t v = Request::versions.first; v <= Request::versions.last; ++v) {
    const bytes request = encode_request(sample<Request>(v), v, 1, "c").frame.flatten();
    const bytes answer = encode_response(sample<response>(v), v, 1).frame.flatten();
    const auto body = parse_request_header(std::span(request).subspan(4)).body;
    bytes& first = corpus.emplace_back(bytes{selector, static_cast<std::byte>(v)});
    first.insert(first.end(), body.begin(), body.end());
    bytes& second = corpus.emplace_back(bytes{selector, static_cast<std::byte>(v)});
    second.insert(second.end(), answer.begin() + 8, answer.end());
  }
}

TEST(Mutation, DecodersSurviveDamagedMessages) {
  std::vector<bytes> corpus;
  add_bodies<produce_request>(corpus, std::byte{0});
  add_bodies<fetch_request>(corpus, std::byte{1});
  add_bodies<list_offsets_request>(corpus, std::byte{2});
  add_bodies<metadata_request>(corpus, std::byte{3});
  add_bodies<api_versions_request>(corpus, std::byte{4});
  add_bodies<init_producer_id_request>(corpus, std::byte{5});
  add_bodies<describe_producers_request>(corpus, std::byte{6});
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 draw(seed);
    SCOPED_TRACE(seed);
    fuzz_decoder(mutated(corpus[draw() % corpus.size()], draw));
  }
}

TEST(Mutation, RecordReaderSurvivesDamagedBatches) {
  std::vector<bytes> corpus;
  for (const codec which : {codec::none, codec::gzip, codec::snappy, codec::lz4, codec::zstd}) {
    batch_builder builder;
    for (const stored_record& stored : golden_records()) append(builder, stored);
    corpus.push_back(builder.seal(example_stamp, which, levels_of(which).preset).bytes().flatten());
    EXPECT_EQ(fuzz_record_reader(corpus.back()), 2 * golden_records().size());
  }
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 draw(seed);
    SCOPED_TRACE(seed);
    // A batch of 24 records of 10 bytes or more cannot become one of a million.
    EXPECT_LT(fuzz_record_reader(mutated(corpus[draw() % corpus.size()], draw)), 1'000'000u);
  }
}

}  // namespace
}  // namespace partita::wire
