// libFuzzer entry: message headers and bodies of every API and version.

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  partita::wire::fuzz_decoder({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
