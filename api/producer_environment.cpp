#include "api/producer_environment.hpp"

#include "actors/lane_driver_asio.hpp"

namespace partita::detail {

wire::tcp_options socket_options(const producer_config& config) {
  wire::tcp_options sockets;
  sockets.no_delay = config.socket_nagle_disable;
  sockets.keep_alive = config.socket_keepalive;
  sockets.send_buffer_bytes = static_cast<int>(config.socket_send_buffer_bytes);
  sockets.receive_buffer_bytes = static_cast<int>(config.socket_receive_buffer_bytes);
  switch (config.broker_address_family) {
    case address_family::any:
      break;
    case address_family::v4:
      sockets.family = wire::address_family::v4;
      break;
    case address_family::v6:
      sockets.family = wire::address_family::v6;
      break;
  }
  return sockets;
}

environment_choice own_lanes(const producer_config& config) {
  environment_choice choice;
  choice.options.lanes = static_cast<std::size_t>(config.lanes);
  for (int i = 0; i < config.lanes; ++i)
    choice.options.drivers.push_back(actors::make_thread_driver(socket_options(config)));
  return choice;
}

}  // namespace partita::detail
