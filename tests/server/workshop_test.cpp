#include "tools/workshop.hpp"

#include <unistd.h>

#include <filesystem>

#include "stream_support.hpp"
#include "users_support.hpp"

// What people who write rules ask for beside the engine: trials, tests, the language server, the
// journal.
namespace gorgo::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kHot = "define Hot(area: string) from Temp(value > 45) where area = Temp.area;";

std::string reading(std::int64_t ts, const std::string& area, double value) {
  const Json line = {{"type", "Temp"}, {"ts", ts}, {"attrs", {{"area", area}, {"value", value}}}};
  return line.dump() + "\n";
}

ServerOptions with_workshop() {
  ServerOptions options = with_http();
  options.workshop = tools::make_workshop();
  options.drain_timeout =
      std::chrono::milliseconds(200);  // an editor here does not say that it ends
  return options;
}

class Workshops : public testing::Test {
 protected:
  explicit Workshops(ServerOptions options = with_workshop()) : server_(std::move(options)) {}

  RunningServer server_;
  HttpConnection http_{http_address(server_)};

  Json try_rules(const std::string& rules, const std::string& events) {
    const Json body = {{"text", rules}, {"events", events}};
    const auto response = http_.ask("POST", "/v1/rules/heat/trial", body.dump());
    EXPECT_EQ(response.status, 200u) << response.body;
    return response.json();
  }
  Json run_tests(const std::string& rules, const std::string& tests) {
    const Json body = {{"text", rules}, {"tests", tests}};
    const auto response = http_.ask("POST", "/v1/rules/heat/tests", body.dump());
    EXPECT_EQ(response.status, 200u) << response.body;
    return response.json();
  }
};

TEST_F(Workshops, ATrialGivesCompositesAndDeploysNothing) {
  const Json told = try_rules(kHot, reading(1, "A1", 50) + reading(2, "A2", 20) + "no event\n");
  EXPECT_EQ(told["accepted"], 2);
  EXPECT_EQ(told["refused"], 1);
  EXPECT_THAT(told["errors"][0].get<std::string>(), HasSubstr("line 3"));
  EXPECT_EQ(told["composites"], 1);
  EXPECT_EQ(told["rules"][0]["name"], "heat.Hot");
  EXPECT_EQ(told["rules"][0]["terminators"], 1);
  EXPECT_EQ(told["events"][0]["attrs"]["area"], "A1");
  EXPECT_EQ(told["events"][0]["rule"], "heat.Hot");
  EXPECT_FALSE(told["stopped"]);
  EXPECT_TRUE(http_.ask("GET", "/v1/rules").json()["rules"].empty());
}

TEST_F(Workshops, ATrialTellsTimesExactly) {
  const Json body = {
      {"text", kHot},
      {"events", R"({"type":"Temp","ts":1795967299992.630466,"attrs":{"area":"A1","value":50}})"}};
  EXPECT_THAT(http_.ask("POST", "/v1/rules/heat/trial", body.dump()).body,
              HasSubstr("\"ts\":1795967299992.630466,"));
}

TEST_F(Workshops, ATrialTakesCsv) {
  const Json told = try_rules(kHot, "type,ts,area,value\nTemp,1000,A1,70.5\nTemp,2000,A2,7\n");
  EXPECT_EQ(told["accepted"], 2) << told.dump();
  EXPECT_EQ(told["events"][0]["attrs"]["area"], "A1");
}

TEST_F(Workshops, ATrialSaysWhatWasGivenUp) {
  const Json told = try_rules(
      "@limit(max_sequences = 1) define Two() from Smoke() and each Temp() within 1 min from "
      "Smoke;",
      reading(1, "A1", 50) + reading(2, "A2", 20) + R"({"type":"Smoke","ts":3})");
  EXPECT_EQ(told["composites"], 0) << told.dump();
  EXPECT_EQ(told["rules"][0]["overflows"], 1) << told.dump();
  EXPECT_EQ(told["rules"][0]["max_sequences"], 1) << told.dump();
}

TEST_F(Workshops, ATrialSaysWhatIsWrongWithTheRules) {
  const Json told = try_rules("define Hot() from", reading(1, "A1", 50));
  EXPECT_EQ(told["diagnostics"][0]["severity"], "error");
  EXPECT_EQ(told["diagnostics"][0]["line"], 1);
  EXPECT_EQ(told["composites"], 0);
}

TEST_F(Workshops, ATrialOfTypesAloneTellsOfTheEvents) {
  const Json told =
      try_rules("event Temp(area: string, value: float);", reading(1, "A1", 50) + "no event\n");
  EXPECT_EQ(told["accepted"], 1) << told.dump();
  EXPECT_EQ(told["refused"], 1) << told.dump();
}

