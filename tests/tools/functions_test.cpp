#include <gmock/gmock.h>
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

using testing::HasSubstr;

class Functions : public CommandLine {};

std::string content(const char* file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The names that the message lists where the pattern has its group, as documents write them.
std::string names_in(const std::string& message, const char* pattern) {
  std::smatch list;
  EXPECT_TRUE(std::regex_search(message, list, std::regex(pattern))) << message;
  return std::regex_replace(list[1].str(), std::regex("[A-Z]\\w*"), "`$&`");
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

TEST_F(Functions, TheDocumentSaysWhichAggregatesDevicesKnow) {
  write("median.tesla",
        "@engine(cuda-host) define M(v: float) from A() where v = Median(B().v within 5 from A);");
  const std::string known = names_in(run("explain median.tesla").out, "devices know only (.*)\n");
  EXPECT_THAT(functions_page(), HasSubstr("one of the aggregates other than " + known + ";"));
}

TEST_F(Functions, TheDocumentsSayWhichAggregatesTakeAnyAttribute) {
  write("sum.tesla",
        "event B(s: string); define M(v: int) from A() where v = Sum(B().s within 5 from A);");
  const std::string any = names_in(run("check sum.tesla").err, "hint: (.*) take any attribute\n");
  EXPECT_THAT(functions_page(), HasSubstr(any + " take attributes of any type."));
  EXPECT_THAT(content(GORGO_SOURCE_DIR "/docs/language.md"), HasSubstr(any + " take anything,"));
  EXPECT_THAT(content(GORGO_SOURCE_DIR "/docs/diagnostics.md"),
              HasSubstr("| Only " + any + " take any attribute. |"));
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
