#pragma once

#include <optional>
#include <string_view>

namespace gorgo {

/// How many threads of this process can run at once: not more than it may use processors
/// (`taskset`, `cpuset`), nor than the time that its control group gets (`docker run --cpus`). At
/// least 1. A machine's number is more in both cases, and threads beyond this one wait for each
/// other.
unsigned available_processors();

/// What `cpu.max` of a control group allows, in processors, rounded up; nothing: no bound, or
/// another text. https://docs.kernel.org/admin-guide/cgroup-v2.html
std::optional<unsigned> processors_in(std::string_view cpu_max);

}  // namespace gorgo
