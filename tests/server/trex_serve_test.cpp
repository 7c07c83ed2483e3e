#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "process.hpp"
#include "trex_support.hpp"

// What the log says to clients of T-Rex, whose protocol has no errors.
namespace gorgo::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TrexServe : public testing::Test {
 protected:
  TrexServe() : server_({"serve", "--listen", "127.0.0.1:0", "--trex", "127.0.0.1:0"}) {
    EXPECT_THAT(server_.out_line(), HasSubstr("listening on 127.0.0.1:"));
    const std::string line = server_.out_line();
    const std::string begin = "trex on ";
    EXPECT_TRUE(line.starts_with(begin)) << line;
    address_ = line.substr(begin.size(), line.size() - begin.size() - 1);
  }

  TrexConnection connect() { return TrexConnection(address_); }
  /// Ends the server and returns the line with its accounts.
  std::string stop() {
    server_.signal(SIGTERM);
    const std::string stopped = server_.err_line("stopped");
    EXPECT_EQ(server_.wait(), 0);
    return stopped;
  }

  Process server_;

 private:
  std::string address_;
};

TEST_F(TrexServe, ARuleThatTheLanguageCannotSayStandsInTheLog) {
  {
    TrexConnection client = connect();
    trex::Rule rule = last_rule();
    rule.predicates[1].selection = trex::Selection::all;
    client.deploy(rule);
    EXPECT_THAT(server_.err_line("a rule of T-Rex is not taken"),
                AllOf(HasSubstr("T3"), HasSubstr("selects all events together")));
  }
  EXPECT_THAT(stop(), HasSubstr("refused_trex=1"));
}

TEST_F(TrexServe, AnErrorInARuleStandsInTheLogWithItsPlaceAndItsLine) {
  {
    TrexConnection client = connect();
    trex::Rule rule = last_rule();
    rule.composite.constants = {{"x", 1}};
    client.deploy(rule);
    EXPECT_THAT(server_.err_line("a rule of T-Rex is not taken"),
                AllOf(HasSubstr("trex-T3-1:2:"), HasSubstr("define T3(x: int, x: int)")));
    // Others go on, and so does this client.
    client.subscribe(all_of(1));
    client.publish({1, 0, {}});
    EXPECT_EQ(client.next()->type, 1);
  }
  EXPECT_THAT(stop(), HasSubstr("refused_trex=1"));
}

TEST_F(TrexServe, WhatIsLeftOutOfARuleStandsInTheLog) {
  TrexConnection client = connect();
  trex::Rule rule = last_rule();
  rule.consuming = {0, 1};
  client.deploy(rule);
  EXPECT_THAT(server_.err_line("not taken word for word"),
              AllOf(HasSubstr("trex-T3-1"), HasSubstr("its terminator cannot be consumed")));
  EXPECT_THAT(server_.err_line("rules deployed"), HasSubstr("trex-T3-1"));
}

TEST_F(TrexServe, ASubscriptionThatCannotBeTakenStandsInTheLog) {
  {
    TrexConnection client = connect();
    client.deploy(last_rule());
    client.subscribe({1, {{"two words", trex::Comparison::equal, 1}}});
    EXPECT_THAT(server_.err_line("a subscription of T-Rex is not taken"), HasSubstr("two words"));
    client.subscribe({3, {{"x", trex::Comparison::equal, std::string_view("text")}}});
    EXPECT_THAT(server_.err_line("a subscription of T-Rex is not taken"), HasSubstr("T3(x ="));
    // It can be asked for again.
    client.subscribe({3, {{"x", trex::Comparison::equal, std::string_view("text")}}});
    EXPECT_NE(server_.err_line("a subscription of T-Rex is not taken"), "");
  }
  EXPECT_THAT(stop(), HasSubstr("refused_trex=3"));
}

TEST_F(TrexServe, RefusedEventsStandInTheLogWithTheReason) {
  TrexConnection client = connect();
  client.deploy(last_rule());
  client.publish({2, 0, {{"v", std::string_view("text")}}});
  EXPECT_THAT(server_.err_line("events are refused"),
              HasSubstr("attribute `v` is string, expected int"));
}

}  // namespace
}  // namespace gorgo::server
