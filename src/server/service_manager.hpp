#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace gorgo::server {

/// What systemd is told of the service, by the protocol of sd_notify(3): datagrams to the socket
/// that NOTIFY_SOCKET names. Without that variable nothing is told. A datagram that nobody takes is
/// lost: the server never waits for its manager. One thread at a time.
class ServiceManager {
 public:
  /// Reads the environment.
  ServiceManager();
  ~ServiceManager();
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  /// Rules are loaded and ports are open; also the end of what `reloading` began.
  void ready(const std::string& status);
  /// The service starts and is not ready, and may take so much longer before it says more.
  void starting(const std::string& status, std::chrono::microseconds more);
  void reloading();
  void stopping(const std::string& status);
  /// The server makes progress.
  void alive();
  /// How often `alive` is expected; nothing: nobody watches this process.
  std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

 private:
  int socket_ = -1;  // connected to the manager; -1: there is none
  std::optional<std::chrono::microseconds> watchdog_;

  void tell(const std::string& state) const;
};

}  // namespace gorgo::server
