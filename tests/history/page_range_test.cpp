#include "history/page_range.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

namespace gorgo::history {
namespace {

constexpr std::size_t kPage = PageRange::kPage;

/// How many bytes of these addresses have memory.
std::size_t resident(const std::byte* memory, std::size_t bytes) {
  constexpr std::size_t kSmallPage = 4096;
  std::vector<unsigned char> pages(bytes / kSmallPage);
  EXPECT_EQ(mincore(const_cast<std::byte*>(memory), bytes, pages.data()), 0);
  std::size_t found = 0;
  for (const unsigned char page : pages) found += page & 1;
  return found * kSmallPage;
}

/// A range and what should stand at the beginning and the end of each of its pages.
class CheckedRange {
 public:
  explicit CheckedRange(std::size_t pages) : range_(pages * kPage) { write(pages); }

  void grow(std::size_t pages) {
    range_.grow(range_.size() + pages * kPage);
    write(pages);
  }
  void turn(std::size_t pages) {
    if (!range_.turn(pages * kPage)) return;
    forget(pages);
    write(pages);
  }
  void drop_front(std::size_t pages) {
    range_.drop_front(pages * kPage);
    forget(pages);
  }
  void drop_back(std::size_t pages) {
    range_.drop_back(pages * kPage);
    numbers_.resize(numbers_.size() - pages);
  }
  std::size_t pages() const { return numbers_.size(); }
  const PageRange& range() const { return range_; }

  bool is_right() const {
    if (range_.size() != numbers_.size() * kPage) return false;
    for (std::size_t page = 0; page < numbers_.size(); ++page) {
      for (const std::byte* const at : ends(page)) {
        std::uint64_t there = 0;
        std::memcpy(&there, at, sizeof there);
        if (there != numbers_[page]) return false;
      }
    }
    return true;
  }

 private:
  std::array<std::byte*, 2> ends(std::size_t page) const {
    std::byte* const begin = range_.begin() + page * kPage;
    return {begin, begin + kPage - sizeof(std::uint64_t)};
  }
  /// Numbers the last pages anew.
  void write(std::size_t pages) {
    for (; pages > 0; --pages) {
      numbers_.push_back(++last_);
      for (std::byte* const at : ends(numbers_.size() - 1)) std::memcpy(at, &last_, sizeof last_);
    }
  }
  void forget(std::size_t pages) {
    numbers_.erase(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(pages));
  }

  PageRange range_;
  std::deque<std::uint64_t> numbers_;
  std::uint64_t last_ = 0;
};

/// Returns whether a range holds what it should through so many changes of all kinds.
bool survives_changes(int changes) {
  std::mt19937_64 random(11);
  CheckedRange checked(3);
  const auto some = [&](std::size_t most) { return 1 + random() % std::max<std::size_t>(most, 1); };
  for (int change = 0; change < changes; ++change) {
    const std::size_t others = checked.pages() - 1, kind = random() % 10;
    if (kind == 0 || others == 0) {
      checked.grow(some(4));
    } else if (kind == 1) {
      checked.drop_front(some(std::min<std::size_t>(others, 2)));
    } else if (kind == 2) {
      checked.drop_back(some(std::min<std::size_t>(others, 2)));
    } else {
      checked.turn(some(others));
    }
    if (!checked.is_right()) return false;
  }
  return true;
}

TEST(PageRange, HoldsWhatStandsInItThroughAllChanges) { EXPECT_TRUE(survives_changes(2000)); }

TEST(PageRange, TakesNoPagesToSlide) {
  constexpr std::size_t kPages = 8;
  PageRange range(kPages * kPage);
  for (std::size_t page = 0; page < kPages; ++page) {
    range.begin()[page * kPage + kPage / 2] = std::byte{7};
  }
  for (int step = 0; step < 100; ++step) ASSERT_TRUE(range.turn(kPage));
  for (std::size_t page = 0; page < kPages; ++page) {
    // A page that came from the kernel would hold 0.
    EXPECT_EQ(range.begin()[page * kPage + kPage / 2], std::byte{7}) << page;
  }
}

TEST(PageRange, GivesBackTheMemoryInFront) {
  CheckedRange checked(6);
  const std::byte* const before = checked.range().begin();
  EXPECT_GT(resident(before, 4 * kPage), 0u);
  checked.drop_front(4);
  EXPECT_EQ(resident(before, 4 * kPage), 0u);
  EXPECT_TRUE(checked.is_right());
}

/// Has the kernel refuse to move pages in this process, as a sandbox may.
void forbid_moving() {
  std::array<sock_filter, 4> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mremap, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{filter.size(), filter.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::exit(77);
  }
}

TEST(PageRangeDeathTest, CopiesWhereTheKernelMovesNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        forbid_moving();
        std::exit(survives_changes(300) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gorgo::history
