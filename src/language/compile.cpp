#include <utility>

#include "language/language.hpp"

namespace gorgo::language {

BoundFile compile(const Source& source, const Schema& known) {
  ParsedFile parsed = parse(source);
  if (parsed.diagnostics.failed()) return {{}, known, std::move(parsed.diagnostics)};
  BoundFile bound = bind(parsed.file, known, source);
  auto& list = bound.diagnostics.list;  // the parser's warnings, if any, come first
  list.insert(list.begin(), parsed.diagnostics.list.begin(), parsed.diagnostics.list.end());
  return bound;
}

}  // namespace gorgo::language
