#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/rule.hpp"
#include "gorgo/schema.hpp"
#include "language/ast.hpp"

/// The front end: text -> AST -> checked rules. Pure functions, safe to call from any thread.
namespace gorgo::language {

/// A rule text and the name that its diagnostics carry.
struct Source {
  std::string path;  ///< as the user gave it; its stem names unnamed rules
  std::string text;
};

/// Parses a rule file. `file` is meaningful only when the diagnostics have no error: nothing that
/// went through error recovery is ever returned (language.md §10).
struct ParsedFile {
  ast::File file;
  Diagnostics diagnostics;
};
ParsedFile parse(const Source& source);

/// Where the value of a constant stands in a text, in bytes.
struct ConstantText {
  std::string name;
  std::size_t begin = 0;
  std::size_t size = 0;
};
/// The constants of a text, in its order. Items with errors are left out.
std::vector<ConstantText> constants_of(const Source& source);

/// The text in its canonical spelling and layout: keywords in lower case, the papers' spelling,
/// windows with units, lines of at most 100 columns where they can be broken. What it says stays
/// the same and every comment is kept; formatting the result again changes nothing. `text` is
/// meaningful only when the diagnostics have no error.
struct FormattedFile {
  std::string text;
  Diagnostics diagnostics;
};
FormattedFile format(const Source& source);

/// The rules of a text as T-Rex's own parser reads them. It knows no names of rules, no
/// annotations, declarations and comments. A rule that T-Rex cannot express is left out, and
/// warnings say what it has that T-Rex has not. Types without a number get one. `text` is
/// meaningful only when the diagnostics have no error.
struct TRexFile {
  std::string text;
  std::size_t left_out = 0;  ///< rules
  Diagnostics diagnostics;
};
TRexFile to_trex(const Source& source, const Schema& known);

/// Parses what a subscription states: `Type`, `Type(conditions)`, `*` or `*(conditions)`
/// (`type.text` is then "*"). Conditions are as in a rule's predicate, without parameters. Behind
/// it may stand `execute webhook("ops")`.
struct ParsedPredicate {
  ast::Predicate predicate;
  std::optional<ast::Action> action;
  Diagnostics diagnostics;
};
ParsedPredicate parse_predicate(std::string_view text);

/// Binds and type-checks a parsed file against the types known so far.
/// `schema` is `known` plus what the file declares, defines and infers. `source` provides the
/// rule texts, the lines for diagnostics and the stem for unnamed rules; an AST built without text
/// passes a source whose text is empty. Names of unnamed rules are made unique within the file.
/// With an error anywhere there are no rules, and `schema` is `known`.
struct BoundFile {
  std::vector<Rule> rules;
  Schema schema;
  Diagnostics diagnostics;
};
BoundFile bind(const ast::File& file, const Schema& known, const Source& source);

/// parse, then bind when the text parsed.
BoundFile compile(const Source& source, const Schema& known);

}  // namespace gorgo::language
