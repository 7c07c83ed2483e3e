#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gorgo/client.hpp"
#include "tools/commands.hpp"
#include "tools/format_option.hpp"
#include "tools/login.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"

namespace gorgo::tools {
namespace {

struct PingOptions {
  Login login;
  std::string to = "127.0.0.1:7450";
  std::string format = "text";
  std::size_t count = 1000;
};

/// Precondition: `sorted` is not empty.
Duration percentile(const std::vector<Duration>& sorted, double share) {
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(at, sorted.size() - 1)];
}

void print(const std::string& server, const std::vector<Duration>& sorted) {
  const auto micro = [](Duration time) { return static_cast<double>(time) / 1000.0; };
  std::printf("%zu round trips to %s, microseconds\n", sorted.size(), server.c_str());
  std::printf("  min %.1f  p50 %.1f  p90 %.1f  p99 %.1f  max %.1f\n", micro(sorted.front()),
              micro(percentile(sorted, 0.5)), micro(percentile(sorted, 0.9)),
              micro(percentile(sorted, 0.99)), micro(sorted.back()));
}

int ping(const PingOptions& options) {
  auto client = connect(options.to, "ping", options.login);
  if (!client) return fail(client.error());
  std::vector<Duration> times;
  while (times.size() < options.count) {
    const auto time = client->ping();
    if (!time) return fail(time.error());
    times.push_back(*time);
  }
  std::ranges::sort(times);
  if (options.format == "text") {
    print(options.to, times);
    return kSuccess;
  }
  print_json({{"server", options.to},
              {"round_trips", times.size()},
              {"nanoseconds",
               {{"min", times.front()},
                {"p50", percentile(times, 0.5)},
                {"p90", percentile(times, 0.9)},
                {"p99", percentile(times, 0.99)},
                {"max", times.back()}}}});
  return kSuccess;
}

}  // namespace

void add_ping(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("ping", "Measure round trips to a server, one by one");
  const auto options = std::make_shared<PingOptions>();
  command->add_option("--to", options->to, "Address of the server")
      ->option_text("HOST:PORT=127.0.0.1:7450");
  command->add_option("--count", options->count, "Round trips")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  as_format(command, options->format);
  add_login(*command, options->login);
  command->callback([options, &exit_code] { exit_code = ping(*options); });
}

}  // namespace gorgo::tools
