// gorgo journal, run as a user runs it.

#include "journal/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "journal/records.hpp"
#include "journal/snapshot.hpp"
#include "journal/survey.hpp"

namespace gorgo::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class JournalCommand : public CommandLine {
 protected:
  /// A name in the folder in which commands run.
  static std::string path(const std::string& name) {
    return testing::TempDir() + "gorgo_" +
           testing::UnitTest::GetInstance()->current_test_info()->name() + "/" + name;
  }
  std::string journal_folder() const { return path("journal"); }

  /// A journal with a change of rules, a cursor, and records of 2000 bytes up to place `last`.
  void write_journal(journal::Place last) {
    const auto opened = journal::Journal::open(*disk_, journal_folder(), {.segment_bytes = 8192});
    ASSERT_TRUE(opened) << opened.error().message;
    journal::stored::RuleChangeT change;
    change.name = "fire";
    change.text = "define \"Fire\"\n";
    append(**opened, journal::stored::Kind::RuleChange,
           journal::encode<journal::stored::RuleChange>(change));
    journal::stored::CursorT cursor;
    cursor.name = "billing";
    cursor.root = 17;
    append(**opened, journal::stored::Kind::Cursor,
           journal::encode<journal::stored::Cursor>(cursor));
    while ((*opened)->end() <= last) {
      append(**opened, journal::stored::Kind::Frame, dense_frame());
      ASSERT_TRUE((*opened)->sync());
    }
  }

  /// What is not smaller when it is packed, as if nothing was known of how it was taken.
  static std::vector<std::byte> dense_frame() {
    std::vector<std::byte> payload(2000);
    std::mt19937 random(1);
    for (std::size_t i = sizeof(journal::stored::Acceptance); i < payload.size(); ++i) {
      payload[i] = static_cast<std::byte>(random());
    }
    return payload;
  }

  /// One that says nothing, of a journal that nobody has open.
  void write_snapshot(journal::Place place) {
    const auto found =
        journal::survey(*disk_, journal_folder(), journal::Depth::tail,
                        [this](const std::string& path) { return disk_->open_to_read(path); });
    ASSERT_TRUE(found);
    const auto writer =
        journal::SnapshotWriter::begin(*disk_, journal_folder(), found->journal, place);
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->finish());
  }

  static void append(journal::Journal& journal, journal::stored::Kind kind,
                     const std::vector<std::byte>& payload) {
    const std::array<journal::Bytes, 1> parts = {payload};
    ASSERT_TRUE(journal.append(static_cast<std::uint16_t>(kind), parts));
  }

  void flip(journal::Place segment, std::streamoff offset) {
    const std::string path = journal_folder() + "/" + journal::segment_name(segment);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(offset);
    const int byte = file.get();
    file.seekp(offset);
    file.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(file.good());
  }

  std::unique_ptr<journal::Disk> disk_ = journal::make_posix_disk();
};

TEST_F(JournalCommand, VerifySaysThatAJournalIsWhole) {
  write_journal(10);
  const Outcome outcome = run("journal verify journal");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("journal: 10 records, places 1 to 10, in 3 files: whole"));
}

TEST_F(JournalCommand, VerifyNamesWhatIsDamaged) {
  write_journal(10);
  flip(1, 500);
  const Outcome outcome = run("journal verify journal");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("gorgo: the journal is damaged: journal/" +
                                           journal::segment_name(1) + ", byte "),
                                 HasSubstr("restore the journal from a backup")));
}

TEST_F(JournalCommand, VerifyNamesEachFileThatIsDamaged) {
  write_journal(20);
  write_snapshot(15);
  const auto found = journal::survey_beside_writer(*disk_, journal_folder(), journal::Depth::tail);
  ASSERT_TRUE(found);
  const journal::Place first = found->segments[0].first, second = found->segments[1].first;
  flip(first, 500);
  flip(second, 500);
  std::filesystem::resize_file(journal::snapshot_path(journal_folder(), 15), 70);
  const Outcome outcome = run("journal verify journal --format json");
  EXPECT_EQ(outcome.exit_code, 1);
  const auto damage = nlohmann::json::parse(outcome.out)["damage"];
  ASSERT_EQ(damage.size(), 3U);
  const std::vector<std::string> files = {journal::segment_name(first),
                                          journal::segment_name(second), "snapshot-"};
  for (std::size_t i = 0; i < files.size(); ++i) {
    EXPECT_THAT(damage[i].get<std::string>(), HasSubstr("journal/" + files[i]));
    EXPECT_THAT(outcome.err, HasSubstr("journal/" + files[i]));
  }
}

