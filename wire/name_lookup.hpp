// Host name -> addresses, without blocking a lane.
//
// Numeric addresses and "localhost" are answered without a thread. Other names need getaddrinfo(),
// which blocks for as long as the name servers please. Each such look-up runs on a thread of its
// own that ends with it: the one exception to "no thread but the lanes". At most look_ups_max run
// at a time, none exists while nothing is looked up. Asio's resolver is not used: it keeps a thread
// for ever, queues every name behind the slowest one, and joins that thread in the destructor of
// the io_context, which would block for as long as the name server is silent (L8).
//
// Invariants
// 1. The callback is called at most once, from the loop, never after its handle was destroyed.
// 2. Destroying the look-up or the handle never waits for a name server. A thread that is still
//    inside getaddrinfo() then finds nobody to tell, and ends.
// 3. At most look_ups_max threads and look_ups_waiting_max waiting names; beyond that a look-up
//    fails at once.
//
// Threads: the loop's; see above.
#pragma once

#include "wire/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace boost::asio {
class io_context;
}

namespace partita::wire {

enum class address_family : std::uint8_t { any, v4, v6 };

struct name_lookup_options {
  address_family family = address_family::any;
  std::size_t look_ups_max = 4;
  std::size_t look_ups_waiting_max = 256;
  std::size_t addresses_max = 64;  ///< of one name; more are ignored
  /// Blocks until it knows; runs on a thread of its own. Null: getaddrinfo(). Tests put theirs.
  std::function<look_up_result(const std::string& host, address_family family)> resolve;
};

/// The answer for hosts that need no name server: numeric addresses (IPv6 also in brackets) and
/// "localhost". None for all others.
[[nodiscard]] std::optional<look_up_result> look_up_inline(std::string_view host,
                                                           address_family family);

class name_lookup {
 public:
  explicit name_lookup(boost::asio::io_context& loop, name_lookup_options options = {});
  name_lookup(const name_lookup&) = delete;
  name_lookup& operator=(const name_lookup&) = delete;
  ~name_lookup();

  [[nodiscard]] std::unique_ptr<pending_look_up> look_up(
      std::string host, std::function<void(const look_up_result&)> callback);

  /// Look-up threads that are running now.
  [[nodiscard]] std::size_t running() const;

 private:
  struct shared;
  class pending;
  std::shared_ptr<shared> shared_;
};

}  // namespace partita::wire
