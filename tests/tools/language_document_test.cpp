#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "command_line.hpp"

/// docs/language.md against the program: its examples run, its grammar is the parser's, and the
/// sections that tests cite are there. The examples of the migration pages run, too.
namespace gorgo::tools {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = GORGO_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> blocks(const std::string& document, const std::string& kind) {
  const std::string fence = "\n```" + kind + "\n";
  std::vector<std::string> found;
  for (auto at = document.find(fence); at != document.npos; at = document.find(fence, at)) {
    at += fence.size();
    found.push_back(document.substr(at, document.find("```", at) - at));
  }
  return found;
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

class LanguageDocument : public CommandLine {
 protected:
  /// Runs the rule tests of a document; returns how many there are.
  std::size_t run_examples(const std::string& document) {
    const auto examples = blocks(document, "test");
    for (const std::string& example : examples) {
      write("example.test", example);
      const Outcome outcome = run("test example.test");
      EXPECT_EQ(outcome.exit_code, 0) << example << outcome.out << outcome.err;
    }
    return examples.size();
  }

  const std::string document_ = text_of(kRoot / "docs/language.md");
};

TEST_F(LanguageDocument, ItsExamplesRun) { EXPECT_GT(run_examples(document_), 15u); }

TEST_F(LanguageDocument, TheExamplesOfTheMigrationPagesRun) {
  std::size_t pages = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs/migration")) {
    EXPECT_GE(run_examples(text_of(entry.path())), 3u) << entry.path();
    ++pages;
  }
  EXPECT_EQ(pages, 4u);
}

TEST_F(LanguageDocument, ItsGrammarIsTheParsers) {
  const std::string grammar = without_blanks(text_of(kRoot / "grammar/Tesla.g4"));
  const auto excerpts = blocks(document_, "antlr");
  ASSERT_GT(excerpts.size(), 5u);
  for (const std::string& excerpt : excerpts) {
    for (std::size_t begin = 0; begin < excerpt.size();) {
      const std::size_t end = std::min(excerpt.find(" ;\n", begin), excerpt.size() - 3) + 3;
      const std::string rule = excerpt.substr(begin, end - begin);
      EXPECT_NE(grammar.find(without_blanks(rule)), grammar.npos) << rule;
      begin = end;
    }
  }
}

/// The sections that a text cites: "§4", "§4.2", "§8, §9".
std::set<int> cited_in(const std::string& text) {
  static const std::regex kCitation("§(\\d+)");
  std::set<int> cited;
  for (std::sregex_iterator it(text.begin(), text.end(), kCitation), end; it != end; ++it) {
    cited.insert(std::stoi((*it)[1]));
  }
  return cited;
}

TEST_F(LanguageDocument, ItHasTheSectionsThatTestsCite) {
  std::set<int> sections;
  static const std::regex kHeading("\n## §(\\d+) ");
  for (std::sregex_iterator it(document_.begin(), document_.end(), kHeading), end; it != end;
       ++it) {
    sections.insert(std::stoi((*it)[1]));
  }
  EXPECT_EQ(sections.size(), 14u);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "tests/conformance")) {
    if (entry.path().extension() != ".test") continue;
    for (const int section : cited_in(text_of(entry.path()))) {
      EXPECT_TRUE(sections.contains(section)) << entry.path() << " cites §" << section;
    }
    ++files;
  }
  EXPECT_GT(files, 30u);
}

}  // namespace
}  // namespace gorgo::tools
