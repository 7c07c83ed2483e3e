#include "parse_support.hpp"

namespace gorgo::language {
namespace {

std::string repeat(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string nested(std::size_t depth) {
  // The brackets of the predicate are one level.
  return "define A() from B(" + repeat("(", depth - 1) + "x" + repeat(")", depth - 1) + ")";
}

TEST(ParseLimit, Nesting) {
  EXPECT_EQ(parsed_dump(nested(256)), "define A()\nfrom B(x)\n");
  EXPECT_EQ(errors(nested(257)), "1:274: brackets are nested more than 256 deep");
  EXPECT_EQ(errors("event A();\n" + repeat("(", 1'000'000)),
            "2:1: a rule of more than 250000 words | is a `;` missing?");
}

TEST(ParseLimit, BracketsInStringsAndCommentsDoNotCount) {
  const std::string many = repeat("(", 300);
  EXPECT_EQ(conditions("a = '" + many + "' /*" + many + "*/ //" + many + "\n"),
            "(= a '" + many + "')");
}

TEST(ParseLimit, ChainsOfUnaryOperators) {
  EXPECT_EQ(errors("define A() from B(" + repeat("not ", 511) + "x)"), "");
  EXPECT_EQ(errors("define A() from B(" + repeat("not ", 512) + "x)"),
            "1:19: the expression is nested too deeply | at most 512 operators may stand in each "
            "other");
  EXPECT_EQ(
      errors("define A() from B(x = " + repeat("-", 200'000) + "y)"),
      "1:199511: the expression is nested too deeply | at most 512 operators may stand in each "
      "other");
}

TEST(ParseLimit, ChainsOfBinaryOperators) {
  EXPECT_EQ(errors("define A() from B(0 = x" + repeat("+1", 510) + ")"), "");
  EXPECT_EQ(errors("define A() from B(0 = x" + repeat("+1", 100'000) + ")"),
            "1:1046: the expression is nested too deeply | at most 512 operators may stand in each "
            "other");
  EXPECT_EQ(errors("define A() from B(x" + repeat(" and x", 100'000) + ")"), "");
}

TEST(ParseLimit, SizeOfTheText) {
  const std::string longest((std::size_t{16} << 20) - 10, ' ');
  EXPECT_EQ(errors(longest + "event A();"), "");
  EXPECT_EQ(errors(longest + "event A(); "),
            "1:1: the text is longer than 16 MiB | divide it into several files");
}

TEST(ParseLimit, NumberOfDiagnostics) {
  const auto result = parse({.path = "t.tesla", .text = repeat("x;\n", 100'000)});
  ASSERT_EQ(result.diagnostics.list.size(), 101u);
  EXPECT_EQ(result.diagnostics.list[99].at.line, 100u);
  EXPECT_EQ(result.diagnostics.list[100].message, "too many errors, the rest is not shown");
}

TEST(ParseLimit, ALineTooLongToReadIsNotRepeated) {
  const auto result = parse({.path = "t.tesla", .text = repeat("x;", 100'000)});
  ASSERT_EQ(result.diagnostics.list.size(), 101u);
  EXPECT_EQ(result.diagnostics.list[1].source_line, "");
  EXPECT_EQ(result.diagnostics.list[1].at.column, 3u);
}

TEST(ParseLimit, BytesThatAreNoText) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(errors(bytes), "1:1: unexpected byte 0x00");
}

}  // namespace
}  // namespace gorgo::language
