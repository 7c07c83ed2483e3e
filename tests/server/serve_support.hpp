#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gorgo/client.hpp"

namespace gorgo {

/// A folder for what a server is started with.
class Serve : public testing::Test {
 protected:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("gorgo_serve_" + std::to_string(getpid()));

  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
};

inline std::vector<std::string> names(Client& client) {
  std::vector<std::string> names;
  for (const auto& rule : *client.rules()) names.push_back(rule.name);
  return names;
}

}  // namespace gorgo
