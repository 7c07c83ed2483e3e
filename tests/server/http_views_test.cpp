#include <algorithm>
#include <map>

#include "server/http/delivery_text.hpp"
#include "server/http/redaction.hpp"
#include "stream_support.hpp"

// What HTTP shows of events: samples of them, and no values that are not to be shown.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

const std::string kRule = "event A(x: int); rule r: define C(y: int) from A() where y = A.x + 100;";

TEST(HttpSample, SaysHowMuchItLeavesOutAtTheLatestWithAHeartbeat) {
  ServerOptions options = with_http();
  options.limits.heartbeat = std::chrono::milliseconds(200);
  RunningServer server(options);
  HttpConnection http(http_address(server)), stream(http_address(server));
  stream.request("GET", "/v1/events?subscribe=A&most=5", "", "Accept: text/event-stream\r\n");
  EXPECT_EQ(stream.receive().status, 200u);
  std::string lines;
  for (int x = 0; x < 1000; ++x) lines += event_line("A", x);
  EXPECT_EQ(http.ask("POST", "/v1/events", lines).status, 200u);
  std::uint64_t shown = 0, left_out = 0;
  while (shown + left_out < 1000) {
    const auto event = next_event(stream);
    ASSERT_TRUE(event.kind.empty() || event.kind == "left_out") << event.kind;
    if (!event.data.empty() && event.kind.empty()) ++shown;
    if (event.kind == "left_out") left_out += Json::parse(event.data)["rows"].get<std::uint64_t>();
  }
  EXPECT_GE(shown, 1u);
  EXPECT_GT(left_out, shown);
  for (const char* wrong : {"most=0", "most=x", "most=5&durable=d"}) {
    const auto refused = http.ask("GET", std::string("/v1/events?subscribe=A&") + wrong);
    EXPECT_EQ(refused.status, 400u) << wrong;
  }
}

/// What a subscription of a WebSocket got of events, and what it was told is missing.
struct Sampled {
  std::uint64_t shown = 0, left_out = 0;
  std::uint64_t all() const { return shown + left_out; }
};

/// Publishes 1000 events and reads until each subscription has all or was told of the rest.
std::map<unsigned, Sampled> sample_of(HttpConnection& http, WebSocketClient& socket,
                                      std::map<unsigned, Sampled> found) {
  std::string lines;
  for (int x = 0; x < 1000; ++x) lines += event_line("A", x);
  EXPECT_EQ(http.ask("POST", "/v1/events", lines).status, 200u);
  const auto lacks = [](const auto& each) { return each.second.all() < 1000; };
  while (std::ranges::any_of(found, lacks)) {
    const Json message = socket.receive_json();
    Sampled& sampled = found.at(message.value("subscription", 0u));
    if (message.contains("type")) ++sampled.shown;
    if (message.contains("left_out")) {
      sampled.left_out += message["left_out"]["rows"].get<std::uint64_t>();
    }
  }
  return found;
}

TEST(HttpSample, IsOfTheSubscriptionsOfAWebSocketThatAskForIt) {
  ServerOptions options = with_http();
  options.limits.heartbeat = std::chrono::milliseconds(200);
  RunningServer server(options);
  HttpConnection http(http_address(server));
  WebSocketClient socket(http_address(server), "/v1/events?subscribe=A&most=5");
  EXPECT_EQ(socket.ask(R"({"subscribe":"A","subscription":1})")["subscribed"], 1);
  EXPECT_EQ(socket.ask(R"({"subscribe":"A","subscription":2,"most":20})")["subscribed"], 2);
  auto found = sample_of(http, socket, {{0, {}}, {1, {}}, {2, {}}});
  EXPECT_GE(found[0].shown, 1u);
  EXPECT_GT(found[0].left_out, 900u);
  EXPECT_EQ(found[1].shown, 1000u);
  EXPECT_GT(found[2].left_out, 900u);
  // Another subscription under the same number has nothing of the sample.
  EXPECT_EQ(socket.ask(R"({"unsubscribe":0})")["unsubscribed"], 0);
  EXPECT_EQ(socket.ask(R"({"unsubscribe":2})")["unsubscribed"], 2);
  EXPECT_EQ(socket.ask(R"({"subscribe":"A","subscription":2})")["subscribed"], 2);
  found = sample_of(http, socket, {{1, {}}, {2, {}}});
  EXPECT_EQ(found[2].shown, 1000u);
}