/// A declared type counts, and one that the text makes anew does not stand in its way.
TEST_F(Workshops, ATrialKnowsTheTypesOfTheServer) {
  EXPECT_EQ(
      http_.ask("POST", "/v1/rules/heat", "event Temp(area: string, value: float);" + kHot).status,
      200u);
  const Json wrong = try_rules("define Odd(x: int) from Temp(nothing > 1) where x = 1;", "");
  EXPECT_EQ(wrong["diagnostics"][0]["severity"], "error") << wrong.dump();
  const Json told = try_rules(
      "define Hot(area: string, value: float) from Temp(value > 45) where area = Temp.area, value "
      "= Temp.value;",
      reading(1, "A1", 50));
  EXPECT_EQ(told["composites"], 1) << told.dump();
}

/// A trial knows the types of the server, which not every administrator may see.
TEST(Workshop, WhoMayNotSeeTypesHasNoTrial) {
  const std::string token = new_token();
  const UsersFile users(user_with_token("boss", token, "admin = true"));
  RunningServer server(users.server(with_workshop()));
  HttpConnection http(http_address(server));
  const Json body = {{"text", kHot}, {"events", ""}};
  const auto told = http.ask("POST", "/v1/rules/heat/trial", body.dump(), bearer(token));
  EXPECT_EQ(told.status, 403u) << told.body;
  EXPECT_THAT(told.body, HasSubstr("see"));
  const std::string upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  EXPECT_EQ(HttpConnection(http_address(server))
                .ask("GET", "/v1/lsp", "", bearer(token) + upgrade)
                .status,
            403u);
}

class HastyWorkshop : public Workshops {
 protected:
  HastyWorkshop() : Workshops(hasty()) {}

 private:
  static ServerOptions hasty() {
    ServerOptions options = with_workshop();
    options.http.trial_timeout = std::chrono::milliseconds(500);
    return options;
  }
};

TEST_F(HastyWorkshop, ATrialIsGivenUpWhenItsTimeIsOver) {
  std::string events;
  for (int i = 0; i < 4000; ++i) events += reading(i, "A", 50);
  const Json told = try_rules(
      "define Many(n: int) from Temp() as A and each Temp() as B within 1 day from A "
      "and each Temp() as C within 1 day from A and each Temp() as D within 1 day from A where n = "
      "1;",
      events);
  EXPECT_TRUE(told["stopped"]) << told.dump().substr(0, 500);
}

TEST_F(Workshops, RuleTestsRunAgainstTheRulesThatAreGiven) {
  const std::string tests =
      "rules: anything.tesla\n"
      "case: hot\nevents:\n  @1000 Temp(area=\"A1\", value=46.5)\nexpect:\n  @1000 "
      "Hot(area=\"A1\")\n"
      "case: wrong\nevents:\n  @1000 Temp(area=\"A1\", value=46.5)\nexpect:\n";
  const Json told = run_tests(kHot, tests);
  EXPECT_EQ(told["error"], "");
  ASSERT_EQ(told["cases"].size(), 2u) << told.dump();
  EXPECT_TRUE(told["cases"][0]["passed"]) << told.dump();
  EXPECT_FALSE(told["cases"][1]["passed"]);
  EXPECT_THAT(told["cases"][1]["message"].get<std::string>(),
              AllOf(HasSubstr("+ @1000 Hot"), HasSubstr("complete: 1")));
  EXPECT_THAT(run_tests(kHot, "nonsense\n")["error"].get<std::string>(), HasSubstr("tests:1"));
}

TEST_F(Workshops, BodiesThatAreNoneAreRefused) {
  for (const char* body : {"", "[]", "{\"text\":1,\"events\":\"\"}", "{\"text\":\"\"}", "{",
                           R"({"text":"","text":"","events":"","tests":""})"}) {
    EXPECT_EQ(http_.ask("POST", "/v1/rules/heat/trial", body).status, 400u) << body;
    EXPECT_EQ(http_.ask("POST", "/v1/rules/heat/tests", body).status, 400u) << body;
  }
  EXPECT_EQ(http_.ask("GET", "/v1/journal/events?at=1").status, 501u);
  EXPECT_EQ(http_.ask("GET", "/v1/lsp").status, 426u);
}

TEST(Workshop, AServerWithoutOneSaysSo) {
  RunningServer server(with_http());
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/rules/heat/trial", "{}").status, 501u);
  EXPECT_EQ(http.ask("POST", "/v1/rules/heat/tests", "{}").status, 501u);
  EXPECT_EQ(http.ask("GET", "/v1/lsp").status, 501u);
}

/// An editor's side of the conversation.
class Editor {
 public:
  explicit Editor(const std::string& address) : socket_(address, "/v1/lsp") {}

