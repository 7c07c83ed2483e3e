#include "tools/test_case.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "codec/event_notation.hpp"
#include "gorgo/processor.hpp"
#include "server/subscriptions/filter.hpp"
#include "tools/text_diff.hpp"
#include "tools/why_text.hpp"

namespace gorgo::tools {
namespace {

struct Cut {
  const char* name;
  std::size_t events;  // per batch; 0: all
};
constexpr Cut kCuts[] = {{"all events in one batch", 0}, {"event by event", 1}, {"in threes", 3}};

/// One run of a case: one engine, one way to cut the events into batches.
class CaseRun {
 public:
  /// `coverage` may be null.
  CaseRun(const TestCase& test, const std::string& path, const std::string& engine, const Cut& cut,
          const std::stop_token& stop, RuleCoverage* coverage = nullptr)
      : test_(test),
        path_(path),
        engine_(engine),
        cut_(cut),
        coverage_(coverage),
        processor_(options()),
        stop_(stop, Stop{&processor_}) {}

  std::optional<CaseFailure> failure() {
    composites_differ_ = false;
    auto message = first_wrong();
    cover();
    if (!message) return std::nullopt;
    CaseFailure failure{*std::move(message), {}, {}};
    if (composites_differ_) {
      failure.composites = std::move(actual_);
      failure.expected = std::move(expected_);
    }
    return failure;
  }

  /// What the rules did where composites differ from what is expected, after a run that remembers
  /// all events.
  std::string explanation(const CaseFailure& failure) {
    constexpr std::size_t kMost = 3;
    std::set<std::string> explained;  // what is missing and what came instead say the same
    std::string text;
    for (const Edit& edit : edits_between(failure.expected, *failure.composites)) {
      std::string_view line = *edit.line;
      if (edit.mark == ' ' || explained.size() == kMost) continue;
      const auto event = codec::take_event(line);
      if (!event) continue;
      std::string paragraph = explained_event(*event);
      if (explained.insert(paragraph).second) text += paragraph;
    }
    return text;
  }

 private:
  std::string explained_event(const Event& event) {
    if (auto slip = misspelt(event); !slip.empty()) return "    " + slip + "\n";
    std::string text;
    for (const auto& rule : processor_.rules()) {
      if (rule.type == event.type) text += funnels(rule.name, *event.timestamp);
    }
    return text;
  }

  /// What is wrong with the names of an expected event.
  std::string misspelt(const Event& event) const {
    const EventType* const type = processor_.schema().find(event.type);
    if (type == nullptr) {
      return "there is no type '" + event.type + "'" +
             meant(event.type, processor_.schema().names());
    }
    std::vector<std::string> names;
    for (const auto& attribute : type->attributes) names.push_back(attribute.name);
    for (const auto& attribute : event.attributes) {
      if (!type->strict() || type->find(attribute.name)) continue;
      return event.type + " has no attribute '" + attribute.name + "'" +
             meant(attribute.name, names);
    }
    return {};
  }

  static std::string meant(const std::string& name, const std::vector<std::string>& names) {
    const auto closest = closest_name(name, names);
    return closest.empty() ? "" : ": did you mean '" + std::string(closest) + "'?";
  }

