// The journal as its user sees it.

#include "journal/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "journal/recovery.hpp"
#include "journal/snapshot.hpp"
#include "simulated_disk.hpp"
#include "text.hpp"

namespace gorgo::journal {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class JournalTest : public testing::Test {
 protected:
  std::unique_ptr<Journal> open(const std::string& folder = "j") {
    auto journal = Journal::open(disk_, folder, {.segment_bytes = 1024, .number = 1});
    EXPECT_TRUE(journal) << journal.error().message;
    return journal ? std::move(*journal) : nullptr;
  }

  static Result<Place> append(Journal& journal, std::string_view text) {
    const std::array<Bytes, 2> parts = {bytes_of(text.substr(0, 1)), bytes_of(text.substr(1))};
    const auto place = journal.append(kFirstKind, parts);
    if (place && !journal.write()) ADD_FAILURE() << "it was not written";
    return place;
  }

  static std::vector<std::string> read(const Journal& journal, Place from) {
    auto reader = journal.read(from);
    EXPECT_TRUE(reader);
    std::vector<std::string> texts;
    while (true) {
      const auto record = reader->next();
      EXPECT_TRUE(record) << record.error().message;
      if (!record || !*record) return texts;
      if ((*record)->kind == kFirstKind) texts.push_back(text_of((*record)->payload));
    }
  }

  std::size_t segments() { return disk_.list("j")->size(); }

  SimulatedDisk disk_{1};
};

TEST_F(JournalTest, GivesRecordsPlacesAndReadsThemInOrder) {
  const auto journal = open();
  EXPECT_EQ(append(*journal, "one").value(), 1u);
  EXPECT_EQ(append(*journal, "two").value(), 2u);
  EXPECT_EQ(append(*journal, std::string(2000, 'x')).value(), 3u);
  EXPECT_EQ(append(*journal, "four").value(), 4u);
  EXPECT_THAT(read(*journal, 1), ElementsAre("one", "two", std::string(2000, 'x'), "four"));
  EXPECT_THAT(read(*journal, 4), ElementsAre("four"));
  EXPECT_THAT(read(*journal, 5), ElementsAre());
}

TEST_F(JournalTest, ReadersSeeWhatIsWritten) {
  const auto journal = open();
  const std::array<Bytes, 1> parts = {bytes_of("one")};
  ASSERT_EQ(journal->append(kFirstKind, parts).value(), 1u);
  const auto writes = disk_.count(Operation::write);
  ASSERT_EQ(journal->append(kFirstKind, parts).value(), 2u);
  EXPECT_EQ(disk_.count(Operation::write), writes);
  EXPECT_EQ(journal->end(), 3u);
  EXPECT_EQ(journal->written(), 1u);
  EXPECT_EQ(journal->view().end, 1u);
  EXPECT_THAT(read(*journal, 1), ElementsAre());
  ASSERT_TRUE(journal->write());
  EXPECT_EQ(disk_.count(Operation::write), writes + 1);
  EXPECT_EQ(journal->written(), 3u);
  EXPECT_THAT(read(*journal, 1), ElementsAre("one", "one"));
  ASSERT_TRUE(journal->write());
  EXPECT_EQ(disk_.count(Operation::write), writes + 1);
}

TEST_F(JournalTest, IsDurableUpToTheLastSync) {
  const auto journal = open();
  ASSERT_TRUE(append(*journal, "one"));
  EXPECT_EQ(journal->durable(), 1u);
  EXPECT_EQ(journal->sync().value(), 2u);
  EXPECT_EQ(journal->durable(), 2u);
  const auto syncs = disk_.count(Operation::sync);
  EXPECT_EQ(journal->sync().value(), 2u);
  EXPECT_EQ(disk_.count(Operation::sync), syncs);
}

TEST_F(JournalTest, GoesOnWhereItEnded) {
  {
    const auto journal = open();
    ASSERT_TRUE(append(*journal, "one"));
    ASSERT_TRUE(journal->sync());
  }
  disk_.restart(Fate::lost, Fate::lost);
  const auto journal = open();
  EXPECT_EQ(append(*journal, "two").value(), 2u);
  EXPECT_THAT(read(*journal, 1), ElementsAre("one", "two"));
  EXPECT_EQ(journal->recovery().to_string(), "");
}

TEST_F(JournalTest, TellsWhatItCutsOff) {
  {
    const auto journal = open();
    ASSERT_TRUE(append(*journal, "one"));
    ASSERT_TRUE(journal->sync());
    ASSERT_TRUE(append(*journal, dense_text(600)));
  }
  // The second sector of the record is lost.
  ASSERT_EQ(disk_.content("j/" + segment_name(1)).size(), 1024u);
  disk_.restart(Fate::kept, Fate::kept);
  disk_.zero_sector("j/" + segment_name(1), 1);
  const auto journal = open();
  EXPECT_EQ(journal->end(), 2u);
  EXPECT_THAT(journal->recovery().to_string(),
              AllOf(HasSubstr(" bytes from place 2 on"), HasSubstr("j/" + segment_name(1))));
}

TEST_F(JournalTest, IsUsedByOneProgramAtATime) {
  const auto journal = open();
  const auto second = Journal::open(disk_, "j");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("locked by another process"));
}

