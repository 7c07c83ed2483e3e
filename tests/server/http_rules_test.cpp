#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "http_support.hpp"
#include "server/http/api.hpp"

// Rules, types and what operators ask over HTTP.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPair =
    "event A(x: int); event B(x: int);\n"
    "rule pair: define P(x: int) from B(x = $x) and last A(x = $x) within 5 min from B "
    "where x = B.x;\n"
    "define Q(x: int) from A(x > 5) where x = A.x;";

class HttpRules : public testing::Test {
 protected:
  RunningServer server_{with_http()};
  HttpConnection http_{http_address(server_)};

  std::vector<std::string> names() {
    std::vector<std::string> names;
    const Json json = http_.ask("GET", "/v1/rules").json();
    for (const auto& rule : json["rules"]) names.push_back(rule["name"]);
    return names;
  }
};

TEST_F(HttpRules, AreDeployedListedAndRemoved) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  EXPECT_THAT(names(), testing::ElementsAre("pair", "mine.Q"));
  const auto rule = http_.ask("GET", "/v1/rules/pair");
  EXPECT_EQ(rule.status, 200u);
  EXPECT_THAT(rule.json()["text"].get<std::string>(), HasSubstr("rule pair:"));
  EXPECT_EQ(http_.ask("GET", "/v1/rules/none").status, 404u);
  EXPECT_EQ(http_.ask("DELETE", "/v1/rules/mine.Q").status, 200u);
  EXPECT_THAT(names(), testing::ElementsAre("pair"));
  EXPECT_EQ(http_.ask("DELETE", "/v1/rules/mine.Q").status, 404u);
  EXPECT_EQ(http_.ask("DELETE", "/v1/rules/mine").status, 200u);
  EXPECT_THAT(names(), testing::IsEmpty());
  EXPECT_EQ(http_.ask("DELETE", "/v1/rules/mine").status, 404u);
}

TEST_F(HttpRules, HaveAHistoryWithTheTexts) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  EXPECT_EQ(http_.ask("POST", "/v1/rules/other", "define X() from A();").status, 200u);
  const std::string changed = "rule pair: define P(x: int) from B() where x = B.x;";
  EXPECT_EQ(http_.ask("PUT", "/v1/rules/mine", changed).status, 200u);
  EXPECT_EQ(http_.ask("DELETE", "/v1/rules/mine.Q").status, 200u);
  const auto mine = http_.ask("GET", "/v1/rules/mine/history").json()["changes"];
  ASSERT_EQ(mine.size(), 3u);
  EXPECT_EQ(mine[0]["number"], 1);
  EXPECT_EQ(mine[0]["name"], "mine");
  EXPECT_EQ(mine[0]["text"], kPair);
  EXPECT_EQ(mine[0]["who"], "");
  EXPECT_EQ(mine[0]["file"], false);
  EXPECT_EQ(mine[1]["number"], 3);
  EXPECT_EQ(mine[1]["text"], changed);
  EXPECT_GE(mine[1]["clock"], mine[0]["clock"]);
  EXPECT_EQ(mine[2]["name"], "mine.Q");
  EXPECT_FALSE(mine[2].contains("text"));
  EXPECT_EQ(http_.ask("GET", "/v1/rules/none/history").status, 404u);
}

