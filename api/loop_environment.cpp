// A producer on the application's loop. Declared in <partita/asio.hpp>, which is not included here:
// the library itself does not see the application's side of Asio.
#include "actors/lane_driver_asio.hpp"
#include "api/producer_environment.hpp"
#include "api/wrong_config.hpp"

#include <partita/producer.hpp>

#include <memory>

namespace partita {

std::unique_ptr<producer> make_producer_on(boost::asio::io_context& loop,
                                           const producer_config& config);

std::unique_ptr<producer> make_producer_on(boost::asio::io_context& loop,
                                           const producer_config& config) {
  if (const config_error wrong = validate(config)) throw detail::wrong_config(wrong);
  detail::environment_choice on_loop;
  on_loop.options.lanes = 1;
  on_loop.options.drivers.push_back(actors::make_loop_driver(loop, detail::socket_options(config)));
  return std::make_unique<producer>(config, on_loop);
}

}  // namespace partita
