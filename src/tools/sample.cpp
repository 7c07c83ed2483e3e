#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "codec/event_text.hpp"
#include "tools/commands.hpp"
#include "tools/host_sampler.hpp"
#include "tools/output.hpp"
#include "tools/stop_signals.hpp"
#include "tools/time_option.hpp"
#include "tools/wall_clock.hpp"

namespace gorgo::tools {
namespace {

struct SampleOptions {
  Duration interval = 1'000'000'000;
  std::uint64_t count = 0;  // 0: without end
  Duration duration = 0;    // 0: without end
  bool timestamps = false;
};

Timestamp steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

HostReading read_now() {
  HostReading reading = read_host("/");
  reading.at = steady_now();
  return reading;
}

/// Prints one reading per interval until the count, the duration, a signal or the reader's end.
Result<void> sample_host(const SampleOptions& options) {
  StopSignals stop;
  const auto writer = codec::make_line_writer();
  HostReading before = read_now();
  for (const auto& source : before.missing) {
    note("no readings from " + source + ", skipped");
  }
  const Timestamp start = before.at;
  std::string text;
  for (std::uint64_t n = 1; options.count == 0 || n <= options.count; ++n) {
    const Timestamp due = start + static_cast<Duration>(n) * options.interval;
    if (options.duration > 0 && due - start > options.duration) break;
    // Even when late, some time must pass between two readings.
    if (!stop.wait(std::max<Duration>(due - steady_now(), 1'000'000))) break;
    HostReading now = read_now();
    text.clear();
    const Timestamp wall = wall_now();
    for (Event& event : events_between(before, now)) {
      if (options.timestamps) event.timestamp = wall;
      writer->write(text, event);
    }
    const auto written = stop.write(text);
    if (!written) return written.error();
    if (!*written) break;
    before = std::move(now);
  }
  return {};
}

int sample_until_stopped(const SampleOptions& options) {
  const auto done = sample_host(options);
  if (done) return kSuccess;
  fail(done.error());
  return kFailure;
}

}  // namespace

void add_sample(CLI::App& app, int& exit_code) {
  auto* sample = app.add_subcommand("sample", "Print live readings as event lines");
  sample->require_subcommand(1);
  auto* host = sample->add_subcommand(
      "host",
      "This machine's CPUs, memory, load, processes, disks and networks. The lines carry no\n"
      "timestamps, so whoever receives them stamps them, unless --timestamps is given.");
  const auto options = std::make_shared<SampleOptions>();
  // Checks see the text as the transformation left it: nanoseconds.
  const auto positive = [](const std::string& nanoseconds) {
    return nanoseconds.starts_with('-') || nanoseconds.size() < 7 ? "at least 1ms is needed" : "";
  };
  as_time(host->add_option("--interval", options->interval,
                           "Time between readings, such as 100ms or 2s"))
      ->check(positive)
      ->option_text("TIME=1s");
  host->add_option("--count", options->count, "Stop after so many readings");
  as_time(host->add_option("--duration", options->duration, "Stop after this time, such as 20s"))
      ->check(positive)
      ->option_text("TIME");
  host->add_flag("--timestamps", options->timestamps, "Stamp the events with this machine's clock");
  host->callback([options, &exit_code] { exit_code = sample_until_stopped(*options); });
}

}  // namespace gorgo::tools
