#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/shared_map.hpp"
#include "base/shared_vector.hpp"
#include "dispatch/rules/type_reads.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"
#include "language/language.hpp"
#include "plan/plan.hpp"

namespace gorgo::dispatch {

struct HashOfName {
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>()(name);
  }
};

/// What a text is checked against. It is cheap to copy, because copies share what they have in
/// common; see SharedVector.
struct RuleBase {
  std::uint64_t version = 0;  ///< changes with everything else here
  std::string default_engine;
  Schema schema;
  /// Plans of the rules in force, by full name.
  SharedMap<std::string, std::shared_ptr<const plan::Plan>, HashOfName> plans;
  /// By TypeId: how many rules produce or read the type. It ends at the last type that a rule has
  /// used.
  SharedVector<std::uint32_t> uses;

  std::uint32_t uses_of(TypeId type) const { return type < uses.size() ? uses[type] : 0; }
  /// A rule comes, or goes. Its types are known.
  void add(const std::shared_ptr<const plan::Plan>& plan);
  void remove(const plan::Plan& plan);
};

/// A text of which rules are in force.
struct RuleText {
  language::Source source;
  DeployOptions options;
  std::size_t rules = 0;  ///< that it has, in force or not
};

/// A text after all checks.
struct CheckedText {
  language::Source source;
  DeployOptions options;
  std::uint64_t version = 0;  ///< of the base that it was checked against
  Diagnostics diagnostics;    ///< when they failed, nothing below is meaningful
  Schema schema;              ///< the types once the rules are in force
  std::vector<std::shared_ptr<const plan::Plan>> plans;
  std::shared_ptr<const RuleText> text;
  RuleBase next;  ///< the base once the rules are in force, but for its version
  Reads reads;    ///< of all rules of the text
};

/// What is wrong with the name of an engine, if anything.
std::optional<Error> problem_of_engine(std::string_view name);
/// What is wrong with the engines that the rules of the file name. `source` provides the lines.
Diagnostics problems_of_engines(const ast::File& file, const language::Source& source);
/// The engine that the rule names, or the default.
const std::string& engine_name_of(const Rule& rule, const std::string& default_engine);
/// The types that a rule produces or reads.
std::set<TypeId> types_of(const plan::Plan& plan);
/// Whether the type goes with the last rule that uses it.
bool goes_with_its_rules(const EventType& type);

CheckedText check_text(const RuleBase& base, language::Source source, const DeployOptions& options);

}  // namespace gorgo::dispatch
