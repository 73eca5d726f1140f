#include "api/testing/simulated_network.hpp"

#include "api/testing/simulated_link.hpp"

namespace partita::testing {

// The client's handle of a link; the link outlives it while events are in flight.
class simulated_stream final : public wire::stream {
 public:
  explicit simulated_stream(std::shared_ptr<simulated_link> link) : link_(std::move(link)) {}
  ~simulated_stream() override { link_->close(wire::close_how::orderly); }

  void connect(std::string_view host, std::uint16_t port,
               std::chrono::milliseconds limit) override {
    link_->connect(host, port, limit);
  }
  std::size_t write(std::span<const std::span<const std::byte>> pieces) override {
    return link_->write(pieces);
  }
  [[nodiscard]] std::uint64_t handed_over() const override { return link_->handed_over(); }
  void want_writable() override { link_->want_writable(); }
  void set_reading(bool on) override { link_->set_reading(on); }
  void close(wire::close_how how) override { link_->close(how); }
  [[nodiscard]] std::string peer_address() const override { return link_->peer(); }

 private:
  std::shared_ptr<simulated_link> link_;
};

namespace {

constexpr std::size_t links_kept_max = 1024;  // then those that ended are forgotten

class simulated_look_up final : public wire::pending_look_up {
 public:
  simulated_look_up(virtual_time& time, virtual_time::event_id event)
      : time_(time), event_(event) {}
  ~simulated_look_up() override { time_.cancel(event_); }

 private:
  virtual_time& time_;
  virtual_time::event_id event_;
};

}  // namespace

simulated_network::simulated_network(virtual_time& time, cluster_core& core,
                                     const link_options& options, std::function<void()> changed)
    : time_(time), core_(core), options_(options), changed_(std::move(changed)) {}

simulated_network::~simulated_network() = default;

std::unique_ptr<wire::stream> simulated_network::make_stream(wire::stream_events& events) {
  if (links_.size() >= links_kept_max)
    std::erase_if(links_, [](const auto& link) { return link.second.expired(); });
  return std::make_unique<simulated_stream>(std::make_shared<simulated_link>(*this, events));
}

std::unique_ptr<wire::pending_look_up> simulated_network::look_up(
    std::string host, std::function<void(const wire::look_up_result&)> callback) {
  wire::look_up_result result;
  bool known = false;
  for (const auto& broker : core_.state().brokers()) known = known || broker.host == host;
  if (known) {
    result.addresses.push_back(std::move(host));
  } else {
    result.failure = {client_errc::host_not_found, {}, std::move(host)};
  }
  const auto event = time_.after(latency(), [callback = std::move(callback),
                                             result = std::move(result)] { callback(result); });
  return std::make_unique<simulated_look_up>(time_, event);
}

std::int32_t simulated_network::broker_at(std::string_view host, std::uint16_t port) {
  std::vector<std::int32_t> found;
  for (const auto& broker : core_.state().brokers())
    if (broker.host == host && broker.port == port) found.push_back(broker.id);
  if (found.empty()) return -1;
  if (found.size() == 1) return found.front();
  return found[forwarded_[std::string(host)]++ % found.size()];
}

void simulated_network::move_address(std::int32_t broker, virtual_time::duration visible_after) {
  auto& moved = addresses_[broker];
  ++moved.moves;
  moved.visible_ns = (time_.now() + visible_after).count();
}

std::uint32_t simulated_network::living_address(std::int32_t broker) const {
  const auto found = addresses_.find(broker);
  return found == addresses_.end() ? 0 : found->second.moves;
}

std::uint32_t simulated_network::address_of(std::int32_t broker) const {
  const auto found = addresses_.find(broker);
  if (found == addresses_.end()) return 0;
  return found->second.moves - (time_.now().count() < found->second.visible_ns ? 1 : 0);
}

virtual_time::duration simulated_network::latency() {
  using std::chrono::microseconds;
  const auto span = options_.latency_max - options_.latency_min;
  const auto extra =
      time_.draws().below(static_cast<std::uint64_t>(std::max<std::int64_t>(0, span.count()) + 1));
  return options_.latency_min + microseconds{extra};
}

link_fault* simulated_network::fault_of(std::int32_t broker) {
  const auto found = faults_.find(broker);
  return found == faults_.end() ? nullptr : &found->second;
}

void simulated_network::set_fault(std::int32_t broker, const link_fault& fault) {
  faults_[broker] = fault;
}

void simulated_network::heal(std::int32_t broker) {
  cut_.erase(broker);
  faults_.erase(broker);
  refused_.erase(broker);
  for (auto at = links_.begin(); at != links_.end();) {
    if (const auto link = at->second.lock()) {
      if (link->broker() == broker) link->resume();
      ++at;
    } else {
      at = links_.erase(at);
    }
  }
  std::erase_if(waiting_, [&](const auto& link) { return link.second->broker() == broker; });
}

}  // namespace partita::testing
