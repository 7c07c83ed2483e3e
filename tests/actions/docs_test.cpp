#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "door_support.hpp"

// The walk of docs/actions.md, as a reader would try it.
namespace gorgo {
namespace {

std::string walk(std::vector<std::string>& printed) {
  std::ifstream file(GORGO_DOCS "/actions.md");
  std::string script;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```") inside = false;
    if (inside) script += line + "\n";
    if (line == "```sh walk") inside = true;
    if (line.starts_with("    {")) printed.push_back(line.substr(4));
  }
  return script;
}

TEST(ActionDocs, TheirWalkWorks) {
  std::vector<std::string> documented;
  const std::string script = walk(documented);
  ASSERT_NE(script, "");
  ASSERT_FALSE(documented.empty());
  const std::string path = fs::path(GORGO_BINARY).parent_path().string();
  setenv("PATH", (path + ":" + std::getenv("PATH")).c_str(), 1);
  const Folder folder("action_walk");
  folder.write("walk.sh",
               "set -emo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\ncd '" +
                   (folder / "").string() + "'\n" + script);
  const std::string command = "timeout 60 bash '" + (folder / "walk.sh").string() + "' > '" +
                              (folder / "printed").string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const auto printed = folder.lines("printed");
  for (const std::string& line : documented) {
    EXPECT_NE(std::ranges::find(printed, line), printed.end()) << line;
  }
}

}  // namespace
}  // namespace gorgo
