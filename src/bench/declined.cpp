#include "bench/declined.hpp"

#include <algorithm>

namespace gorgo::bench {
namespace {

Declined declined_of(const RuleInfo& before, const RuleInfo& after, const std::string& engine) {
  // The processor says of a rule as a whole that its engine declines it in these words only.
  const std::string whole = engine + " declines, column evaluates: ";
  if (after.placed_because.starts_with(whole)) {
    return {after.terminators - before.terminators, "column",
            after.placed_because.substr(whole.size())};
  }
  // A rule that moves to another engine begins a new count.
  const std::uint64_t first = std::min(before.declined, after.declined);
  return {after.declined - first, "column-scan", after.declined_because};
}

}  // namespace

void add(std::vector<Declined>& all, std::span<const Declined> more) {
  for (const Declined& one : more) {
    const auto known = std::ranges::find_if(all, [&](const Declined& other) {
      return other.by == one.by && other.because == one.because;
    });
    if (known == all.end()) {
      all.push_back(one);
    } else {
      known->terminators += one.terminators;
    }
  }
}

std::vector<Declined> declined_between(std::span<const RuleInfo> before,
                                       std::span<const RuleInfo> after, const std::string& engine) {
  std::vector<Declined> all;
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    const Declined one = declined_of(before[i], after[i], engine);
    if (one.terminators > 0) add(all, {&one, 1});
  }
  return all;
}

}  // namespace gorgo::bench