TEST_F(HttpRules, WithErrorsAreDiagnostics) {
  const auto response = http_.ask("POST", "/v1/rules/bad", "define X(\n from");
  EXPECT_EQ(response.status, 422u);
  const auto first = response.json()["diagnostics"][0];
  EXPECT_EQ(first["severity"], "error");
  EXPECT_GE(first["line"], 1);
  EXPECT_GE(first["column"], 1);
  EXPECT_NE(first["message"], "");
  EXPECT_TRUE(first.contains("hint"));
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(HttpRules, AreReplacedOnlyWhenAsked) {
  const std::string one = "rule r: define C(v: int) from A(v = 1) where v = A.v;";
  const std::string two = "rule r: define C(v: int) from A(v = 2) where v = A.v;";
  EXPECT_EQ(http_.ask("POST", "/v1/rules/d", one).status, 200u);
  EXPECT_EQ(http_.ask("POST", "/v1/rules/d", two).status, 422u);
  EXPECT_EQ(http_.ask("POST", "/v1/rules/d?replace=true", two).status, 200u);
  EXPECT_THAT(http_.ask("GET", "/v1/rules/r").json()["text"].get<std::string>(),
              HasSubstr("v = 2"));
  EXPECT_EQ(http_.ask("PUT", "/v1/rules/d", one).status, 200u);
  EXPECT_THAT(http_.ask("GET", "/v1/rules/r").json()["text"].get<std::string>(),
              HasSubstr("v = 1"));
}

TEST_F(HttpRules, AreCheckedWithoutBeingDeployed) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine/check", kPair).status, 200u);
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine/check", "define").status, 422u);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(HttpRules, ArePinnedAndExplained) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  EXPECT_EQ(http_.ask("POST", "/v1/rules/pair/pin").status, 400u);
  EXPECT_EQ(http_.ask("POST", "/v1/rules/pair/pin?engine=warp").status, 400u);
  EXPECT_EQ(http_.ask("POST", "/v1/rules/pair/pin?engine=automaton").status, 200u);
  const auto explained = http_.ask("GET", "/v1/rules/pair/explain").json();
  EXPECT_EQ(explained["engine"], "automaton");
  EXPECT_EQ(explained["automatic"], false);
}

TEST_F(HttpRules, TellWhy) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  EXPECT_EQ(http_.ask("POST", "/v1/events", event_line("B", 7)).status, 200u);
  const auto why = http_.ask("GET", "/v1/rules/pair/why?last=3");
  EXPECT_EQ(why.status, 200u);
  ASSERT_EQ(why.json()["funnels"].size(), 1u) << why.body;
  EXPECT_EQ(why.json()["funnels"][0]["composites"], 0);
  EXPECT_EQ(why.json()["funnels"][0]["steps"][1]["candidates"], 0);
  EXPECT_EQ(http_.ask("GET", "/v1/rules/pair/why?last=x").status, 400u);
  EXPECT_EQ(http_.ask("GET", "/v1/rules/none/why").status, 404u);
}

TEST_F(HttpRules, TellWhyWithTimesByWhichEventsAreFoundAgain) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  const std::string event = R"({"type":"B","ts":1795967299992.630466,"attrs":{"x":7}})";
  EXPECT_EQ(http_.ask("POST", "/v1/events", event + "\n").status, 200u);
  const std::string time = "1795967299992.630466";
  const auto why = http_.ask("GET", "/v1/rules/pair/why");
  EXPECT_THAT(why.body, HasSubstr("\"timestamp_ms\":" + time + ","));
  EXPECT_EQ(http_.ask("GET", "/v1/rules/pair/why?at=" + time).body, why.body);
}

TEST_F(HttpRules, TheTypesThatTheyReadAreListed) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  EXPECT_EQ(http_.ask("POST", "/v1/events", event_line("A", 7)).status, 200u);
  const auto types = http_.ask("GET", "/v1/types").json()["types"];
  ASSERT_GE(types.size(), 2u);
  EXPECT_EQ(types[0]["name"], "A");
  EXPECT_EQ(types[0]["events"], 1);
  EXPECT_EQ(types[0]["seen"], 1);
  EXPECT_EQ(types[0]["attributes"][0], Json({{"name", "x"}, {"type", "int"}}));
}

/// More rules than fit in one answer of the engine.
TEST_F(HttpRules, AreListedAllHoweverMany) {
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    text += "rule r" + std::to_string(i) + ": define C() from A(x = " + std::to_string(i) + ");\n";
  }
  EXPECT_EQ(http_.ask("POST", "/v1/rules/many", "event A(x: int);" + text).status, 200u);
  EXPECT_EQ(names().size(), 2000u);
  EXPECT_EQ(http_.ask("DELETE", "/v1/rules/many").status, 200u);
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(HttpRules, PagesOfOthersMayNotChangeThem) {
  const std::string origin = "Origin: http://evil.example\r\n";
  EXPECT_EQ(http_.ask("DELETE", "/v1/rules/x", "", origin).status, 403u);
  EXPECT_EQ(http_.ask("GET", "/v1/rules", "", origin).status, 200u);
  EXPECT_EQ(http_.ask("POST", "/v1/rules/x", kPair, origin).status, 403u);
}

class HttpOperations : public HttpRules {
 protected:
  /// The value of a metric.
  double metric(const std::string& name) {
    const std::string text = http_.ask("GET", "/metrics").body;
    const auto at = text.find("\n" + name + " ");
    if (at == std::string::npos) {
      ADD_FAILURE() << name << " is not in\n" << text;
      return -1;
    }
    return std::stod(text.substr(at + name.size() + 2));
  }
};

