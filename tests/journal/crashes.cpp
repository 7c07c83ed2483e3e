// Random crashes of a journal, as many as one likes.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "random_trials.hpp"

int main(int argc, char** argv) {
  CLI::App app("Crashes a journal on a simulated disk and compares it with a model");
  std::uint64_t seed = 1, crashes = 20'000;
  app.add_option("--seed", seed, "Of the first trial; the others follow");
  app.add_option("--crashes", crashes, "As many, or a few more");
  CLI11_PARSE(app, argc, argv);
  const auto counts = gorgo::journal::run_random_trials(seed, crashes);
  std::printf("trials       %llu\n", static_cast<unsigned long long>(counts.trials));
  std::printf("steps        %llu\n", static_cast<unsigned long long>(counts.steps));
  std::printf("crashes      %llu\n", static_cast<unsigned long long>(counts.crashes));
  std::printf("  in recovery %llu\n", static_cast<unsigned long long>(counts.in_recovery));
  std::printf("  kills       %llu\n", static_cast<unsigned long long>(counts.kills));
  std::printf("failed disks %llu\n", static_cast<unsigned long long>(counts.failed));
  std::printf("torn tails   %llu\n", static_cast<unsigned long long>(counts.torn));
  if (counts.problem.empty()) {
    std::puts("no problem");
    return 0;
  }
  std::printf("PROBLEM, %s\n", counts.problem.c_str());
  return 1;
}
