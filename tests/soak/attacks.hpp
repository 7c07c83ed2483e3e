#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace gorgo::soak {

/// What attacks are about.
struct Target {
  std::uint16_t port = 0;
  std::filesystem::path rules;    ///< the folder of rule files that the server was started with
  std::function<void()> reload;   ///< has the server read it again
  const std::atomic<bool>& stop;  ///< an attack that waits looks here
};

/// Something that a client or an operator's files may do, and that must harm nobody else.
struct Attack {
  const char* name;
  void (*once)(const Target& target);  ///< one round; it is repeated until the end
};

std::span<const Attack> attacks();

}  // namespace gorgo::soak