TEST_F(HttpOperations, TheServerIsHealthyAndReady) {
  EXPECT_EQ(http_.ask("GET", "/healthz").body, "ok\n");
  EXPECT_EQ(http_.ask("GET", "/readyz").body, "ready\n");
  EXPECT_EQ(http_.ask("HEAD", "/readyz").status, 200u);
}

/// Every row is counted once: accepted, refused by the engine, or no event at all. Duplicates are
/// in neither.
TEST_F(HttpOperations, MetricsCountWhatWasPublished) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  const std::string body = event_line("A", 7) + "bad\n" + event_line("A", 8) +
                           R"({"type":"A","attrs":{"x":"text"}})" + "\n";
  for (int i = 0; i < 2; ++i) {
    const auto response = http_.ask("POST", "/v1/events?producer=1&sequence=1", body);
    EXPECT_EQ(response.json()["duplicate"], i == 1);
  }
  EXPECT_EQ(metric("gorgo_events_accepted_total"), 2);
  EXPECT_EQ(metric("gorgo_events_refused_total"), 2);
  EXPECT_EQ(metric("gorgo_composites_total"), 2);
  EXPECT_EQ(metric("gorgo_rule_composites_total{rule=\"mine.Q\"}"), 2);
  EXPECT_EQ(metric("gorgo_rules"), 2);
  EXPECT_EQ(metric("gorgo_connections{dialect=\"http\"}"), 1);
  EXPECT_EQ(metric("gorgo_type_events{type=\"A\"}"), 2);
}

/// An accountant's view: every refusal has a reason, and the reasons add up.
TEST_F(HttpOperations, EveryRefusalIsCountedByItsReason) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  const std::string body = event_line("A", 7) + "bad\n" + R"({"type":"A","attrs":{"x":"text"}})" +
                           "\n" + R"({"type":"A","ts":1,"attrs":{"x":1}})" + "\n" +
                           R"({"type":"A","ts":9000000000000,"attrs":{"x":1}})" + "\n";
  const auto published = http_.ask("POST", "/v1/events?ack=processed", body).json();
  EXPECT_EQ(published["refused"], 4);
  const auto refused = [&](const std::string& reason) {
    return metric("gorgo_events_refused_by_reason_total{reason=\"" + reason + "\"}");
  };
  EXPECT_EQ(refused("malformed_line"), 1);
  EXPECT_EQ(refused("invalid"), 1);
  EXPECT_EQ(refused("too_late"), 1);
  EXPECT_EQ(refused("too_ahead"), 1);
  EXPECT_EQ(refused("too_large") + refused("memory"), 0);
  EXPECT_EQ(metric("gorgo_events_refused_total"), 4);
  EXPECT_EQ(metric("gorgo_type_events_refused_total{type=\"A\"}"), 3);
}

/// Whoever may publish could take all names that there is room for.
TEST_F(HttpOperations, TypesThatRulesReadHaveASeriesOfRefusalsHoweverManyNamesCame) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  const auto too_late = [](const std::string& type) {
    return R"({"type":")" + type + R"(","ts":1,"attrs":{"x":1}})" + "\n";
  };
  std::string body = event_line("B", 7);
  for (int i = 0; i < 1007; ++i) body += too_late("Junk" + std::to_string(i));
  EXPECT_EQ(http_.ask("POST", "/v1/events?ack=processed", body + too_late("A")).status, 200u);
  EXPECT_EQ(metric("gorgo_type_events_refused_total{type=\"A\"}"), 1);
  EXPECT_EQ(metric("gorgo_type_events_refused_total{type=\"Junk999\"}"), 1);
  EXPECT_EQ(metric("gorgo_type_events_refused_total{type=\"\"}"), 7);
  EXPECT_EQ(metric("gorgo_events_refused_total"), 1008);
}

TEST_F(HttpOperations, TheLatencyOfEveryAcceptedEventIsInTheHistogram) {
  EXPECT_EQ(metric("gorgo_latency_seconds_count"), 0);
  const std::string body = event_line("A", 7) + event_line("B", 8) + "bad\n";
  EXPECT_EQ(http_.ask("POST", "/v1/events?ack=processed", body).status, 200u);
  EXPECT_EQ(metric("gorgo_latency_seconds_count"), 2);
  EXPECT_EQ(metric("gorgo_latency_seconds_bucket{le=\"+Inf\"}"), 2);
  EXPECT_GT(metric("gorgo_latency_seconds_sum"), 0);
  EXPECT_GT(metric("gorgo_turn_seconds_count"), 0);
}

