// The simulated disk does to a program what it says.

#include "simulated_disk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "text.hpp"

namespace gorgo::journal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::size_t kSector = SimulatedDisk::kSector;

Result<void> write(File& file, std::uint64_t offset, std::string_view text) {
  const std::array<Bytes, 1> parts = {bytes_of(text)};
  return write_all(file, offset, parts);
}

/// A disk with the synced file "a" of `size` times '0'.
std::unique_ptr<File> synced_file(SimulatedDisk& disk, std::size_t size) {
  auto file = disk.create("a").value();
  EXPECT_TRUE(write(*file, 0, std::string(size, '0')));
  EXPECT_TRUE(file->sync());
  EXPECT_TRUE(disk.sync_folder(""));
  return file;
}

TEST(SimulatedDisk, LosesWhatWasNotSyncedAndNothingElse) {
  SimulatedDisk disk(1);
  const auto file = synced_file(disk, 4);
  ASSERT_TRUE(write(*file, 0, "1111"));
  EXPECT_EQ(disk.content("a"), "1111");
  disk.restart(Fate::lost, Fate::lost);
  EXPECT_EQ(disk.content("a"), "0000");
}

TEST(SimulatedDisk, KeepsAnySetOfUnsyncedSectorsEachAsAWhole) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimulatedDisk disk(seed);
    const auto file = synced_file(disk, 2 * kSector);
    ASSERT_TRUE(write(*file, 0, std::string(2 * kSector, '1')));
    ASSERT_TRUE(write(*file, kSector, std::string(kSector, '2')));
    disk.restart(Fate::random, Fate::lost);
    const std::string content = disk.content("a");
    EXPECT_EQ(content.substr(0, kSector), std::string(kSector, content[0]));
    EXPECT_EQ(content.substr(kSector), std::string(kSector, content[kSector]));
    seen.insert({content[0], content[kSector]});
  }
  EXPECT_THAT(seen, UnorderedElementsAre("00", "01", "02", "10", "11", "12"));
}

TEST(SimulatedDisk, KeepsTheFirstOrTheLastSectors) {
  std::set<std::string> front, back;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const Fate fate : {Fate::front, Fate::back}) {
      SimulatedDisk disk(seed);
      const auto file = synced_file(disk, 2 * kSector);
      ASSERT_TRUE(write(*file, 0, std::string(2 * kSector, '1')));
      disk.restart(fate, Fate::lost);
      const std::string content = disk.content("a");
      (fate == Fate::front ? front : back).insert({content[0], content[kSector]});
    }
  }
  EXPECT_THAT(front, UnorderedElementsAre("00", "10", "11"));
  EXPECT_THAT(back, UnorderedElementsAre("00", "01", "11"));
}

TEST(SimulatedDisk, LosesNamesUntilTheirFolderIsSynced) {
  SimulatedDisk disk(1);
  auto file = synced_file(disk, 4);
  ASSERT_TRUE(disk.create("new").value()->sync());
  ASSERT_TRUE(disk.remove("a"));
  disk.restart(Fate::kept, Fate::lost);
  EXPECT_THAT(disk.list("").value(), ElementsAre("a"));
  ASSERT_TRUE(disk.rename("a", "b"));
  ASSERT_TRUE(disk.sync_folder(""));
  disk.restart(Fate::lost, Fate::lost);
  EXPECT_THAT(disk.list("").value(), ElementsAre("b"));
  EXPECT_EQ(disk.content("b"), "0000");
}

TEST(SimulatedDisk, LosesAFolderUntilTheOneAboveIsSynced) {
  SimulatedDisk disk(1);
  ASSERT_TRUE(disk.make_folder("f"));
  ASSERT_TRUE(disk.create("f/a"));
  ASSERT_TRUE(disk.sync_folder("f"));
  disk.restart(Fate::lost, Fate::lost);
  EXPECT_FALSE(disk.exists("f").value());
  ASSERT_TRUE(disk.make_folder("f"));
  ASSERT_TRUE(disk.create("f/a"));
  ASSERT_TRUE(disk.sync_folder("f"));
  ASSERT_TRUE(disk.sync_folder(""));
  disk.restart(Fate::lost, Fate::lost);
  EXPECT_THAT(disk.list("f").value(), ElementsAre("a"));
}

TEST(SimulatedDisk, LosesASizeThatWasNotSynced) {
  SimulatedDisk disk(1);
  auto file = synced_file(disk, 4);
  ASSERT_TRUE(file->allocate(2 * kSector));
  disk.restart(Fate::lost, Fate::lost);
  EXPECT_EQ(disk.content("a").size(), 4u);
  file = disk.open_to_write("a").value();
  ASSERT_TRUE(file->allocate(2 * kSector));
  ASSERT_TRUE(file->sync());
  ASSERT_TRUE(file->truncate(1));
  disk.restart(Fate::lost, Fate::lost);
  EXPECT_EQ(disk.content("a").size(), 2 * kSector);
}

