#include "tools/test_step.hpp"

#include <algorithm>
#include <utility>

#include "codec/event_notation.hpp"
#include "tools/line_text.hpp"

namespace gorgo::tools {
namespace {

using StepKind = TestStep::Kind;

Error unexpected(std::string_view text) {
  return {"'" + std::string(text) + "' is no event, nor anything else that may stand here",
          "@TIME Type(attribute=value), @TIME tick, @TIME clock, declare, deploy, replace, remove "
          "or flush"};
}

/// Takes `word` and what separates it from the rest.
bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  const std::string_view rest = text.substr(word.size());
  if (!rest.empty() && rest.find_first_of(" \t\r") != 0) return false;
  text = trimmed(rest);
  return true;
}

std::string_view take_until(std::string_view& text, std::string_view ends) {
  const std::size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end);
  return taken;
}

/// `@TIME tick` and `@TIME clock`; anything else is an event.
Result<void> take_timed(std::string_view& text, TestStep& step) {
  std::string_view rest = text;
  const auto timestamp = codec::take_time(rest);
  if (!timestamp) return timestamp.error();
  const bool tick = take_word(rest, "tick");
  if (tick || take_word(rest, "clock")) {
    step.kind = tick ? StepKind::tick : StepKind::clock;
    step.event.timestamp = *timestamp;
    text = rest;
    return {};
  }
  auto event = codec::take_event(text);
  if (!event) return event.error();
  step.event = *std::move(event);
  return {};
}

std::optional<ValueType> value_type(std::string_view name) {
  for (const ValueType type :
       {ValueType::integer, ValueType::floating, ValueType::boolean, ValueType::string}) {
    if (name == to_string(type)) return type;
  }
  return std::nullopt;
}

Result<void> take_declaration(std::string_view& text, TestStep& step) {
  const Error shape{"a declaration is written declare Type(attribute: type, ...)", ""};
  step.kind = StepKind::declare;
  step.name = take_until(text, "(");
  if (text.empty()) return shape;
  text.remove_prefix(1);
  std::string_view list = take_until(text, ")");
  if (text.empty()) return shape;
  text.remove_prefix(1);
  while (!trimmed(list).empty()) {
    const auto attribute = cut(take_until(list, ","), ":");
    const auto type = attribute ? value_type(attribute->second) : std::nullopt;
    if (!type) return shape;
    step.attributes.push_back({std::string(attribute->first), *type});
    if (!list.empty()) list.remove_prefix(1);
  }
  return {};
}

/// `deploy NAME:` and `replace NAME:`, with `with history` before the colon.
Result<void> take_deployment(std::string_view& text, TestStep& step) {
  step.kind = StepKind::deploy;
  step.name = take_until(text, ": \t");
  text = trimmed(text);
  step.options.with_history = take_word(text, "with") && text.starts_with("history");
  if (step.options.with_history) text = trimmed(text.substr(7));
  if (step.name.empty() || !text.starts_with(':')) {
    return Error{"a deployment is written deploy NAME: or deploy NAME with history:",
                 "its rules stand below, indented further"};
  }
  text.remove_prefix(1);
  return {};
}

Result<void> take_action(std::string_view& text, TestStep& step) {
  if (text.starts_with('@')) return take_timed(text, step);
  if (take_word(text, "declare")) return take_declaration(text, step);
  step.options.replace = take_word(text, "replace");
  if (step.options.replace || take_word(text, "deploy")) return take_deployment(text, step);
  if (take_word(text, "flush")) {
    step.kind = StepKind::flush;
    return {};
  }
  if (take_word(text, "remove")) {
    step.kind = StepKind::remove;
    step.name = take_until(text, " \t\r");
    return {};
  }
  if (text.find('(') == text.npos) return unexpected(text);
  auto event = codec::take_unstamped_event(text);
  if (!event) return event.error();
  step.event = *std::move(event);
  return {};
}

}  // namespace

Result<TestStep> parse_step(std::string_view text, std::uint32_t line) {
  TestStep step{.line = line};
  if (const auto taken = take_action(text, step); !taken) return taken.error();
  text = trimmed(text);
  if (text.starts_with("refused")) {
    text = trimmed(text.substr(7));
    const std::size_t end = text.find('"', 1);
    if (!text.starts_with('"') || end == text.npos) {
      return Error{"expected part of the message in quotes behind 'refused'", ""};
    }
    step.refusal = text.substr(1, end - 1);
    text = trimmed(text.substr(end + 1));
  }
  if (!is_blank(text)) {
    const std::string what = step.kind == StepKind::event ? "event" : "step";
    return Error{"'" + std::string(text) + "' behind the " + what, ""};
  }
  return step;
}

}  // namespace gorgo::tools
