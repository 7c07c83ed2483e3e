// One more rule beside many: what a deployment and a removal cost.

#include <benchmark/benchmark.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "gorgo/processor.hpp"

namespace gorgo::bench {
namespace {

std::string rule(std::int64_t i) {
  const std::string n = std::to_string(i);
  return "rule r" + n + ": define C" + n + "(n: int) from A(n = $n, n > " + n +
         ") and last B(n = $n) within 5 min from A where n = $n;";
}

void deploy(Processor& processor, const std::string& text) {
  const Diagnostics diagnostics = processor.deploy("rules.tesla", text);
  if (diagnostics.failed()) throw std::logic_error(diagnostics.render());
}

void deploy_and_remove(benchmark::State& state) {
  Processor processor;
  deploy(processor, "event A(n: int); event B(n: int);");
  std::string others;
  for (std::int64_t i = 0; i < state.range(0); ++i) others += rule(i);
  deploy(processor, others);
  std::int64_t next = state.range(0);
  for (auto _ : state) {
    deploy(processor, rule(next));
    if (!processor.remove("r" + std::to_string(next++))) state.SkipWithError("it is not there");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(deploy_and_remove)->Arg(500)->Arg(4000)->Arg(10000);

// How long the engine thread is busy with a checked file of so many rules.
void put_in_force(benchmark::State& state) {
  std::string rules = "event A(n: int); event B(n: int);";
  for (std::int64_t i = 0; i < state.range(0); ++i) rules += rule(i);
  for (auto _ : state) {
    Processor processor;
    PreparedRules prepared = prepare_rules(processor.snapshot(), "rules.tesla", rules, {});
    const auto start = std::chrono::steady_clock::now();
    const Diagnostics diagnostics = processor.deploy(std::move(prepared));
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (diagnostics.failed()) state.SkipWithError(diagnostics.render().c_str());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(put_in_force)->Arg(1000)->Arg(10000)->UseManualTime();

}  // namespace
}  // namespace gorgo::bench