/// Each rule would be several series; the server says how many it leaves out.
TEST_F(HttpOperations, RulesBeyondTheFirstThousandHaveNoSeries) {
  std::string text = "event A(x: int);";
  for (int i = 0; i < 1007; ++i) {
    text += "rule r" + std::to_string(i) + ": define C() from A(x = " + std::to_string(i) + ");\n";
  }
  EXPECT_EQ(http_.ask("POST", "/v1/rules/many", text).status, 200u);
  EXPECT_EQ(metric("gorgo_rules"), 1007);
  EXPECT_EQ(metric("gorgo_series_left_out{of=\"rules\"}"), 7);
  EXPECT_EQ(metric("gorgo_series_left_out{of=\"types\"}"), 0);
}

/// The names of metrics in a file of the documentation.
std::set<std::string> metrics_named_in(const std::string& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::set<std::string> names;
  const std::regex name("gorgo_[a-z_]+");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
    names.insert(at->str());
  }
  return names;
}

/// The server has all that has metrics of its own.
TEST(Documentation, TheDashboardAndTheAlertsNameOnlyMetricsThatThereAre) {
  const std::string folder = testing::TempDir() + "gorgo_metrics_" + std::to_string(getpid());
  ServerOptions options = with_http();
  std::filesystem::create_directories(folder);
  options.journal.path = folder + "/journal";
  doors::Settings& door = options.doors["log"];
  ASSERT_TRUE(doors::set(door, "kind", std::string("file")));
  ASSERT_TRUE(doors::set(door, "path", folder + "/none"));
  actions::Settings& target = options.actions["log"];
  ASSERT_TRUE(actions::set(target, "kind", std::string("file")));
  ASSERT_TRUE(actions::set(target, "path", folder + "/done"));
  RunningServer server(options);
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/rules/mine", kPair).status, 200u);
  http.ask("POST", "/v1/events", R"({"type":"A","attrs":{"x":"text"}})");
  const std::string served = http.ask("GET", "/metrics").body;
  for (const std::string file : {"grafana.json", "alerts.yml"}) {
    const auto names = metrics_named_in(std::string(GORGO_DOCS "/") + file);
    EXPECT_GE(names.size(), 8u) << file;
    for (const std::string& name : names) {
      const bool there = served.find("\n" + name + " ") != std::string::npos ||
                         served.find("\n" + name + "{") != std::string::npos;
      EXPECT_TRUE(there) << file << " names " << name;
    }
  }
  std::filesystem::remove_all(folder);
}

