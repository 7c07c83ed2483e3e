#include <fstream>
#include <string>

#include "base/processors.hpp"
#include "bench/report.hpp"
#include "bench_commit.hpp"

namespace gorgo::bench {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    return colon == line.npos ? "" : line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

Machine this_machine() {
#ifdef __clang__
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return {.cpu = cpu_name(),
          .cores = available_processors(),
          .compiler = compiler + (GORGO_BENCH_OPTIONS[0] == 0 ? "" : " " GORGO_BENCH_OPTIONS),
          .commit = GORGO_BENCH_COMMIT};
}

}  // namespace gorgo::bench
