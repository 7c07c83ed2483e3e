// What is packed is unpacked as it was, on every kind of processor to the same bytes, and bytes
// that nobody has packed are refused.

#include "journal/packing.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "journal/packed_blocks.hpp"
#include "journal/record_maker.hpp"
#include "journal/segment_reader.hpp"
#include "simulated_disk.hpp"
#include "text.hpp"

namespace gorgo::journal {
namespace {

using Words = std::vector<std::uint64_t>;
using Bits = std::vector<std::byte>;

Bytes content_of(const Words& words) { return std::as_bytes(std::span(words)); }

Words words_of(std::size_t count, const std::function<std::uint64_t(std::size_t)>& word) {
  Words words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = word(i);
  return words;
}

Bits packed(std::span<const Bytes> parts) {
  Packer packer;
  const Bytes bytes = packer.pack(parts);
  return {bytes.begin(), bytes.end()};
}

/// Returns how large it became; 0: no smaller.
std::size_t expect_same_again(std::span<const Bytes> parts) {
  Bits all;
  for (const Bytes part : parts) all.insert(all.end(), part.begin(), part.end());
  const Bits small = packed(parts);
  if (small.empty()) return 0;
  EXPECT_LT(small.size(), all.size());
  Bits again(7, std::byte{1});
  EXPECT_TRUE(unpack(small, again));
  EXPECT_EQ(again, all);
  return small.size();
}

std::size_t expect_same_again(const Words& words) {
  const std::array<Bytes, 1> parts = {content_of(words)};
  return expect_same_again(parts);
}

TEST(Packing, TakesAsManyBytesAsTheNumbersNeed) {
  constexpr std::size_t kWords = 128, kBlocks = 8, kLength = 4;
  const auto size = [&](const auto& word) { return expect_same_again(words_of(kWords, word)); };
  const auto width = [](std::size_t bytes) { return kLength + kBlocks + kWords * bytes; };
  EXPECT_EQ(size([](auto) { return 0; }), width(0));
  EXPECT_EQ(size([](auto i) { return i * 91 % 256; }), width(1));
  EXPECT_EQ(size([](auto i) { return i * 9'111 % 65'536; }), width(2));
  EXPECT_EQ(size([](auto i) { return std::uint64_t{1} << i * 7 % 64; }), 0u);
  // Few digits of floats are in their first bytes.
  EXPECT_EQ(size([](auto i) { return std::bit_cast<std::uint64_t>(20.5 + i % 7); }), width(3));
  // The first number of all has the whole distance from zero.
  const auto rising = [](auto i) { return 1'700'000'000'000'000'000 + i * 100; };
  EXPECT_EQ(size(rising), kLength + kBlocks + 16 * 8 + 112);
  const auto falling = [](auto i) { return std::uint64_t{0} - i * 60; };
  EXPECT_EQ(size(falling), width(1));
}

TEST(Packing, KeepsEveryNumber) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  const Words edges = {0, 1, kMost, kMost - 1, kMost >> 1, (kMost >> 1) + 1, 0x80, 0xFF00};
  const Words words = words_of(512, [&](auto i) {
    // Blocks of zeros between them make all of it smaller.
    return i / 16 % 2 == 0 ? 0 : edges[i * 7 % edges.size()];
  });
  EXPECT_GT(expect_same_again(words), 0u);
}

/// Parts of all lengths whose words have few bytes, at any place of a word, or are close to each
/// other.
Bits random_part(Random& random) {
  Words words(random() % 100);
  std::uint64_t before = random();
  unsigned shift = 0, bits = 0;
  bool is_close = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i % 16 == 0 || random() % 30 == 0) {
      shift = random() % 64;
      bits = 1 + random() % 64;
      is_close = random() % 2 == 0;
    }
    const std::uint64_t part = random() >> (64 - bits);
    words[i] = is_close ? before + (random() % 2 == 0 ? part : 0 - part) : part << shift;
    before = words[i];
  }
  Bits bytes(content_of(words).begin(), content_of(words).end());
  bytes.resize(bytes.size() + random() % 8, static_cast<std::byte>(random()));
  return bytes;
}

