#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gorgo::soak {

/// The real server as a child process; its log goes to a file.
class ServerProcess {
 public:
  /// `address_space`: bytes that the process may map; 0: no limit. Throws std::runtime_error when
  /// it does not begin to listen.
  ServerProcess(std::vector<std::string> arguments, const std::string& log,
                std::size_t address_space);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void signal(int number) const;
  bool is_running();
  /// The most memory that was resident at a time, in MiB. Precondition: it is running.
  std::size_t peak_mib() const;
  /// Tells it to stop and waits; its exit status, or minus the signal that ended it.
  int stop();

 private:
  pid_t pid_ = -1;
  std::uint16_t port_ = 0;
  int status_ = 0;

  void reap(int options);
};

}  // namespace gorgo::soak