  WebSocketClient& socket() { return socket_; }
  Json ask(const std::string& method, const Json& params) {
    const int id = ++last_;
    socket_.send(
        Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump());
    while (true) {
      const Json answer = socket_.receive_json();
      if (answer.is_discarded() || answer.value("id", 0) == id) return answer;
    }
  }
  void tell(const std::string& method, const Json& params) {
    socket_.send(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
  }
  void open(const std::string& text) {
    ask("initialize", Json::object());
    tell("initialized", Json::object());
    tell("textDocument/didOpen",
         {{"textDocument",
           {{"uri", kUri}, {"languageId", "tesla"}, {"version", 1}, {"text", text}}}});
  }
  Json at(std::size_t character) {
    return {{"textDocument", {{"uri", kUri}}},
            {"position", {{"line", 0}, {"character", character}}}};
  }

 private:
  static constexpr const char* kUri = "file:///rules.tesla";
  WebSocketClient socket_;
  int last_ = 0;
};

TEST_F(Workshops, AnEditorCompletesWithTheTypesOfTheServer) {
  EXPECT_EQ(
      http_.ask("POST", "/v1/rules/heat", "event Temp(area: string, value: float);" + kHot).status,
      200u);
  Editor editor(http_address(server_));
  EXPECT_EQ(editor.socket().accepted().status, 101u);
  const std::string text = "define Odd(area: string) from Temp() where area = Temp.area;";
  editor.open(text);
  const std::string completions =
      editor.ask("textDocument/completion", editor.at(text.find(".area") + 1)).dump();
  EXPECT_THAT(completions, HasSubstr("value"));
  EXPECT_THAT(editor.ask("textDocument/hover", editor.at(text.find("Temp") + 1)).dump(),
              HasSubstr("area"));
  EXPECT_THAT(editor.ask("no/method", Json::object()).dump(), HasSubstr("error"));
  editor.socket().send("no json");
  EXPECT_THAT(editor.socket().receive(), HasSubstr("-32700"));
}

TEST_F(Workshops, AStopEndsTheConversation) {
  Editor editor(http_address(server_));
  editor.open(kHot);
  server_.stop();
  std::string last = editor.socket().receive();
  while (last.size() > 1) last = editor.socket().receive();
  EXPECT_EQ(last, "8");
}

TEST(JournalLook, ShowsWhatWasAcceptedFromATimeOrAPlaceOn) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / ("gorgo_look_" + std::to_string(getpid()));
  ServerOptions options = with_workshop();
  options.journal.path = folder.string();
  options.http.redact = {"Temp.area"};
  options.processor.max_ahead.reset();
  {
    RunningServer server(options);
    HttpConnection http(http_address(server));
    const auto publish = [&](const std::string& lines) {
      EXPECT_EQ(http.ask("POST", "/v1/events?ack=durable", lines).status, 200u);
    };
    publish(reading(5'000, "A1", 1) + reading(6'000, "A2", 2));
    publish(reading(9'000, "A3", 3));
    publish(event_line("Other", 7));  // now
    const auto look = [&](const std::string& query) {
      return http.ask("GET", "/v1/journal/events?" + query).json();
    };
    const Json all = look("place=1");
    ASSERT_EQ(all["events"].size(), 4u) << all.dump();
    EXPECT_EQ(all["next"], all["end"]);
    EXPECT_EQ(all["events"][0]["attrs"]["area"], "[redacted]");
    EXPECT_EQ(all["events"][1]["attrs"]["value"], 2);
    EXPECT_EQ(look("at=5500&type=Temp")["events"].size(), 2u);
    EXPECT_EQ(look("type=Other")["events"].size(), 1u);
    const Json first = look("most=1");
    EXPECT_EQ(first["events"].size(), 2u);  // the whole publication
    const Json rest = look("place=" + first["next"].dump());
    EXPECT_EQ(rest["events"].size(), 2u) << rest.dump();
    EXPECT_EQ(look("at=1970-01-01T00:00:05.500Z&type=Temp")["events"].size(), 2u);
    EXPECT_EQ(look("at=8999.999999&type=Temp")["events"].size(), 1u);
    EXPECT_EQ(look("at=9000.000001&type=Temp")["events"].size(), 0u);
    EXPECT_EQ(http.ask("GET", "/v1/journal/events?at=x").status, 400u);
  }
  fs::remove_all(folder);
}

TEST(JournalLook, ShowsTheStampsThatEventsGotBehindOneOfTheFuture) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(testing::TempDir()) / ("gorgo_stamps_" + std::to_string(getpid()));
  ServerOptions options = with_workshop();
  options.journal.path = folder.string();
  options.processor.clock = [] { return Timestamp{1'000'000'000}; };
  options.processor.max_ahead.reset();
  {
    RunningServer server(options);
    HttpConnection http(http_address(server));
    for (const char* line : {R"({"type":"A","ts":5000,"attrs":{}})", R"({"type":"B","attrs":{}})",
                             R"({"type":"C","attrs":{}})"}) {
      EXPECT_EQ(http.ask("POST", "/v1/events?ack=durable", line).status, 200u);
    }
    const Json events = http.ask("GET", "/v1/journal/events?at=5000").json()["events"];
    ASSERT_EQ(events.size(), 3u) << events.dump();
    EXPECT_EQ(events[1]["ts"].dump(), "5000.000001");
    EXPECT_EQ(events[2]["ts"].dump(), "5000.000002");
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace gorgo::server
