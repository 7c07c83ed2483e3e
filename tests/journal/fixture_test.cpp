// Journals that earlier versions of the format have written are read by this program. A new version
// adds a folder to fixtures/, and none is taken away.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "journal/journal.hpp"
#include "journal/records.hpp"
#include "text.hpp"

namespace gorgo::journal {
namespace {

TEST(Fixture, OfVersionOneIsReadAndGoesOn) {
  std::string folder = testing::TempDir() + "fixture_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::filesystem::copy(GORGO_JOURNAL_FIXTURES "/version_1", folder,
                        std::filesystem::copy_options::recursive);
  const auto disk = make_posix_disk();
  const auto journal = Journal::open(*disk, folder);
  ASSERT_TRUE(journal) << journal.error().message;
  EXPECT_EQ((*journal)->low(), 5u);
  EXPECT_EQ((*journal)->end(), 12u);
  EXPECT_EQ((*journal)->recovery().torn_bytes, 0u);
  auto reader = (*journal)->read(5);
  for (char letter = 'e'; letter <= 'f'; ++letter) {
    const auto frame = decode_frame(reader->next().value()->payload);
    EXPECT_EQ(frame->acceptance.clock(), 100 + letter - 'a');
    EXPECT_EQ(text_of(frame->frame), std::string(300, letter));
  }
  EXPECT_EQ(reader->next().value()->kind, kMarkKind);
  EXPECT_EQ(decode<stored::RuleChange>(reader->next().value()->payload)->who, "ada");
  EXPECT_EQ(decode<stored::Cursor>(reader->next().value()->payload)->root, 12u);
  const std::array<Bytes, 1> parts = {bytes_of("more")};
  EXPECT_EQ((*journal)->append(kFirstKind, parts).value(), 12u);
  EXPECT_TRUE((*journal)->sync());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gorgo::journal
