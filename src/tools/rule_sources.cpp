#include "tools/rule_sources.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "dispatch/rules/rule_base.hpp"
#include "language/language.hpp"
#include "plan/pane_problems.hpp"
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
  language::ParsedFile parsed = language::parse(source);
  if (parsed.diagnostics.failed()) return std::move(parsed.diagnostics);
  language::BoundFile bound = language::bind(parsed.file, schema_, source);
  auto& list = bound.diagnostics.list;
  const auto add_to_list = [&list](Diagnostics more) {
    std::ranges::move(more.list, std::back_inserter(list));
  };
  add_to_list(std::move(parsed.diagnostics));
  if (!bound.diagnostics.failed()) add_to_list(dispatch::problems_of_engines(parsed.file, source));
  if (bound.diagnostics.failed()) return std::move(bound.diagnostics);

  schema_ = std::move(bound.schema);
  std::vector<const plan::Plan*> added;
  for (Rule& rule : bound.rules) {
    owned_.push_back(std::make_unique<const plan::Plan>(plan::make_plan(std::move(rule))));
    added.push_back(owned_.back().get());
  }
  add_to_list(plan::problems_of_panes(added, schema_, source));
  add_to_list(plan::warnings(added, plans_, schema_, source));
  plans_.insert(plans_.end(), added.begin(), added.end());
  return std::move(bound.diagnostics);
}

}  // namespace gorgo::tools
