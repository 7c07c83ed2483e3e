#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "ast_dump.hpp"
#include "base/file.hpp"
#include "language/language.hpp"
#include "rule_texts.hpp"

/// What holds for the format of every rule text of this repository, however it is commented.
namespace gorgo::language {
namespace {

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
  const auto all = rule_texts();
  ASSERT_GT(all.size(), 300u);
  for (const auto& text : all) {
    check(text);
    if (HasFatalFailure()) FAIL() << text;
  }
}

TEST(FormatProperty, CommentsMayStandAnywhere) {
  std::mt19937 random(1);
  for (const auto& text : rule_texts()) {
    const std::string harder = commented(text, random);
    check(harder);
    if (HasFailure()) FAIL() << harder;
  }
}

TEST(FormatProperty, SlipsThatMakeAnotherTextAreNoMatter) {
  constexpr std::string_view kBytes = " \n\t\f;#/*\"'()[]=<>,.:$@-+15eAb";
  std::mt19937 random(1);
  std::size_t checked = 0;
  for (const auto& text : rule_texts()) {
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
  for (const std::string folder : {"rules", "docs/rules"}) {
    const auto path = std::filesystem::path(GORGO_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() != ".tesla") continue;
      const std::string text = *read_file(entry.path().string());
      EXPECT_EQ(format({.path = "t.tesla", .text = text}).text, text)
          << "gorgo fmt -w " << entry.path().string();
    }
  }
}

}  // namespace
}  // namespace gorgo::language
