// What a producer runs on: lanes with threads of its own unless the application or a simulation
// brings something else.
#pragma once

#include "actors/runtime.hpp"
#include "wire/tcp_stream.hpp"

#include <partita/config.hpp>

#include <memory>

namespace partita::detail {

struct environment_choice {
  actors::runtime_options options;
  std::shared_ptr<void> keeps_alive{};  ///< clocks and the like, until the producer has ended
};

[[nodiscard]] wire::tcp_options socket_options(const producer_config& config);
[[nodiscard]] environment_choice own_lanes(const producer_config& config);

}  // namespace partita::detail
