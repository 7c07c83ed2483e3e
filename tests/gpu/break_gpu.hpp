#pragma once

#include <cstddef>
#include <vector>

namespace gorgo::testing {

/// Runs a kernel that traps: the process's context on the first GPU is of no use from then on.
void trap_gpu();

/// Has all memory of the first GPU that can be had.
class AllMemory {
 public:
  AllMemory();
  ~AllMemory();
  AllMemory(const AllMemory&) = delete;
  AllMemory& operator=(const AllMemory&) = delete;

 private:
  std::vector<void*> blocks_;
};

}  // namespace gorgo::testing
