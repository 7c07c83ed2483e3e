#include "server/rules/rule_files.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace gorgo::server {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::string rule(const std::string& name, int least = 0) {
  return "rule " + name + ": define C(v: int) from A(v > " + std::to_string(least) +
         ") where v = A.v;\n";
}

class RuleFilesTest : public testing::Test {
 protected:
  fs::path folder_ = fs::path(testing::TempDir()) /
                     ("gorgo_" + std::to_string(getpid()) + "_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name());
  Processor processor_;
  Log log_{LogFormat::text, LogLevel::off};
  EngineClock clock_{[] { return Timestamp(0); }};
  JournalWriter journal_{{}, log_, [] {}};
  RuleBook book_{processor_, clock_, journal_};
  RuleFiles files_{{folder_.string()}};

  void SetUp() override {
    fs::create_directories(folder_);
    write("a.tesla", rule("one") + rule("two"));
    write("b.tesla", rule("three"));
    ASSERT_FALSE(load().failed());
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  RuleFiles::Outcome load() { return files_.load(book_); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& rule : processor_.rules()) names.push_back(rule.name);
    return names;
  }
  /// By the name of each rule, which deployment of it is in force: it has begun with empty windows.
  std::map<std::string, std::uint64_t> serials() const {
    std::map<std::string, std::uint64_t> serials;
    for (const auto& rule : processor_.rules()) serials[rule.name] = rule.serial;
    return serials;
  }
  /// Loads, and expects one error with this text and that no rule has changed.
  void expect_kept(const std::string& error) {
    const auto before = names();
    const auto outcome = load();
    ASSERT_EQ(outcome.errors.size(), 1u);
    EXPECT_THAT(outcome.errors[0].to_string(), HasSubstr(error));
    EXPECT_EQ(outcome.files, 0u);
    EXPECT_EQ(outcome.removed.size(), 0u);
    EXPECT_EQ(names(), before);
  }
};

TEST_F(RuleFilesTest, AFileThatHasNotChangedKeepsTheStateOfItsRules) {
  const auto before = serials();
  EXPECT_EQ(load().files, 2u);
  EXPECT_EQ(serials(), before);
  write("b.tesla", rule("three", 1));
  EXPECT_EQ(load().files, 2u);
  auto after = serials();
  EXPECT_NE(after["three"], before.at("three"));
  after["three"] = before.at("three");
  EXPECT_EQ(after, before);
}

TEST_F(RuleFilesTest, AFileIsDeployedAgainWhereClientsHaveChangedItsRules) {
  ASSERT_TRUE(book_.remove("one", {}));
  auto other = prepare_rules(processor_.snapshot(), "", rule("three", 1), {.replace = true});
  ASSERT_FALSE(book_.deploy(other, {}).failed());
  const auto before = serials();
  EXPECT_EQ(load().files, 2u);
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
  EXPECT_NE(serials()["three"], before.at("three"));
}

TEST_F(RuleFilesTest, AFolderThatIsAwayKeepsItsRules) {
  fs::rename(folder_, folder_.string() + ".away");
  expect_kept("cannot read " + folder_.string() + ": No such file");
  fs::create_directories(folder_);
  expect_kept("no *.tesla file is left in " + folder_.string() + " (to remove its rules");
  fs::remove(folder_);
  fs::rename(folder_.string() + ".away", folder_);
  EXPECT_FALSE(load().failed());
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
}

TEST_F(RuleFilesTest, AFileThatStandsForItselfKeepsItsRulesWhenItIsAway) {
  Processor processor;
  RuleBook book(processor, clock_, journal_);
  RuleFiles files({(folder_ / "a.tesla").string()});
  ASSERT_FALSE(files.load(book).failed());
  fs::remove(folder_ / "a.tesla");
  const auto outcome = files.load(book);
  EXPECT_THAT(outcome.errors[0].message, HasSubstr("a.tesla: No such file"));
  EXPECT_EQ(processor.rules().size(), 2u);
  write("a.tesla", "// nothing\n");
  EXPECT_EQ(files.load(book).removed.size(), 2u);
  EXPECT_EQ(processor.rules().size(), 0u);
}

TEST_F(RuleFilesTest, AFileThatLeftItsFolderTakesItsRulesAlong) {
  fs::remove(folder_ / "b.tesla");
  const auto outcome = load();
  EXPECT_FALSE(outcome.failed());
  EXPECT_EQ(outcome.removed.size(), 1u);
  EXPECT_THAT(outcome.gone, ElementsAre((folder_ / "b.tesla").string()));
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two"));
  EXPECT_THAT(load().gone, IsEmpty());
}

TEST_F(RuleFilesTest, AnEmptyFileRemovesTheRulesThatStoodInItsFolder) {
  fs::remove(folder_ / "b.tesla");
  write("a.tesla", "");
  const auto outcome = load();
  EXPECT_FALSE(outcome.failed());
  EXPECT_EQ(outcome.removed.size(), 3u);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RuleFilesTest, NothingIsRemovedWhileAnotherFileHasErrors) {
  fs::remove(folder_ / "b.tesla");
  write("a.tesla", "rule one: define");
  const auto outcome = load();
  EXPECT_TRUE(outcome.diagnostics.failed());
  EXPECT_EQ(outcome.removed.size(), 0u);
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
  write("a.tesla", rule("one"));
  EXPECT_EQ(load().removed.size(), 2u);
  EXPECT_THAT(names(), ElementsAre("one"));
}

TEST_F(RuleFilesTest, NothingOfAFolderChangesWhileAFileOfItCannotBeRead) {
  write("a.tesla", rule("one", 5));
  fs::remove(folder_ / "b.tesla");
  fs::create_directory(folder_ / "b.tesla");
  expect_kept("b.tesla: it is a folder");
  fs::remove(folder_ / "b.tesla");
  fs::create_symlink("nowhere", folder_ / "b.tesla");
  expect_kept("behind the link to nowhere");
  fs::remove(folder_ / "b.tesla");
  ASSERT_EQ(mkfifo((folder_ / "b.tesla").c_str(), 0600), 0);
  expect_kept("b.tesla: it is no regular file");
  fs::remove(folder_ / "b.tesla");
  write("b.tesla", std::string((64 << 20) + 1, ' '));
  expect_kept("b.tesla: it is larger than 67108864 bytes");
}

TEST_F(RuleFilesTest, OtherPathsAreReadAllTheSame) {
  Processor processor;
  RuleBook book(processor, clock_, journal_);
  RuleFiles files({(folder_ / "absent").string(), folder_.string()});
  const auto outcome = files.load(book);
  EXPECT_EQ(outcome.errors.size(), 1u);
  EXPECT_EQ(outcome.files, 2u);
  EXPECT_EQ(processor.rules().size(), 3u);
}

TEST_F(RuleFilesTest, ManyRulesAreRemovedInSteps) {
  std::string many;
  for (int i = 0; i < 200; ++i) many += rule("many" + std::to_string(i));
  write("b.tesla", many);
  ASSERT_FALSE(load().failed());
  write("b.tesla", rule("three"));
  files_.begin(book_.files());
  ASSERT_TRUE(files_.check_next(processor_.snapshot()));
  files_.put_in_force(book_);  // a.tesla
  ASSERT_TRUE(files_.check_next(processor_.snapshot()));
  files_.put_in_force(book_);  // b.tesla
  EXPECT_EQ(processor_.rule_count(), 203u);
  std::size_t before = processor_.rule_count(), steps = 0;
  while (files_.check_next(processor_.snapshot())) {
    files_.put_in_force(book_);
    EXPECT_LT(processor_.rule_count(), before);
    before = processor_.rule_count();
    ++steps;
  }
  EXPECT_GT(steps, 1u);
  EXPECT_EQ(files_.outcome().removed.size(), 200u);
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
}

TEST_F(RuleFilesTest, ARuleMayMoveToAnotherFile) {
  write("a.tesla", rule("one") + rule("two") + rule("three"));
  write("b.tesla", "");
  EXPECT_FALSE(load().failed());
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
  write("a.tesla", rule("one") + rule("three"));
  write("b.tesla", rule("two"));
  EXPECT_FALSE(load().failed());
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
}

TEST_F(RuleFilesTest, AFileMayBeRenamed) {
  fs::rename(folder_ / "b.tesla", folder_ / "c.tesla");
  const auto outcome = load();
  EXPECT_FALSE(outcome.failed()) << outcome.diagnostics.render();
  EXPECT_EQ(outcome.removed.size(), 0u);
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
  fs::rename(folder_ / "c.tesla", folder_ / "0.tesla");
  EXPECT_FALSE(load().failed());
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
}

TEST_F(RuleFilesTest, RulesOfPathsThatAreNoneAnyMoreGo) {
  write("other", rule("other"));
  files_.set_paths({(folder_ / "other").string(), (folder_ / "a.tesla").string()});
  const auto outcome = load();
  EXPECT_FALSE(outcome.failed());
  EXPECT_EQ(outcome.removed.size(), 1u);
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "other"));
  files_.set_paths({});
  EXPECT_EQ(load().removed.size(), 3u);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(RuleFilesTest, RulesOfFormerPathsStayWhileSomethingIsWrong) {
  files_.set_paths({(folder_ / "absent.tesla").string()});
  expect_kept("absent.tesla");
  write("absent.tesla", rule("late"));
  EXPECT_EQ(load().removed.size(), 3u);
  EXPECT_THAT(names(), ElementsAre("late"));
}

TEST_F(RuleFilesTest, HiddenFilesAreNoRuleFiles) {
  fs::create_symlink("somebody@editor.1", folder_ / ".#a.tesla");
  write("#a.tesla#", "no rules");
  write("a.tesla~", "no rules");
  EXPECT_FALSE(load().failed());
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
}

TEST_F(RuleFilesTest, LinksToRuleFilesAreRead) {
  fs::rename(folder_ / "b.tesla", folder_ / "b.text");
  fs::create_symlink("b.text", folder_ / "b.tesla");
  EXPECT_FALSE(load().failed());
  EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
}

TEST_F(RuleFilesTest, WhatIsNoTextIsADiagnostic) {
  for (const std::string& text :
       {std::string("\0\0\0", 3), rule("three") + std::string("\0", 1), std::string("\xff\xfe"),
        std::string("define C(v: string) from A() where v = \"\xff\";")}) {
    write("b.tesla", text);
    const auto outcome = load();
    EXPECT_TRUE(outcome.diagnostics.failed());
    EXPECT_THAT(outcome.errors, IsEmpty());
    EXPECT_THAT(names(), UnorderedElementsAre("one", "two", "three"));
  }
}

}  // namespace
}  // namespace gorgo::server
