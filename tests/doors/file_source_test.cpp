#include "doors/file/file_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "doors/file/file_sink.hpp"

namespace gorgo::doors {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Files : public testing::Test {
 protected:
  const fs::path folder =
      fs::path(testing::TempDir()) / ("gorgo_files_" + std::to_string(getpid()));
  Settings settings;
  std::unique_ptr<FileSource> source;
  Position position;
  std::vector<std::string> dead, places;

  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder);
    settings.kind = "file";
    settings.path = (folder / "*.log").string();
    settings.format = "json";
    settings.form.type = "N";
  }
  void TearDown() override { fs::remove_all(folder); }

  void append(const std::string& name, const std::string& text) {
    std::ofstream(folder / name, std::ios::app) << text;
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  }
  std::string lines(std::int64_t first, std::int64_t last) {
    std::string text;
    for (std::int64_t n = first; n <= last; ++n) text += "{\"n\":" + std::to_string(n) + "}\n";
    return text;
  }
  /// As a start of the server does.
  void open() {
    source = std::make_unique<FileSource>(
        settings, [] { return std::make_shared<const Schema>(); }, position);
  }
  /// What the source says that it cannot read.
  std::string problem() {
    const auto arrived = source->poll(std::chrono::milliseconds(300));
    EXPECT_TRUE(arrived);
    return arrived && arrived->problem ? arrived->problem->message : "";
  }
  /// The numbers that come until `count` have; none may come behind them.
  std::vector<std::int64_t> read(std::size_t count) {
    std::vector<std::int64_t> numbers;
    while (numbers.size() < count || has_more(numbers)) {
      if (numbers.size() < count) take(numbers);
    }
    return numbers;
  }

 private:
  bool take(std::vector<std::int64_t>& numbers) {
    auto arrived = source->poll(std::chrono::milliseconds(300));
    EXPECT_TRUE(arrived) << arrived.error().to_string();
    if (!arrived || arrived->empty()) return false;
    for (BatchCursor row(arrived->events.batch()); !row.done(); row.advance()) {
      numbers.push_back(row.value(row.table().columns[0]).integer);
    }
    for (const DeadLetter& letter : arrived->dead) {
      dead.push_back(letter.payload);
      places.push_back(letter.place);
    }
    position = arrived->position;
    source->committed(position);
    return true;
  }
  bool has_more(std::vector<std::int64_t>& numbers) { return take(numbers); }
};

TEST_F(Files, LinesComeAsTheyAreWrittenAndOnceOnly) {
  append("a.log", lines(1, 2) + "{\"n\":");
  open();
  EXPECT_THAT(read(2), ElementsAre(1, 2));
  append("a.log", "3}\n\n" + lines(4, 4));
  EXPECT_THAT(read(2), ElementsAre(3, 4));
  append("a.log", lines(5, 5));
  open();
  EXPECT_THAT(read(1), ElementsAre(5));
}

/// The batch has room for hundreds of them.
TEST_F(Files, OfALineThatIsNoEventTheBeginningIsKept) {
  append("a.log", std::string(1'000'000, 'x') + "\n" + lines(1, 1));
  open();
  EXPECT_THAT(read(1), ElementsAre(1));
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0], std::string(DeadLetter::kMost, 'x'));
}

TEST_F(Files, ARowOfSeveralLinesThatIsNoneIsNamedByItsBeginning) {
  settings.format = "csv";
  append("a.log", "n,m\n1,2\n3,\"4\n5\"6\n7,8\n");
  open();
  EXPECT_THAT(read(2), ElementsAre(1, 7));
  ASSERT_EQ(places.size(), 1u);
  EXPECT_TRUE(places[0].ends_with("a.log:8")) << places[0];
  EXPECT_THAT(dead, ElementsAre("3,\"4\n5\"6"));
}

/// They say that they have no bytes, and give some at each look.
TEST_F(Files, FilesOfTheKernelAreEmpty) {
  settings.path = "/proc/self/status";
  open();
  EXPECT_THAT(read(0), IsEmpty());
  EXPECT_THAT(dead, IsEmpty());
}

TEST_F(Files, ARenamedFileIsReadToItsEnd) {
  append("a.log", lines(1, 1));
  open();
  EXPECT_THAT(read(1), ElementsAre(1));
  append("a.log", lines(2, 2));
  fs::rename(folder / "a.log", folder / "a.log.1");
  append("a.log", lines(3, 3));
  EXPECT_THAT(read(2), testing::UnorderedElementsAre(2, 3));
}

