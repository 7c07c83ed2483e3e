#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "door_support.hpp"

// The walks of docs/doors.md, as a reader would try them.
namespace gorgo {

inline std::vector<std::string> walks() {
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

/// Whether it is the walk for which a reader has brokers of Kafka.
inline bool needs_kafka(const std::string& script) {
  return script.find("$BROKERS") != script.npos;
}

/// What the script prints goes to the file `printed` of the folder.
inline void run_walk(const Folder& folder, const std::string& script) {
  const std::string path = fs::path(GORGO_BINARY).parent_path().string();
  setenv("PATH", (path + ":/usr/sbin:" + std::getenv("PATH")).c_str(), 1);
  folder.write("walk.sh",
               "set -emo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\ncd '" +
                   (folder / "").string() + "'\n" + script);
  const std::string command = "timeout 60 bash '" + (folder / "walk.sh").string() + "' > '" +
                              (folder / "printed").string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << script;
}

}  // namespace gorgo
