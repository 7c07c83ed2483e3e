// From a rule text to a checked rule, and its deployment.

#include <benchmark/benchmark.h>

#include "bench/base.hpp"
#include "gorgo/processor.hpp"
#include "language/language.hpp"

namespace gorgo::bench {
namespace {

void parse_rule(benchmark::State& state) {
  const language::Source source = {"bench.tesla", base_workload({}).rules};
  for (auto _ : state) {
    auto parsed = language::parse(source);
    if (parsed.diagnostics.failed()) state.SkipWithError("the rule is refused");
    benchmark::DoNotOptimize(parsed);
  }
}
BENCHMARK(parse_rule);

void parse_and_bind_rule(benchmark::State& state) {
  const language::Source source = {"bench.tesla", base_workload({}).rules};
  const Schema schema;
  for (auto _ : state) {
    auto bound = language::compile(source, schema);
    if (bound.diagnostics.failed()) state.SkipWithError("the rule is refused");
    benchmark::DoNotOptimize(bound);
  }
}
BENCHMARK(parse_and_bind_rule);

/// Deploys one text with `range(0)` rules.
void deploy_rules(benchmark::State& state) {
  const std::string text = base_workload({.rules = static_cast<int>(state.range(0))}).rules;
  for (auto _ : state) {
    Processor processor;
    if (processor.deploy("bench", text).failed()) state.SkipWithError("the rules are refused");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(deploy_rules)->Arg(1)->Arg(100);

}  // namespace
}  // namespace gorgo::bench