  /// What became of the terminators whose composites have this time; without one, of the newest.
  std::string funnels(const std::string& rule, Timestamp composite_at) {
    constexpr std::size_t kMost = 3;
    auto why = processor_.why(rule, {.last = kMost, .at = {}, .composite_at = composite_at});
    if (why && why->funnels.empty()) why = processor_.why(rule, {.last = 1, .at = {}});
    if (!why) return {};
    std::string text;
    const std::string paragraphs = to_text(*why);
    for (std::string_view rest = paragraphs; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (end > 0) text += "    " + std::string(rest.substr(0, end)) + "\n";
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return text;
  }

  struct Stop {
    Processor* processor;
    void operator()() const noexcept { processor->request_stop(); }
  };

  std::optional<std::string> first_wrong() {
    if (auto wrong = deploy_rules()) return wrong;
    if (auto wrong = subscribe()) return wrong;
    for (const auto& step : test_.steps) {
      if (auto wrong = take(step)) return wrong;
      if (cut_.events > 0 && processor_.pending() >= cut_.events) process();
    }
    process();
    if (actual_ != test_.expected) {
      expected_ = in_order_of_types(test_.expected);
      composites_differ_ = actual_ != expected_;
    }
    if (!composites_differ_) return check_counts();
    return headed(test_.expected_line, "the composites differ (- expected, + actual):") +
           diff(expected_, actual_);
  }

  /// Named attributes may be written in any order, and composites have them in that of their type.
  std::vector<std::string> in_order_of_types(const std::vector<std::string>& events) const {
    std::vector<std::string> ordered;
    for (std::string_view text : events) {
      Event event = *codec::take_event(text);
      if (const EventType* const type = processor_.schema().find(event.type)) {
        constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();
        std::ranges::stable_sort(event.attributes, {}, [&](const Attribute& attribute) {
          return type->find(attribute.name).value_or(kUnknown);
        });
      }
      ordered.push_back(codec::notation_of(event));
    }
    return ordered;
  }

  void cover() {
    if (coverage_ != nullptr) coverage_->add(rules_path(), processor_);
  }

  const std::string& rules_path() const {
    return test_.rules_path.empty() ? path_ : test_.rules_path;
  }

  ProcessorOptions options() {
    ProcessorOptions options;
    options.engine = engine_;
    if (test_.max_depth) options.max_depth = *test_.max_depth;
    if (test_.max_composites) options.max_composites = *test_.max_composites;
    if (test_.max_instants) options.max_instants = *test_.max_instants;
    if (test_.lateness) options.lateness = *test_.lateness;
    if (test_.max_late) options.max_late = *test_.max_late;
    options.max_ahead = test_.max_ahead;
    options.clock = [this] { return clock_; };
    if (coverage_ != nullptr) options.remember = std::numeric_limits<Duration>::max();
    return options;
  }

  std::optional<std::string> deploy_rules() {
    if (test_.rules.find_first_not_of(" \t\r\n") == std::string::npos) return std::nullopt;
    return check_diagnostics(processor_.deploy(rules_path(), test_.rules));
  }

  std::optional<std::string> subscribe() {
    for (const auto& text : test_.subscriptions) {
      auto parsed = server::Filter::parse(text, processor_.schema());
      if (!parsed.filter) return headed(test_.line, "no subscription: " + text);
      filters_.push_back(*std::move(parsed.filter));
    }
    return std::nullopt;
  }

  std::string headed(std::uint32_t line, const std::string& what) const {
    return path_ + ":" + std::to_string(line) + ": case '" + test_.name + "' under " + engine_ +
           ", " + cut_.name + ": " + what + "\n";
  }

  static std::string described(std::uint32_t line, std::uint32_t column, Severity severity,
                               const std::string& message) {
    return std::to_string(line) + ":" + std::to_string(column) + ": " +
           (severity == Severity::error ? "error: " : "warning: ") + message;
  }

  /// An expected message stands for the actual one that contains it. A case that expects none in
  /// particular accepts warnings.
  std::optional<std::string> check_diagnostics(const Diagnostics& diagnostics) const {
    const auto wanted = test_.diagnostics.value_or(std::vector<TestDiagnostic>());
    std::vector<std::string> expected, actual;
    for (const auto& d : wanted) {
      expected.push_back(described(d.line, d.column, d.severity, d.message));
    }
    for (const Diagnostic& d : diagnostics.list) {
      if (!test_.diagnostics && d.severity == Severity::warning) continue;
      const std::size_t i = actual.size();
      const bool fits = i < wanted.size() && d.message.find(wanted[i].message) != std::string::npos;
      actual.push_back(
          described(d.at.line, d.at.column, d.severity, fits ? wanted[i].message : d.message));
    }
    if (actual == expected) return std::nullopt;
    return headed(test_.line, "the diagnostics differ (- expected, + actual):") +
           diff(expected, actual);
  }

  std::optional<std::string> take(const TestStep& step) {
    using Kind = TestStep::Kind;
    const bool alone = step.kind == Kind::declare || step.kind == Kind::deploy ||
                       step.kind == Kind::remove || step.kind == Kind::flush;
    if (alone) process();
    if (step.kind == Kind::remove || step.options.replace) cover();
    switch (step.kind) {
      case Kind::event:
        return check(step, processor_.append(step.event));
      case Kind::tick:
        return check(step, processor_.tick(*step.event.timestamp));
      case Kind::clock:
        clock_ = *step.event.timestamp;
        break;
      case Kind::declare:
        return check(step, processor_.declare(step.name, step.attributes));
      case Kind::deploy:
        return check(step, deploy(step));
      case Kind::remove:
        return check(step, processor_.remove(step.name));
      case Kind::flush:
        processor_.finish([this](const OutputBatch& batch) { note(batch); });
        break;
    }
    return check(step, {});
  }

  Result<void> deploy(const TestStep& step) {
    const auto diagnostics = processor_.deploy(step.name, step.rules, step.options);
    if (!diagnostics.failed()) return {};
    std::string messages;
    for (const auto& d : diagnostics.list) {
      if (d.severity == Severity::error) messages += d.message + " (" + d.hint + ") ";
    }
    return Error{messages, ""};
  }

  std::optional<std::string> check(const TestStep& step, const Result<void>& result) const {
    if (result.has_value() && !step.refusal) return std::nullopt;
    if (result.has_value()) return headed(step.line, "this was not refused");
    const std::string& message = result.error().message;
    if (step.refusal && message.find(*step.refusal) != std::string::npos) return std::nullopt;
    return headed(step.line, "this was refused: " + result.error().to_string());
  }

  void process() {
    processor_.process([this](const OutputBatch& batch) { note(batch); });
  }

  void note(const OutputBatch& batch) {
    for (const auto& row : batch.rows) {
      for (std::size_t i = copies(batch, row); i > 0; --i) {
        actual_.push_back(codec::notation_of(batch.to_event(row)));
      }
    }
  }

  std::size_t copies(const OutputBatch& batch, const OutputBatch::Row& row) const {
    if (test_.subscriptions.empty()) return row.rule == OutputBatch::kPrimitive ? 0 : 1;
    const auto matches = [&](const server::Filter& filter) {
      return filter.is_about(batch, row) && filter.matches(batch, row);
    };
    return static_cast<std::size_t>(std::ranges::count_if(filters_, matches));
  }

  std::optional<std::string> check_counts() const {
    const ProcessorCounters& c = processor_.counters();
    std::map<std::string, std::uint64_t> counts = {{"accepted", c.accepted},
                                                   {"refused", c.refused},
                                                   {"composites", c.composites},
                                                   {"late", c.late},
                                                   {"too_late", c.too_late},
                                                   {"dropped_depth", c.dropped_depth},
                                                   {"dropped_composites", c.dropped_composites},
                                                   {"late others", 0},
                                                   {"too_late others", 0},
                                                   {"overflows", 0},
                                                   {"skipped", 0}};
    for (const auto& rule : processor_.rules()) {
      counts["overflows"] += rule.overflows;
      counts["skipped"] += rule.skipped;
    }
    for (const auto& type : processor_.types()) {
      const std::string name = type.name.empty() ? "others" : type.name;
      counts["late " + name] = type.late;
      counts["too_late " + name] = type.too_late;
    }
    for (const auto& [name, value, line] : test_.counts) {
      const auto found = counts.find(name);
      if (found == counts.end()) return headed(line, "there is no count '" + name + "'");
      if (found->second != value) {
        return headed(line, name + " is " + std::to_string(found->second));
      }
    }
    return std::nullopt;
  }

  const TestCase& test_;
  const std::string& path_;
  const std::string& engine_;
  const Cut& cut_;
  RuleCoverage* const coverage_;
  Timestamp clock_ = 0;  // the server's
  Processor processor_;
  const std::stop_callback<Stop> stop_;
  std::vector<server::Filter> filters_;
  std::vector<std::string> actual_;
  std::vector<std::string> expected_;  // see CaseFailure
  bool composites_differ_ = false;
};

}  // namespace

std::optional<CaseFailure> run_case(const TestCase& test, const std::string& path,
                                    const std::vector<std::string>& engines,
                                    const std::stop_token& stop) {
  const auto allowed = [&](const std::string& engine) {
    return test.engines.empty() || std::ranges::find(test.engines, engine) != test.engines.end();
  };
  for (const auto& engine : engines) {
    if (!allowed(engine)) continue;
    for (const Cut& cut : kCuts) {
      if (auto failure = CaseRun(test, path, engine, cut, stop).failure()) return failure;
    }
  }
  return std::nullopt;
}

std::string explain_failure(const TestCase& test, const std::string& path,
                            const CaseFailure& failure) {
  const std::string engine = "reference";
  RuleCoverage unused;
  CaseRun run(test, path, engine, kCuts[0], {}, &unused);
  static_cast<void>(run.failure());
  return run.explanation(failure);
}

void cover_case(const TestCase& test, const std::string& path, RuleCoverage& coverage) {
  const std::string engine = "reference";
  static_cast<void>(CaseRun(test, path, engine, kCuts[0], {}, &coverage).failure());
}

}  // namespace gorgo::tools
