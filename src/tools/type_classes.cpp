#include "tools/type_classes.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace gorgo::tools {
namespace {

constexpr const char* kHead =
    R"("""The event types of a Gorgo server, written by `gorgo types --python`."""

from dataclasses import dataclass, field
from typing import Optional

import gorgo
)";

constexpr std::string_view kKeywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};

/// What the module itself refers to.
constexpr std::string_view kUsed[] = {"Optional", "bool",  "dataclass", "field",
                                      "float",    "gorgo", "int",       "str"};

template <std::size_t N>
bool holds(const std::string_view (&words)[N], const std::string& word) {
  return std::ranges::find(words, word) != std::ranges::end(words);
}

std::string python_name(ValueType type) {
  return type == ValueType::string ? "str" : std::string(to_string(type));
}

/// The name as Python may use it. Names of the language are words; events may have others, such as
/// `server.load`.
std::string word(const std::string& name) {
  std::string result = name;
  for (char& c : result) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!fits) c = '_';
  }
  if (result[0] >= '0' && result[0] <= '9') result.insert(0, 1, '_');
  // Python gives such names another meaning within a class.
  if (result.starts_with("__")) result.insert(0, "attribute");
  return holds(kKeywords, result) || holds(kUsed, result) ? result + "_" : result;
}

std::string python_quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string member(const AttributeType& attribute, bool may_lack) {
  const std::string name = word(attribute.name);
  const std::string type = python_name(attribute.type);
  std::string text = "    " + name + ": " + (may_lack ? "Optional[" + type + "]" : type);
  if (name == attribute.name) return text + (may_lack ? " = None\n" : "\n");
  return text + " = field(" + (may_lack ? "default=None, " : "") +
         "metadata={\"attribute\": " + python_quoted(attribute.name) + "})\n";
}

std::string class_of(const std::string& type, const std::vector<AttributeType>& attributes,
                     bool may_lack) {
  std::string text =
      "@gorgo.event_type(" + python_quoted(type) + ")\n@dataclass\nclass " + word(type) + ":\n";
  for (const AttributeType& attribute : attributes) text += member(attribute, may_lack);
  return text + "    timestamp: Optional[int] = None  # nanoseconds since the Unix epoch\n";
}

}  // namespace

std::string python_classes(const std::vector<TypeInfo>& types, const std::vector<RuleInfo>& rules) {
  std::map<std::string, std::string> classes;
  for (const RuleInfo& rule : rules)
    classes[rule.type] = class_of(rule.type, rule.attributes, false);
  for (const TypeInfo& type : types) {
    if (type.name.empty() || type.is_unread) continue;
    classes[type.name] = class_of(type.name, type.attributes, type.is_inferred);
  }
  std::string text = kHead;
  for (const auto& [name, definition] : classes) text += "\n\n" + definition;
  return text;
}

}  // namespace gorgo::tools
