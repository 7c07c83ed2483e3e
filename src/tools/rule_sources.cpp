#include "tools/rule_sources.hpp"

#include <utility>

#include "language/language.hpp"
#include "plan/warnings.hpp"
#include "tools/text_file.hpp"

namespace gorgo::tools {

Result<language::Source> read_source(const std::string& path) {
  auto text = read_text(path);
  if (!text) return text.error();
  return language::Source{path == "-" ? "<stdin>" : path, std::move(*text)};
}

Result<Diagnostics> RuleSources::add(const std::string& path) {
  const auto source = read_source(path);
  if (!source) return source.error();
  return add(*source);
}

Diagnostics RuleSources::add(const language::Source& source) {
  language::BoundFile bound = language::compile(source, schema_);
  if (bound.diagnostics.failed()) return std::move(bound.diagnostics);

  schema_ = std::move(bound.schema);
  std::vector<const plan::Plan*> added;
  for (Rule& rule : bound.rules) {
    owned_.push_back(std::make_unique<const plan::Plan>(plan::make_plan(std::move(rule))));
    added.push_back(owned_.back().get());
  }
  const Diagnostics warnings = plan::warnings(added, plans_, schema_, source);
  plans_.insert(plans_.end(), added.begin(), added.end());
  auto& list = bound.diagnostics.list;
  list.insert(list.end(), warnings.list.begin(), warnings.list.end());
  return std::move(bound.diagnostics);
}

}  // namespace gorgo::tools
