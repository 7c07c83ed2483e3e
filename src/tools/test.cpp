#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/file.hpp"
#include "base/folder.hpp"
#include "gorgo/processor.hpp"
#include "tools/color.hpp"
#include "tools/commands.hpp"
#include "tools/file_stamps.hpp"
#include "tools/option_checks.hpp"
#include "tools/output.hpp"
#include "tools/progress.hpp"
#include "tools/test_case.hpp"
#include "tools/test_coverage.hpp"
#include "tools/test_file.hpp"
#include "tools/test_report.hpp"
#include "tools/test_update.hpp"
#include "tools/text_file.hpp"

namespace gorgo::tools {
namespace {

struct TestOptions {
  std::vector<std::string> paths;
  std::string only;
  std::string format = "text";
  std::vector<std::string> engines;
  bool update = false;
  bool watch = false;
  bool coverage = false;
  bool require_coverage = false;
};

/// The test files that a path stands for: itself, or those under a folder, sorted.
Result<std::vector<std::string>> test_files(const std::string& path) {
  std::error_code not_there;  // reading says why
  if (!std::filesystem::is_directory(path, not_there)) return std::vector<std::string>{path};
  auto files = files_in(path, ".test", FolderDepth::with_folders);
  if (files && files->empty()) return Error{"there is no *.test file under " + path, ""};
  return files;
}

/// One run of all tests.
class TestRun {
 public:
  explicit TestRun(const TestOptions& options) : options_(options) {}

  int go() {
    for (const auto& path : options_.paths) {
      const auto files = test_files(path);
      if (!files) {
        fail_outside(path, files.error());
        continue;
      }
      for (const auto& file : *files) run_file(file);
    }
    if (!options_.only.empty() && failed_ == 0 && report_.results().empty()) {
      fail_outside("", {"no case has " + options_.only + " in its name", ""});
    }
    print_summary();
    const bool covered = !options_.coverage || report_coverage();
    return failed_ == 0 && (covered || !options_.require_coverage) ? kSuccess : kFailure;
  }

  /// The test files, and the rule files that they name.
  const std::set<std::string>& files() const { return files_; }

 private:
  void print_summary() {
    progress_.clear();
    if (options_.format == "text") {
      const std::string counts =
          std::to_string(passed_) + " passed, " + std::to_string(failed_) + " failed";
      const Color color = failed_ > 0 ? Color::red : Color::green;
      std::fputs(colored(color, counts, stdout).c_str(), stdout);
      std::printf(updated_ > 0 ? ", %zu updated\n" : "\n", updated_);
    } else {
      std::puts((options_.format == "json" ? report_.as_json() : report_.as_junit()).c_str());
    }
  }

  /// What happens outside of cases counts as one that fails. `file` is empty where it is no one
  /// file's.
  void fail_outside(const std::string& file, const Error& error) {
    ++failed_;
    report_.add(TestReport::Problem{file, error.to_string()});
    progress_.clear();
    fail(error);
  }
  void fail_case(const std::string& message) {
    ++failed_;
    report_.fail_last(message);
    if (options_.format != "text") return;
    progress_.clear();
    std::fputs(message.c_str(), stdout);
  }

  void run_file(const std::string& path) {
    files_.insert(path);
    const auto text = read_file(path);
    if (!text) return fail_outside(path, text.error());
    const auto cases = parse_test_file(path, *text);
    if (!cases) return fail_outside(path, cases.error());
    std::vector<TestUpdate> updates;
    for (const TestCase& test : *cases) {
      if (test.name.find(options_.only) == test.name.npos) continue;
      if (!test.rules_path.empty()) files_.insert(test.rules_path);
      run_test(test, path, updates);
    }
    if (updates.empty()) return;
    if (auto written = write_text_file(path, with_expectations(*text, updates)); !written) {
      return fail_outside(path, written.error());
    }
    std::printf("%s: rewritten\n", path.c_str());
  }

