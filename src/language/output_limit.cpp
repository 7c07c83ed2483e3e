#include "language/output_limit.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "language/build_span.hpp"
#include "language/definitions.hpp"

namespace gorgo::language {
namespace {

constexpr const char* kExample = "for example `@at_most(1, per = 10 min, by = area)`";

/// Binds the arguments of one annotation. Bare words behind `by` name further attributes.
class OutputLimitBinder {
 public:
  OutputLimitBinder(const ast::RuleDefinition& rule, const ast::Annotation& annotation,
                    Reporter& reporter)
      : rule_(rule),
        annotation_(annotation),
        attributes_(composite_attributes(rule)),
        reporter_(reporter) {}

  std::optional<OutputLimit> bind() {
    const std::size_t errors = reporter_.errors();
    const auto& arguments = annotation_.arguments;
    if (arguments.empty() || !arguments[0].name.text.empty()) {
      reporter_.error(annotation_.name.at, "`@at_most` begins with a number of composites",
                      kExample);
      return std::nullopt;
    }
    bind_number(arguments[0]);
    for (std::size_t i = 1; i < arguments.size(); ++i) bind_argument(arguments[i]);
    if (!has_time_ && errors == reporter_.errors()) {
      reporter_.error(annotation_.name.at, "`@at_most` needs a time", kExample);
    }
    if (errors < reporter_.errors()) return std::nullopt;
    return std::move(limit_);
  }

 private:
  void bind_number(const ast::AnnotationArgument& argument) {
    const auto* number = std::get_if<std::int64_t>(&argument.value);
    if (number != nullptr && !argument.is_time && *number >= 1) {
      limit_.composites = static_cast<std::uint64_t>(*number);
    } else {
      reporter_.error(argument.value_at,
                      "the number of `@at_most` must be a whole number of at least 1", kExample);
    }
  }

  void bind_argument(const ast::AnnotationArgument& argument) {
    const std::string& name = argument.name.text;
    if (name == "per") {
      bind_time(argument);
    } else if (name == "by" || (name.empty() && !limit_.by.empty())) {
      bind_attribute(argument);
    } else {
      const bool is_bare = name.empty();
      reporter_.error(argument.name.at,
                      is_bare ? "an argument of `@at_most` has no name"
                              : "`@at_most` has no argument " + in_quotes(name),
                      is_bare ? kExample : reporter_.suggest(name, {"per", "by"}, kExample));
    }
  }

  void bind_time(const ast::AnnotationArgument& argument) {
    if (std::exchange(has_time_, true)) {
      return reporter_.error(argument.name.at, "`per` stands twice", "leave one of them out");
    }
    const ast::Expr literal{
        .kind = argument.is_time ? ast::ExprKind::duration : ast::ExprKind::literal,
        .value = argument.value};
    limit_.per = language::width_of(literal).value_or(0);
    if (limit_.per > 0) return;
    reporter_.error(argument.value_at, "`per` must be a time of more than 0, or a constant",
                    kExample);
  }

  void bind_attribute(const ast::AnnotationArgument& argument) {
    const auto* name = argument.is_word ? std::get_if<std::string>(&argument.value) : nullptr;
    const auto found = name == nullptr
                           ? attributes_.end()
                           : std::ranges::find(attributes_, *name, &AttributeType::name);
    if (found != attributes_.end()) {
      limit_.by.push_back(static_cast<std::uint32_t>(found - attributes_.begin()));
      return;
    }
    std::vector<std::string> names;
    for (const AttributeType& attribute : attributes_) names.push_back(attribute.name);
    const std::string hint = "`by` names attributes of the composite";
    reporter_.error(argument.value_at,
                    in_quotes(rule_.type.text) + " has no such attribute" +
                        (name == nullptr ? std::string() : " " + in_quotes(*name)),
                    name == nullptr ? hint : reporter_.suggest(*name, names, hint));
  }

  const ast::RuleDefinition& rule_;
  const ast::Annotation& annotation_;
  const std::vector<AttributeType> attributes_;
  Reporter& reporter_;
  OutputLimit limit_;
  bool has_time_ = false;
};

}  // namespace

std::optional<OutputLimit> bind_output_limit(const ast::RuleDefinition& rule, Reporter& reporter) {
  const auto annotation = std::ranges::find(
      rule.annotations, "at_most", [](const ast::Annotation& each) { return each.name.text; });
  if (annotation == rule.annotations.end()) return std::nullopt;
  return OutputLimitBinder(rule, *annotation, reporter).bind();
}

}  // namespace gorgo::language
