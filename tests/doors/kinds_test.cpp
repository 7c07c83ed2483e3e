#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "doors/kind.hpp"

namespace gorgo::doors {
namespace {

using testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream stream(std::string(GORGO_SOURCE "/") + file);
  EXPECT_TRUE(stream) << file;
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(DoorKinds, AllThatTheHeaderDeclaresAreInTheList) {
  std::size_t declared = 0;
  for (const std::string& line : lines_of("src/doors/kind.hpp")) {
    if (line.starts_with("Kind ") && line.ends_with("_kind();")) ++declared;
  }
  EXPECT_EQ(declared, kinds().size());
}

TEST(DoorKinds, AreWhole) {
  for (const Kind& kind : kinds()) {
    EXPECT_FALSE(kind.name.empty());
    EXPECT_NE(kind.target, nullptr) << kind.name;
    EXPECT_NE(kind.check, nullptr) << kind.name;
    EXPECT_TRUE(kind.make_source != nullptr || kind.make_sink != nullptr) << kind.name;
  }
}

/// No two doors can listen on one port.
TEST(DoorKinds, ThatListenSayWhere) {
  const Settings settings{.listen = "127.0.0.1:5514"};
  std::size_t listening = 0;
  for (const Kind& kind : kinds()) {
    if (std::ranges::find(kind.keys, "listen", &Key::name) == kind.keys.end()) continue;
    ASSERT_NE(kind.exclusive, nullptr) << kind.name;
    EXPECT_THAT(kind.exclusive(settings), HasSubstr(settings.listen)) << kind.name;
    ++listening;
  }
  EXPECT_GT(listening, 0u);
}

/// The table of docs/doors.md says what comes in and what leaves by a kind.
TEST(DoorKinds, AreInTheTableOfTheDocs) {
  const auto lines = lines_of("docs/doors.md");
  for (const Kind& kind : kinds()) {
    const std::string name(kind.name);
    const std::regex row(R"(\| \[`)" + name + R"(`\]\(#[^)]*\)[^|]*\|([^|]*)\|([^|]*)\|)");
    std::smatch cells;
    const auto found = std::ranges::find_if(
        lines, [&](const std::string& line) { return std::regex_match(line, cells, row); });
    ASSERT_TRUE(found != lines.end()) << "docs/doors.md has no row of the door `" << name << "`";
    EXPECT_EQ(cells[1] != " ", kind.make_source != nullptr) << name;
    EXPECT_EQ(cells[2] != " ", kind.make_sink != nullptr) << name;
  }
}

}  // namespace
}  // namespace gorgo::doors
