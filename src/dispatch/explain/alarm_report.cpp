#include "dispatch/explain/alarm_report.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "codec/event_notation.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::dispatch {
namespace {

/// A report has at most so many events, the latest ones: people could not send a larger one.
constexpr std::size_t kMostEvents = 100'000;

struct Stored {
  TypeId type;
  history::EventRef event;
};

/// Whether the event of a type that the rule reads stands in the store of another one, too.
bool is_twin(const DeployedRule& rule, const EventType& type, history::EventRef event) {
  return type.joint() && rule.plan->reach.contains(history::own_type(type, event));
}

/// The events that were released up to the terminator, in order of release; those of one root are
/// in the order of their types.
std::vector<Stored> events_before(const DeployedRule& rule, const Schema& schema,
                                  const history::History& history, std::uint64_t root) {
  std::vector<Stored> events;
  for (const auto& [type, reach] : rule.plan->reach) {
    if (type == kTimerType) continue;
    const history::EventStore& store = history.store(type);
    for (history::Slot slot = store.begin(); slot < store.end() && store.root(slot) <= root;
         ++slot) {
      if (!is_twin(rule, schema.at(type), {&store, slot})) events.push_back({type, {&store, slot}});
    }
  }
  std::stable_sort(events.begin(), events.end(), [](const Stored& a, const Stored& b) {
    return a.event.root() < b.event.root();
  });
  return events;
}

Event event_of(const Stored& stored, const Schema& schema) {
  const EventType& type = schema.at(stored.type);
  Event event{.type = schema.at(history::own_type(type, stored.event)).name,
              .timestamp = stored.event.timestamp(),
              .attributes = {}};
  for (std::uint32_t i = 0; i < type.attributes.size(); ++i) {
    const Datum value = stored.event.store->attribute(stored.event.slot, i);
    const bool is_hidden = type.attributes[i].name.empty();
    if (value.exists() && !is_hidden)
      event.attributes.push_back({type.attributes[i].name, to_value(value)});
  }
  return event;
}

/// Declares the strict types that the rule reads and does not produce itself.
std::string declarations(const DeployedRule& rule, const Schema& schema) {
  std::string text;
  for (const auto& [type, reach] : rule.plan->reach) {
    const EventType& read = schema.at(type);
    if (type == kTimerType || type == rule.rule().type || !read.strict()) continue;
    if (!read.joint() || read.table()) text += "  " + declaration_of(read) + "\n";
    if (read.table()) continue;
    for (const JointMember& member : read.members) {
      if (rule.plan->reach.contains(member.type) || member.type == rule.rule().type) continue;
      const EventType common{.name = schema.at(member.type).name, .attributes = read.attributes};
      text += "  " + declaration_of(common) + "\n";
    }
  }
  return text;
}

/// The text with each line indented as the content below a heading is.
std::string indented(std::string_view text) {
  std::string result = "  ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result + "\n";
}

std::string commented(std::string text) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3) {
    text.replace(at, 1, "\n# ");
  }
  return "# " + text + "\n";
}

}  // namespace

EngineAlarm alarm_report(const DeployedRule& rule, const Schema& schema,
                         const history::History& history, history::Slot slot) {
  const std::string& difference = rule.placement.alarm();
  const history::EventStore& terminators = rule.terminators->store();
  auto events = events_before(rule, schema, history, terminators.root(slot));
  const std::size_t left_out = events.size() - std::min(events.size(), kMostEvents);
  events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(left_out));

  std::string text = commented("Engines gave different composites of the rule " + rule.rule().name +
                               ": " + difference);
  text +=
      "# `gorgo test FILE --engine reference --update` writes what is expected; then `gorgo test "
      "FILE` tells\n# which engine is wrong.\n";
  if (rule.rule().at_most) {
    text += "# The rule has a limit: what it had produced before the first one here is not told.\n";
  }
  if (rule.rule().every) {
    text +=
        "# The rule counts events: what it had counted before the first one here is not told.\n";
  }
  if (left_out > 0) text += commented(std::to_string(left_out) + " earlier events are left out.");
  if (!rule.rule().consuming.empty()) {
    text +=
        "# The rule consumes events: what it had consumed before the first one here is not told.\n";
  }
  // Late events were accepted once, so the test must accept them, too.
  text += "options:\n  max_late = 1000000000000\n";
  text += "rules:\n" + declarations(rule, schema) + indented(rule.rule().text);
  text += "case: engines disagree about " + rule.rule().name + "\nevents:\n";
  for (const Stored& stored : events) {
    text += "  " + codec::notation_of(event_of(stored, schema)) + "\n";
  }
  if (rule.has_timer) {
    text += "  @";
    codec::append_milliseconds(text, terminators.timestamp(slot));
    text += " tick\n";
  }
  return {.rule = rule.rule().name, .difference = difference, .report = text + "expect:\n"};
}

}  // namespace gorgo::dispatch
