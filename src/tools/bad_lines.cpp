#include "tools/bad_lines.hpp"

#include "tools/number_text.hpp"
#include "tools/output.hpp"

namespace gorgo::tools {

void BadLines::add(const Error& error) {
  if (++count_ > kShown) return;
  note(file_ + ": " + error.to_string());
}

void BadLines::summarise() const {
  if (count_ == 0) return;
  const std::string most =
      count_ > kShown ? "; the first " + std::to_string(kShown) + " are shown" : "";
  note(file_ + ": " + plural(count_, "line") + " skipped" + most);
}

Result<void> BadLines::check(std::uint64_t taken) const {
  if (taken > 0 || count_ == 0) return {};
  return Error{file_ + ": no line could be used", "what is said of the first lines tells why"};
}

}  // namespace gorgo::tools