TEST_F(JournalCommand, OneProcessAtATimeHasAJournalAlsoWhenItsLockFileIsRemoved) {
  make_folder("journal");
  Background server = start("serve --listen 127.0.0.1:0 --journal journal 2>log");
  ASSERT_THAT(server.line(), HasSubstr("listening on"));
  std::filesystem::remove(journal_folder() + "/lock");
  for (const char* const second :
       {"journal trim journal --below 1", "serve --listen 127.0.0.1:0 --journal journal"}) {
    const Outcome outcome = run(second);
    ASSERT_EQ(outcome.exit_code, 1) << second;
    EXPECT_THAT(outcome.err, HasSubstr("journal is locked by another process")) << second;
  }
}

TEST_F(JournalCommand, VerifyWantsAJournal) {
  std::filesystem::create_directory(path("empty"));
  const Outcome outcome = run("journal verify empty");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("there is no journal in empty"));
  EXPECT_EQ(run("journal verify").exit_code, 2);
}

TEST_F(JournalCommand, DoctorFindsNothingWrongWithAWholeJournal) {
  write_journal(10);
  const Outcome outcome = run("doctor journal journal");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "Nothing stands out.\n");
}

TEST_F(JournalCommand, DoctorSaysWhatIsDamagedAndWhatToDo) {
  write_journal(10);
  flip(1, 500);
  const Outcome outcome = run("doctor journal journal");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(journal::segment_name(1)),
                                 HasSubstr("A server does not start with it: restore")));
}

TEST_F(JournalCommand, DoctorSaysThatThereIsNoJournal) {
  make_folder("empty");
  for (const std::string folder : {"nowhere", "empty"}) {
    const Outcome outcome = run("doctor journal " + folder);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.out, HasSubstr("There is no journal in " + folder));
  }
  write("file", "");
  const Outcome outcome = run("doctor journal file");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("A server does not start with it.\n"));
}

/// The owner of the folder is the user of the server. Root may write everywhere.
TEST_F(JournalCommand, DoctorKnowsThatAServerWritesIntoTheFolder) {
  write_journal(10);
  const std::string as_owner = geteuid() == 0 ? "setpriv --reuid=65534 --clear-groups " : "";
  if (geteuid() == 0) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(journal_folder())) {
      ASSERT_EQ(chown(file.path().c_str(), 65534, static_cast<gid_t>(-1)), 0);
    }
    ASSERT_EQ(chown(journal_folder().c_str(), 65534, static_cast<gid_t>(-1)), 0);
  }
  const auto examine = [&] {
    const std::string command =
        as_owner + "'" GORGO_BINARY "' doctor journal '" + journal_folder() + "' >" + path("said");
    return WEXITSTATUS(std::system(command.c_str()));
  };
  EXPECT_EQ(examine(), 0) << read("said");
  std::filesystem::permissions(journal_folder(), std::filesystem::perms(0500));
  EXPECT_EQ(examine(), 1);
  EXPECT_THAT(read("said"), HasSubstr("Nothing can be written into " + journal_folder() +
                                      ": Permission denied. A server does not start"));
  std::filesystem::permissions(journal_folder(), std::filesystem::perms(0700));
}

TEST_F(JournalCommand, DoctorKnowsThatATrimmedJournalNeedsAWholeSnapshot) {
  write_journal(20);
  write_snapshot(15);
  ASSERT_EQ(run("journal trim journal --below 15").exit_code, 0);
  EXPECT_EQ(run("doctor journal journal").out, "Nothing stands out.\n");
  std::filesystem::resize_file(journal::snapshot_path(journal_folder(), 15), 70);
  const Outcome outcome = run("doctor journal journal");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("A start passes it over"),
                                 HasSubstr("no whole snapshot says what they did")));
}

TEST_F(JournalCommand, DoctorSaysThatASnapshotIsAheadOfTheJournal) {
  write_journal(10);
  write_snapshot(15);
  const Outcome outcome = run("doctor journal journal");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("The journal ends at place 11, but"),
                                 HasSubstr("put the missing segments back")));
}

