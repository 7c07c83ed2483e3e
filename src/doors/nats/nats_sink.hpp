#pragma once

#include <cstdint>
#include <string>

#include "doors/door.hpp"
#include "doors/nats/connection.hpp"
#include "doors/nats/fence.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::nats {

/// Publishes events to subjects of NATS. With a stream it returns when the stream has them, and the
/// stream drops those that it has already; without one, when the server has taken them.
class NatsSink : public Sink {
 public:
  NatsSink(const std::string& door, const Settings& settings);
  ~NatsSink() override { connection_.close(); }

  Result<void> send(const Departing& events) override;
  void wake() override { connection_.wake(); }

 private:
  const Settings settings_;
  const std::string client_id_;
  Connection connection_;
  Owned<jsCtx> stream_;
  Fence fence_;                  // where `fenced` is set
  const std::uintptr_t number_;  // by which the library tells of this sink's events

  Result<void> open();
  Result<void> publish_all(const Departing& events);
  Result<void> publish(const Departing::Row& row);
  /// Waits until the stream has everything that was published.
  Result<void> await();
};

}  // namespace gorgo::doors::nats
