#include "stream_support.hpp"

// GET /v1/events: server-sent events and WebSockets.
namespace gorgo::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kRule = "event A(x: int); rule r: define C(x: int) from A() where x = A.x + 100;";

class HttpStreams : public testing::Test {
 protected:
  RunningServer server_{with_http()};
  HttpConnection http_{http_address(server_)};

  void publish(const std::string& lines) {
    EXPECT_EQ(http_.ask("POST", "/v1/events", lines).status, 200u);
  }
};

TEST_F(HttpStreams, SubscribersGetEventLinesInOrderWithTheirPlaces) {
  EXPECT_EQ(http_.ask("POST", "/v1/rules/d", kRule).status, 200u);
  HttpConnection stream(http_address(server_));
  stream.request("GET", "/v1/events?subscribe=*", "", "Accept: text/event-stream\r\n");
  const auto head = stream.receive();
  EXPECT_EQ(head.status, 200u);
  EXPECT_EQ(head.headers.at("Content-Type"), "text/event-stream");
  publish(event_line("A", 1) + event_line("A", 2));
  std::pair<std::uint64_t, std::uint64_t> before{0, 0};
  for (const int x : {1, 101, 2, 102}) {
    const auto event = next_event(stream);
    EXPECT_EQ(event.kind, "");
    const auto line = Json::parse(event.data);
    EXPECT_EQ(line["attrs"]["x"], x);
    EXPECT_EQ(line["type"], x > 100 ? "C" : "A");
    EXPECT_TRUE(line["ts"].is_number());
    const auto dash = event.id.find('-');
    const std::pair<std::uint64_t, std::uint64_t> place(std::stoull(event.id.substr(0, dash)),
                                                        std::stoull(event.id.substr(dash + 1)));
    EXPECT_GT(place, before);
    before = place;
  }
}

TEST_F(HttpStreams, OnlyWhatIsSubscribedToIsDelivered) {
  HttpConnection stream(http_address(server_));
  stream.request("GET", "/v1/events?subscribe=A(x%20%3E%201)");
  EXPECT_EQ(stream.receive().status, 200u);
  publish(event_line("A", 1) + event_line("B", 2) + event_line("A", 3));
  EXPECT_EQ(Json::parse(next_event(stream).data)["attrs"]["x"], 3);
}

TEST_F(HttpStreams, WrongSubscriptionsAreErrors) {
  EXPECT_EQ(http_.ask("GET", "/v1/events").status, 400u);
  const auto wrong = http_.ask("GET", "/v1/events?subscribe=A(x%20%3E");
  EXPECT_EQ(wrong.status, 400u);
  EXPECT_EQ(wrong.json()["diagnostics"][0]["severity"], "error");
  EXPECT_EQ(http_.ask("GET", "/v1/events?subscribe=A", "", "Accept: image/png\r\n").status, 406u);
  EXPECT_EQ(http_.ask("HEAD", "/v1/events?subscribe=A").status, 200u);
  EXPECT_EQ(http_.ask("GET", "/nowhere").status, 404u);
}

TEST_F(HttpStreams, SubscribersAreToldThatTheServerStops) {
  HttpConnection stream(http_address(server_));
  stream.request("GET", "/v1/events?subscribe=*");
  EXPECT_EQ(stream.receive().status, 200u);
  WebSocketClient socket(http_address(server_), "/v1/events?subscribe=*");
  publish(event_line("A", 1));
  std::thread stopping([&] { server_.stop(); });
  EXPECT_EQ(Json::parse(next_event(stream).data)["attrs"]["x"], 1);
  const auto last = next_event(stream);
  EXPECT_EQ(last.kind, "error");
  EXPECT_THAT(last.data, HasSubstr("stopping"));
  EXPECT_TRUE(stream.is_closed());
  stream.close();
  EXPECT_EQ(socket.receive_json()["attrs"]["x"], 1);
  EXPECT_THAT(socket.receive(), HasSubstr("stopping"));
  EXPECT_EQ(socket.receive(), "8");
  socket.http().close();
  stopping.join();
}

