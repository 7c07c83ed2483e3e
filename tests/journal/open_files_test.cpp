// What a journal does while the process may open nothing more.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "journal/journal.hpp"
#include "text.hpp"

namespace gorgo::journal {
namespace {

using testing::HasSubstr;

/// As long as it is there, the process has as many files open as it may.
class NoMoreFiles {
 public:
  NoMoreFiles() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const int lowest = open("/dev/null", O_RDONLY);
    EXPECT_GE(lowest, 0);
    close(lowest);
    const rlimit none{static_cast<rlim_t>(lowest), before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoMoreFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_ = {};
};

Result<Place> append(Journal& journal, const std::string& text) {
  const std::array<Bytes, 1> parts = {bytes_of(text)};
  return journal.append(kFirstKind, parts);
}

TEST(OpenFiles, WhereNoneCanBeOpenedTheJournalSyncsAndBeginsNoSegment) {
  std::string folder = testing::TempDir() + "open_files_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const auto disk = make_posix_disk();
  {
    auto journal = Journal::open(*disk, folder, {.segment_bytes = 4096});
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(append(**journal, dense_text(1000)));
    {
      const NoMoreFiles none;
      const auto synced = (*journal)->sync();
      EXPECT_TRUE(synced) << synced.error().message;
      const auto room = (*journal)->make_room(4000);
      ASSERT_FALSE(room);
      EXPECT_THAT(room.error().message, HasSubstr("Too many open files"));
      EXPECT_THAT(room.error().hint, HasSubstr("LimitNOFILE"));
      EXPECT_FALSE((*journal)->failure());
      ASSERT_TRUE(append(**journal, dense_text(100))) << "the last segment goes on";
    }
    ASSERT_TRUE(append(**journal, dense_text(4000)));
    EXPECT_TRUE((*journal)->sync());
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gorgo::journal
