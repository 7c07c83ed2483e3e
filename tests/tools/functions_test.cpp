#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "command_line.hpp"

namespace gorgo::tools {
namespace {

class Functions : public CommandLine {};

std::string content(const char* file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string functions_page() { return content(GORGO_SOURCE_DIR "/docs/functions.md"); }

TEST_F(Functions, TheDocumentListsWhatTheProgramHas) {
  const Outcome outcome = run("functions --format json");
  ASSERT_EQ(outcome.exit_code, 0);
  const auto list = nlohmann::json::parse(outcome.out);
  const std::string document = functions_page();
  std::size_t entries = 0;
  for (const char* part : {"functions", "aggregates"}) {
    for (const auto& entry : list.at(part)) {
      const std::string row = "| `" + entry.at("usage").get<std::string>() + "` | " +
                              entry.at("says").get<std::string>() + " |\n";
      EXPECT_NE(document.find(row), document.npos) << row;
      ++entries;
    }
  }
  EXPECT_GT(entries, 50u);
}

TEST_F(Functions, EditorsShowEveryAggregateAsOne) {
  const Outcome outcome = run("functions --format json");
  ASSERT_EQ(outcome.exit_code, 0);
  const auto syntax = nlohmann::json::parse(
      content(GORGO_SOURCE_DIR "/docs/editors/vscode/syntaxes/tesla.tmLanguage.json"));
  std::string pattern;
  for (const auto& one : syntax.at("patterns")) {
    if (one.value("name", "") == "support.function.tesla") pattern = one.at("match");
  }
  ASSERT_TRUE(pattern.starts_with("(?i)"));
  const std::regex aggregate(pattern.substr(4), std::regex::icase);
  const auto catalogue = nlohmann::json::parse(outcome.out);
  for (const auto& entry : catalogue.at("aggregates")) {
    const auto usage = entry.at("usage").get<std::string>();
    EXPECT_TRUE(std::regex_search(usage, aggregate)) << usage;
  }
}

/// All engines calculate by the same code, so that no test between engines sees a wrong value.
TEST_F(Functions, EveryAggregateHasAnExampleWrittenByHand) {
  std::string examples;
  const std::filesystem::path folder = GORGO_SOURCE_DIR "/tests/conformance/06-aggregates";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    examples += content(file.path().c_str());
  }
  const auto catalogue = nlohmann::json::parse(run("functions --format json").out);
  for (const auto& entry : catalogue.at("aggregates")) {
    const auto call = entry.at("name").get<std::string>() + "(";
    EXPECT_NE(examples.find(call), examples.npos) << call;
  }
}

TEST_F(Functions, TheRulesOfTheDocumentAreRight) {
  const std::string document = functions_page(), fence = "```tesla\n";
  std::size_t blocks = 0;
  for (auto at = document.find(fence); at != document.npos; at = document.find(fence, at)) {
    at += fence.size();
    write("block.tesla", document.substr(at, document.find("```", at) - at));
    const Outcome outcome = run("check block.tesla");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    ++blocks;
  }
  EXPECT_EQ(blocks, 2u);
}

}  // namespace
}  // namespace gorgo::tools
