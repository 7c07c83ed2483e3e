// What is damaged on the disk is noticed: it is an error that names the place, or it is told that
// something was cut off. Nothing that is there is another thing than what was written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "journal/journal.hpp"
#include "journal/recovery.hpp"
#include "simulated_disk.hpp"
#include "text.hpp"

namespace gorgo::journal {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kFolder = "j";

std::string payload_of(Place place) {
  std::string payload(place * 37 % 700, static_cast<char>(place));
  Random random(place);
  for (std::size_t i = 0; i < payload.size(); i += 1 + place % 3) {
    payload[i] = static_cast<char>(random());
  }
  return payload;
}

std::unique_ptr<Journal> open_small(SimulatedDisk& disk) {
  auto journal = Journal::open(disk, kFolder, {.segment_bytes = 4096, .number = 42});
  EXPECT_TRUE(journal) << journal.error().message;
  return journal ? std::move(*journal) : nullptr;
}

/// Records up to place `last`, all durable.
void write_journal(SimulatedDisk& disk, Place last, bool close) {
  const auto journal = open_small(disk);
  while (journal->end() <= last) {
    const std::string payload = payload_of(journal->end());
    const std::array<Bytes, 1> parts = {bytes_of(payload)};
    ASSERT_TRUE(journal->append(kFirstKind, parts));
    if (journal->end() % 7 == 0) {
      ASSERT_TRUE(journal->sync());
    }
  }
  ASSERT_TRUE(close ? journal->close().has_value() : journal->sync().has_value());
}

Result<Survey> verify(SimulatedDisk& disk) {
  return survey_beside_writer(disk, kFolder, Depth::all);
}

std::vector<std::string> segments(SimulatedDisk& disk) {
  std::vector<std::string> paths;
  for (const auto& name : disk.list(kFolder).value()) {
    if (first_of(name)) paths.push_back(kFolder + "/" + name);
  }
  return paths;
}

/// Everything that can be read is what was written. Returns the end.
Place read_everything(Disk& disk) {
  const auto journal = Journal::open(disk, kFolder, {.segment_bytes = 4096});
  if (!journal) return 0;
  auto reader = (*journal)->read((*journal)->low());
  while (true) {
    const auto record = reader->next();
    if (!record) return 0;
    if (!*record) return (*journal)->end();
    if ((*record)->kind != kFirstKind) continue;
    EXPECT_EQ(text_of((*record)->payload), payload_of((*record)->place));
  }
}

/// Whether damage was noticed: `verify` fails or tells of bytes behind the records.
bool is_noticed(SimulatedDisk& disk) {
  const auto found = verify(disk);
  return !found || found->torn_bytes > 0;
}

TEST(Damage, TenThousandFlippedBitsAreNoticed) {
  SimulatedDisk disk(1);
  write_journal(disk, 200, true);
  const auto paths = segments(disk);
  ASSERT_GT(paths.size(), 10u);
  ASSERT_FALSE(is_noticed(disk));
  Random random(5);
  int noticed = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string& path = paths[random() % paths.size()];
    const std::uint64_t offset = random() % disk.content(path).size();
    const unsigned bit = random() % 8;
    disk.flip_bit(path, offset, bit);
    if (is_noticed(disk)) ++noticed;
    disk.flip_bit(path, offset, bit);
  }
  EXPECT_EQ(noticed, 10'000);
  EXPECT_EQ(read_everything(disk), 203u);
}

TEST(Damage, FlippedBitsBehindACrashAreNoticedAndChangeNothing) {
  Random random(6);
  for (int i = 0; i < 2'000; ++i) {
    SimulatedDisk disk(i);
    write_journal(disk, 20, false);
    disk.restart(Fate::lost, Fate::lost);
    const auto paths = segments(disk);
    const std::string& path = paths[random() % paths.size()];
    disk.flip_bit(path, random() % disk.content(path).size(), random() % 8);
    EXPECT_TRUE(is_noticed(disk));
    read_everything(disk);
  }
}

TEST(Damage, ZeroedAndMisdirectedSectorsOfAClosedJournalAreNoticed) {
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    SimulatedDisk disk(i);
    write_journal(disk, 60, true);
    const auto paths = segments(disk);
    const std::string& path = paths[random() % paths.size()];
    const std::string before = disk.content(path);
    const std::uint64_t sectors = before.size() / SimulatedDisk::kSector;
    if (sectors == 0) continue;
    if (i % 2 == 0) {
      disk.zero_sector(path, random() % sectors);
    } else {
      disk.misdirect(path, random() % sectors, random() % sectors);
    }
    if (disk.content(path) == before) continue;
    // A torn tail may be cut, but then nothing that the mark of the close vouches for.
    const Place end = read_everything(disk);
    EXPECT_TRUE(end == 0 || end >= 61) << "case " << i << ": " << end;
  }
}

TEST(Damage, TellsFileOffsetAndPlace) {
  SimulatedDisk disk(1);
  write_journal(disk, 30, true);
  const std::string path = segments(disk)[1];
  disk.flip_bit(path, 64 + 32 + 3, 0);
  const auto found = verify(disk);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr(path + ", byte 64: "), HasSubstr("the record of place ")));
  EXPECT_THAT(found.error().hint, HasSubstr("backup"));
}

