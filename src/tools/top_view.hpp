#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "gorgo/client.hpp"
#include "tools/listing.hpp"

/// What `gorgo top` shows of a server.
namespace gorgo::tools {

/// The state of a server at one time.
struct TopSample {
  std::chrono::steady_clock::time_point at;
  Duration round_trip = 0;  ///< of a request that waits for nothing
  Histogram latency;        ///< see Client::latency
  std::vector<Statistic> statistics;
  std::vector<RuleInfo> rules;
  std::vector<DeviceInfo> devices;
  std::vector<ClientConnection> connections;
  std::string hidden;  ///< what the user may not see, as a sentence; empty: nothing
};

/// Asks the server. Only the list of rules must be allowed.
Result<TopSample> take_sample(Client& client);

/// Cuts a line that is longer than `width` bytes, never within a character of UTF-8.
void cut_to(std::string& line, std::size_t width);

enum class TopOrder : std::uint8_t { load, rate, memory, name };

/// What has happened between two samples, and what is there at the second one.
class TopView {
 public:
  TopView(const TopSample& before, const TopSample& now, TopOrder order);

  /// At most `height` lines of at most `width` characters.
  std::vector<std::string> lines(std::size_t width, std::size_t height) const;
  nlohmann::ordered_json json() const;

 private:
  struct Rule {
    const RuleInfo* info;
    double terminators = 0, composites = 0;  // a second
    double load = 0;                         // seconds of one thread in a second
  };
  struct Engine {
    std::string name;
    std::size_t rules = 0;
    double terminators = 0, load = 0;
  };

  const TopSample& now_;
  double seconds_ = 0;
  double accepted_ = 0, refused_ = 0, composites_ = 0;  // a second
  std::optional<std::uint64_t> p50_, p99_;              // of the latency, nanoseconds
  std::vector<Rule> rules_;
  std::vector<Engine> engines_;

  std::vector<std::string> summary() const;
  Table engine_table() const;
  Table connection_table() const;
  Table rule_table() const;
};

}  // namespace gorgo::tools