TEST_F(HttpStreams, AWebSocketIsSubscribedByItsTarget) {
  WebSocketClient socket(http_address(server_), "/v1/events?subscribe=A");
  EXPECT_EQ(socket.accepted().status, 101u);
  EXPECT_EQ(socket.accepted().headers.at("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  publish(event_line("B", 1) + event_line("A", 2));
  const auto message = socket.receive_json();
  EXPECT_EQ(message["type"], "A");
  EXPECT_EQ(message["attrs"]["x"], 2);
  EXPECT_THAT(message["id"].get<std::string>(), testing::ContainsRegex("^[0-9]+-[0-9]+$"));
  EXPECT_FALSE(message.contains("subscription"));
}

TEST_F(HttpStreams, AWebSocketPublishesAndSubscribes) {
  WebSocketClient socket(http_address(server_));
  ASSERT_EQ(socket.accepted().status, 101u);
  EXPECT_EQ(socket.ask(R"j({"subscribe":"A(x > 1)","subscription":7,"request":"s"})j"),
            Json::parse(R"({"request":"s","subscribed":7})"));
  const auto acknowledged =
      socket.ask(R"({"publish":[{"type":"A","attrs":{"x":1}},{"type":5}],"request":2})");
  EXPECT_EQ(acknowledged["acknowledge"], 2);
  EXPECT_EQ(acknowledged["accepted"], 1);
  EXPECT_EQ(acknowledged["refused"], 1);
  EXPECT_EQ(acknowledged["errors"][0]["row"], 1);
  // An event line is published as it is.
  EXPECT_EQ(socket.ask(R"({"type":"A","attrs":{"x":2}})")["accepted"], 1);
  const auto delivered = socket.receive_json();
  EXPECT_EQ(delivered["attrs"]["x"], 2);
  EXPECT_EQ(delivered["subscription"], 7);
  EXPECT_EQ(socket.ask(R"({"unsubscribe":7})"), Json::parse(R"({"unsubscribed":7})"));
  const auto again = R"({"publish":{"type":"A","attrs":{"x":3}},"producer":3,"sequence":1})";
  EXPECT_EQ(socket.ask(again)["duplicate"], false);
  EXPECT_EQ(socket.ask(again)["duplicate"], true);
}

TEST_F(HttpStreams, AWebSocketPublishesEveryNanosecondOfATime) {
  WebSocketClient socket(http_address(server_), "/v1/events?subscribe=A");
  ASSERT_EQ(socket.accepted().status, 101u);
  WebSocketClient publisher(http_address(server_));
  const auto acknowledged =
      publisher.ask(R"({"publish":[{"type":"A","ts":1000000000000.630466,"attrs":{"x":1}}]})");
  EXPECT_EQ(acknowledged["accepted"], 1);
  EXPECT_THAT(socket.receive(), HasSubstr(R"("ts":1000000000000.630466)"));
}

TEST_F(HttpStreams, WrongCommandsAreToldAndTheWebSocketStays) {
  WebSocketClient socket(http_address(server_));
  for (const std::string wrong : {"", "nonsense", "[]", "{}", R"({"publish":[],"more":1})",
                                  R"({"subscribe":5})", R"({"subscribe":"A","subscription":-1})",
                                  R"({"unsubscribe":"x"})", R"({"publish":[],"ack":"durable"})",
                                  R"({"publish":[],"producer":1})", "{\"a\":\"\xff\"}"}) {
    if (wrong.find('\xff') != std::string::npos) continue;  // no text: the connection ends
    EXPECT_NE(socket.ask(wrong)["error"]["reason"], "") << wrong;
  }
  const auto wrong = socket.ask(R"({"subscribe":"A(","request":[1]})");
  EXPECT_EQ(wrong["request"], Json::parse("[1]"));
  EXPECT_EQ(wrong["diagnostics"][0]["severity"], "error");
  EXPECT_EQ(socket.ask(R"({"unsubscribe":3})")["error"]["hint"], "");
  const std::string deep = std::string(15'000, '[') + std::string(15'000, ']');
  EXPECT_NE(socket.ask(R"({"publish":[],"request":)" + deep + "}")["error"]["reason"], "");
  socket.send("ping", '\x89');
  EXPECT_EQ(socket.receive(), "10");
  EXPECT_EQ(socket.ask(R"({"type":"A"})")["accepted"], 1);
  socket.send("", '\x88');
  EXPECT_EQ(socket.receive(), "8");
  EXPECT_TRUE(socket.http().is_closed());
}

TEST_F(HttpStreams, AKeyThatStandsTwiceIsAnErrorAndNothingIsPublished) {
  WebSocketClient socket(http_address(server_));
  const auto twice =
      socket.ask(R"({"publish":[{"type":"A"}],"publish":[{"type":"B"}],"request":1})");
  EXPECT_EQ(twice["request"], 1);
  EXPECT_THAT(twice["error"]["reason"].get<std::string>(), HasSubstr("'publish' stands twice"));
  EXPECT_EQ(socket.ask(R"({"publish":[{"type":"A"},{"type":"B"}]})")["accepted"], 2);
}

TEST_F(HttpStreams, AnIncompleteHandshakeIsRefusedInJson) {
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const std::string version = "Sec-WebSocket-Version: ";
  const std::pair<std::string, unsigned> wrong[] = {
      {version + "13\r\n", 400}, {key, 400}, {key + version + "7\r\n", 426}};
  for (const auto& [headers, status] : wrong) {
    HttpConnection http(http_address(server_));
    const auto refused = http.ask("GET", "/v1/events", "",
                                  "Connection: Upgrade\r\nUpgrade: websocket\r\n" + headers);
    EXPECT_EQ(refused.status, status) << headers;
    EXPECT_THAT(refused.json()["hint"].get<std::string>(), HasSubstr("Sec-WebSocket-Version: 13"));
  }
}

TEST_F(HttpStreams, FramesThatBreakTheProtocolEndTheWebSocket) {
  for (const std::string& frame : {std::string(14, '\xff'), std::string("\x81\x05hello"),
                                   std::string("\x83\x80\0\0\0\0", 6)}) {
    WebSocketClient socket(http_address(server_));
    socket.http().send(frame);
    EXPECT_EQ(socket.receive(), "8");
  }
  WebSocketClient large(http_address(server_));
  large.http().send(std::string("\x81\xff\0\0\0\0\x7f\0\0\0\0\0\0\0", 14));
  EXPECT_EQ(large.receive(), "8");
}

TEST_F(HttpStreams, PagesOfOthersGetNoWebSocket) {
  WebSocketClient foreign(http_address(server_), "/v1/events", "Origin: http://evil.example\r\n");
  EXPECT_EQ(foreign.accepted().status, 403u);
  WebSocketClient own(http_address(server_), "/v1/events",
                      "Origin: http://" + http_address(server_) + "\r\n");
  EXPECT_EQ(own.accepted().status, 101u);
}

ServerOptions that_drops() {
  auto options = with_http();
  options.limits.outbound_bytes = options.limits.max_frame = std::size_t{1} << 20;
  options.limits.slow_consumer = SlowConsumer::drop;
  return options;
}

/// Publishes until events for the only subscriber, who does not read, are lost.
void publish_too_much(RunningServer& server) {
  HttpConnection http(http_address(server));
  std::string body;
  for (int i = 0; i < 5'000; ++i) {
    body += R"({"type":"A","attrs":{"t":")" + std::string(1000, 'x') + "\"}}\n";
  }
  while (server->counters().lost_rows == 0) {
    EXPECT_EQ(http.ask("POST", "/v1/events", body).status, 200u);
  }
}

TEST(HttpSlow, WhatASubscriberLosesIsToldInTheStream) {
  RunningServer server(that_drops());
  HttpConnection stream(http_address(server));
  stream.request("GET", "/v1/events?subscribe=*");
  EXPECT_EQ(stream.receive().status, 200u);
  publish_too_much(server);
  std::uint64_t told = 0;
  while (told < server->counters().lost_rows) {
    const auto event = next_event(stream);
    ASSERT_NE(event.data, "");
    if (event.kind == "gap") told += Json::parse(event.data)["lost"].get<std::uint64_t>();
  }
  EXPECT_EQ(told, server->counters().lost_rows);
}

TEST(HttpSlow, WhatAWebSocketLosesIsTold) {
  RunningServer server(that_drops());
  WebSocketClient socket(http_address(server), "/v1/events?subscribe=*");
  publish_too_much(server);
  std::uint64_t told = 0;
  while (told < server->counters().lost_rows) {
    const auto message = socket.receive_json();
    ASSERT_TRUE(message.is_object());
    if (message.contains("gap")) told += message["gap"]["lost"].get<std::uint64_t>();
  }
  EXPECT_EQ(told, server->counters().lost_rows);
}

TEST(HttpSlow, AClientThatComesBackIsToldThatItMayHaveMissedEvents) {
  RunningServer server(with_http());
  HttpConnection stream(http_address(server)), http(http_address(server));
  stream.request("GET", "/v1/events?subscribe=A", "", "Last-Event-ID: 17-0\r\n");
  EXPECT_EQ(stream.receive().status, 200u);
  const auto gap = next_event(stream);
  EXPECT_EQ(gap.kind, "gap");
  EXPECT_EQ(Json::parse(gap.data)["after"], "17-0");
  EXPECT_TRUE(Json::parse(gap.data)["lost"].is_null());
  EXPECT_EQ(http.ask("POST", "/v1/events", event_line("A", 1)).status, 200u);
  EXPECT_EQ(next_event(stream).id, "1-0");
}

TEST(HttpSlow, AStreamNamesItsPolicy) {
  RunningServer server(with_http());
  HttpConnection http(http_address(server));
  const auto refused = http.ask("GET", "/v1/events?subscribe=A&slow=later");
  EXPECT_EQ(refused.status, 400u);
  EXPECT_THAT(refused.body, HasSubstr("disconnect, drop, block"));
  http.request("GET", "/v1/events?subscribe=A&slow=drop");
  EXPECT_EQ(http.receive().status, 200u);
}

TEST(HttpSlow, AWebSocketSubscribesWithCreditAndPolicy) {
  RunningServer server(with_http());
  HttpConnection http(http_address(server));
  WebSocketClient socket(http_address(server));
  socket.send(R"({"subscribe":"A","subscription":3,"slow":"drop","credit":{"rows":1}})");
  EXPECT_EQ(socket.receive_json(), Json({{"subscribed", 3}}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(http.ask("POST", "/v1/events?ack=processed", event_line("A", i)).status, 200u);
  }
  EXPECT_EQ(socket.receive_json()["id"], "1-0");
  socket.send(R"({"credit":{"subscription":9,"rows":1},"request":"r"})");
  const auto refused = socket.receive_json();
  EXPECT_EQ(refused["request"], "r");
  EXPECT_THAT(refused["error"]["hint"].get<std::string>(), HasSubstr("credit of rows or bytes"));
  socket.send(R"({"credit":{"subscription":3,"rows":2}})");
  EXPECT_EQ(socket.receive_json()["id"], "2-0");
  EXPECT_EQ(socket.receive_json()["id"], "3-0");
  socket.send(R"({"subscribe":"A","slow":"later","request":1})");
  EXPECT_TRUE(socket.receive_json().contains("error"));
}

#ifdef GORGO_SANITIZED
constexpr bool kMemoryIsOurs = false;  // sanitizers keep what is freed
#else
constexpr bool kMemoryIsOurs = true;
#endif

std::size_t resident_bytes() {
  std::size_t pages = 0, resident = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(std::fscanf(file, "%zu %zu", &pages, &resident), 2);
  std::fclose(file);
  return resident * 4096;
}

/// One that never reads, one over a WebSocket that never reads, and one that reads all.
TEST(HttpSlow, SubscribersThatNeverReadHarmNobody) {
  RunningServer server(with_http());
  HttpConnection http(http_address(server)), never(http_address(server)),
      reads(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/rules/d", kRule).status, 200u);
  never.request("GET", "/v1/events?subscribe=*");
  reads.request("GET", "/v1/events?subscribe=C");
  EXPECT_EQ(reads.receive().status, 200u);
  WebSocketClient socket(http_address(server), "/v1/events?subscribe=*");
  constexpr int kEvents = 200'000, kBatch = 2'000;
  std::thread publisher([&] {
    for (int i = 0; i < kEvents; i += kBatch) {
      std::string body;
      for (int j = 0; j < kBatch; ++j) body += event_line("A", i + j);
      EXPECT_EQ(http.ask("POST", "/v1/events", body).json()["accepted"], kBatch);
    }
  });
  std::uint64_t last = 0;
  for (int i = 0; i < kEvents; ++i) {
    const auto event = next_event(reads);
    const std::uint64_t root = std::stoull(event.id);
    EXPECT_GT(root, last);
    last = root;
    if (event.data.find("\"x\":" + std::to_string(i + 100) + "}") == std::string::npos) {
      ADD_FAILURE() << i << ": " << event.data;
      break;
    }
  }
  publisher.join();
  EXPECT_TRUE(!kMemoryIsOurs || resident_bytes() < std::size_t{300} << 20) << resident_bytes();
  const auto metrics = http.ask("GET", "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("\ngorgo_composites_total 200000\n"));
  EXPECT_THAT(metrics, HasSubstr("\ngorgo_events_accepted_total 200000\n"));
}

}  // namespace
}  // namespace gorgo::server
