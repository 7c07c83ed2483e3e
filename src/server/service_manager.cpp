#include "server/service_manager.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

namespace gorgo::server {
namespace {

/// A socket that is connected to the address that sd_notify(3) describes: a path, or a name in the
/// abstract namespace behind '@'. -1: there is nobody at it.
int connect_to(std::string_view name) {
  sockaddr_un address = {};
  if (name.empty() || name.size() >= sizeof address.sun_path) return -1;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name.front() == '@') address.sun_path[0] = '\0';
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return -1;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0) return socket;
  ::close(socket);
  return -1;
}

std::optional<std::uint64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

/// The watchdog's time where it is this process that is watched.
std::optional<std::chrono::microseconds> watchdog_time() {
  const auto time = number_in("WATCHDOG_USEC"), process = number_in("WATCHDOG_PID");
  if (!time || *time == 0) return std::nullopt;
  if (process && *process != static_cast<std::uint64_t>(getpid())) return std::nullopt;
  return std::chrono::microseconds(*time);
}

}  // namespace

ServiceManager::ServiceManager() {
  const char* name = std::getenv("NOTIFY_SOCKET");
  if (name != nullptr) socket_ = connect_to(name);
  if (socket_ >= 0) watchdog_ = watchdog_time();
}

ServiceManager::~ServiceManager() {
  if (socket_ >= 0) ::close(socket_);
}

void ServiceManager::ready(const std::string& status) { tell("READY=1\nSTATUS=" + status); }

void ServiceManager::starting(const std::string& status, std::chrono::microseconds more) {
  tell("EXTEND_TIMEOUT_USEC=" + std::to_string(more.count()) + "\nSTATUS=" + status);
}

void ServiceManager::reloading() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::uint64_t microseconds = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
                                     static_cast<std::uint64_t>(now.tv_nsec) / 1'000;
  tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

void ServiceManager::stopping(const std::string& status) { tell("STOPPING=1\nSTATUS=" + status); }

void ServiceManager::alive() { tell("WATCHDOG=1"); }

void ServiceManager::tell(const std::string& state) const {
  if (socket_ < 0) return;
  static_cast<void>(::send(socket_, state.data(), state.size(), MSG_NOSIGNAL));
}

}  // namespace gorgo::server
