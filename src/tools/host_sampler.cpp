#include "tools/host_sampler.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace gorgo::tools {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Counts processes, which are the folders of /proc that are named by a number.
std::optional<std::int64_t> count_processes(const fs::path& proc) {
  std::error_code error;
  std::int64_t count = 0;
  for (fs::directory_iterator it(proc, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.find_first_not_of("0123456789") == name.npos) ++count;
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

/// Leaves out partitions and the like; without /sys every device is a disk.
void keep_whole_disks(std::vector<Traffic>& disks, const fs::path& block) {
  std::error_code error;
  if (!fs::is_directory(block, error)) return;
  std::erase_if(disks, [&](const Traffic& disk) {
    std::error_code ignored;
    return !fs::exists(block / disk.device, ignored);
  });
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// Adds an event per device that both readings have. A counter that was set back gives none.
void add_rates(std::vector<Event>& events, const std::vector<Traffic>& before,
               const std::vector<Traffic>& now, double seconds, const Event& names) {
  for (const auto& after : now) {
    const auto old = std::find_if(before.begin(), before.end(), [&](const Traffic& traffic) {
      return traffic.device == after.device;
    });
    if (old == before.end() || after.in < old->in || after.out < old->out) continue;
    Event event = names;
    event.attributes[0].value = after.device;
    event.attributes[1].value = static_cast<double>(after.in - old->in) / seconds;
    event.attributes[2].value = static_cast<double>(after.out - old->out) / seconds;
    events.push_back(std::move(event));
  }
}

void add_cpus(std::vector<Event>& events, const HostReading& before, const HostReading& now) {
  for (const auto& after : now.cpus) {
    const auto old = std::find_if(before.cpus.begin(), before.cpus.end(),
                                  [&](const CpuTimes& times) { return times.cpu == after.cpu; });
    // No tick has passed: nothing can be said of so short a time.
    if (old == before.cpus.end() || after.total <= old->total || after.busy < old->busy) continue;
    const double busy = percent(after.busy - old->busy, after.total - old->total);
    events.push_back(
        {.type = "Cpu", .attributes = {{"cpu", std::int64_t{after.cpu}}, {"busy", busy}}});
  }
}

}  // namespace

HostReading read_host(const fs::path& root) {
  const fs::path proc = root / "proc";
  HostReading reading;
  const auto check = [&](const char* source, bool found) {
    if (!found) reading.missing.push_back((proc / source).string());
  };
  reading.cpus = parse_cpu_times(text_of(proc / "stat"));
  check("stat", !reading.cpus.empty());
  reading.memory = parse_memory(text_of(proc / "meminfo"));
  check("meminfo", reading.memory.has_value());
  reading.load = parse_load(text_of(proc / "loadavg"));
  check("loadavg", reading.load.has_value());
  reading.disks = parse_disks(text_of(proc / "diskstats"));
  keep_whole_disks(reading.disks, root / "sys/block");
  check("diskstats", !reading.disks.empty());
  reading.networks = parse_networks(text_of(proc / "net/dev"));
  check("net/dev", !reading.networks.empty());
  reading.processes = count_processes(proc);
  check("PID", reading.processes.has_value());
  return reading;
}

std::vector<Event> events_between(const HostReading& before, const HostReading& now) {
  const double seconds = static_cast<double>(now.at - before.at) / 1e9;
  std::vector<Event> events;
  add_cpus(events, before, now);
  if (now.memory && now.memory->total > 0) {
    const auto& [total, available] = *now.memory;
    events.push_back({.type = "Memory",
                      .attributes = {{"total", static_cast<std::int64_t>(total)},
                                     {"available", static_cast<std::int64_t>(available)},
                                     {"used", 100.0 - percent(available, total)}}});
  }
  if (now.load) {
    const auto& load = *now.load;
    events.push_back(
        {.type = "Load",
         .attributes = {{"one", load.one}, {"five", load.five}, {"fifteen", load.fifteen}}});
  }
  if (now.processes && now.load) {
    events.push_back({.type = "Processes",
                      .attributes = {{"count", *now.processes}, {"running", now.load->running}}});
  }
  add_rates(events, before.disks, now.disks, seconds,
            {.type = "Disk", .attributes = {{"device", {}}, {"read", {}}, {"written", {}}}});
  add_rates(events, before.networks, now.networks, seconds,
            {.type = "Network", .attributes = {{"interface", {}}, {"rx", {}}, {"tx", {}}}});
  return events;
}

}  // namespace gorgo::tools
