#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "door_support.hpp"
#include "postgres_support.hpp"

// The walks of docs/doors.md, as a reader would try them.
namespace gorgo {
namespace {

std::vector<std::string> walks() {
  std::ifstream file(GORGO_DOCS "/doors.md");
  std::vector<std::string> scripts;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```") inside = false;
    if (inside) scripts.back() += line + "\n";
    if (line == "```sh walk") {
      inside = true;
      scripts.emplace_back();
    }
  }
  return scripts;
}

/// The indented lines, which are what the walks print.
bool is_documented(const std::string& printed) {
  std::ifstream file(GORGO_DOCS "/doors.md");
  for (std::string line; std::getline(file, line);) {
    if (line == "    " + printed) return true;
  }
  return false;
}

TEST(DoorDocs, TheirWalksWork) {
  const auto scripts = walks();
  EXPECT_EQ(scripts.size(), 9u);
  const std::string path = fs::path(GORGO_BINARY).parent_path().string();
  setenv("PATH", (path + ":/usr/sbin:" + std::getenv("PATH")).c_str(), 1);
  // One walk has a reader's own database.
  const Folder database_folder("walk_database");
  fs::permissions(database_folder / "", fs::perms::all);
  Postgres database(database_folder);
  ask(database, "select 1");
  setenv("PGHOST", "127.0.0.1", 1);
  setenv("PGPORT", database.port().c_str(), 1);
  setenv("PGUSER", "gorgo", 1);
  for (const std::string& script : scripts) {
    const Folder folder("walk");
    folder.write("walk.sh",
                 "set -emo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\ncd '" +
                     (folder / "").string() + "'\n" + script);
    const std::string command = "timeout 60 bash '" + (folder / "walk.sh").string() + "' > '" +
                                (folder / "printed").string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << script;
    if (script.find("readings*.csv") == script.npos) continue;
    const auto printed = folder.lines("printed");
    ASSERT_GE(printed.size(), 2u);
    EXPECT_TRUE(is_documented(printed[printed.size() - 2])) << printed[printed.size() - 2];
  }
}

}  // namespace
}  // namespace gorgo