TEST_F(Files, AFileThatWasRenamedWhileNobodyLookedIsReadToItsEnd) {
  append("a.log", lines(1, 1));
  open();
  EXPECT_THAT(read(1), ElementsAre(1));
  source.reset();
  append("a.log", lines(2, 2));
  fs::rename(folder / "a.log", folder / "a.log.1");
  append("a.log", lines(3, 3));
  open();
  EXPECT_THAT(read(2), testing::UnorderedElementsAre(2, 3));
}

TEST_F(Files, AnEmptiedFileIsReadFromItsBeginning) {
  append("a.log", lines(1, 3));
  open();
  EXPECT_THAT(read(3), ElementsAre(1, 2, 3));
  write("a.log", lines(4, 4));
  EXPECT_THAT(read(1), ElementsAre(4));
  source.reset();
  write("a.log", lines(5, 20));  // longer than what was read, and other
  open();
  EXPECT_EQ(read(16).front(), 5);
}

/// Neither its size nor its time of writing tells, and the second follows the first at once.
TEST_F(Files, AFileThatIsReplacedInPlaceByOneOfItsLengthIsReadFromItsBeginning) {
  append("a.log", lines(1, 3));
  const auto written = fs::last_write_time(folder / "a.log");
  open();
  EXPECT_THAT(read(3), ElementsAre(1, 2, 3));
  for (const std::int64_t first : {4, 7}) {
    write("a.log", lines(first, first + 2));
    fs::last_write_time(folder / "a.log", written);
    EXPECT_THAT(read(3), ElementsAre(first, first + 1, first + 2));
  }
  fs::last_write_time(folder / "a.log", fs::file_time_type::clock::now());
  EXPECT_THAT(read(0), IsEmpty()) << "its time alone has changed";
}

TEST_F(Files, ALineWithoutItsEndIsNoPartOfTheFileThatReplacesIt) {
  append("a.log", "{\"n\":1}");
  open();
  EXPECT_THAT(read(0), IsEmpty());
  write("a.log", lines(2, 2));
  EXPECT_THAT(read(1), ElementsAre(2));
}

TEST_F(Files, WhatIsNoEventIsADeadLetter) {
  append("a.log", "nonsense\n" + lines(1, 1) + "{\"n\":[1]}\n");
  open();
  EXPECT_THAT(read(1), ElementsAre(1));
  EXPECT_THAT(dead, ElementsAre("nonsense", "{\"n\":[1]}"));
}

TEST_F(Files, TheHeaderOfCsvHoldsBehindARestart) {
  settings.format = "csv";
  append("a.log", "n\n1\n");
  open();
  EXPECT_THAT(read(1), ElementsAre(1));
  append("a.log", "2\n");
  open();
  EXPECT_THAT(read(1), ElementsAre(2));
  append("b.log", "n\n3\n");
  EXPECT_THAT(read(1), ElementsAre(3));
}

