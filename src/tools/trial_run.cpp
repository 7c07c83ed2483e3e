#include "tools/trial_run.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "codec/event_line.hpp"
#include "codec/json_text.hpp"
#include "language/ast.hpp"
#include "language/language.hpp"
#include "tools/append_events.hpp"

namespace gorgo::tools {
namespace {

/// Order and age of what was recorded are no reason to refuse it.
ProcessorOptions options_of_trials() {
  ProcessorOptions options;
  options.engine = "column";  // devices are for the rules in force
  options.max_composites = 100'000;
  options.max_late = std::numeric_limits<Duration>::max();
  return options;
}

/// The types that a text declares or makes.
std::set<std::string> types_of(const language::Source& source) {
  std::set<std::string> names;
  const auto parsed = language::parse(source);
  for (const ast::Item& item : parsed.file.items) {
    if (const auto* rule = std::get_if<ast::RuleDefinition>(&item)) names.insert(rule->type.text);
    if (const auto* event = std::get_if<ast::EventDeclaration>(&item)) {
      names.insert(event->name.text);
    }
  }
  return names;
}

std::unique_ptr<codec::EventReader> reader_of(std::string_view events, const Schema& schema) {
  const std::size_t first = events.find_first_not_of(" \t\r\n");
  const bool has_lines = first == events.npos || events[first] == '{';
  return has_lines ? codec::make_line_reader() : codec::make_csv_reader({}, &schema);
}

nlohmann::ordered_json json_of(const Diagnostics& found) {
  auto list = nlohmann::ordered_json::array();
  for (const Diagnostic& each : found.list) {
    list.push_back(nlohmann::ordered_json::parse(render_json(each)));
  }
  return list;
}

}  // namespace

TrialRun::TrialRun(const server::Workshop::Trial& trial, const std::stop_token& stop)
    : trial_(trial), processor_(options_of_trials()), stop_(stop, Stop{&processor_}) {}

std::string TrialRun::report() {
  declare_types();
  const Diagnostics found = processor_.deploy(trial_.name, trial_.rules);
  if (!found.failed()) run();
  const Json report = {{"diagnostics", json_of(found)},
                       {"accepted", accepted_},
                       {"refused", bad_lines_},
                       {"errors", bad_},
                       {"stopped", processor_.is_stopped()},
                       {"composites", composites_},
                       {"rules", rules()},
                       {"events", shown_}};
  return codec::json_text(report);
}

/// What the server knows counts, unless the text says otherwise.
void TrialRun::declare_types() {
  const auto own = types_of({trial_.name, trial_.rules});
  for (const auto& [name, attributes] : trial_.types) {
    if (own.contains(name)) continue;
    // A type that cannot be declared is found wrong where the rules use it.
    static_cast<void>(processor_.declare(name, attributes));
  }
}

void TrialRun::run() {
  const auto reader = reader_of(trial_.events, processor_.schema());
  std::string_view rest = trial_.events;
  while (!rest.empty() && !processor_.is_stopped() && !reader->broken()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    take_line(*reader, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (const auto finished = reader->finish(); !finished) bad_line(finished.error());
  append();
  processor_.finish([this](const OutputBatch& batch) { note(batch); });
}

void TrialRun::take_line(codec::EventReader& reader, std::string_view line) {
  using Kind = codec::LineContent::Kind;
  const auto content = reader.next(line, read_.events);
  if (!content) return bad_line(content.error());
  if (content->kind == Kind::event) read_.lines.push_back(reader.line());
  if (content->kind == Kind::tick) {
    append();
    const auto ticked = processor_.tick(content->timestamp);
    if (!ticked) bad_line(at_line(reader.line(), ticked.error()));
  }
  if (read_.events.events() >= EventStream::kBatch || read_.events.full()) append();
}

void TrialRun::append() {
  const AppendCallbacks callbacks{.refused =
                                      [this](const Error& error) {
                                        bad_line(error);
                                        return true;
                                      },
                                  .process =
                                      [this] {
                                        process();
                                        return !processor_.is_stopped();
                                      }};
  append_events(std::exchange(read_, {}), processor_, accepted_, callbacks);
  process();
}

void TrialRun::process() {
  processor_.process([this](const OutputBatch& batch) { note(batch); });
}

void TrialRun::note(const OutputBatch& batch) {
  for (const auto& row : batch.rows) {
    if (row.rule == OutputBatch::kPrimitive) continue;
    if (++composites_ > kMostComposites) continue;
    std::string line;
    codec::append_event_line(line, batch.to_event(row));
    Json event = Json::parse(line, nullptr, false);
    event["ts"] = codec::exact_milliseconds(row.timestamp);
    event["rule"] = batch.rule_names[row.rule];
    shown_.push_back(std::move(event));
  }
}

void TrialRun::bad_line(const Error& error) {
  if (++bad_lines_ <= kMostBadLines) bad_.push_back(error.to_string());
}

TrialRun::Json TrialRun::rules() const {
  Json list = Json::array();
  for (const RuleInfo& rule : processor_.rules()) {
    list.push_back({{"name", rule.name},
                    {"type", rule.type},
                    {"terminators", rule.terminators},
                    {"composites", rule.composites},
                    {"overflows", rule.overflows},
                    {"max_sequences", rule.max_sequences}});
  }
  return list;
}

}  // namespace gorgo::tools
