#include "tools/test_case.hpp"

#include <algorithm>

#include "gorgo/processor.hpp"
#include "tools/event_notation.hpp"
#include "tools/text_diff.hpp"

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
  CaseRun(const TestCase& test, const std::string& path, const std::string& engine, const Cut& cut)
      : test_(test), path_(path), engine_(engine), cut_(cut), processor_(options()) {}

  std::optional<std::string> failure() {
    const Diagnostics diagnostics = processor_.deploy(path_, test_.rules);
    if (auto wrong = check_diagnostics(diagnostics)) return wrong;
    for (const auto& event : test_.events) {
      if (auto wrong = append(event)) return wrong;
      if (cut_.events > 0 && processor_.pending() >= cut_.events) process();
    }
    process();
    if (test_.flush) processor_.finish([this](const OutputBatch& batch) { collect(batch); });
    if (actual_ == test_.expected) return std::nullopt;
    return headed(test_.expected_line, "the composites differ (- expected, + actual):") +
           diff(test_.expected, actual_);
  }

 private:
  ProcessorOptions options() const {
    ProcessorOptions options;
    options.engine = engine_;
    if (test_.max_depth) options.max_depth = *test_.max_depth;
    if (test_.max_composites) options.max_composites = *test_.max_composites;
    if (test_.lateness) options.lateness = *test_.lateness;
    if (test_.max_late) options.max_late = *test_.max_late;
    return options;
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

  /// An expected message stands for the actual one that contains it.
  std::optional<std::string> check_diagnostics(const Diagnostics& diagnostics) const {
    std::vector<std::string> expected, actual;
    for (const auto& d : test_.diagnostics) {
      expected.push_back(described(d.line, d.column, d.severity, d.message));
    }
    for (std::size_t i = 0; i < diagnostics.list.size(); ++i) {
      const Diagnostic& d = diagnostics.list[i];
      const bool fits =
          i < expected.size() && d.message.find(test_.diagnostics[i].message) != std::string::npos;
      actual.push_back(described(d.at.line, d.at.column, d.severity,
                                 fits ? test_.diagnostics[i].message : d.message));
    }
    if (actual == expected) return std::nullopt;
    return headed(test_.line, "the diagnostics differ (- expected, + actual):") +
           diff(expected, actual);
  }

  std::optional<std::string> append(const TestEvent& test) {
    const auto taken =
        test.tick ? processor_.tick(*test.event.timestamp) : processor_.append(test.event);
    if (taken.has_value() && !test.refusal) return std::nullopt;
    if (taken.has_value()) return headed(test.line, "the event was not refused");
    const std::string& message = taken.error().message;
    if (test.refusal && message.find(*test.refusal) != std::string::npos) return std::nullopt;
    return headed(test.line, "the event was refused: " + message);
  }

  void process() {
    processor_.process([this](const OutputBatch& batch) { collect(batch); });
  }

  void collect(const OutputBatch& batch) {
    for (const auto& row : batch.rows) {
      if (row.rule != OutputBatch::kPrimitive) actual_.push_back(notation_of(batch.to_event(row)));
    }
  }

  const TestCase& test_;
  const std::string& path_;
  const std::string& engine_;
  const Cut& cut_;
  Processor processor_;
  std::vector<std::string> actual_;
};

}  // namespace

std::optional<std::string> run_case(const TestCase& test, const std::string& path,
                                    const std::vector<std::string>& engines) {
  const auto allowed = [&](const std::string& engine) {
    return test.engines.empty() || std::ranges::find(test.engines, engine) != test.engines.end();
  };
  for (const auto& engine : engines) {
    if (!allowed(engine)) continue;
    for (const Cut& cut : kCuts) {
      if (auto failure = CaseRun(test, path, engine, cut).failure()) return failure;
    }
  }
  return std::nullopt;
}

}  // namespace gorgo::tools
