#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "bind_support.hpp"
#include "dispatch/rules/rule_base.hpp"
#include "plan/pane_problems.hpp"
#include "plan/plan.hpp"
#include "plan/warnings.hpp"

// docs/diagnostics.md against the examples that it points to: tests/language/diagnostics/*.tesla,
// which begin with the messages they give, one `// expect: LINE:COL: MESSAGE` each.
namespace gorgo::language {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = GORGO_SOURCE_DIR;
const fs::path kExamples = kRoot / "tests/language/diagnostics";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> expected_in(const std::string& text) {
  const std::string mark = "// expect: ";
  std::vector<std::string> expected;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with(mark);) {
    expected.push_back(line.substr(mark.size()));
  }
  return expected;
}

std::vector<std::string> given_by(const fs::path& path, const std::string& text) {
  const Source source{path.filename().string(), text};
  BoundFile bound = compile(source, {});
  Diagnostics engines;
  if (!bound.diagnostics.failed()) {
    engines = dispatch::problems_of_engines(parse(source).file, source);
  }
  std::vector<plan::Plan> plans;
  std::vector<const plan::Plan*> pointers;
  for (Rule& rule : bound.rules) plans.push_back(plan::make_plan(std::move(rule)));
  for (const plan::Plan& plan : plans) pointers.push_back(&plan);
  Diagnostics all = std::move(bound.diagnostics);
  const Diagnostics panes = plan::problems_of_panes(pointers, bound.schema, source);
  const Diagnostics more = plan::warnings(pointers, {}, bound.schema, source);
  for (const Diagnostics& others : {engines, panes, more}) {
    all.list.insert(all.list.end(), others.list.begin(), others.list.end());
  }
  std::vector<std::string> given;
  for (const Diagnostic& d : all.list) {
    given.push_back(std::to_string(d.at.line) + ":" + std::to_string(d.at.column) + ": " +
                    (d.severity == Severity::warning ? "warning: " : "") + d.message);
  }
  return given;
}

struct Row {
  std::string form;     // with "…" for what varies
  std::string example;  // file name
};

std::vector<Row> rows_of_table() {
  static const std::regex kRow(R"(\| (.*) \| .* \| .* \| \[.*\]\(.*/diagnostics/(.*)\) \|)");
  std::istringstream lines(read(kRoot / "docs/diagnostics.md"));
  std::vector<Row> rows;
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kRow)) rows.push_back({match[1], match[2]});
  }
  return rows;
}

/// Whether a message, behind its place and severity, has the form.
bool has_form(const std::string& expected, const std::string& form) {
  static const std::regex kSpecial(R"([.^$|()\[\]{}*+?\\])");
  std::string pattern = std::regex_replace(form, kSpecial, R"(\$&)");
  pattern = std::regex_replace(pattern, std::regex("…"), ".+");
  return std::regex_match(expected, std::regex(R"(\d+:\d+: (warning: )?)" + pattern));
}

std::vector<fs::path> examples() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kExamples)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(DiagnosticsTable, EveryExampleGivesWhatItExpects) {
  ASSERT_GT(examples().size(), 100U);
  for (const fs::path& path : examples()) {
    const std::string text = read(path);
    EXPECT_THAT(expected_in(text), Not(IsEmpty())) << path;
    EXPECT_EQ(given_by(path, text), expected_in(text)) << path;
  }
}

TEST(DiagnosticsTable, EveryMessageHasAnExample) {
  ASSERT_GT(rows_of_table().size(), 100U);
  for (const Row& row : rows_of_table()) {
    const auto expected = expected_in(read(kExamples / row.example));
    const auto fits = [&](const std::string& message) { return has_form(message, row.form); };
    EXPECT_TRUE(std::any_of(expected.begin(), expected.end(), fits))
        << row.form << "\nin " << row.example;
  }
}

TEST(DiagnosticsTable, EveryExampleStandsInTheTable) {
  std::set<std::string> named;
  for (const Row& row : rows_of_table()) named.insert(row.example);
  for (const fs::path& path : examples()) {
    EXPECT_TRUE(named.contains(path.filename().string())) << path;
  }
}

}  // namespace
}  // namespace gorgo::language