TEST(Damage, OfTheLastRecordIsNoTornTail) {
  for (const std::uint64_t offset : {70u, 90u, 100u}) {
    SimulatedDisk disk(1);
    {
      const auto journal = open_small(disk);
      const std::array<Bytes, 1> parts = {bytes_of("the last record")};
      ASSERT_TRUE(journal->append(kFirstKind, parts));
      ASSERT_TRUE(journal->sync());
    }
    disk.flip_bit(segments(disk)[0], offset, 2);
    EXPECT_THAT(verify(disk).error().message, HasSubstr("although all of it was written"));
  }
}

TEST(Damage, ARecordAtTheWrongPlaceIsNoticed) {
  SimulatedDisk disk(1);
  {
    // Each record fills one sector, and begins where a sector does.
    const auto journal = open_small(disk);
    const std::string payload(479, 'x');
    const std::array<Bytes, 1> first = {bytes_of(payload).first(512 - 64 - 32 - 1)};
    const std::array<Bytes, 1> others = {bytes_of(payload)};
    ASSERT_TRUE(journal->append(kFirstKind, first));
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(journal->append(kFirstKind, others));
    ASSERT_TRUE(journal->close());
  }
  const auto journal = open_small(disk);
  ASSERT_TRUE(journal);
  const std::string path = segments(disk)[0];
  disk.misdirect(path, 4, 2);
  auto reader = journal->read(1);
  ASSERT_TRUE(reader->next());
  ASSERT_TRUE(reader->next());
  EXPECT_THAT(reader->next().error().message, HasSubstr("the record of place 3 cannot be read"));
  EXPECT_THAT(verify(disk).error().message,
              HasSubstr("the record of place 5 stands where the record of place 3 should stand"));
}

TEST(Damage, MissingSegmentsAreNoticed) {
  for (const std::size_t number : {0u, 1u, 2u}) {
    SimulatedDisk disk(1);
    write_journal(disk, 60, true);
    const auto paths = segments(disk);
    ASSERT_TRUE(disk.remove(paths[number]));
    const auto found = verify(disk);
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message, HasSubstr("the journal"));
  }
}

TEST(Damage, RecordsBehindAMissingFileAreKeptWhereNothingSaysThatTheyWereDurable) {
  SimulatedDisk disk(1);
  {
    const auto journal = open_small(disk);
    for (Place place = 1; place <= 60; ++place) {
      const std::string payload = payload_of(place);
      const std::array<Bytes, 1> parts = {bytes_of(payload)};
      ASSERT_TRUE(journal->append(kFirstKind, parts));
    }
    ASSERT_TRUE(journal->sync());
  }
  const auto paths = segments(disk);
  const std::string missing = paths[paths.size() - 2], last = paths.back();
  const std::string whole = disk.content(last);
  ASSERT_TRUE(disk.remove(missing));
  ASSERT_THAT(unreached_files(disk, verify(disk).value()).value(), testing::ElementsAre(last));
  for (const std::string name : {".unreached", ".unreached-2"}) {
    const auto journal = open_small(disk);
    EXPECT_EQ(segment_name(journal->end()), missing.substr(kFolder.size() + 1));
    EXPECT_THAT(journal->recovery().to_string(),
                AllOf(HasSubstr("cut off " + last), HasSubstr("kept as *.unreached")));
    ASSERT_TRUE(disk.exists(last + name).value()) << name;
    EXPECT_EQ(disk.content(last + name), whole);
    // The files stand there once more, as if a backup had been put back.
    ASSERT_TRUE(disk.link(last + name, last));
  }
}

TEST(Damage, SegmentsOfAnotherJournalAreNoticed) {
  SimulatedDisk disk(1);
  write_journal(disk, 60, true);
  ASSERT_TRUE(disk.make_folder("k"));
  {
    const auto other = Journal::open(disk, "k", {.segment_bytes = 4096, .number = 43});
    const std::array<Bytes, 1> parts = {bytes_of("other")};
    ASSERT_TRUE((*other)->append(kFirstKind, parts));
  }
  ASSERT_TRUE(disk.remove(segments(disk)[0]));
  ASSERT_TRUE(disk.link("k/" + segment_name(1), kFolder + "/" + segment_name(1)).value());
  EXPECT_THAT(verify(disk).error().message, HasSubstr("belongs to another journal"));
}

TEST(Damage, AJournalThatIsReadWhileDamagedTellsIt) {
  SimulatedDisk disk(1);
  write_journal(disk, 60, true);
  const auto journal = open_small(disk);
  ASSERT_TRUE(journal);
  disk.flip_bit(segments(disk)[0], 300, 3);
  auto reader = journal->read(1);
  Result<std::optional<Record>> record = reader->next();
  while (record && *record) record = reader->next();
  ASSERT_FALSE(record);
  EXPECT_THAT(record.error().message, HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace gorgo::journal
