#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "door_support.hpp"
#include "gorgo/diagnostics.hpp"
#include "peer_support.hpp"

namespace gorgo::cluster {

/// A NATS server with a JetStream, which ends with the test.
class OneBroker {
 public:
  explicit OneBroker(const Folder& folder)
      : port_(free_port()),
        process_({GORGO_NATS_SERVER, "-a", "127.0.0.1", "-p", std::to_string(port_), "-js", "-sd",
                  (folder / "nats").string(), "-l", (folder / "nats.log").string()}) {}
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  const int port_;
  Peer process_;
};

/// Repeats until it has succeeded: the broker may be starting.
template <class Does>
void insist(const std::string& what, Does does) {
  const Patience patience(what);
  Result<void> done = does();
  while (!done && patience.lasts()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    done = does();
  }
  if (!done) ADD_FAILURE() << done.error().to_string();
}

}  // namespace gorgo::cluster
