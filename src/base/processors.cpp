#include "base/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

namespace gorgo {
namespace {

unsigned allowed_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails where the machine has more processors than such a set has room for.
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::thread::hardware_concurrency();
  return static_cast<unsigned>(CPU_COUNT(&set));
}

/// The bound of the group that this process sees as the root, which is its own in a container.
std::optional<unsigned> group_bound() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string line;
  return std::getline(file, line) ? processors_in(line) : std::nullopt;
}

bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::optional<unsigned> processors_in(std::string_view cpu_max) {
  std::uint64_t quota = 0, period = 0;
  if (!take_number(cpu_max, quota) || !cpu_max.starts_with(' ')) return std::nullopt;
  cpu_max.remove_prefix(1);
  if (!take_number(cpu_max, period) || period == 0 || quota == 0) return std::nullopt;
  return static_cast<unsigned>((quota - 1) / period + 1);
}

unsigned available_processors() {
  const unsigned allowed = allowed_processors();
  return std::max(1U, std::min(allowed, group_bound().value_or(allowed)));
}

}  // namespace gorgo