TEST(SimulatedDisk, FailsEverythingOnceThePowerIsOff) {
  SimulatedDisk disk(1);
  const auto file = synced_file(disk, 4);
  disk.cut_power_at(2);
  ASSERT_TRUE(write(*file, 0, "1"));
  EXPECT_FALSE(write(*file, 1, "2"));
  EXPECT_FALSE(disk.powered());
  EXPECT_FALSE(write(*file, 2, "3"));
  EXPECT_FALSE(file->sync());
  disk.restart(Fate::kept, Fate::kept);
  EXPECT_EQ(disk.content("a"), "1200");
  EXPECT_THAT(file->sync().error().message, HasSubstr("before a restart"));
}

TEST(SimulatedDisk, ASyncDuringWhichThePowerFailsHasDoneNothingForSure) {
  SimulatedDisk disk(1);
  const auto file = synced_file(disk, 4);
  ASSERT_TRUE(write(*file, 0, "1"));
  disk.cut_power_at(1);
  EXPECT_FALSE(file->sync());
  disk.restart(Fate::lost, Fate::lost);
  EXPECT_EQ(disk.content("a"), "0000");
}

TEST(SimulatedDisk, AFailedSyncLosesWritesAndTheNextOneSaysNothingOfIt) {
  bool lost = false;
  for (std::uint64_t seed = 0; seed < 20 && !lost; ++seed) {
    SimulatedDisk disk(seed);
    const auto file = synced_file(disk, 4);
    ASSERT_TRUE(write(*file, 0, "1111"));
    disk.fail(Operation::sync, 1);
    EXPECT_THAT(file->sync().error().message, HasSubstr("Input/output error"));
    ASSERT_TRUE(file->sync());
    EXPECT_EQ(disk.content("a"), "1111");  // the system's memory still has it
    ASSERT_TRUE(file->forget_cached());
    lost = disk.content("a") == "0000";
  }
  EXPECT_TRUE(lost);
}

TEST(SimulatedDisk, ForgettingTheCacheKeepsWhatIsStillToBeWritten) {
  SimulatedDisk disk(1);
  const auto file = synced_file(disk, 4);
  ASSERT_TRUE(write(*file, 0, "1111"));
  ASSERT_TRUE(file->forget_cached());
  EXPECT_EQ(disk.content("a"), "1111");
  disk.kill();
  EXPECT_EQ(disk.content("a"), "1111");
  EXPECT_FALSE(file->sync());
}

TEST(SimulatedDisk, WritesShortAndRunsFull) {
  SimulatedDisk disk(1);
  const auto file = synced_file(disk, 4);
  disk.set_short_writes(true);
  bool is_short = false;
  const std::array<Bytes, 2> parts = {bytes_of("abc"), bytes_of("def")};
  for (int i = 0; i < 20; ++i) is_short |= file->write(0, parts).value() < 6;
  EXPECT_TRUE(is_short);
  ASSERT_TRUE(write_all(*file, 0, parts));
  EXPECT_EQ(disk.content("a"), "abcdef");
  disk.set_capacity(100);
  EXPECT_THAT(file->allocate(101).error().message, HasSubstr("No space left"));
  EXPECT_TRUE(file->allocate(100));
  EXPECT_FALSE(disk.create("b").value()->allocate(1));
}

TEST(SimulatedDisk, DamagesWhatIsOnTheDisk) {
  SimulatedDisk disk(1);
  synced_file(disk, 3 * kSector);
  disk.flip_bit("a", 1, 0);
  EXPECT_EQ(disk.content("a").substr(0, 3), "010");
  disk.misdirect("a", 0, 1);
  EXPECT_EQ(disk.content("a").substr(kSector, 3), "010");
  EXPECT_EQ(disk.content("a").substr(0, kSector), std::string(kSector, '\0'));
  disk.zero_sector("a", 1);
  EXPECT_EQ(disk.content("a"), std::string(2 * kSector, '\0') + std::string(kSector, '0'));
}

TEST(SimulatedDisk, GivesLocksBackWhenTheProgramEnds) {
  SimulatedDisk disk(1);
  const auto lock = disk.lock_folder("");
  ASSERT_TRUE(lock);
  EXPECT_FALSE(disk.lock_folder(""));
  disk.kill();
  EXPECT_TRUE(disk.lock_folder(""));
}

TEST(SimulatedDisk, ASeedGivesTheSameRunAgain) {
  const auto run = [] {
    SimulatedDisk disk(7);
    const auto file = synced_file(disk, 64 * kSector);
    EXPECT_TRUE(write(*file, 0, std::string(64 * kSector, '1')));
    disk.restart(Fate::random, Fate::random);
    return disk.content("a");
  };
  EXPECT_EQ(run(), run());
}

}  // namespace
}  // namespace gorgo::journal
