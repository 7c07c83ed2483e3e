#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lsp/workspace.hpp"

namespace gorgo::tools::lsp {

struct Proposal {
  enum class Kind : std::uint8_t { keyword, type, attribute, state, parameter, function, value };

  std::string label;
  Kind kind = Kind::keyword;
  std::string detail;  ///< a value type, a declaration; may be empty
};

/// What may be written at the position, judged by the words before it, because the rule is not
/// complete yet. The word that is begun there does not count, except for a `$`.
struct Completion {
  std::vector<Proposal> proposals;
  Range range;  ///< of the word that is begun
};
Completion complete(const View& view, Position position);

}  // namespace gorgo::tools::lsp
