#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/rule.hpp"
#include "language/language.hpp"

/// Where names stand in a rule text, for editors.
namespace gorgo::language {

enum class SymbolKind : std::uint8_t { type, attribute, state, parameter, rule };

/// What a name means. Two places name the same thing when kind, name and owner are equal, and for
/// states and parameters the rule, too.
struct Symbol {
  SymbolKind kind = SymbolKind::type;
  std::string name;   ///< parameters with their `$`
  std::string owner;  ///< attributes: their type
  /// States, parameters, rules: in which rule of the text, counted from 0.
  std::uint32_t rule = 0;

  friend bool operator==(const Symbol&, const Symbol&) = default;
};

struct Occurrence {
  Location at;
  Symbol symbol;
  bool defines = false;  ///< declares, defines, binds or aliases it
};

/// A rule of a text and what its names stand for.
struct RuleSymbols {
  struct State {
    std::string name, type;  ///< the type is empty for a timer
  };
  struct Parameter {
    std::string name;                           ///< with its `$`
    std::string source;                         ///< `Temp.value`, `Avg(Temp.value)`
    std::string type, attribute;                ///< what it is, or is computed from
    std::optional<AggregateFunction> function;  ///< of the value of an aggregate
  };
  std::string name;  ///< the full name
  Location at;       ///< of its first word
  Location end;      ///< of its last word
  std::string type;  ///< of its composites
  std::vector<State> states;
  std::vector<Parameter> parameters;
};

struct Symbols {
  std::vector<Occurrence> occurrences;  ///< in text order; those of one place do not overlap
  std::vector<RuleSymbols> rules;
};

/// The symbols of the items that are free of syntax errors, because the rest of the text may be in
/// the making. A state without an alias is named by its type, so its name is an occurrence of the
/// type.
Symbols symbols_of(const Source& source);

/// Why nothing of this kind can have this name; empty: it can. Names of parameters have their `$`.
std::string refuse_name(SymbolKind kind, const std::string& name);

}  // namespace gorgo::language
