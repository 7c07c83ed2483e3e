#pragma once

#include <cstdint>
#include <string>

#include "gorgo/diagnostics.hpp"

namespace gorgo::tools {

/// What becomes of the lines of a file that are no events or that are refused: the first are shown
/// on standard error, all are counted.
class BadLines {
 public:
  static constexpr std::uint64_t kShown = 20;

  /// `file` is named in every message.
  explicit BadLines(std::string file) : file_(std::move(file)) {}

  void add(const Error& error);
  std::uint64_t count() const { return count_; }
  /// At the end: says how many lines were skipped, when any was.
  void summarise() const;
  /// The error of a file of which no line was `taken`; an empty file has none.
  Result<void> check(std::uint64_t taken) const;

 private:
  std::string file_;
  std::uint64_t count_ = 0;
};

}  // namespace gorgo::tools
