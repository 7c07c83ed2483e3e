#include "tools/event_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace gorgo::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EventStreamTest : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  void put(std::string_view text) { std::ofstream(path_, std::ios::binary) << text; }

  /// What happens while reading; an event is shown by its line and type when it is taken.
  std::vector<std::string> read(std::unique_ptr<codec::EventReader> reader, bool strict = false,
                                std::size_t most = EventStream::kBatch) {
    std::vector<std::string> seen;
    EventStream stream(std::move(reader), most);
    const auto opened = stream.open(path_);
    if (!opened) return {opened.error().message};
    const auto take = [&] {
      ReadEvents read = stream.take();
      for (BatchCursor at(read.events.batch()); !at.done(); at.advance()) {
        seen.push_back(std::to_string(read.lines[at.position()]) + " " +
                       std::string(at.table().type));
      }
    };
    const auto note = [&](const std::string& what, bool goes_on = true) {
      take();
      seen.push_back(what);
      return goes_on;
    };
    const auto done = stream.read(
        {.full = [&] { return note("full"); },
         .tick =
             [&](Timestamp timestamp) {
               return note(std::to_string(stream.line()) + " tick " + std::to_string(timestamp));
             },
         .bad_line = [&](const Error& error) { return note(error.message, !strict); },
         .pause = [&] { return note("pause"); }});
    take();
    if (!done) seen.push_back("! " + done.error().message);
    return seen;
  }

  const std::string path_ = testing::TempDir() + "events_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(EventStreamTest, HandsOutTicksBetweenEvents) {
  put("{\"type\":\"A\"}\n{\"tick\":5}\n{\"type\":\"B\"}\n");
  EXPECT_THAT(read(codec::make_line_reader()),
              ElementsAre("1 A", "2 tick 5000000", "3 B", "pause", "pause"));
}

TEST_F(EventStreamTest, HandsOutEventsAndBadLinesInOrder) {
  put("{\"type\":\"A\"}\n{\n\n{\"type\":\"B\"}");
  EXPECT_THAT(read(codec::make_line_reader()),
              ElementsAre("1 A", HasSubstr("line 2: not JSON"), "pause", "4 B", "pause"));
}

TEST_F(EventStreamTest, SaysWhenSoManyEventsAreGathered) {
  put("type,ts\nA,1\nB,\n\nA,3\n");
  EXPECT_THAT(read(codec::make_csv_reader({}, nullptr), false, 2),
              ElementsAre("2 A", "3 B", "full", "5 A", "pause", "pause"));
}

TEST_F(EventStreamTest, SaysWhenTheColumnsTakeMuchMemory) {
  std::string text;
  constexpr int kLines = 3000;
  for (int i = 0; i < kLines; ++i) {
    const std::string name = std::to_string(i);
    text += R"({"type":"A","attrs":{"a)" + name + R"(":1,"b)" + name + "\":1}}\n";
  }
  put(text);
  const auto seen = read(codec::make_line_reader());
  EXPECT_GE(std::ranges::count(seen, "full"), 2);
  EXPECT_EQ(std::ranges::count_if(seen, [](const auto& what) { return what.ends_with(" A"); }),
            kLines);
}

TEST_F(EventStreamTest, StopsWhereACallbackSaysSo) {
  put("{\"type\":\"A\"}\n{\n{\"type\":\"B\"}\n");
  EXPECT_THAT(read(codec::make_line_reader(), true),
              ElementsAre("1 A", HasSubstr("line 2: not JSON")));
}

TEST_F(EventStreamTest, AnOpenCellAtTheEndIsABadLine) {
  put("a\n1\n\"x\n");
  EXPECT_THAT(read(codec::make_csv_reader({.type = "T"}, nullptr)),
              ElementsAre("2 T", "pause", HasSubstr("line 3: the quoted cell"), "pause"));
}

TEST_F(EventStreamTest, ABrokenStreamIsAnError) {
  put("a,a\n1,2\n");
  EXPECT_THAT(read(codec::make_csv_reader({.type = "T"}, nullptr)),
              ElementsAre("pause", testing::AllOf(testing::StartsWith("! " + path_),
                                                  HasSubstr("line 1: column 'a' stands twice"))));
}

TEST_F(EventStreamTest, NoRowBecomesTheHeaderWhereTheHeaderIsRefused) {
  put("a,b\"c\nx,y\n1,2\n");
  EXPECT_THAT(read(codec::make_csv_reader({.type = "T"}, nullptr)),
              ElementsAre("pause", HasSubstr("line 1: cell 2: a quote inside")));
}

TEST_F(EventStreamTest, ALineWithoutEndIsAnError) {
  put(std::string((16 << 20) + 1000, 'x'));
  EXPECT_THAT(read(codec::make_line_reader()).back(), HasSubstr("longer than 16 MiB"));
}

TEST_F(EventStreamTest, AMissingFileIsNamed) {
  EXPECT_THAT(
      read(codec::make_line_reader()),
      ElementsAre(testing::AllOf(HasSubstr("cannot open " + path_), HasSubstr("No such file"))));
}

}  // namespace
}  // namespace gorgo::tools
