#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/schema.hpp"
#include "language/language.hpp"
#include "plan/plan.hpp"

namespace gorgo::tools {

/// Reads a rule file; - is standard input, which messages call `<stdin>`.
Result<language::Source> read_source(const std::string& path);

/// Rule files that are checked one after the other, each against the types that those before it
/// made known, as if they were deployed in this order.
class RuleSources {
 public:
  /// `path`: a file, or - for standard input. Returns what is wrong and what is hardly meant; a
  /// file with errors adds nothing. An error: the file cannot be read.
  Result<Diagnostics> add(const std::string& path);
  /// Adds a text that was read before.
  Diagnostics add(const language::Source& source);

  const Schema& schema() const { return schema_; }
  /// In the order of the files; they live as long as this object.
  const std::vector<const plan::Plan*>& plans() const { return plans_; }

 private:
  Schema schema_;
  std::vector<std::unique_ptr<const plan::Plan>> owned_;
  std::vector<const plan::Plan*> plans_;
};

}  // namespace gorgo::tools
