#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <map>
#include <memory>
#include <new>
#include <set>

#include "codec/event_notation.hpp"
#include "failing_memory.hpp"
#include "support.hpp"

// Rules whose evaluation finds no memory.
namespace gorgo::server {
namespace {

using ::testing::IsSupersetOf;

/// What a processor hands out, by type, in order.
using Output = std::map<std::string, std::vector<std::string>>;

const std::string kWord(40, 'w');

constexpr const char* kSeveral = R"(
rule pairs: define Pairs(n: int, m: int)
from A([int]n >= 0) and each B(n >= 0) as b within 1 h from A where n = A.n, m = b.n;
rule once: define Once(n: int, m: int)
from A([int]n >= 0) and each B(n >= 3) as b within 1 h from A where n = A.n, m = b.n consuming b;
rule texts: define Texts(s: string)
from A([int]n >= 0) and each B([string]s >= "") as b within 1 h from A where s = concat(b.s, "-", A.n);
rule sums: define Sums(n: int, sum: int)
from A([int]n >= 0) where n = A.n, sum = SUM(B([int]n >= 0).n) within 1 h from A;
rule missing: define Missing(n: int)
from A([int]n >= 0) and each B(n >= 0) as b within 1 h from A and not C() within 5 ms after A
where n = b.n;
rule rare: @at_most(3, per = 1 h) define Rare(n: int)
from A([int]n >= 0) and each B(n >= 0) as b within 1 h from A where n = b.n;
rule fourth: define Fourth(n: int) from every 2 A([int]n >= 0) where n = A.n;
rule behind: define Behind(n: int) from Pairs([int]n >= 0) where n = Pairs.m;
)";

std::vector<Event> several_events(int rounds) {
  std::vector<Event> events;
  for (int i = 0; i < rounds; ++i) {
    const Timestamp now = (i + 1) * kMillisecond;
    events.push_back({"B", now, {{"n", std::int64_t{i}}, {"s", kWord + std::to_string(i)}}});
    if (i % 3 == 2) events.push_back({"A", now + 1, {{"n", std::int64_t{i}}}});
  }
  return events;
}

/// Hands out what is pending. The callback itself never lacks memory.
void take(Processor& processor, Output& output) {
  processor.process([&](const OutputBatch& batch) {
    const Sparing sparing;
    for (const auto& row : batch.rows) {
      const Event event = batch.to_event(row);
      output[event.type].push_back(codec::notation_of(event));
    }
  });
}

struct Trial {
  std::string engine;
  unsigned threads = 1;
};

void PrintTo(const Trial& trial, std::ostream* out) {
  *out << trial.engine << ", " << trial.threads;
}

class Starving : public ::testing::TestWithParam<Trial> {
 protected:
  /// A processor with the rules. Without `found`, starvation is no option.
  std::unique_ptr<Processor> make(std::vector<Starvation>* found) const {
    ProcessorOptions options{.engine = GetParam().engine};
    options.threads = GetParam().threads;
    options.job_terminators = 1;
    options.on_suspension = [](const std::string&, bool) { return false; };
    if (found != nullptr) {
      options.on_starvation = [found](const Starvation& starvation) {
        const Sparing sparing;
        found->push_back(starvation);
        return true;
      };
    }
    auto processor = std::make_unique<Processor>(std::move(options));
    const Diagnostics said = processor->deploy("several.tesla", kSeveral);
    EXPECT_FALSE(said.failed()) << said.render();
    return processor;
  }

  /// What comes of the events, so many at a time, where rules are suspended as they were before.
  Output again(std::span<const Event> events, std::size_t at_a_time,
               const std::vector<Starvation>& found) const {
    const auto processor = make(nullptr);
    for (const Starvation& starvation : found) processor->expect(starvation);
    Output output;
    for (const Event& event : events) {
      EXPECT_TRUE(processor->append(event));
      if (processor->pending() == at_a_time) take(*processor, output);
    }
    take(*processor, output);
    return output;
  }
};

/// The type that each rule produces.
std::string type_of(const std::string& rule) {
  std::string type = rule;
  type.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(type.front())));
  return type;
}

bool is_prefix(const std::vector<std::string>& some, const std::vector<std::string>& all) {
  return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
}

/// Which allocations fail: each, or the first of so many where there are thousands and each takes
/// long.
long step_of([[maybe_unused]] const Trial& trial) {
#ifdef GORGO_SANITIZED
  if (std::string_view(trial.engine) == "reference") return 4;
#endif
  return 1;
}

TEST_P(Starving, WhicheverAllocationFailsTheOtherRulesGiveWhatTheyGive) {
  const auto events = several_events(24);
  const auto before = std::span(events).first(8), within = std::span(events).subspan(8, 16),
             behind = std::span(events).subspan(24);
  const Output expected = again(events, 1, {});
  ASSERT_EQ(expected.size(), 2u + 8u) << "each rule produces something";
  std::set<std::string> starved_rules;
  const long step = step_of(GetParam());
  long confined = 0, ended = 0, n = 1;
  for (bool failed = true; failed; n += step) {
    std::vector<Starvation> found;
    const auto processor = make(&found);
    Output output;
    for (const Event& event : before) ASSERT_TRUE(processor->append(event));
    take(*processor, output);
    for (const Event& event : within) ASSERT_TRUE(processor->append(event));
    bool over = false;
    {
      const Failing nth(n);
      try {
        take(*processor, output);
      } catch (const std::bad_alloc&) {
        over = true;
      }
      failed = nth.failed();
    }
    if (over) {
      ++ended;
      continue;
    }
    confined += static_cast<long>(found.size());
    for (const Event& event : behind) ASSERT_TRUE(processor->append(event));
    take(*processor, output);
    const auto starved = [&](const std::string& type) {
      return std::ranges::any_of(found, [&](const Starvation& starvation) {
        return type_of(starvation.rule) == type || (type == "Behind" && starvation.rule == "pairs");
      });
    };
    for (const auto& [type, rows] : expected) {
      const auto got = output.contains(type) ? output.at(type) : std::vector<std::string>();
      if (starved(type)) {
        EXPECT_TRUE(is_prefix(got, rows)) << type << ", allocation " << n;
      } else {
        EXPECT_EQ(got, rows) << type << ", allocation " << n;
      }
    }
    if (found.empty()) continue;
    for (const Starvation& starvation : found) starved_rules.insert(starvation.rule);
    const std::size_t at_a_time =
        std::array{std::size_t{1}, std::size_t{5}, events.size()}[static_cast<std::size_t>(n % 3)];
    EXPECT_EQ(again(events, at_a_time, found), output) << at_a_time << ", allocation " << n;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_THAT(starved_rules, IsSupersetOf({"once", "texts", "missing", "rare", "behind"}));
  std::printf("%ld allocations: %ld confined to a rule, %ld ended the processor\n", n, confined,
              ended);
}

INSTANTIATE_TEST_SUITE_P(Engines, Starving,
                         ::testing::Values(Trial{"reference"}, Trial{"automaton"}, Trial{"column"},
                                           Trial{"column-scan"}, Trial{"column", 3}),
                         [](const auto& test) {
                           std::string name = test.param.engine;
                           std::ranges::replace(name, '-', '_');
                           return name + std::to_string(test.param.threads);
                         });

}  // namespace
}  // namespace gorgo::server
