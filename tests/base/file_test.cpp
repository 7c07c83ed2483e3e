#include "base/file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace gorgo {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class File : public testing::Test {
 protected:
  fs::path folder_ = fs::path(testing::TempDir()) / ("gorgo_file_" + std::to_string(getpid()));

  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string make_pipe(const std::string& name) const {
    EXPECT_EQ(mkfifo(path(name).c_str(), 0600), 0);
    return path(name);
  }
  static std::string why(const Result<std::string>& read) {
    return read ? "it was read" : read.error().to_string();
  }
};

TEST_F(File, IsReadAsAWholeWhateverItHolds) {
  std::string text(200'000, 'x');
  text[7] = '\0';
  text[150'000] = '\xff';
  const auto file = write("a", text);
  EXPECT_EQ(*read_regular_file(file), text);
  EXPECT_EQ(*read_file(file), text);
  EXPECT_EQ(*read_regular_file(write("empty", "")), "");
}

TEST_F(File, LinksAreFollowed) {
  fs::create_symlink(write("a", "text"), path("link"));
  EXPECT_EQ(*read_regular_file(path("link")), "text");
  fs::create_symlink("nowhere", path("dangling"));
  EXPECT_EQ(why(read_regular_file(path("dangling"))),
            "cannot read " + path("dangling") +
                ": No such file or directory, behind the link to nowhere");
}

TEST_F(File, WhatIsNoRegularFileIsAnErrorAtOnce) {
  EXPECT_THAT(why(read_regular_file(path("absent"))), HasSubstr("absent: No such file"));
  EXPECT_THAT(why(read_regular_file(folder_.string())), HasSubstr("it is a folder"));
  EXPECT_THAT(why(read_file(folder_.string())), HasSubstr("it is a folder"));
  EXPECT_THAT(why(read_regular_file(make_pipe("pipe"))), HasSubstr("it is no regular file"));
  EXPECT_THAT(why(read_regular_file("/dev/zero")), HasSubstr("it is no regular file"));
}

TEST_F(File, WhoMayNotReadItIsToldSo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const auto file = write("secret", "x");
  fs::permissions(file, fs::perms::none);
  EXPECT_EQ(why(read_regular_file(file)), "cannot read " + file + ": Permission denied");
}

TEST_F(File, ThatIsTooLargeIsRefused) {
  const auto file = write("a", "12345");
  EXPECT_EQ(*read_regular_file(file, 5), "12345");
  EXPECT_EQ(why(read_regular_file(file, 4)), "cannot read " + file + ": it is larger than 4 bytes");
  EXPECT_THAT(why(read_file("/dev/zero", 1 << 20)), HasSubstr("a device that does not end"));
}

TEST_F(File, APipeIsReadToItsEnd) {
  const auto pipe = make_pipe("pipe");
  std::thread writer([&] { std::ofstream(pipe) << std::string(100'000, 'y'); });
  const auto text = read_file(pipe);
  writer.join();
  ASSERT_TRUE(text) << text.error().to_string();
  EXPECT_EQ(*text, std::string(100'000, 'y'));
}

}  // namespace
}  // namespace gorgo
