#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "ast_dump.hpp"
#include "language/language.hpp"
#include "tools/test_file.hpp"
#include "tools/text_file.hpp"

/// What holds for the format of every rule text of this repository, however it is commented.
namespace gorgo::language {
namespace {

const std::filesystem::path kRoot = GORGO_SOURCE_DIR;

std::string read(const std::filesystem::path& path) {
  const auto text = tools::read_text_file(path.string());
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

bool parses(const std::string& text) {
  return !parse({.path = "t.tesla", .text = text}).diagnostics.failed();
}

/// All rule texts that parse.
std::vector<std::string> texts() {
  std::vector<std::string> all;
  for (const auto& path : files("rules", ".tesla")) all.push_back(read(path));
  for (const auto& path : files("tests/language", ".tesla")) all.push_back(read(path));
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

/// Bytes that a string or comment takes at the front of `text`; 0: neither stands there.
std::size_t string_length(std::string_view text) {
  if (text[0] != '"' && text[0] != '\'') return 0;
  std::size_t end = 1;
  while (text[end] != text[0]) end += text[end] == '\\' ? 2 : 1;
  return end + 1;
}
std::size_t comment_length(std::string_view text) {
  if (text.starts_with("/*")) return text.find("*/", 2) + 2;
  if (!text.starts_with("//") && !text.starts_with("#")) return 0;
  return std::min(text.find('\n'), text.size());
}

/// The comments of a text, sorted, without the blanks at their ends.
std::vector<std::string> comments(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t length = comment_length(text);
    if (length > 0) {
      all.emplace_back(text.substr(0, length));
      all.back().erase(all.back().find_last_not_of(" \t\f") + 1);
    }
    text.remove_prefix(std::max({length, string_length(text), std::size_t{1}}));
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// The text with comments in many of the places where there is a blank.
std::string commented(std::string_view text, std::mt19937& random) {
  static const std::string kinds[] = {
      " /* %s */ ",    "/*%s*/",       " // %s\n", "\n# %s\n", "\n/* %s\n   more */\n",
      "\n  /* %s */ ", "\n\n// %s\n\n"};
  std::string result;
  int count = 0;
  while (!text.empty()) {
    const std::size_t length =
        std::max({comment_length(text), string_length(text), std::size_t{1}});
    const bool blank = length == 1 && text[0] == ' ';
    result += text.substr(0, length);
    if (blank && random() % 4 == 0) {
      std::string comment = kinds[random() % std::size(kinds)];
      result += comment.replace(comment.find("%s"), 2, "comment " + std::to_string(++count));
    }
    text.remove_prefix(length);
  }
  return result;
}

void check(const std::string& text) {
  const ParsedFile before = parse({.path = "t.tesla", .text = text});
  ASSERT_EQ(before.diagnostics.render(), "");
  const FormattedFile once = format({.path = "t.tesla", .text = text});
  ASSERT_EQ(once.diagnostics.render(), "");
  const ParsedFile after = parse({.path = "t.tesla", .text = once.text});
  ASSERT_EQ(after.diagnostics.render(), "") << once.text;
  EXPECT_EQ(dump(after.file), dump(before.file)) << once.text;
  EXPECT_EQ(comments(once.text), comments(text)) << once.text;
  EXPECT_EQ(format({.path = "t.tesla", .text = once.text}).text, once.text);
}

TEST(FormatProperty, MeaningAndCommentsStayAndFormattingTwiceChangesNothing) {
  const auto all = texts();
  ASSERT_GT(all.size(), 300u);
  for (const auto& text : all) {
    check(text);
    if (HasFatalFailure()) FAIL() << text;
  }
}

TEST(FormatProperty, CommentsMayStandAnywhere) {
  std::mt19937 random(1);
  for (const auto& text : texts()) {
    const std::string harder = commented(text, random);
    check(harder);
    if (HasFailure()) FAIL() << harder;
  }
}

TEST(FormatProperty, SlipsThatMakeAnotherTextAreNoMatter) {
  constexpr std::string_view kBytes = " \n\t\f;#/*\"'()[]=<>,.:$@-+15eAb";
  std::mt19937 random(1);
  std::size_t checked = 0;
  for (const auto& text : texts()) {
    if (text.empty()) continue;
    for (int i = 0; i < 8; ++i) {
      std::string slipped = text;
      slipped[random() % text.size()] = kBytes[random() % kBytes.size()];
      if (!parses(slipped)) continue;
      ++checked;
      check(slipped);
      if (HasFailure()) FAIL() << slipped;
    }
  }
  EXPECT_GT(checked, 100u);
}

TEST(FormatProperty, TheExamplesAreFormatted) {
  for (const auto& path : files("rules", ".tesla")) {
    const std::string text = read(path);
    EXPECT_EQ(format({.path = path.string(), .text = text}).text, text)
        << "gorgo fmt -w " << path.string();
  }
}

}  // namespace
}  // namespace gorgo::language