TEST_F(JournalTest, AFailedSyncEndsItForGood) {
  const auto journal = open();
  ASSERT_TRUE(append(*journal, "one"));
  disk_.fail(Operation::sync, 1);
  const auto failed = journal->sync();
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message,
              AllOf(HasSubstr("the journal in j has failed"), HasSubstr("Input/output error")));
  const auto syncs = disk_.count(Operation::sync);
  EXPECT_EQ(journal->sync().error().message, failed.error().message);
  EXPECT_EQ(append(*journal, "two").error().message, failed.error().message);
  EXPECT_TRUE(journal->trim(1000));  // there is nothing to remove
  EXPECT_EQ(journal->close().error().message, failed.error().message);
  EXPECT_EQ(journal->failure()->message, failed.error().message);
  EXPECT_EQ(disk_.count(Operation::sync), syncs);
  EXPECT_EQ(journal->durable(), 1u);
}

TEST_F(JournalTest, AFailedWriteEndsItForGood) {
  for (const std::size_t size : {1, 500'000}) {  // one is gathered, the other written at once
    const auto journal = open("j" + std::to_string(size));
    ASSERT_TRUE(append(*journal, "one"));
    disk_.fail(Operation::write, size == 1 ? 1 : 2);  // a new segment has a header
    const std::string text = dense_text(size);
    const std::array<Bytes, 1> parts = {bytes_of(text)};
    const bool is_written = journal->append(kFirstKind, parts) && journal->write();
    EXPECT_FALSE(is_written);
    ASSERT_TRUE(journal->failure());
    EXPECT_THAT(journal->failure()->message, HasSubstr("Input/output error"));
    EXPECT_EQ(journal->append(kFirstKind, parts).error().message, journal->failure()->message);
    EXPECT_EQ(journal->sync().error().message, journal->failure()->message);
  }
}

TEST_F(JournalTest, AFullDiskRefusesRecordsUntilThereIsRoom) {
  const auto journal = open();
  disk_.set_capacity(1500);
  ASSERT_TRUE(append(*journal, dense_text(600)));
  const auto refused = append(*journal, dense_text(601));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(),
              AllOf(HasSubstr("No space left"), HasSubstr("make room")));
  EXPECT_FALSE(journal->failure());
  EXPECT_TRUE(journal->sync());
  disk_.heal();
  EXPECT_EQ(append(*journal, "3").value(), 2u);
  EXPECT_THAT(read(*journal, 1), ElementsAre(dense_text(600), "3"));
}

TEST_F(JournalTest, TrimsWholeFilesAndTellsWhereItBegins) {
  auto journal = open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(*journal, std::string(400, 'x')));
  const std::size_t before = segments();
  ASSERT_TRUE(journal->trim(5));
  EXPECT_LT(segments(), before);
  EXPECT_LE(journal->low(), 5u);
  EXPECT_GT(journal->low(), 2u);
  EXPECT_EQ(read(*journal, 5).size(), 6u);
  EXPECT_THAT(journal->read(1).error().message, HasSubstr("begins at place"));
  const Place low = journal->low();
  journal.reset();
  EXPECT_EQ(open()->low(), low);
}

