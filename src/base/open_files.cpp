#include "base/open_files.hpp"

#include <sys/resource.h>

namespace gorgo {

void raise_open_files() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  // Where the system refuses that, the number stays as it is.
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t most_open_files() {
  rlimit limit = {};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool is_kept_for_files(int descriptor) {
  return static_cast<std::size_t>(descriptor) + kKeptForFiles >= most_open_files();
}

}  // namespace gorgo
