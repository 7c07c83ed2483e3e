#include "rule_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.hpp"
#include "language/language.hpp"
#include "tools/test_file.hpp"

namespace gorgo::language {
namespace {

const std::filesystem::path kRoot = GORGO_SOURCE_DIR;

std::string read(const std::filesystem::path& path) {
  const auto text = read_file(path.string());
  EXPECT_TRUE(text.has_value()) << path;
  return text ? *text : "";
}

std::vector<std::filesystem::path> files(const std::filesystem::path& folder,
                                         const std::string& extension) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

bool parses(const std::string& text) {
  return !parse({.path = "t.tesla", .text = text}).diagnostics.failed();
}

std::vector<std::string> rule_texts() {
  std::vector<std::string> all;
  for (const std::string folder : {"rules", "docs/rules", "tests/language"}) {
    for (const auto& path : files(folder, ".tesla")) all.push_back(read(path));
  }
  for (const auto& path : files("tests/conformance", ".test")) {
    const auto cases = tools::parse_test_file(path.string(), read(path));
    if (!cases) continue;
    for (const auto& test : *cases) {
      all.push_back(test.rules);
      for (const auto& step : test.steps) all.push_back(step.rules);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  all.erase(std::remove_if(all.begin(), all.end(), [](const auto& t) { return !parses(t); }),
            all.end());
  return all;
}

}  // namespace gorgo::language
