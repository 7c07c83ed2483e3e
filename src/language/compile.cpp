#include <algorithm>
#include <iterator>
#include <utility>

#include "language/language.hpp"

namespace gorgo::language {

BoundFile compile(const Source& source, const Schema& known) {
  ParsedFile parsed = parse(source);
  if (parsed.diagnostics.failed()) return {{}, known, std::move(parsed.diagnostics)};
  BoundFile bound = bind(parsed.file, known, source);
  auto& list = parsed.diagnostics.list;
  std::move(list.begin(), list.end(), std::back_inserter(bound.diagnostics.list));
  std::stable_sort(bound.diagnostics.list.begin(), bound.diagnostics.list.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.at < b.at; });
  return bound;
}

}  // namespace gorgo::language
