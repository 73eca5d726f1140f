// Connections between a client under test and the simulated brokers, in virtual time.
//
// Invariants
// 1. Bytes of one direction arrive in order; latency, cuts and ends of connections come from the
// seed.
// 2. No client event happens inside a call into a stream (wire/stream.hpp, invariant 1).
// 3. Closing in order delivers what was written before; a reset may lose it, by the seed.
//
// Threads: that of the virtual time.
#pragma once

#include "api/testing/cluster_core.hpp"
#include "wire/stream.hpp"

#include <partita/testing/virtual_time.hpp>

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace partita::testing {

class simulated_link;

class simulated_network final : public wire::transport {
 public:
  /// `changed` is called after everything that may have moved the model's next deadline.
  simulated_network(virtual_time& time, cluster_core& core, const link_options& options,
                    std::function<void()> changed);
  ~simulated_network() override;

  std::unique_ptr<wire::stream> make_stream(wire::stream_events& events) override;
  [[nodiscard]] std::unique_ptr<wire::pending_look_up> look_up(
      std::string host, std::function<void(const wire::look_up_result&)> callback) override;

  void set(const link_options& options) { options_ = options; }
  void cut(std::int32_t broker) { cut_.insert(broker); }
  void refuse(std::int32_t broker) { refused_.insert(broker); }
  void heal(std::int32_t broker);
  void move_address(std::int32_t broker, virtual_time::duration visible_after);
  void set_fault(std::int32_t broker, const link_fault& fault);

 private:
  friend class simulated_link;
  friend class simulated_stream;

  /// Several at one address (a port forwarder): each in turn.
  [[nodiscard]] std::int32_t broker_at(std::string_view host, std::uint16_t port);
  /// Where its name leads now. Addresses of a broker are numbered.
  [[nodiscard]] std::uint32_t address_of(std::int32_t broker) const;
  [[nodiscard]] virtual_time::duration latency();
  /// Null: nothing is wrong.
  [[nodiscard]] link_fault* fault_of(std::int32_t broker);
  /// A link whose client has gone lives on while the cut holds back what it sent: the broker's end
  /// does not know yet.
  void keep(std::uint64_t number, std::shared_ptr<simulated_link> waiting) {
    waiting_.emplace(number, std::move(waiting));
  }
  [[nodiscard]] bool is_cut(std::int32_t broker, std::uint32_t address) const {
    return cut_.contains(broker) || address != living_address(broker);
  }
  [[nodiscard]] std::uint32_t living_address(std::int32_t broker) const;

  virtual_time& time_;
  cluster_core& core_;
  link_options options_;
  std::function<void()> changed_;
  std::set<std::int32_t> cut_;
  std::map<std::int32_t, link_fault> faults_;
  std::set<std::int32_t> refused_;
  struct moved_address {
    std::uint32_t moves = 0;
    std::int64_t visible_ns = 0;  // the last one
  };
  std::map<std::int32_t, moved_address> addresses_;
  std::map<std::string, std::size_t> forwarded_;  // connections by address
  std::uint64_t last_link_ = 0;
  std::map<std::uint64_t, std::weak_ptr<simulated_link>> links_;
  std::map<std::uint64_t, std::shared_ptr<simulated_link>> waiting_;  // for the end of a cut
};

}  // namespace partita::testing
