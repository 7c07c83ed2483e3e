#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gorgo::tools {

/// What became of the cases of a test run, as other programs read it.
class TestReport {
 public:
  struct Result {
    std::string file;
    std::uint32_t line = 0;  ///< of `case:` in the file
    std::string name;
    double seconds = 0;
    std::string failure = {};  ///< empty: it passed
  };
  /// Why cases could not be run. It counts as failed.
  struct Problem {
    std::string file;  ///< empty: it is no one file's
    std::string message;
  };

  void add(Result result) { results_.push_back(std::move(result)); }
  /// Says why the last one failed. Precondition: there is one.
  void fail_last(std::string message) { results_.back().failure = std::move(message); }
  void add(Problem problem) { problems_.push_back(std::move(problem)); }
  const std::vector<Result>& results() const { return results_; }

  std::string as_json() const;
  /// The form of JUnit's reports, which continuous integration shows: a suite for each file, in
  /// which a problem is a case with an error.
  std::string as_junit() const;

 private:
  std::size_t failures() const;

  std::vector<Result> results_;
  std::vector<Problem> problems_;
};

}  // namespace gorgo::tools
