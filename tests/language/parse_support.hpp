#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ast_dump.hpp"
#include "language/language.hpp"

namespace gorgo::language {

/// The AST of a text that must parse.
inline ast::File parsed(const std::string& text) {
  auto result = parse({.path = "t.tesla", .text = text});
  EXPECT_EQ(result.diagnostics.render(), "") << text;
  return std::move(result.file);
}

inline std::string parsed_dump(const std::string& text) { return dump(parsed(text)); }

/// What stands between the brackets of the terminator of a rule with these conditions.
inline std::string conditions(const std::string& text) {
  const std::string all = parsed_dump("define A() from B(" + text + ")");
  const std::string prefix = "define A()\nfrom B(";
  if (!all.starts_with(prefix)) return all;
  return all.substr(prefix.size(), all.size() - prefix.size() - 2);
}

/// The clauses behind `from B()`, each on a line.
inline std::string clauses(const std::string& text) {
  const std::string all = parsed_dump("define A() from B() " + text);
  const std::string prefix = "define A()\nfrom B()\n";
  return all.starts_with(prefix) ? all.substr(prefix.size()) : all;
}

/// The diagnostics of a text, each as "LINE:COL: MESSAGE" and perhaps " | HINT".
inline std::string errors(const std::string& text) {
  std::string result;
  const ParsedFile file = parse({.path = "t.tesla", .text = text});
  EXPECT_TRUE(!file.diagnostics.failed() || file.file.items.empty());
  for (const auto& diagnostic : file.diagnostics.list) {
    EXPECT_EQ(diagnostic.file, "t.tesla");
    if (!result.empty()) result += "\n";
    result += std::to_string(diagnostic.at.line) + ":" + std::to_string(diagnostic.at.column) +
              ": " + diagnostic.message;
    if (!diagnostic.hint.empty()) result += " | " + diagnostic.hint;
  }
  return result;
}

}  // namespace gorgo::language
