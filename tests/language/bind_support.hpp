#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "language/describe.hpp"
#include "language/language.hpp"

namespace gorgo::language {

inline BoundFile compile_text(std::string_view text, const Schema& known = {}) {
  return compile({"rules/plant.tesla", std::string(text)}, known);
}

/// "3:14: MESSAGE" for errors, "3:14: warning: MESSAGE" for warnings.
inline std::vector<std::string> messages(std::string_view text, const Schema& known = {}) {
  std::vector<std::string> list;
  for (const auto& d : compile_text(text, known).diagnostics.list) {
    list.push_back(std::to_string(d.at.line) + ":" + std::to_string(d.at.column) + ": " +
                   (d.severity == Severity::warning ? "warning: " : "") + d.message);
  }
  return list;
}

/// The hint of the only diagnostic.
inline std::string hint_of(std::string_view text, const Schema& known = {}) {
  const auto list = compile_text(text, known).diagnostics.list;
  return list.size() == 1 ? list[0].hint : std::to_string(list.size()) + " diagnostics";
}

/// The descriptions of all rules; the diagnostics when there are any.
inline std::string described(std::string_view text, const Schema& known = {}) {
  const BoundFile bound = compile_text(text, known);
  if (!bound.diagnostics.list.empty()) return bound.diagnostics.render();
  std::string all;
  for (const Rule& rule : bound.rules) all += describe(rule, bound.schema);
  return all;
}

/// The line of `described(text)` that starts with `start`, without it.
inline std::string line_of(std::string_view text, const std::string& start,
                           const Schema& known = {}) {
  const std::string all = "\n" + described(text, known);
  const auto at = all.find("\n" + start);
  if (at == std::string::npos) return "no line \"" + start + "\" in:" + all;
  const auto begin = at + 1 + start.size();
  return all.substr(begin, all.find('\n', begin) - begin);
}

/// What `compile_text` makes of a type; the diagnostics when it fails.
inline std::string type_in(std::string_view text, std::string_view type, const Schema& known = {}) {
  const BoundFile bound = compile_text(text, known);
  if (bound.diagnostics.failed()) return bound.diagnostics.render();
  const EventType* found = bound.schema.find(type);
  return found == nullptr ? "unknown" : declaration_of(*found);
}

inline Schema schema_of(std::string_view text) {
  BoundFile bound = compile_text(text);
  EXPECT_FALSE(bound.diagnostics.failed()) << bound.diagnostics.render();
  return bound.schema;
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

}  // namespace gorgo::language
