// What every disk promises, checked on the real one and on the simulated one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "simulated_disk.hpp"
#include "text.hpp"

namespace gorgo::journal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Disks : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!GetParam()) {
      disk_ = std::make_unique<SimulatedDisk>(1);
      folder_ = "folder";
      ASSERT_TRUE(disk_->make_folder(folder_));
      return;
    }
    disk_ = make_posix_disk();
    std::string pattern = testing::TempDir() + "disk_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (GetParam()) std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::unique_ptr<Disk> disk_;
  std::string folder_;
};

TEST_P(Disks, WritesPartsEndToEndAndReadsThemAgain) {
  auto file = disk_->create(path("a"));
  ASSERT_TRUE(file);
  const std::array<Bytes, 3> parts = {bytes_of("Gor"), bytes_of(""), bytes_of("go")};
  ASSERT_TRUE(write_all(**file, 3, parts));
  EXPECT_EQ((*file)->size().value(), 8u);
  auto again = disk_->open_to_read(path("a"));
  ASSERT_TRUE(again);
  std::string text(20, '?');
  EXPECT_EQ(read_all(**again, 0, std::as_writable_bytes(std::span(text))).value(), 8u);
  EXPECT_EQ(text.substr(0, 8), std::string("\0\0\0Gorgo", 8));
}

TEST_P(Disks, AllocatedBytesAreZeroAndTruncatedOnesAreGone) {
  auto file = disk_->create(path("a"));
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->allocate(5000));
  EXPECT_EQ((*file)->size().value(), 5000u);
  std::string text(5000, '?');
  ASSERT_EQ(read_all(**file, 0, std::as_writable_bytes(std::span(text))).value(), 5000u);
  EXPECT_EQ(text, std::string(5000, '\0'));
  ASSERT_TRUE((*file)->truncate(10));
  EXPECT_EQ((*file)->size().value(), 10u);
  ASSERT_TRUE((*file)->sync());
  ASSERT_TRUE((*file)->forget_cached());
  EXPECT_EQ((*file)->size().value(), 10u);
}

TEST_P(Disks, ChangesNames) {
  ASSERT_TRUE(disk_->create(path("b")));
  ASSERT_TRUE(disk_->create(path("a")));
  EXPECT_THAT(disk_->list(folder_).value(), ElementsAre("a", "b"));
  ASSERT_TRUE(disk_->rename(path("b"), path("c")));
  ASSERT_TRUE(disk_->link(path("c"), path("d")).value());
  ASSERT_TRUE(disk_->remove(path("a")));
  EXPECT_THAT(disk_->list(folder_).value(), ElementsAre("c", "d"));
  EXPECT_TRUE(disk_->exists(path("c")).value());
  EXPECT_FALSE(disk_->exists(path("a")).value());
  EXPECT_TRUE(disk_->sync_folder(folder_));
}

TEST_P(Disks, NamesTheFileInErrors) {
  EXPECT_THAT(disk_->open_to_read(path("none")).error().message, HasSubstr(path("none")));
  ASSERT_TRUE(disk_->create(path("a")));
  EXPECT_THAT(disk_->create(path("a")).error().message, HasSubstr(path("a")));
  EXPECT_THAT(disk_->remove(path("none")).error().message, HasSubstr(path("none")));
  EXPECT_FALSE(disk_->link(path("a"), path("a")));
  EXPECT_THAT(disk_->list(path("none")).error().message, HasSubstr(path("none")));
}

TEST_P(Disks, GivesALockToOneOnly) {
  auto lock = disk_->lock_folder(folder_);
  ASSERT_TRUE(lock);
  EXPECT_THAT(disk_->lock_folder(folder_).error().message, HasSubstr("locked by another process"));
  lock->reset();
  EXPECT_TRUE(disk_->lock_folder(folder_));
}

TEST(PosixDisk, DoesNotLinkAcrossFileSystems) {
  struct stat here = {}, there = {};
  const std::string from = testing::TempDir() + "link_from", to = "/dev/shm/gorgo_link_to";
  if (stat(testing::TempDir().c_str(), &here) != 0 || stat("/dev/shm", &there) != 0 ||
      here.st_dev == there.st_dev) {
    GTEST_SKIP() << "/dev/shm is no file system of its own here";
  }
  const auto disk = make_posix_disk();
  std::filesystem::remove(from);  // a run that ended early may have left it
  ASSERT_TRUE(disk->create(from));
  const auto linked = disk->link(from, to);
  ASSERT_TRUE(linked) << linked.error().message;
  EXPECT_FALSE(*linked);
  EXPECT_FALSE(std::filesystem::exists(to));
  std::filesystem::remove(from);
}

INSTANTIATE_TEST_SUITE_P(All, Disks, testing::Bool(), [](const auto& parameter) {
  return std::string(parameter.param ? "Posix" : "Simulated");
});

}  // namespace
}  // namespace gorgo::journal