TEST_F(JournalTest, ATrimWithoutRoomLeavesWhatWasPromised) {
  for (const std::size_t records : {10, 11}) {  // the last segment has none, or one
    const std::string folder = "j" + std::to_string(records);
    auto journal = open(folder);
    for (std::size_t i = 0; i < records; ++i) {
      ASSERT_TRUE(append(*journal, std::string(400, 'x')));
    }
    ASSERT_TRUE(journal->make_room(400));
    const auto files = disk_.list(folder).value();
    disk_.set_capacity(0);
    const auto trimmed = journal->trim(9);
    ASSERT_FALSE(trimmed);
    EXPECT_THAT(trimmed.error().message, HasSubstr("No space left"));
    EXPECT_EQ(append(*journal, std::string(400, 'y')).value(), records + 1);
    EXPECT_EQ(disk_.list(folder).value(), files);
    ASSERT_TRUE(journal->sync());
    disk_.restart(Fate::lost, Fate::lost);
    disk_.heal();
    journal = open(folder);
    EXPECT_EQ(read(*journal, 1).size(), records + 1);
  }
}

TEST_F(JournalTest, ATrimNeedsNoWholeSegmentOfAFullDisk) {
  constexpr std::uint64_t kSegment = 64 << 10, kRoom = 3 * kSegment;
  auto journal = Journal::open(disk_, "j", {.segment_bytes = kSegment}).value();
  disk_.set_capacity(kRoom + 8192);  // which is no room for a fourth
  const std::string record(4000, 'x');
  auto appended = append(*journal, record);
  while (appended) appended = append(*journal, record);
  ASSERT_THAT(appended.error().message, HasSubstr("No space left"));
  const Place end = journal->end();
  ASSERT_TRUE(journal->trim(end));
  EXPECT_EQ(append(*journal, "y").value(), end + 1);  // behind the record that says so
  ASSERT_TRUE(journal->sync());
  disk_.restart(Fate::lost, Fate::lost);
  journal = Journal::open(disk_, "j", {.segment_bytes = kSegment}).value();
  EXPECT_THAT(read(*journal, end + 1), ElementsAre("y"));
}

TEST_F(JournalTest, ASegmentThatFindsNoRoomLeavesNoFile) {
  const auto journal = open();
  disk_.set_capacity(100);
  ASSERT_FALSE(append(*journal, "x"));
  EXPECT_EQ(segments(), 0u);
}

TEST_F(JournalTest, ATrimBringsWhatWasPromisedAlong) {
  const auto journal = open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(*journal, std::string(400, 'x')));
  ASSERT_TRUE(journal->make_room(5000));
  ASSERT_TRUE(journal->trim(9));
  disk_.set_capacity(0);
  EXPECT_TRUE(append(*journal, dense_text(2000)));
  EXPECT_TRUE(append(*journal, dense_text(2900)));
}

TEST_F(JournalTest, ATrimFindsASegmentThatHasNoRecordsYet) {
  const auto journal = open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(*journal, std::string(400, 'x')));
  ASSERT_TRUE(journal->make_room(1000));  // in a segment of its own, which has none
  ASSERT_TRUE(journal->trim(9));
  EXPECT_TRUE(append(*journal, "y"));
  EXPECT_THAT(read(*journal, journal->low()), Contains("y"));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(append(*journal, std::string(400, 'x')));
  EXPECT_TRUE(journal->trim(journal->end()));
}

TEST_F(JournalTest, RefusesAFormatThatItDoesNotKnow) {
  SegmentHeader header = seal({.journal = 1, .first = 1, .durable = 1, .low = 1});
  header.version = 2;
  header.checksum = 0;
  header.checksum = crc32c(0, std::as_bytes(std::span(&header, 1)));
  ASSERT_TRUE(disk_.make_folder("j"));
  const auto file = disk_.create("j/" + segment_name(1));
  const std::array<Bytes, 1> parts = {std::as_bytes(std::span(&header, 1))};
  ASSERT_TRUE(write_all(**file, 0, parts));
  const auto journal = Journal::open(disk_, "j");
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, HasSubstr("version 2"));
}

