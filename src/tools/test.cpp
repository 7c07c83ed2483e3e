#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"
#include "tools/commands.hpp"
#include "tools/test_case.hpp"
#include "tools/test_file.hpp"
#include "tools/text_file.hpp"

namespace gorgo::tools {
namespace {

namespace fs = std::filesystem;

/// The test files that a path stands for: itself, or those under a folder, sorted.
Result<std::vector<std::string>> test_files(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".test") files.push_back(it->path().string());
  }
  if (error) return Error{"cannot read folder " + path + ": " + error.message(), ""};
  if (files.empty()) return Error{"no *.test files under " + path, ""};
  std::ranges::sort(files);
  return files;
}

struct Tally {
  std::size_t passed = 0;
  std::size_t failed = 0;

  void fail(const std::string& message) {
    ++failed;
    std::fputs(message.c_str(), stdout);
  }
};

void run_file(const std::string& path, const std::vector<std::string>& engines, Tally& tally) {
  const auto text = read_text_file(path);
  if (!text) return tally.fail(text.error().to_string() + "\n");
  const auto cases = parse_test_file(path, *text);
  if (!cases) return tally.fail(cases.error().to_string() + "\n");
  for (const TestCase& test : *cases) {
    if (const auto failure = run_case(test, path, engines)) {
      tally.fail(*failure);
    } else {
      ++tally.passed;
    }
  }
}

int run_tests(const std::vector<std::string>& paths, const std::vector<std::string>& engines) {
  Tally tally;
  for (const auto& path : paths) {
    const auto files = test_files(path);
    if (!files) {
      tally.fail(files.error().to_string() + "\n");
      continue;
    }
    for (const auto& file : *files) run_file(file, engines, tally);
  }
  std::printf("%zu passed, %zu failed\n", tally.passed, tally.failed);
  return tally.failed == 0 ? kSuccess : kFailure;
}

}  // namespace

void add_test(CLI::App& app, int& exit_code) {
  const auto paths = std::make_shared<std::vector<std::string>>();
  const auto engines = std::make_shared<std::vector<std::string>>();
  const auto known = engine_names();
  auto* test = app.add_subcommand(
      "test", "Run rule tests: every case under every engine, in batches of several sizes");
  test->add_option("PATH", *paths, "Test files, or folders of *.test files")->required();
  test->add_option("--engine", *engines, "Only under this engine; may be given several times")
      ->check(CLI::IsMember(known));
  test->callback([paths, engines, known, &exit_code] {
    exit_code = run_tests(*paths, engines->empty() ? known : *engines);
  });
}

}  // namespace gorgo::tools