TEST_F(JournalCommand, DoctorKnowsThatAStartNeedsNothingBeforeASnapshot) {
  write_journal(20);
  write_snapshot(15);
  flip(1, 500);
  const Outcome outcome = run("doctor journal journal");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr(journal::segment_name(1)),
                    HasSubstr("A server starts all the same, with the snapshot of place 15")));
  write_snapshot(1);
  std::filesystem::remove(journal::snapshot_path(journal_folder(), 15));
  EXPECT_THAT(run("doctor journal journal").out, HasSubstr("A server does not start with it"));
}

TEST_F(JournalCommand, AFileThatIsMissingBeforeTheLastIsTold) {
  {
    const auto opened = journal::Journal::open(*disk_, journal_folder(), {.segment_bytes = 8192});
    ASSERT_TRUE(opened) << opened.error().message;
    for (int i = 0; i < 10; ++i) append(**opened, journal::stored::Kind::Frame, dense_frame());
    ASSERT_TRUE((*opened)->sync());
  }
  ASSERT_EQ(run("journal verify journal").exit_code, 0);
  const std::string last = journal::segment_name(10);
  ASSERT_TRUE(disk_->remove(journal_folder() + "/" + journal::segment_name(7)));
  const Outcome verified = run("journal verify journal");
  EXPECT_EQ(verified.exit_code, 1);
  EXPECT_THAT(verified.err, AllOf(HasSubstr("whole records stand in journal/" + last),
                                  HasSubstr("those from place 7 on before them are missing"),
                                  HasSubstr("put the missing files back")));
  const Outcome examined = run("doctor journal journal");
  EXPECT_THAT(examined.out, HasSubstr("Whole records stand in journal/" + last));
  EXPECT_THAT(examined.out, Not(HasSubstr("of use")));
}

TEST_F(JournalCommand, DumpPrintsJson) {
  write_journal(4);
  const Outcome outcome = run("journal dump journal --format json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[0]["kind"], "RuleChange");
  EXPECT_EQ(records[0]["content"]["text"], "define \"Fire\"\n");
  EXPECT_EQ(records[1]["content"]["root"], 17);
  EXPECT_EQ(records[3]["place"], 4);
  EXPECT_EQ(records[3]["content"]["frame_bytes"], 2000 - 24);
}

TEST_F(JournalCommand, DumpTakesARange) {
  write_journal(10);
  const Outcome outcome = run("journal dump journal --from 2 --to 3");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Cursor"), HasSubstr("billing"), HasSubstr("Frame")));
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 2);
}

TEST_F(JournalCommand, TrimRemovesWholeFiles) {
  write_journal(10);
  write_snapshot(8);
  const Outcome outcome = run("journal trim journal --below 7");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("journal begins at place 6, and began at 1"));
  EXPECT_FALSE(std::filesystem::exists(journal_folder() + "/" + journal::segment_name(1)));
  EXPECT_EQ(run("journal verify journal").exit_code, 0);
}

TEST_F(JournalCommand, TrimLeavesWhatAStartNeeds) {
  write_journal(10);
  const Outcome all = run("journal trim journal --below 7");
  EXPECT_EQ(all.exit_code, 1);
  EXPECT_THAT(all.err, HasSubstr("a server needs the records from place 1 on to start"));
  write_snapshot(6);
  EXPECT_THAT(run("journal trim journal --below 7").err, HasSubstr("from place 6 on"));
  EXPECT_THAT(run("journal verify journal").out, HasSubstr("snapshot of place 6: whole"));
}

TEST_F(JournalCommand, TrimLeavesAJournalAloneThatIsInUse) {
  const auto opened = journal::Journal::open(*disk_, journal_folder());
  append(**opened, journal::stored::Kind::Frame, std::vector<std::byte>(100));
  ASSERT_TRUE((*opened)->sync());
  const Outcome outcome = run("journal trim journal --below 1");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("locked by another process"));
}

TEST_F(JournalCommand, BackupCopiesAJournalThatIsInUse) {
  const auto opened = journal::Journal::open(*disk_, journal_folder());
  append(**opened, journal::stored::Kind::Frame, std::vector<std::byte>(100));
  ASSERT_TRUE((*opened)->write());
  const Outcome outcome = run("journal backup journal copy");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("copy: 1 records, places 1 to 1"));
  EXPECT_EQ(run("journal verify copy").exit_code, 0);
  EXPECT_EQ(run("journal backup journal copy").exit_code, 1);
}

}  // namespace
}  // namespace gorgo::tools
