#include "tools/event_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

  /// What happens while reading; an event is shown by its line and type.
  std::vector<std::string> read(std::unique_ptr<codec::EventReader> reader, bool strict = false) {
    std::vector<std::string> seen;
    EventStream stream(std::move(reader));
    const auto opened = stream.open(path_);
    if (!opened) return {opened.error().message};
    const auto done = stream.read(
        {.event =
             [&](Event& event) {
               seen.push_back(std::to_string(stream.line()) + " " + event.type);
               return true;
             },
         .tick =
             [&](Timestamp timestamp) {
               seen.push_back(std::to_string(stream.line()) + " tick " + std::to_string(timestamp));
               return true;
             },
         .bad_line =
             [&](const Error& error) {
               seen.push_back(error.message);
               return !strict;
             },
         .pause =
             [&] {
               seen.push_back("pause");
               return true;
             }});
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

TEST_F(EventStreamTest, StopsWhereACallbackSaysSo) {
  put("{\"type\":\"A\"}\n{\n{\"type\":\"B\"}\n");
  EXPECT_THAT(read(codec::make_line_reader(), true),
              ElementsAre("1 A", HasSubstr("line 2: not JSON")));
}

TEST_F(EventStreamTest, AnOpenCellAtTheEndIsABadLine) {
  put("a\n1\n\"x\n");
  EXPECT_THAT(read(codec::make_csv_reader("T", nullptr)),
              ElementsAre("2 T", "pause", HasSubstr("line 3: the quoted cell"), "pause"));
}

TEST_F(EventStreamTest, ABrokenStreamIsAnError) {
  put("a,a\n1,2\n");
  EXPECT_THAT(read(codec::make_csv_reader("T", nullptr)),
              ElementsAre(testing::AllOf(testing::StartsWith("! " + path_),
                                         HasSubstr("line 1: column 'a' stands twice"))));
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
