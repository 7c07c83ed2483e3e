#include "tools/bad_lines.hpp"

#include <cstdio>

namespace gorgo::tools {

void BadLines::add(const Error& error) {
  if (++count_ > kShown) return;
  std::fprintf(stderr, "gorgo: %s: %s\n", file_.c_str(), error.to_string().c_str());
}

void BadLines::summarise() const {
  if (count_ == 0) return;
  const std::string most =
      count_ > kShown ? "; the first " + std::to_string(kShown) + " are shown" : "";
  std::fprintf(stderr, "gorgo: %s: %llu %s skipped%s\n", file_.c_str(),
               static_cast<unsigned long long>(count_), count_ == 1 ? "line" : "lines",
               most.c_str());
}

Result<void> BadLines::check(std::uint64_t taken) const {
  if (taken > 0 || count_ == 0) return {};
  return Error{file_ + ": no line could be used", "what is said of the first lines tells why"};
}

}  // namespace gorgo::tools