TEST(Documentation, TheAlertsAreRulesThatPrometheusTakes) {
  if (std::system("promtool --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no promtool";
  EXPECT_EQ(std::system("promtool check rules " GORGO_DOCS "/alerts.yml"), 0);
}

TEST_F(HttpOperations, TheDescriptionIsValidOpenApi) {
  if (std::system("python3 -m openapi_spec_validator --help >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no openapi-spec-validator";
  }
  const auto path = testing::TempDir() + "/gorgo_openapi_" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << http_.ask("GET", "/v1/openapi.json").body;
  EXPECT_EQ(std::system(("python3 -m openapi_spec_validator " + path).c_str()), 0);
  std::remove(path.c_str());
}

/// What an evil name stands for in the text format.
TEST_F(HttpOperations, MetricsKeepTheirFormWhateverTypesAreCalled) {
  const std::string text = http_.ask("GET", "/metrics").body;
  EXPECT_THAT(text, HasSubstr("# TYPE gorgo_events_accepted_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE gorgo_queue_bytes gauge\n"));
  EXPECT_THAT(text, Not(HasSubstr("# HELP gorgo_events_accepted_total \n")));
  const std::string late = R"({"type":"Other","ts":1,"attrs":{}})"
                           "\n"
                           R"({"type":"Other\u0000","ts":1,"attrs":{}})"
                           "\n";
  EXPECT_EQ(http_.ask("POST", "/v1/events", event_line("B", 7) + late).status, 200u);
  EXPECT_EQ(metric("gorgo_type_events_refused_total{type=\"Other\"}"), 1);
  EXPECT_EQ(metric(R"(gorgo_type_events_refused_total{type="Other\\x00"})"), 1);
}

/// The keys that the query of an operation may have, between spaces.
std::string keys_of(const Json& described, const Json& operation) {
  std::string keys;
  for (Json one : operation.value("parameters", Json::array())) {
    if (one.contains("$ref")) {
      one = described.at(Json::json_pointer(one["$ref"].get<std::string>().substr(1)));
    }
    if (one["in"] != "query") continue;
    keys += (keys.empty() ? "" : " ") + one["name"].get<std::string>();
  }
  return keys;
}

TEST_F(HttpOperations, ADeploymentIsRemovedAlsoWhereARuleHasItsName) {
  const auto rules = [&] { return http_.ask("GET", "/v1/rules").json()["rules"].size(); };
  const std::string both = "rule heat: define A() from B(); rule cold: define C() from B();";
  EXPECT_EQ(http_.ask("POST", "/v1/rules/heat", both).status, 200u);
  EXPECT_EQ(http_.ask("DELETE", "/v1/rules/heat").status, 200u);
  EXPECT_EQ(rules(), 1u);
  EXPECT_EQ(http_.ask("PUT", "/v1/rules/heat", both).status, 200u);
  EXPECT_EQ(rules(), 2u);
  EXPECT_EQ(http_.ask("DELETE", "/v1/rules/heat?deployment=true").status, 200u);
  EXPECT_EQ(rules(), 0u);
  const auto gone = http_.ask("DELETE", "/v1/rules/heat?deployment=true");
  EXPECT_EQ(gone.status, 404u);
  EXPECT_THAT(gone.body, HasSubstr("there is no deployment 'heat'"));
}

/// A slip must not have a request do something else.
TEST_F(HttpOperations, AKeyThatThePathDoesNotKnowIsAnError) {
  // Nobody takes in the body of what is refused, so that each request has a connection of its own.
  const auto ask = [&](const char* verb, const char* target, const char* body = "") {
    return HttpConnection(http_address(server_)).ask(verb, target, body);
  };
  const auto slip = ask("POST", "/v1/rules/heat?Shadow=true", "define A() from B();");
  EXPECT_EQ(slip.status, 400u);
  EXPECT_THAT(slip.body, HasSubstr("did you mean 'shadow'?"));
  EXPECT_TRUE(ask("GET", "/v1/rules").json()["rules"].empty());
  EXPECT_THAT(ask("POST", "/v1/events?wait=1").body, HasSubstr("it knows: ack producer sequence"));
  EXPECT_THAT(ask("GET", "/v1/rules?page=2").body, HasSubstr("leave out the query"));
  EXPECT_EQ(ask("GET", "/healthz?probe=1").status, 200u);
  EXPECT_EQ(ask("GET", "/metrics?module=a").status, 200u);
}

/// What is described is served, and what is served is described.
TEST_F(HttpOperations, TheDescriptionNamesEveryRoute) {
  const Json described = http_.ask("GET", "/v1/openapi.json").json();
  std::set<std::string> in_description, in_server;
  for (const auto& [path, operations] : described["paths"].items()) {
    for (const auto& [verb, operation] : operations.items()) {
      in_description.insert(verb + " " + path + "?" + keys_of(described, operation));
      EXPECT_FALSE(operation["responses"].empty());
    }
  }
  for (const http::Route& route : http::routes()) {
    std::string verb(boost::beast::http::to_string(route.verb));
    std::ranges::transform(verb, verb.begin(), [](char c) { return std::tolower(c); });
    in_server.insert(verb + " " + std::string(route.path) + "?" + std::string(route.query));
  }
  EXPECT_EQ(in_description, in_server);
}

TEST_F(HttpOperations, ConnectionsAreListed) {
  auto native = server_.connect();
  const Json json = http_.ask("GET", "/v1/connections").json();
  std::vector<std::string> dialects;
  for (const auto& connection : json["connections"]) {
    dialects.push_back(connection["dialect"]);
    EXPECT_THAT(connection["peer"].get<std::string>(), HasSubstr("127.0.0.1:"));
  }
  EXPECT_THAT(dialects, testing::UnorderedElementsAre("http", "native"));
}

}  // namespace
}  // namespace gorgo::server
