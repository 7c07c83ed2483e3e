#include "language/annotations.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <unordered_set>
#include <variant>

namespace gorgo::language {
namespace {

bool is_word(const std::string& text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), fits);
}

void bind_engine(const ast::Annotation& annotation, RuleOptions& options, Reporter& reporter) {
  const auto& arguments = annotation.arguments;
  const bool one = arguments.size() == 1 && arguments[0].name.text.empty();
  const auto* word = one ? std::get_if<std::string>(&arguments[0].value) : nullptr;
  if (word == nullptr || !is_word(*word)) {
    return reporter.error(annotation.name.at, "`@engine` takes the name of one engine",
                          "for example `@engine(column)`");
  }
  options.engine = *word;
}

void bind_limit(const ast::Annotation& annotation, RuleOptions& options, Reporter& reporter) {
  bool given = false;
  for (const auto& [name, value, is_time, is_word, value_at] : annotation.arguments) {
    const Location at = name.text.empty() ? annotation.name.at : name.at;
    if (name.text != "max_sequences") {
      return reporter.error(
          at, "`@limit` has no argument " + in_quotes(name.text),
          reporter.suggest(name.text, {"max_sequences"}, "write `@limit(max_sequences = N)`"));
    }
    const auto* number = is_time ? nullptr : std::get_if<std::int64_t>(&value);
    if (number == nullptr || *number < 1) {
      return reporter.error(at, "`max_sequences` must be a whole number of at least 1",
                            "for example `@limit(max_sequences = 100000)`");
    }
    if (given) return reporter.error(at, "`max_sequences` stands twice", "leave one of them out");
    given = true;
    options.max_sequences = static_cast<std::uint64_t>(*number);
  }
  if (given) return;
  reporter.error(annotation.name.at, "`@limit` needs an argument",
                 "write `@limit(max_sequences = N)`");
}

void bind_panes(const ast::Annotation& annotation, RuleOptions& options, Reporter& reporter) {
  if (!annotation.arguments.empty()) {
    return reporter.error(annotation.name.at, "`@panes` takes no arguments", "write `@panes`");
  }
  options.panes = true;
}

}  // namespace

RuleOptions bind_annotations(const std::vector<ast::Annotation>& annotations, Reporter& reporter) {
  RuleOptions options;
  std::unordered_set<std::string> seen;
  for (const auto& annotation : annotations) {
    const ast::Name& name = annotation.name;
    if (!seen.insert(name.text).second) {
      reporter.error(name.at, "`@" + name.text + "` stands twice before this rule",
                     "leave one of them out");
    } else if (name.text == "engine") {
      bind_engine(annotation, options, reporter);
    } else if (name.text == "limit") {
      bind_limit(annotation, options, reporter);
    } else if (name.text == "panes") {
      bind_panes(annotation, options, reporter);
    } else if (name.text != "at_most") {
      reporter.error(name.at, "there is no annotation `@" + name.text + "`",
                     reporter.suggest(name.text, {"at_most", "engine", "limit", "panes"},
                                      "the annotations are `@at_most(N, per = TIME)`, "
                                      "`@engine(NAME)`, `@limit(max_sequences = N)` and "
                                      "`@panes`"));
    }
  }
  return options;
}

}  // namespace gorgo::language