  void run_test(const TestCase& test, const std::string& path, std::vector<TestUpdate>& updates) {
    if (progress_.is_due()) {
      progress_.show(std::to_string(passed_ + failed_) + " done, " + path + ": " + test.name);
    }
    const auto begin = std::chrono::steady_clock::now();
    const auto failure = run_case(test, path, options_.engines);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    report_.add(TestReport::Result{
        .file = path, .line = test.line, .name = test.name, .seconds = took.count()});
    if (options_.coverage) cover_case(test, path, coverage_);
    if (!failure) {
      ++passed_;
    } else if (options_.update && update(test, path, *failure, updates)) {
      progress_.clear();
      std::fputs(failure->message.c_str(), stdout);
      ++updated_;
    } else {
      const bool differ = failure->composites && test.expects;
      fail_case(failure->message +
                (differ ? explain_failure(test, path, *failure) : std::string()));
    }
  }

  /// Adds an update if other expectations make the case pass under all engines. Returns whether it
  /// did.
  bool update(const TestCase& test, const std::string& path, const CaseFailure& failure,
              std::vector<TestUpdate>& updates) const {
    if (!failure.composites || !test.expects) return false;
    TestCase other = test;
    other.expected = *failure.composites;
    if (run_case(other, path, options_.engines)) return false;
    updates.push_back({&test, failure.expected, *failure.composites});
    return true;
  }

  bool report_coverage() const {
    const auto gaps = coverage_.gaps();
    for (const auto& gap : gaps) std::puts(gap.c_str());
    std::printf("coverage: %zu of %zu\n", coverage_.total() - gaps.size(), coverage_.total());
    return gaps.empty();
  }

  const TestOptions& options_;
  std::size_t passed_ = 0, failed_ = 0, updated_ = 0;
  std::set<std::string> files_;
  RuleCoverage coverage_;
  TestReport report_;
  Progress progress_;
};

/// Runs the tests whenever one of their files has changed, until a signal ends the program or
/// nobody can read the results.
void watch_tests(const TestOptions& options) {
  constexpr std::chrono::milliseconds kPause{200};
  std::set<std::string> watched(options.paths.begin(), options.paths.end());
  while (true) {
    // The stamps are from before the run, so that no change meanwhile is missed.
    auto seen = stamps_of(watched);
    TestRun run(options);
    static_cast<void>(run.go());
    if (!flush_output()) return;
    watched.insert(run.files().begin(), run.files().end());
    seen.merge(stamps_of(watched));
    while (stamps_of(watched) == seen) std::this_thread::sleep_for(kPause);
    std::puts("");
  }
}

}  // namespace

void add_test(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<TestOptions>();
  const auto known = engine_names();
  auto* test = app.add_subcommand(
      "test", "Run rule tests: every case under every engine, in batches of several sizes");
  test->add_option("PATH", options->paths, "Test files, or folders of *.test files")->required();
  test->add_option("--engine", options->engines,
                   "Only under this engine; may be given several times")
      ->check(one_of(known));
  test->add_option("--case", options->only, "Only cases with this text in their name")
      ->option_text("TEXT");
  auto* format =
      test->add_option("--format", options->format, "Of what is printed on standard output")
          ->check(one_of({"text", "json", "junit"}))
          ->capture_default_str();
  test->add_flag("--update", options->update,
                 "Rewrite what cases expect, where it is all that is wrong, after showing how")
      ->excludes(format);
  test->add_flag("--watch", options->watch, "Run again whenever a file changes, until interrupted")
      ->excludes(format);
  test->add_flag("--coverage", options->coverage,
                 "Say which states, negations and filters of the rules no case exercises")
      ->excludes(format);
  test->add_flag("--require-coverage", options->require_coverage,
                 "The same, and fail unless all are exercised")
      ->excludes(format);
  test->callback([options, known, &exit_code] {
    if (options->engines.empty()) options->engines = known;
    options->coverage = options->coverage || options->require_coverage;
    if (options->watch) return watch_tests(*options);
    exit_code = TestRun(*options).go();
  });
}

}  // namespace gorgo::tools
