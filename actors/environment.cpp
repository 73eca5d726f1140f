#include "actors/environment.hpp"

namespace partita::actors {

namespace {
class machine_clocks final : public clock_source {
 public:
  instant now() const noexcept override { return std::chrono::steady_clock::now(); }
  timestamp wall_now() const noexcept override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
};
}  // namespace

const clock_source& system_clocks() noexcept {
  static const machine_clocks clocks;
  return clocks;
}

}  // namespace partita::actors
