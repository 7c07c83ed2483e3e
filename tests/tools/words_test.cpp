#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "command_line.hpp"

/// What a newcomer types: slips, folders, times and formats.
namespace gorgo::tools {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kHot = "define Hot(v: float) from Temp(value > 45) where v = Temp.value;";
constexpr const char* kHotEvent = R"({"type":"Temp","ts":1,"attrs":{"value":46.5}})";

TEST_F(CommandLine, AnOptionThatIsNoneIsNamedWithTheOneThatWasMeant) {
  for (const auto& [command, meant] :
       {std::pair("run f --event e", "--events"), std::pair("pub --forma csv server f", "--format"),
        std::pair("rules list --formt=json", "--format")}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 2) << command;
    EXPECT_THAT(outcome.err, StartsWith("gorgo: unknown option '--")) << command;
    EXPECT_THAT(outcome.err, HasSubstr("did you mean '" + std::string(meant) + "'?\n")) << command;
  }
}

TEST_F(CommandLine, ACommandOfACommandThatIsNoneIsNamed) {
  const Outcome outcome = run("rules lst");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, StartsWith("gorgo: unknown command 'lst', did you mean 'list'?\n"));
}

TEST_F(CommandLine, WhatFollowsAnOptionAsItsValueIsNoWord) {
  write("e", kHotEvent);
  write("r.tesla", kHot);
  EXPECT_EQ(run("run --events e --lateness 0s -- r.tesla").exit_code, 0);
  EXPECT_THAT(run("bench no-such-scenario").err, Not(HasSubstr("unknown command")));
}

TEST_F(CommandLine, TimesHaveTheUnitsOfRules) {
  write("e", kHotEvent);
  write("r.tesla", kHot);
  EXPECT_EQ(run("run r.tesla --events e --lateness 3h --max-late 1day").exit_code, 0);
  EXPECT_EQ(run("run r.tesla --events e --lateness 3").exit_code, 2);
}

TEST_F(CommandLine, AFolderStandsForTheRuleFilesInIt) {
  make_folder("rules");
  make_folder("empty");
  write("rules/b.tesla", "define Twice(v: float) from Hot() where v = 2 * Hot.v;");
  write("rules/a.tesla", kHot);
  write("rules/notes.txt", "no rules");
  write("e", kHotEvent);
  EXPECT_EQ(run("check rules").err, "2 files, 2 rules: 0 errors, 0 warnings\n");
  EXPECT_EQ(run("fmt rules --check").out, "rules/a.tesla\nrules/b.tesla\n");
  EXPECT_THAT(run("run rules --events e").out, HasSubstr("\"Twice\""));
  EXPECT_EQ(run("explain rules").exit_code, 0);
  EXPECT_EQ(run("why rules --events e --rule a.Hot").exit_code, 0);
  for (const char* command :
       {"check empty", "fmt empty", "run empty --events e", "explain empty"}) {
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit_code, 1) << command;
    EXPECT_THAT(outcome.err, HasSubstr("there is no *.tesla file in empty")) << command;
  }
}

TEST_F(CommandLine, ExplainTakesOtherValuesOfConstants) {
  write("r.tesla",
        "const limit = 45;\n"
        "define Hot(v: float) from Temp(value > limit) where v = Temp.value;");
  EXPECT_THAT(run("explain r.tesla").out, HasSubstr("value > 45"));
  EXPECT_THAT(run("explain r.tesla --set limit=50").out, HasSubstr("value > 50"));
  EXPECT_THAT(run("explain r.tesla --set limt=50").err, HasSubstr("did you mean limit?"));
}

TEST_F(CommandLine, OnlyTheTypesThatAreAskedForArePrinted) {
  write("r.tesla", std::string(kHot) + "define Twice(v: float) from Hot() where v = 2 * Hot.v;");
  write("e", kHotEvent);
  EXPECT_EQ(run("run r.tesla --events e --only Twice").out,
            "{\"type\":\"Twice\",\"ts\":1,\"attrs\":{\"v\":93.0}}\n");
  const Outcome outcome = run("run r.tesla --events e --only Hot,Twise");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("--only: no rule defines 'Twise'"));
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 'Twice'?"));
}

TEST_F(CommandLine, ATypeThatNoRuleReadsIsNamed) {
  write("r.tesla", kHot);
  write("e", "ts,value\n1,46.5\n");
  const Outcome outcome = run("run r.tesla --events e --format csv --type Tmep");
  EXPECT_THAT(outcome.err, HasSubstr("--type: no rule reads events of type 'Tmep'"));
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 'Temp'?"));
  EXPECT_THAT(run("run r.tesla --events e --format csv --type Temp").err, IsEmpty());
}

TEST_F(CommandLine, FormatIsTheSameOptionEverywhere) {
  write("r.tesla", kHot);
  write("e", kHotEvent);
  for (const char* command : {"why r.tesla --events e", "explain r.tesla", "engines"}) {
    const Outcome json = run(std::string(command) + " --format json");
    EXPECT_EQ(json.exit_code, 0) << command;
    EXPECT_TRUE(nlohmann::json::accept(json.out)) << command << '\n' << json.out;
    EXPECT_EQ(run(std::string(command) + " --json").out, json.out) << command;
    EXPECT_FALSE(nlohmann::json::accept(run(command).out)) << command;
  }
}

TEST_F(CommandLine, FilesAreReadAsPeopleHaveThem) {
  write("trips.csv",
        "VendorID;tpep_pickup_datetime;trip_distance;tip_amount\n1;2024-05-01 12:15:00;1.5;25\n");
  write("r.tesla",
        "define Generous(tip: float) from Trip(tip > 20.0, miles < 2.0) where tip = Trip.tip;");
  const std::string form =
      " --input-format csv --separator ';' --type Trip --time-column tpep_pickup_datetime"
      " --time-format 'date time' --tz America/New_York"
      " --rename trip_distance=miles,tip_amount=tip";
  EXPECT_EQ(
      run("run r.tesla --events trips.csv --output-format ndjson --output-times rfc3339" + form)
          .out,
      "{\"type\":\"Generous\",\"ts\":\"2024-05-01T16:15:00Z\",\"attrs\":{\"tip\":25.0}}\n");
  EXPECT_EQ(run("run r.tesla --events trips.csv" + form).out,
            "type,ts,tip\nGenerous,1714580100000,25.0\n");
  EXPECT_EQ(run("why r.tesla --events trips.csv" + form).exit_code, 0);
}

TEST_F(CommandLine, AHeaderThatDoesNotFitSaysWhatToName) {
  write("r.tesla", kHot);
  write("e", "when,value\n1,46.5\n");
  const std::string command = "run r.tesla --events e --input-format csv";
  EXPECT_THAT(run(command).err, HasSubstr("the header has no column 'type'; it has when, value"));
  EXPECT_THAT(run(command).err, HasSubstr("--type-column"));
  EXPECT_THAT(run(command + " --type Temp --time-column wehn").err,
              HasSubstr("did you mean 'when'?"));
  EXPECT_THAT(run(command + " --type Temp --rename vlue=value").err,
              HasSubstr("did you mean 'value'?"));
  EXPECT_THAT(run("run r.tesla --events e --type Temp").err, HasSubstr("add --input-format csv"));
  EXPECT_EQ(run(command + " --type Temp --time-column when").exit_code, 0);
}

}  // namespace
}  // namespace gorgo::tools
