#include "tools/stream_pieces.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "codec/event_text.hpp"

namespace gorgo::tools {
namespace {

namespace fs = std::filesystem;
using Is = StreamPiece::Kind;

/// A file of so many events. A tick follows the first thousand, and a bad line the second.
class StreamPieces : public testing::Test {
 protected:
  void SetUp() override { std::ofstream(path_) << lines(kEvents); }
  void TearDown() override { fs::remove(path_); }

  static std::string lines(int events) {
    std::string text;
    for (int i = 1; i <= events; ++i) {
      text += "{\"type\":\"T\",\"ts\":" + std::to_string(i) + ",\"attrs\":{\"n\":1}}\n";
      if (i == 1000) text += "{\"tick\":1000}\n";
      if (i == 2000) text += "{\"tick\":}\n";
    }
    return text;
  }

  static constexpr int kEvents = 100'000;
  const fs::path path_ =
      fs::temp_directory_path() / ("gorgo_stream_pieces." + std::to_string(getpid()));
};

/// What pieces say, whatever their sizes.
struct Told {
  std::vector<std::uint64_t> lines;  // of events
  std::size_t before_tick = 0, before_bad_line = 0;
  std::string error;

  void add(const StreamPiece& piece) {
    lines.insert(lines.end(), piece.events.lines.begin(), piece.events.lines.end());
    if (piece.kind == Is::tick) {
      EXPECT_EQ(piece.timestamp, 1'000'000'000);
      EXPECT_EQ(piece.line, 1001u);
      before_tick = lines.size();
    }
    if (piece.kind == Is::bad_line) {
      error = piece.error.message;
      before_bad_line = lines.size();
    }
  }
};

TEST_F(StreamPieces, OfAFileComeInItsOrder) {
  EventStream stream(codec::make_line_reader());
  ASSERT_TRUE(stream.open(path_));
  ASSERT_TRUE(stream.has_end());
  Told told;
  ASSERT_TRUE(read_pieces(stream, [&](const StreamPiece& piece) {
    told.add(piece);
    return true;
  }));
  ASSERT_EQ(told.lines.size(), static_cast<std::size_t>(kEvents));
  EXPECT_EQ(told.lines.front(), 1u);
  EXPECT_EQ(told.lines.back(), static_cast<std::uint64_t>(kEvents) + 2);
  EXPECT_EQ(told.before_tick, 1000u);
  EXPECT_EQ(told.before_bad_line, 2000u);
  EXPECT_TRUE(told.error.starts_with("line 2002: 'tick'") ||
              told.error.starts_with("line 2002: not JSON"))
      << told.error;
}

TEST_F(StreamPieces, StopComingWhenNoMoreAreWanted) {
  EventStream stream(codec::make_line_reader());
  ASSERT_TRUE(stream.open(path_));
  int taken = 0;
  EXPECT_TRUE(read_pieces(stream, [&](const StreamPiece&) { return ++taken < 3; }));
  EXPECT_EQ(taken, 3);
}

TEST_F(StreamPieces, AreGivenUpWhenTakingFails) {
  EventStream stream(codec::make_line_reader());
  ASSERT_TRUE(stream.open(path_));
  const auto fail = [](const StreamPiece&) -> bool { throw std::runtime_error("no"); };
  EXPECT_THROW(static_cast<void>(read_pieces(stream, fail)), std::runtime_error);
}

TEST_F(StreamPieces, EndWithTheErrorOfAFileThatCannotBeReadFurther) {
  std::ofstream(path_) << "type,type\nT,1\n";
  EventStream stream(codec::make_csv_reader({}, nullptr));
  ASSERT_TRUE(stream.open(path_));
  const auto read = read_pieces(stream, [](const StreamPiece&) { return true; });
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("'type' stands twice"), std::string::npos);
}

}  // namespace
}  // namespace gorgo::tools
