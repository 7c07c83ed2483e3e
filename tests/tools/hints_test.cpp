#include <gmock/gmock.h>

#include <cstdlib>
#include <string>

#include "command_line.hpp"

/// What commands say to somebody who was nearly right.
namespace gorgo::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

class Hints : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    setenv("XDG_CONFIG_HOME", folder().c_str(), 1);
  }

  /// Starts a server of the test's folder, and returns its address.
  std::string address_of(Background& server) {
    return server.line().substr(std::string("listening on ").size());
  }
};

TEST_F(Hints, NameTheUnitsOfTimes) {
  for (const char* wrong :
       {"sub T --timeout 3x", "run r.tesla --lateness 3", "serve --lateness soon",
        "sub T --timeout 2.5s", "sub T --timeout 9999999999d"}) {
    const Outcome outcome = run(wrong);
    const std::string said(std::string_view(wrong).substr(std::string(wrong).rfind(' ') + 1));
    EXPECT_EQ(outcome.exit_code, 2) << wrong;
    EXPECT_THAT(outcome.err, HasSubstr("'" + said + "' is no time")) << wrong;
    EXPECT_THAT(outcome.err, HasSubstr("us, ms, s, min, h or d")) << wrong;
  }
  write("r.tesla", "define Hot() from Temp(value > 45);\n");
  write("e", "");
  for (const char* right : {"3h", "1d", "500ms", "1 day", "3 H", "5 min.", "1 DAY", "0s"}) {
    EXPECT_EQ(run(std::string("run r.tesla --events e --lateness '") + right + "'").exit_code, 0)
        << right;
  }
}

TEST_F(Hints, NameTheFormatThatATimeZoneGoesWith) {
  write("r.tesla", "define Hot() from Temp(value > 45);\n");
  write("e.csv", "type,ts,value\nTemp,2024-05-01 12:00:00,50\n");
  const std::string command = "run r.tesla --events e.csv --input-format csv --tz Europe/Rome";
  const Outcome wrong = run(command);
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--time-format 'date time'"));
  const Outcome right = run(command + " --time-format 'date time'");
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.out, HasSubstr("Hot"));
}

TEST_F(Hints, CountAFileOnceHoweverOftenItIsNamed) {
  make_folder("rules");
  write("rules/r.tesla", "define Hot() from Temp(value > 45);\n");
  const std::string all = "rules/r.tesla rules ./rules/../rules/r.tesla";
  const Outcome checked = run("check " + all);
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_THAT(checked.err, HasSubstr("1 file, 1 rule: 0 errors, 0 warnings"));
  Background server = start("serve --listen 127.0.0.1:0");
  const Outcome deployed = run("rules deploy " + all + " --to " + address_of(server));
  EXPECT_EQ(deployed.exit_code, 0) << deployed.err;
  EXPECT_THAT(deployed.err, HasSubstr("deployed rules/r.tesla\n"));
  EXPECT_EQ(deployed.err.find("deployed"), deployed.err.rfind("deployed"));
}

TEST_F(Hints, NameTypesAndAttributesOfEventsThatAreNearlyThoseOfRules) {
  write("r.tesla", "define Hot() from Temp(value > 45) and last Smoke() within 5 min from Temp;\n");
  const std::string smoke = R"({"type":"Smoke","ts":1,"attrs":{}})"
                            "\n";
  const auto run_over = [&](const std::string& type, const std::string& attribute) {
    write("e", smoke + R"({"type":")" + type + R"(","ts":2,"attrs":{")" + attribute + "\":50}}\n");
    const Outcome outcome = run("run r.tesla --events e");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(
      run_over("Tmep", "value"),
      HasSubstr("no rule reads the 1 event of type `Tmep`, and `Temp`, which rules read, has "
                "none: is it meant?"));
  EXPECT_THAT(run_over("Temp", "vlaue"),
              HasSubstr("no event of type `Temp` has the attribute `value`, which rules read; they "
                        "have `vlaue`: is it meant?"));
  EXPECT_EQ(run_over("Temp", "value"), "");
  EXPECT_EQ(run_over("Wind", "speed"), "");
}

TEST_F(Hints, SayThatAServerHasNoDevices) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  Background server = start("serve --listen 127.0.0.1:0");
  const Outcome text = run("engines --to " + address_of(server));
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("uses no devices"));
}

TEST_F(Hints, NameWhatHasOldEventsHappenNow) {
  Background server = start("serve --listen 127.0.0.1:0");
  const std::string to = " --to " + address_of(server);
  write("now", R"({"type":"Temp","attrs":{"value":50}})"
               "\n");
  ASSERT_EQ(run("pub now" + to).exit_code, 0);
  write("old", R"({"type":"Temp","ts":1000,"attrs":{"value":50}})"
               "\n");
  const Outcome refused = run("replay old" + to);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--shift-to now"));
  const Outcome shifted = run("replay old --shift-to now" + to);
  EXPECT_EQ(shifted.exit_code, 0) << shifted.err;
  EXPECT_THAT(shifted.err, Not(HasSubstr("--shift-to")));
}

}  // namespace
}  // namespace gorgo::tools
