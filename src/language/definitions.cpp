#include "language/definitions.hpp"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "language/names.hpp"
#include "language/server_types.hpp"

namespace gorgo::language {
namespace {

/// The declared attributes, each name once. Reports bad and repeated names.
std::vector<AttributeType> checked_attributes(
    const std::vector<ast::AttributeDeclaration>& declared, Reporter& reporter) {
  std::unordered_map<std::string, Location> seen;
  std::vector<AttributeType> attributes;
  for (const auto& attribute : declared) {
    check_attribute_name(attribute.name, reporter);
    const auto [it, added] = seen.emplace(attribute.name.text, attribute.name.at);
    if (added) {
      attributes.push_back({attribute.name.text, attribute.type});
    } else {
      reporter.error(attribute.name.at,
                     "attribute " + in_quotes(attribute.name.text) + " is listed already at " +
                         place(it->second),
                     "attributes of one type have different names");
    }
  }
  return attributes;
}

std::unordered_set<std::string> assigned_attributes(const ast::RuleDefinition& rule) {
  std::unordered_set<std::string> names;
  for (const auto& assignment : rule.assignments) names.insert(assignment.attribute.text);
  return names;
}

void warn_about_omitted(const ast::RuleDefinition& rule, Reporter& reporter) {
  if (!rule.trex_spelling) return;
  const auto assigned = assigned_attributes(rule);
  for (const auto& attribute : rule.attributes) {
    if (assigned.contains(attribute.name.text)) continue;
    reporter.warning(attribute.name.at,
                     "attribute " + in_quotes(attribute.name.text) + " of " +
                         in_quotes(rule.type.text) + " is left out: `Where` gives it no value",
                     "add `" + attribute.name.text + " := ...`, or remove it from `Define`");
  }
}

/// Checks the name of a type that a file declares or defines, and declares it. A type that the
/// server has stays as it is, so that only its name is reported.
void declare(const ast::Name& name, std::vector<AttributeType> attributes, TypeOrigin origin,
             TypeTable& types, Reporter& reporter) {
  if (is_server_name(name.text)) {
    reporter.error(name.at, in_quotes(name.text) + " cannot be the name of a type",
                   "the server alone makes events whose types begin with `gorgo.`");
  } else {
    check_name(name, "a type", reporter);
  }
  if (server_type(name.text) != nullptr) {
    types.mention(name.text);
    return;
  }
  types.declare(name, std::move(attributes), origin, reporter);
}

}  // namespace

std::vector<AttributeType> composite_attributes(const ast::RuleDefinition& rule) {
  std::unordered_set<std::string> assigned;
  if (rule.trex_spelling) assigned = assigned_attributes(rule);
  std::unordered_set<std::string> seen;
  std::vector<AttributeType> attributes;
  for (const auto& attribute : rule.attributes) {
    if (rule.trex_spelling && !assigned.contains(attribute.name.text)) continue;
    if (!seen.insert(attribute.name.text).second) continue;
    attributes.push_back({attribute.name.text, attribute.type});
  }
  return attributes;
}

void enter_definitions(const ast::File& file, TypeTable& types, Reporter& reporter) {
  for (const auto& item : file.items) {
    if (const auto* event = std::get_if<ast::EventDeclaration>(&item)) {
      declare(event->name, checked_attributes(event->attributes, reporter),
              event->internal ? TypeOrigin::internal : TypeOrigin::declared, types, reporter);
      if (event->table) types.declare_table(*event, reporter);
    } else {
      const auto& rule = std::get<ast::RuleDefinition>(item);
      checked_attributes(rule.attributes, reporter);
      warn_about_omitted(rule, reporter);
      declare(rule.type, composite_attributes(rule), TypeOrigin::composite, types, reporter);
    }
  }
}

void enter_numbers(const ast::File& file, TypeTable& types, const Schema& known,
                   Reporter& reporter) {
  for (const auto& item : file.items) {
    const auto* rule = std::get_if<ast::RuleDefinition>(&item);
    if (rule == nullptr) continue;
    for (const auto& number : rule->numbers) {
      if (types.find(number.type.text) || known.find(number.type.text) != nullptr) {
        types.number(number, reporter);
      } else {
        reporter.warning(
            number.type.at,
            "`Assign` numbers " + in_quotes(number.type.text) + ", which no rule uses; ignored",
            reporter.suggest(number.type.text, types.fixed_names()));
      }
    }
  }
}

}  // namespace gorgo::language