TEST_F(Files, OfAQuotedCellWithoutEndTheBeginningIsKept) {
  settings.format = "csv";
  append("a.log", "n,m\n1,2\n3,\"5 inch\n");
  for (int i = 0; i < 11; ++i) append("a.log", std::string(100'000, 'x') + "\n");
  append("a.log", "7,8\n");
  open();
  EXPECT_THAT(read(2), ElementsAre(1, 7));
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_TRUE(dead[0].starts_with("3,\"5 inch\nxxx")) << dead[0].substr(0, 100);
  EXPECT_EQ(dead[0].size(), DeadLetter::kMost);
}

TEST_F(Files, AByteOrderMarkIsNoPartOfTheFirstCell) {
  settings.format = "csv";
  append("a.log", "\xEF\xBB\xBF\"n\"\r\n1\r\n");
  open();
  EXPECT_THAT(read(1), ElementsAre(1));
  settings.columns = {"n"};
  append("b.log",
         "\xEF\xBB\xBF"
         "2\n");
  position = {};
  fs::remove(folder / "a.log");
  open();
  EXPECT_THAT(read(1), ElementsAre(2));
}

/// A row would be read under another header, or be a dead letter each.
TEST_F(Files, WhereTheHeaderIsRefusedNoRowIsRead) {
  settings.format = "csv";
  append("a.log", "n,m\"x\n1,2\n3,4\n");
  open();
  const auto arrived = source->poll(std::chrono::milliseconds(300));
  ASSERT_TRUE(arrived);
  EXPECT_EQ(arrived->events.events(), 0u);
  ASSERT_EQ(arrived->dead.size(), 1u);
  EXPECT_EQ(arrived->dead[0].payload, "n,m\"x");
  EXPECT_THAT(arrived->dead[0].reason, HasSubstr("the header is refused"));
  EXPECT_THAT(arrived->problem.value_or(Error{}).message,
              HasSubstr("a.log: the header is refused"));
  position = arrived->position;
  open();
  EXPECT_THAT(problem(), HasSubstr("a.log: the header is refused"));
  // It is read when it is replaced.
  fs::remove(folder / "a.log");
  append("a.log", "n,m\n5,6\n");
  EXPECT_THAT(read(1), ElementsAre(5));
  EXPECT_EQ(problem(), "");
}

TEST_F(Files, WhereHeadersAreRefusedOtherFilesAreRead) {
  settings.format = "csv";
  const std::string refused = "n,m\"x\n1,2\n";
  append("a.log", refused);
  open();
  EXPECT_THAT(read(0), IsEmpty());
  EXPECT_EQ(dead.size(), 1u);
  append("b.log", "n\n1\n");
  EXPECT_THAT(read(1), ElementsAre(1));
  EXPECT_THAT(problem(), AllOf(HasSubstr("a.log: the header"), Not(HasSubstr("files are"))));
  append("c.log", refused);
  append("d.log", refused);
  append("b.log", "2\n");
  EXPECT_THAT(read(1), ElementsAre(2));
  EXPECT_THAT(problem(), HasSubstr("3 files are not read, one of them " +
                                   (folder / "a.log").string() + ": the header"));
  // An empty file has no header, and one without a name is nobody's problem.
  write("a.log", "");
  fs::remove(folder / "c.log");
  EXPECT_THAT(read(0), IsEmpty());
  EXPECT_THAT(problem(), HasSubstr("d.log: the header"));
  fs::remove(folder / "d.log");
  EXPECT_THAT(read(0), IsEmpty());
  EXPECT_EQ(problem(), "");
}

TEST_F(Files, FromTheEndNothingOldComes) {
  settings.from = "end";
  append("a.log", lines(1, 2));
  open();
  EXPECT_THAT(read(0), IsEmpty());
  append("a.log", lines(3, 3));
  append("b.log", lines(4, 4));
  EXPECT_THAT(read(2), testing::UnorderedElementsAre(3, 4));
}

Departing::Row row(std::uint64_t root) {
  return {{root, 1}, {"Fire", 1'000'000'000, {{"n", std::int64_t(root)}}}};
}

TEST_F(Files, ASinkWritesNothingTwice) {
  settings.path = (folder / "out").string();
  EXPECT_TRUE(FileSink(settings).send({{row(1), row(2)}}));
  std::ofstream(folder / "out", std::ios::app)
      << "{\"id\":\"3-1\",\"ty";  // a write that was cut off
  EXPECT_TRUE(FileSink(settings).send({{row(2), row(3)}}));
  std::ifstream in(folder / "out");
  std::vector<std::string> written;
  for (std::string line; std::getline(in, line);) written.push_back(line);
  EXPECT_THAT(written, ElementsAre(R"({"id":"1-1","type":"Fire","ts":1000,"attrs":{"n":1}})",
                                   R"({"id":"2-1","type":"Fire","ts":1000,"attrs":{"n":2}})",
                                   R"({"id":"3-1","type":"Fire","ts":1000,"attrs":{"n":3}})"));
}

TEST_F(Files, AWriteThatFailsLeavesNoPartOfALine) {
  settings.path = (folder / "out").string();
  FileSink sink(settings);
  ASSERT_TRUE(sink.send({{row(1)}}));
  const auto size = fs::file_size(folder / "out");
  const auto formerly = std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const rlimit little{.rlim_cur = size + 10, .rlim_max = unlimited.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  const auto failed = sink.send({{row(2)}});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  std::signal(SIGXFSZ, formerly);
  EXPECT_FALSE(failed);
  EXPECT_EQ(fs::file_size(folder / "out"), size);
  fs::rename(folder / "out", folder / "out.1");
  EXPECT_TRUE(sink.send({{row(2)}}));
  EXPECT_EQ(fs::file_size(folder / "out"), size);
}

TEST_F(Files, WhatOthersHaveWrittenIsNeverCutOff) {
  settings.path = (folder / "out").string();
  append("out", "127.0.0.1 localhost\n::1 localhost");
  const auto sent = FileSink(settings).send({{row(1)}});
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().message, testing::HasSubstr("no door has written"));
  append("out", "\n");
  EXPECT_TRUE(FileSink(settings).send({{row(1)}}));
  std::ifstream in(folder / "out");
  std::string line;
  EXPECT_TRUE(std::getline(in, line) && line == "127.0.0.1 localhost");
  EXPECT_TRUE(std::getline(in, line) && line == "::1 localhost");
}

}  // namespace
}  // namespace gorgo::doors
