#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "process.hpp"

// The commands of docs/http.md, as a reader would try them.
namespace gorgo {
namespace {

/// The indented blocks that call curl, each a script.
std::vector<std::string> commands_in(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> blocks;
  std::string block;
  for (std::string line; std::getline(file, line) || !block.empty();) {
    if (line.starts_with("    ")) {
      block += line.substr(4) + "\n";
      continue;
    }
    if (block.find("curl") != std::string::npos) blocks.push_back(block);
    block.clear();
  }
  return blocks;
}

TEST(HttpDocs, TheirCommandsWorkInTheirOrder) {
  if (std::system("curl --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no curl";
  Process server({"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"});
  EXPECT_NE(address_in(server.out_line()), "");
  const std::string line = server.out_line();
  ASSERT_TRUE(line.starts_with("http on ")) << line;
  const std::string address = "http://" + line.substr(8, line.size() - 9);
  const auto blocks = commands_in(GORGO_DOCS "/http.md");
  EXPECT_GE(blocks.size(), 5u);
  setenv("GORGO", address.c_str(), 1);
  for (const std::string& block : blocks) {
    setenv("COMMANDS", block.c_str(), 1);
    EXPECT_EQ(std::system("sh -ec \"$COMMANDS\" >/dev/null"), 0) << block;
  }
}

}  // namespace
}  // namespace gorgo
