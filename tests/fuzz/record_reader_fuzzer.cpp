// libFuzzer entry: record batches in every codec.

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  partita::wire::fuzz_record_reader({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
