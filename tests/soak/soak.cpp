#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "attacks.hpp"
#include "honest_client.hpp"
#include "server_process.hpp"

// A real server under attack: well-behaved clients keep exact accounts while hostile ones do all
// that `attacks` names at once. Exits 0 when all accounts add up and the server stops in order.
namespace gorgo::soak {
namespace {

namespace fs = std::filesystem;

struct Options {
  int seconds = 600;
  int clients = 8;
  int period_us = 20'000;
  std::size_t address_space_mib = 0;
  double p99_ms = 0;
  std::vector<std::string> only;
};

/// Repeats one attack on a thread until it is told to stop.
class Attacker {
 public:
  Attacker(const Attack& attack, const Target& target)
      : attack_(attack), thread_([this, target] {
          while (!target.stop) {
            attack_.once(target);
            ++rounds_;
          }
        }) {}
  ~Attacker() { thread_.join(); }

  const char* name() const { return attack_.name; }
  std::uint64_t rounds() const { return rounds_; }

 private:
  const Attack attack_;
  std::atomic<std::uint64_t> rounds_ = 0;
  std::thread thread_;
};

double milliseconds(const std::vector<Duration>& sorted, std::size_t per_mille) {
  if (sorted.empty()) return 0;
  return static_cast<double>(sorted[(sorted.size() * per_mille + 999) / 1000 - 1]) / 1e6;
}

/// Prints the accounts; false: one does not add up, or the latencies are above the bound.
bool report(std::vector<Account> accounts, double p99_ms) {
  std::vector<Duration> latencies;
  bool exact = true;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const Account& a = accounts[i];
    std::printf("client %zu: %lu accepted, %lu delivered, %lu refused and sent again%s%s\n", i,
                a.accepted, a.delivered, a.refused, a.failure.empty() ? "" : ": ",
                a.failure.c_str());
    exact = exact && a.failure.empty() && a.delivered > 0;
    latencies.insert(latencies.end(), a.latencies.begin(), a.latencies.end());
  }
  std::ranges::sort(latencies);
  const double p99 = milliseconds(latencies, 990);
  std::printf("latency from the planned time: p50 %.1f ms, p99 %.1f ms, max %.1f ms\n",
              milliseconds(latencies, 500), p99, milliseconds(latencies, 1000));
  if (p99_ms > 0 && p99 > p99_ms) {
    std::printf("the p99 is above %.1f ms\n", p99_ms);
    return false;
  }
  return exact;
}

void wait_for_end(ServerProcess& server, int seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end && server.is_running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

/// `dispatch.max_rule_time_ms` stays off: what a suspended rule passes over would be missing in the
/// accounts.
std::vector<std::string> server_arguments(const fs::path& folder, std::size_t address_space_mib) {
  const auto config = folder / "gorgo.toml";
  std::ofstream text(config);
  if (address_space_mib > 0) {
    text << "[limits]\nmemory_bytes = " << (address_space_mib << 20) / 4 << "\n";
  }
  return {"serve",    "--config",   config.string(), "--rules", (folder / "rules").string(),
          "--listen", "127.0.0.1:0"};
}

std::string last_line(const fs::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);) last = line;
  return last;
}

bool soak(const Options& options, const fs::path& folder) {
  fs::create_directories(folder / "rules");
  std::ofstream(folder / "rules" / "pulse.tesla") << HonestClient::rules(options.clients);
  ServerProcess server(server_arguments(folder, options.address_space_mib),
                       (folder / "server.log").string(), options.address_space_mib << 20);
  std::printf("server at %s, its log in %s\n", server.address().c_str(),
              (folder / "server.log").c_str());

  std::vector<std::unique_ptr<HonestClient>> clients;
  for (int i = 0; i < options.clients; ++i) {
    clients.push_back(std::make_unique<HonestClient>(i, server.address(),
                                                     std::chrono::microseconds(options.period_us)));
  }
  std::atomic<bool> stop = false;
  const Target target{server.port(), folder / "rules", [&] { server.signal(SIGHUP); }, stop};
  std::vector<std::unique_ptr<Attacker>> attackers;
  for (const Attack& attack : attacks()) {
    if (options.only.empty() || std::ranges::find(options.only, attack.name) != options.only.end())
      attackers.push_back(std::make_unique<Attacker>(attack, target));
  }
  wait_for_end(server, options.seconds);
  const bool alive = server.is_running();
  std::vector<Account> accounts;
  for (auto& client : clients) accounts.push_back(client->finish());
  stop = true;
  for (const auto& attacker : attackers) {
    std::printf("%-20s %lu rounds\n", attacker->name(), attacker->rounds());
  }
  attackers.clear();
  const bool exact = report(std::move(accounts), options.p99_ms);
  std::printf("server: %s, peak memory %zu MiB\n", alive ? "alive" : "dead", server.peak_mib());
  const int status = server.stop();
  std::printf("server ended with %d, and its log with\n  %s\n", status,
              last_line(folder / "server.log").c_str());
  return exact && alive && status == 0;
}

}  // namespace
}  // namespace gorgo::soak

int main(int argc, char** argv) {
  using namespace gorgo::soak;
  Options options;
  CLI::App app("Attacks a server while well-behaved clients keep accounts.");
  app.add_option("--seconds", options.seconds, "How long")->capture_default_str();
  app.add_option("--clients", options.clients, "Well-behaved ones")->capture_default_str();
  app.add_option("--period-us", options.period_us, "Between two events of one of them")
      ->capture_default_str();
  app.add_option("--address-space-mib", options.address_space_mib,
                 "Limit of the server's address space; 0: none");
  app.add_option("--p99-ms", options.p99_ms, "Fail when the latencies' p99 is above; 0: never");
  app.add_option("--only", options.only, "Names of attacks; all by default");
  CLI11_PARSE(app, argc, argv);

  signal(SIGPIPE, SIG_IGN);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const fs::path folder = fs::temp_directory_path() / ("gorgo_soak_" + std::to_string(getpid()));
  const bool passed = soak(options, folder);
  std::puts(passed ? "passed" : "FAILED");
  if (passed) fs::remove_all(folder);
  return passed ? 0 : 1;
}