TEST_F(JournalTest, ABackupIsAJournalOfItsOwn) {
  const auto journal = open();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(*journal, std::string(400, 'a')));
  ASSERT_TRUE(journal->sync());
  const auto backed_up = back_up(disk_, "j", "backup");
  ASSERT_TRUE(backed_up) << backed_up.error().message;
  EXPECT_EQ(backed_up->end, 6u);
  ASSERT_TRUE(append(*journal, "later"));
  EXPECT_FALSE(back_up(disk_, "j", "backup"));
  disk_.restart(Fate::lost, Fate::lost);
  const auto copy = open("backup");
  EXPECT_EQ(read(*copy, 1).size(), 5u);
  ASSERT_TRUE(append(*copy, "other"));
  ASSERT_TRUE(copy->close());
  const auto original = open();
  EXPECT_EQ(read(*original, 1).size(), 5u);
}

TEST_F(JournalTest, ABackupBeginsAgainWhereAFileGoesMeanwhileAndLeavesNoPart) {
  const auto journal = open();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(*journal, std::string(400, 'a')));
  ASSERT_TRUE(journal->sync());
  disk_.fail(Operation::link, 1, "No such file or directory");
  const auto backed_up = back_up(disk_, "j", "backup");
  ASSERT_TRUE(backed_up) << backed_up.error().message;
  EXPECT_EQ(read(*open("backup"), 1).size(), 5u);
  disk_.set_capacity(disk_.used());
  EXPECT_FALSE(back_up(disk_, "j", "other"));
  EXPECT_THAT(*disk_.list("other"), testing::IsEmpty());
}

TEST_F(JournalTest, ABackupIsACopyWhereThereAreNoLinks) {
  auto journal = open();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(*journal, std::string(400, 'a')));
  ASSERT_TRUE(journal->sync());
  const auto snapshot = SnapshotWriter::begin(disk_, "j", journal->number(), journal->end());
  ASSERT_TRUE(snapshot);
  ASSERT_TRUE((*snapshot)->finish());
  ASSERT_GT(journal->segments().size(), 1u);
  disk_.set_links(false);
  const auto backed_up = back_up(disk_, "j", "backup");
  ASSERT_TRUE(backed_up) << backed_up.error().message;
  const std::uint64_t number = journal->number();
  const Place end = journal->end();
  disk_.restart(Fate::lost, Fate::lost);
  EXPECT_TRUE(verify_snapshot(disk_, "backup", number, end));
  EXPECT_EQ(read(*open("backup"), 1).size(), 5u);
}

TEST_F(JournalTest, ACrashDuringABackupHarmsNothing) {
  for (std::uint64_t nth = 1;; ++nth) {
    SimulatedDisk disk(nth);
    auto journal = *Journal::open(disk, "j", {.segment_bytes = 1024, .number = 1});
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(append(*journal, std::string(400, 'a')));
    ASSERT_TRUE(journal->sync());
    disk.cut_power_at(nth);
    const bool done = back_up(disk, "j", "backup").has_value();
    journal.reset();
    disk.restart(Fate::random, Fate::random);
    const auto again = Journal::open(disk, "j");
    ASSERT_TRUE(again);
    EXPECT_EQ(read(**again, 1).size(), 5u);
    if (done) break;
    ASSERT_LT(nth, 1000u);
  }
}

TEST(Checksum, IsCrc32c) {
  EXPECT_EQ(crc32c(0, bytes_of("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(crc32c(0, bytes_of("1234")), bytes_of("56789")), 0xE3069283u);
}

TEST(RealDisk, KeepsAJournal) {
  std::string folder = testing::TempDir() + "journal_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto disk = make_posix_disk();
  const std::string payload(5000, 'g');
  const std::array<Bytes, 1> parts = {bytes_of(payload)};
  for (Place first = 1; first < 200; first += 52) {
    auto journal = Journal::open(*disk, folder + "/j", {.segment_bytes = 65536});
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_EQ((*journal)->end(), first);
    EXPECT_FALSE(Journal::open(*disk, folder + "/j"));
    for (int i = 0; i < 50; ++i) ASSERT_TRUE((*journal)->append(kFirstKind, parts));
    ASSERT_TRUE((*journal)->close());
  }
  EXPECT_EQ(survey_beside_writer(*disk, folder + "/j", Depth::all)->end, 209u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gorgo::journal
