// gorgo rules history, diff and rollback, with a server, as a user meets them.

#include <gmock/gmock.h>

#include "command_line.hpp"

namespace gorgo::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFirst = "rule hot:\ndefine Hot(v: int)\nfrom A(v > 1)\nwhere v = A.v;\n";
constexpr const char* kSecond =
    "rule hot:\ndefine Hot(v: int)\nfrom A(v > 2)\nwhere v = A.v;\n"
    "rule cold:\ndefine Cold(v: int)\nfrom A(v < 0)\nwhere v = A.v;\n";

class RuleVersions : public CommandLine {
 protected:
  std::string to(Background& server) const {
    const std::string ready = server.line();
    return " --to " + ready.substr(ready.rfind(' ') + 1);
  }
  Background serve() const {
    return start("serve --listen 127.0.0.1:0 --journal journal --log-level off");
  }
  void deploy(const std::string& text, const std::string& to) const {
    write("r.tesla", text);
    ASSERT_EQ(run("rules deploy r.tesla --replace" + to).exit_code, 0) << read("err.txt");
  }
};

TEST_F(RuleVersions, AreShownComparedAndRolledBack) {
  auto server = serve();
  const std::string to = this->to(server);
  deploy(kFirst, to);
  deploy(kSecond, to);
  EXPECT_THAT(run("rules history" + to).out,
              AllOf(HasSubstr("1       20"), HasSubstr("deployed  r.tesla")));
  EXPECT_THAT(run("rules diff r.tesla" + to).out,
              AllOf(HasSubstr("--- change 1, "), HasSubstr("+++ change 2, "),
                    HasSubstr("  - from A(v > 1)\n"), HasSubstr("  + from A(v > 2)\n"),
                    HasSubstr("  + rule cold:")));
  const auto back = run("rules rollback r.tesla" + to);
  EXPECT_EQ(back.exit_code, 0) << back.err;
  EXPECT_THAT(back.err, AllOf(HasSubstr("removed cold"),
                              HasSubstr("r.tesla is again what change 1 made of it")));
  EXPECT_THAT(run("rules show hot" + to).out, HasSubstr("v > 1"));
  EXPECT_THAT(run("rules list" + to).out, Not(HasSubstr("cold")));
  EXPECT_THAT(run("rules history --format json" + to).out,
              AllOf(HasSubstr("\"number\": 4"), HasSubstr("\"what\": \"removed\"")));
}

TEST_F(RuleVersions, AreRememberedAcrossAKill) {
  {
    auto server = serve();
    const std::string to = this->to(server);
    deploy(kFirst, to);
    deploy(kSecond, to);
  }
  auto again = serve();
  const std::string to = this->to(again);
  EXPECT_EQ(run("rules rollback r.tesla 1" + to).exit_code, 0);
  EXPECT_THAT(run("rules show hot" + to).out, HasSubstr("v > 1"));
}

TEST_F(RuleVersions, ARemovalIsAVersionToo) {
  auto server = serve();
  const std::string to = this->to(server);
  deploy(kFirst, to);
  deploy(kSecond, to);
  EXPECT_EQ(run("rules remove hot" + to).exit_code, 0);
  EXPECT_THAT(run("rules history r.tesla" + to).out, HasSubstr("removed   hot"));
  EXPECT_THAT(run("rules diff r.tesla" + to).out,
              AllOf(HasSubstr("--- change 2, "), HasSubstr("+++ change 3, "),
                    HasSubstr("  - rule hot:\n"), HasSubstr("    rule cold:\n")));
  const auto back = run("rules rollback r.tesla" + to);
  EXPECT_THAT(back.err, HasSubstr("r.tesla is again what change 2 made of it"));
  EXPECT_THAT(run("rules show hot" + to).out, HasSubstr("v > 2"));
  const auto again = run("rules rollback r.tesla" + to);
  EXPECT_THAT(again.err, AllOf(HasSubstr("removed hot"), HasSubstr("what change 3 made of it")));
  EXPECT_THAT(run("rules list" + to).out, AllOf(HasSubstr("cold"), Not(HasSubstr("hot"))));
}

TEST_F(RuleVersions, ADeploymentThatWasRemovedComesBack) {
  {
    auto server = serve();
    const std::string to = this->to(server);
    deploy(kSecond, to);
    EXPECT_EQ(run("rules remove --deployment r.tesla" + to).exit_code, 0);
  }
  auto server = serve();
  const std::string to = this->to(server);
  EXPECT_THAT(run("rules diff r.tesla" + to).out,
              AllOf(HasSubstr("  - rule hot:"), HasSubstr("  - rule cold:")));
  EXPECT_EQ(run("rules rollback r.tesla" + to).exit_code, 0) << read("err.txt");
  EXPECT_THAT(run("rules list" + to).out, AllOf(HasSubstr("hot"), HasSubstr("cold")));
  EXPECT_EQ(run("rules rollback r.tesla" + to).exit_code, 0) << read("err.txt");
  EXPECT_THAT(run("rules list" + to).out, AllOf(Not(HasSubstr("hot")), Not(HasSubstr("cold"))));
}

TEST_F(RuleVersions, ARuleOfAnEarlierVersionThatWasRemovedDoesNotHinderTheWayBack) {
  auto server = serve();
  const std::string to = this->to(server);
  deploy(kFirst, to);
  deploy(kSecond, to);
  EXPECT_EQ(run("rules remove cold" + to).exit_code, 0);
  EXPECT_EQ(run("rules rollback r.tesla 1" + to).exit_code, 0) << read("err.txt");
  EXPECT_THAT(run("rules show hot" + to).out, HasSubstr("v > 1"));
}

TEST_F(RuleVersions, WrongNamesAndNumbersAreNamed) {
  auto server = serve();
  const std::string to = this->to(server);
  EXPECT_THAT(run("rules diff r.tesla" + to).err,
              HasSubstr("the server remembers no deployment 'r.tesla'"));
  deploy(kFirst, to);
  EXPECT_THAT(run("rules rollback r.tesla" + to).err, HasSubstr("only one version"));
  EXPECT_THAT(run("rules diff r.tesla 7" + to).err, HasSubstr("change 7 is no version of it"));
}

}  // namespace
}  // namespace gorgo::tools
