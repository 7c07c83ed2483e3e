#include "tools/host_proc.hpp"

#include <numeric>

#include "tools/number_text.hpp"

namespace gorgo::tools {
namespace {

/// Takes the text up to `separator` from the front of `text`.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return taken;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::string_view word = take(line, ' ');
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

}  // namespace

std::vector<CpuTimes> parse_cpu_times(std::string_view stat) {
  std::vector<CpuTimes> cpus;
  while (!stat.empty()) {
    const auto words = words_of(take(stat, '\n'));
    if (words.size() < 6 || !words[0].starts_with("cpu")) continue;
    const auto cpu = number<int>(words[0].substr(3));
    if (!cpu) continue;  // the sum of all is named "cpu"
    // user nice system idle iowait irq softirq steal
    std::vector<std::uint64_t> ticks;
    for (std::size_t i = 1; i < words.size() && i <= 8; ++i) {
      ticks.push_back(number<std::uint64_t>(words[i]).value_or(0));
    }
    const auto total = std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0});
    cpus.push_back({*cpu, total - ticks[3] - ticks[4], total});
  }
  return cpus;
}

std::optional<MemorySize> parse_memory(std::string_view meminfo) {
  std::optional<std::uint64_t> total, available;
  while (!meminfo.empty()) {
    const auto words = words_of(take(meminfo, '\n'));
    if (words.size() < 2) continue;
    if (words[0] == "MemTotal:") total = number<std::uint64_t>(words[1]);
    if (words[0] == "MemAvailable:") available = number<std::uint64_t>(words[1]);
  }
  if (!total || !available) return std::nullopt;
  return MemorySize{*total * 1024, *available * 1024};
}

std::optional<LoadAverage> parse_load(std::string_view loadavg) {
  const auto words = words_of(take(loadavg, '\n'));
  if (words.size() < 4) return std::nullopt;
  const auto one = number<double>(words[0]);
  const auto five = number<double>(words[1]);
  const auto fifteen = number<double>(words[2]);
  const auto running = number<std::int64_t>(words[3].substr(0, words[3].find('/')));
  if (!one || !five || !fifteen || !running) return std::nullopt;
  return LoadAverage{*one, *five, *fifteen, *running};
}

std::vector<Traffic> parse_disks(std::string_view diskstats) {
  constexpr std::uint64_t kSector = 512;  // whatever the device's own sectors are
  std::vector<Traffic> disks;
  while (!diskstats.empty()) {
    const auto words = words_of(take(diskstats, '\n'));
    if (words.size() < 10) continue;
    const auto read = number<std::uint64_t>(words[5]);
    const auto written = number<std::uint64_t>(words[9]);
    if (!read || !written || *read + *written == 0) continue;
    disks.push_back({std::string(words[2]), *read * kSector, *written * kSector});
  }
  return disks;
}

std::vector<Traffic> parse_networks(std::string_view net_dev) {
  std::vector<Traffic> interfaces;
  while (!net_dev.empty()) {
    std::string_view line = take(net_dev, '\n');
    if (line.find(':') == line.npos) continue;  // the two lines of headings
    const auto name = words_of(take(line, ':'));
    const auto words = words_of(line);
    if (name.size() != 1 || words.size() < 9) continue;
    const auto received = number<std::uint64_t>(words[0]);
    const auto sent = number<std::uint64_t>(words[8]);
    if (received && sent) interfaces.push_back({std::string(name[0]), *received, *sent});
  }
  return interfaces;
}

}  // namespace gorgo::tools
