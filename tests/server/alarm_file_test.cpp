#include "server/alarm_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

class AlarmFile : public ::testing::Test {
 protected:
  // Each test has a folder of its own, because tests run side by side.
  AlarmFile()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                (std::string("gorgo_alarms_") +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
  }
  ~AlarmFile() override { std::filesystem::remove_all(folder_); }

  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST_F(AlarmFile, IsMadeWithItsFolderAndReplaced) {
  const EngineAlarm alarm{.rule = "fire.Fire", .difference = "", .report = "first\n"};
  const auto saved = save_report(alarm, folder_ / "reports");
  ASSERT_TRUE(saved) << saved.error().to_string();
  EXPECT_EQ(*saved, folder_ / "reports" / "engines-disagree-fire.Fire.test");
  EXPECT_EQ(content(*saved), "first\n");
  const auto again = save_report({.rule = "fire.Fire", .difference = "", .report = "second\n"},
                                 folder_ / "reports");
  ASSERT_TRUE(again);
  EXPECT_EQ(content(*saved), "second\n");
}

TEST_F(AlarmFile, StaysInItsFolderWhateverTheRuleIsCalled) {
  const auto saved = save_report({.rule = "../a/b c", .difference = "", .report = "x"}, folder_);
  ASSERT_TRUE(saved);
  EXPECT_EQ(*saved, folder_ / "engines-disagree-.._a_b_c.test");
}

TEST_F(AlarmFile, SaysWhyItCannotBeWritten) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "file") << "no folder";
  const auto saved = save_report({.rule = "r", .difference = "", .report = "x"}, folder_ / "file");
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr("cannot write " + (folder_ / "file").string()));
}

}  // namespace
}  // namespace gorgo::server
