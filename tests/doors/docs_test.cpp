#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "postgres_support.hpp"
#include "walks.hpp"

namespace gorgo {
namespace {

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
  EXPECT_EQ(scripts.size(), 10u);
  // One walk has a reader's own database.
  const Folder database_folder("walk_database");
  fs::permissions(database_folder / "", fs::perms::all);
  Postgres database(database_folder);
  ask(database, "select 1");
  setenv("PGHOST", "127.0.0.1", 1);
  setenv("PGPORT", database.port().c_str(), 1);
  setenv("PGUSER", "gorgo", 1);
  for (const std::string& script : scripts) {
    if (needs_kafka(script)) continue;  // see kafka_door_test.cpp
    const Folder folder("walk");
    run_walk(folder, script);
    if (script.find("readings*.csv") == script.npos) continue;
    const auto printed = folder.lines("printed");
    ASSERT_GE(printed.size(), 2u);
    EXPECT_TRUE(is_documented(printed[printed.size() - 2])) << printed[printed.size() - 2];
  }
}

}  // namespace
}  // namespace gorgo