TEST(HttpSample, HasNoCreditAndIsNeverDurable) {
  RunningServer server(with_http());
  WebSocketClient socket(http_address(server));
  for (const char* wrong : {R"({"subscribe":"A","most":0})", R"({"subscribe":"A","most":"x"})",
                            R"({"subscribe":"A","most":5,"durable":"d"})",
                            R"({"subscribe":"A","most":5,"credit":{"rows":1}})"}) {
    EXPECT_EQ(socket.ask(wrong)["error"]["code"], "malformed") << wrong;
  }
  EXPECT_EQ(socket.ask(R"({"subscribe":"A","most":5})")["subscribed"], 0);
}

TEST(Sample, SpreadsWhatMayPassAndCountsTheRest) {
  using namespace std::chrono_literals;
  http::Sample sample(10);
  const http::Sample::Time begin{1000s};
  EXPECT_EQ(sample.admit(5, begin), 1u);
  EXPECT_EQ(sample.take_left_out(), 4u);
  EXPECT_EQ(sample.admit(100, begin + 500ms), 5u);
  EXPECT_EQ(sample.admit(100, begin + 500ms), 0u);
  EXPECT_EQ(sample.admit(100, begin + 100s), 10u);  // never more than those of a second
  EXPECT_EQ(sample.take_left_out(), 95u + 100u + 90u);
  EXPECT_EQ(sample.take_left_out(), 0u);
}

TEST(Redaction, HidesValuesWhereverHttpShowsEvents) {
  ServerOptions options = with_http();
  options.http.redact = {"A.x", "*.secret"};
  RunningServer server(options);
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/rules/d", kRule).status, 200u);
  HttpConnection stream(http_address(server));
  stream.request("GET", "/v1/events?subscribe=*", "", "Accept: text/event-stream\r\n");
  stream.receive();
  WebSocketClient socket(http_address(server), "/v1/events?subscribe=A(x%20=%207)");
  EXPECT_EQ(http.ask("POST", "/v1/events", event_line("A", 7)).status, 200u);
  EXPECT_EQ(Json::parse(next_event(stream).data)["attrs"]["x"], "[redacted]");
  EXPECT_EQ(Json::parse(next_event(stream).data)["attrs"]["y"], 107);  // a composite of its own
  EXPECT_EQ(socket.receive_json()["attrs"]["x"], "[redacted]");
  const std::string why =
      http.ask("GET", "/v1/rules/d.r/why").body + http.ask("GET", "/v1/rules/r/why").body;
  EXPECT_THAT(why, HasSubstr("[redacted]"));
  EXPECT_THAT(why, testing::Not(HasSubstr("x=7")));
}

TEST(Redaction, PatternsNameTypesAndAttributes) {
  const http::Redaction redaction({"Card.number", "home.*.pin", "*.password"});
  EXPECT_TRUE(redaction.hides("Card", "number"));
  EXPECT_EQ(http::without_hidden(R"({"type":"Card","ts":1,"attrs":{"number":"7","sum":46.0}})",
                                 redaction),
            R"({"type":"Card","ts":1,"attrs":{"number":"[redacted]","sum":46.0}})");
  EXPECT_FALSE(redaction.hides("Card", "amount"));
  EXPECT_TRUE(redaction.hides("home.Door", "pin"));
  EXPECT_TRUE(redaction.hides("Anything", "password"));
  EXPECT_TRUE(redaction.hides_something_of("Card"));
  EXPECT_TRUE(redaction.hides("gorgo.DeadLetter", "payload"));
  EXPECT_TRUE(redaction.hides("gorgo.DeadLetter", "reason")) << "it quotes the payload";
  EXPECT_FALSE(redaction.hides("gorgo.DeadLetter", "place"));
  EXPECT_TRUE(http::Redaction({}).is_empty());
  EXPECT_TRUE(http::check_redaction({"A.x"}));
  for (const char* wrong : {"A", ".x", "A.", ""}) EXPECT_FALSE(http::check_redaction({wrong}));
  EXPECT_EQ(http::without_values(R"(A@1 {x="}\"", y=2}, B@2 {})"),
            "A@1 {[redacted]}, B@2 {[redacted]}");
}

}  // namespace
}  // namespace gorgo::server
