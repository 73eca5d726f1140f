// ThreadSanitizer starts a thread of its own together with the program's first one. It is started
// here, before any test, so that tests which count the threads of the process count it always or
// never.
#include <thread>

namespace {

[[maybe_unused]] const bool first_thread_has_run = [] {
  std::thread([] {}).join();
  return true;
}();

}  // namespace
