#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/event_text.hpp"
#include "gorgo/processor.hpp"

namespace CLI {
class App;
}

namespace gorgo::tools {

/// What composites are printed, and how.
struct CompositeForm {
  std::string format = "ndjson";  ///< or "csv"; empty: that of the events
  std::string times = "ms";       ///< or "rfc3339"
  std::vector<std::string> only;  ///< types; empty: all
};

/// Gives a command `--output-format`, `--output-times` and `--only`. `form` outlives the command.
void add_composite_form(CLI::App* command, CompositeForm& form);

/// An error: no rule of the processor defines a type that is asked for, or its composites cannot be
/// written in this format.
Result<void> check(const CompositeForm& form, const Processor& processor);

/// Makes event lines of composites. One thread.
class CompositeWriter {
 public:
  /// The rules of the processor are those whose composites are written.
  CompositeWriter(const CompositeForm& form, const Processor& processor);

  /// Whether it is a composite that is asked for.
  bool is_wanted(const OutputBatch& batch, const OutputBatch::Row& row) const;
  /// Appends the line of a row, with its end.
  void write(std::string& out, const OutputBatch& batch, const OutputBatch::Row& row);

 private:
  const std::vector<std::string> only_;
  const std::unique_ptr<codec::EventWriter> writer_;
};

}  // namespace gorgo::tools
