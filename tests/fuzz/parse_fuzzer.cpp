#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "language/language.hpp"
#include "language/symbols.hpp"
#include "language/words.hpp"

/// Any bytes as a rule text: no crash, no rule from a text with errors, every diagnostic within the
/// text and able to be shown; formatting is stable.
namespace {

using gorgo::Diagnostic;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string_view line_of(std::string_view text, std::uint32_t number) {
  for (std::uint32_t line = 1; line < number; ++line) {
    const auto end = text.find('\n');
    require(end != text.npos);
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

void check(const Diagnostic& diagnostic, std::string_view text) {
  require(diagnostic.at.line >= 1 && diagnostic.at.column >= 1 && diagnostic.at.length >= 1);
  // An unexpected end lies one behind the last byte.
  require(diagnostic.at.column <= line_of(text, diagnostic.at.line).size() + 1);
  require(!diagnostic.message.empty());
  require(gorgo::render(diagnostic).ends_with('\n'));
  require(gorgo::render_json(diagnostic).find('\n') == std::string::npos);
}

/// What formatting gives stays as it is; editors ask about texts of any kind.
void check_editing(const gorgo::language::Source& source) {
  const auto once = gorgo::language::format(source);
  if (!once.diagnostics.failed()) {
    const auto twice = gorgo::language::format({source.path, once.text});
    require(!twice.diagnostics.failed() && twice.text == once.text);
  }
  for (const auto& occurrence : gorgo::language::symbols_of(source).occurrences) {
    require(occurrence.at.column <= line_of(source.text, occurrence.at.line).size());
  }
  const auto words = gorgo::language::words_around(source.text, source.text.size() / 2);
  require(words.begun.size() <= source.text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const gorgo::language::Source source{
      .path = "fuzz.tesla", .text = std::string(reinterpret_cast<const char*>(data), size)};
  const auto bound = gorgo::language::compile(source, gorgo::Schema{});
  if (bound.diagnostics.failed()) require(bound.rules.empty());
  for (const auto& diagnostic : bound.diagnostics.list) check(diagnostic, source.text);
  check_editing(source);
  const auto predicate = gorgo::language::parse_predicate(source.text);
  for (const auto& diagnostic : predicate.diagnostics.list) check(diagnostic, source.text);
  return 0;
}