TEST(Packing, OfRandomPartsIsUndone) {
  Random random(1);
  int smaller = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<Bits> contents(random() % 4);
    for (Bits& content : contents) content = random_part(random);
    const std::vector<Bytes> parts(contents.begin(), contents.end());
    if (expect_same_again(parts) > 0) ++smaller;
  }
  EXPECT_GT(smaller, 5'000);
}

TEST(Packing, IsTheSameInEveryWay) {
  Random random(2);
  for (int i = 0; i < 5'000; ++i) {
    Bits part = random_part(random);
    part.resize(part.size() / kBlockBytes * kBlockBytes);
    const auto by = [&](PackBlocks pack) {
      Bits out(part.size() + part.size() / kBlockBytes + 2 * kWordBytes);
      const std::byte* const end = pack(part.data(), part.data() + part.size(), out.data());
      out.resize(static_cast<std::size_t>(end - out.data()));
      return out;
    };
    const Bits first = by(ways_to_pack_blocks().front());
    for (const PackBlocks way : ways_to_pack_blocks()) ASSERT_EQ(by(way), first);
  }
}

TEST(Packing, RefusesWhatNobodyHasPacked) {
  const Words words = words_of(70, [](auto i) { return i * i; });
  const std::array<Bytes, 1> parts = {content_of(words)};
  const Bits whole = packed(parts);
  ASSERT_FALSE(whole.empty());
  Bits payload;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_FALSE(unpack(Bytes(whole).first(size), payload)) << size;
  }
  Bits wrong = whole;
  wrong[4] = std::byte{0x28};  // eight bytes of which two are left out
  EXPECT_FALSE(unpack(wrong, payload));
  wrong = whole;
  wrong.push_back(std::byte{0});
  EXPECT_FALSE(unpack(wrong, payload));
  // It would be 4 GiB.
  const Bits huge(4, std::byte{0xFF});
  EXPECT_FALSE(unpack(huge, payload));
}

class PackedRecords : public testing::Test {
 protected:
  static constexpr std::uint64_t kNumber = 5;

  /// Writes a segment with one record.
  void write(std::uint16_t kind, std::span<const Bytes> parts) {
    const SegmentHeader header = seal({.journal = kNumber, .first = 1});
    RecordMaker maker;
    std::vector<Bytes> all = {std::as_bytes(std::span(&header, 1))};
    const auto record = maker.make({.place = 1}, kind, seed_of(kNumber, 1), parts);
    all.insert(all.end(), record.begin(), record.end());
    auto file = disk_.create("segment");
    ASSERT_TRUE(file && (*file)->allocate(4096) && write_all(**file, 0, all));
  }
  Result<SegmentReader> read() {
    auto file = disk_.open_to_read("segment");
    return SegmentReader::open(std::move(*file), "segment", 1);
  }

  SimulatedDisk disk_{1};
};

TEST_F(PackedRecords, AreReadAsTheyWereGiven) {
  const Words words = words_of(100, [](auto i) { return i; });
  const std::array<Bytes, 2> parts = {bytes_of("head"), content_of(words)};
  write(kFirstKind, parts);
  auto reader = read();
  const auto record = reader->next();
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->kind, kFirstKind);
  EXPECT_EQ(text_of((*record)->payload), "head" + text_of(content_of(words)));
  EXPECT_LT(reader->offset(), 300u);
}

TEST_F(PackedRecords, OfAnotherProgramAreRefused) {
  const std::array<Bytes, 1> parts = {bytes_of("nobody packs like that")};
  write(kFirstKind | kPacked, parts);
  const auto record = read()->next();
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().message,
            "segment, byte 64: the record of place 1 is packed in an unknown way");
}

}  // namespace
}  // namespace gorgo::journal
