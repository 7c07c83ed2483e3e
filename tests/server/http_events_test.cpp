#include "gzip_support.hpp"
#include "http_support.hpp"
#include "server/http/events_body.hpp"

// POST /v1/events.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

class HttpEvents : public testing::Test {
 protected:
  RunningServer server_{with_http()};
  HttpConnection http_{http_address(server_)};
  Client watcher_ = server_.connect();

  void SetUp() override { subscribe(watcher_, "*"); }

  /// The x of the next event. What was published before and is not delivered before it never was.
  std::int64_t next_x() {
    const auto delivery = next(watcher_);
    for (const Attribute& a : delivery.event.attributes) {
      if (a.name == "x") return std::get<std::int64_t>(a.value);
    }
    return -1;
  }
  void publish_mark() {
    HttpConnection other(http_address(server_));
    EXPECT_EQ(other.ask("POST", "/v1/events", event_line("Mark", 99)).status, 200u);
  }
};

TEST_F(HttpEvents, ABodyOfEventLinesIsPublished) {
  const auto response = http_.ask(
      "POST", "/v1/events",
      event_line("A", 1) + "\n" + event_line("B", 2) + R"({"type":"A","ts":5,"attrs":{"x":3}})");
  EXPECT_EQ(response.status, 200u);
  EXPECT_EQ(response.body,
            "{\"accepted\":2,\"refused\":1,\"duplicate\":false,\"errors\":"
            "[{\"row\":2,\"reason\":\"" +
                response.json()["errors"][0]["reason"].get<std::string>() + "\",\"hint\":\"" +
                response.json()["errors"][0]["hint"].get<std::string>() + "\"}]}\n");
  EXPECT_EQ(next_x(), 1);
  EXPECT_EQ(next_x(), 2);
}

TEST_F(HttpEvents, MalformedLinesAreRefusedRowsAndDoNotHoldUpTheOthers) {
  const auto response = http_.ask("POST", "/v1/events",
                                  "nonsense\n" + event_line("A", 1) + "\n{\"tick\":5}\n" +
                                      "{\"type\":\"A\",\"attrs\":{\"x\":null}}\n" +
                                      event_line("A", 2) + "{\"type\":");
  const auto json = response.json();
  EXPECT_EQ(json["accepted"], 2);
  EXPECT_EQ(json["refused"], 4);
  ASSERT_EQ(json["errors"].size(), 4u);
  EXPECT_EQ(json["errors"][0]["row"], 0);
  EXPECT_THAT(json["errors"][0]["reason"].get<std::string>(), HasSubstr("not JSON"));
  EXPECT_EQ(json["errors"][1]["row"], 2);
  EXPECT_THAT(json["errors"][1]["reason"].get<std::string>(), HasSubstr("tick"));
  EXPECT_EQ(json["errors"][2]["row"], 3);
  EXPECT_EQ(json["errors"][3]["row"], 5);
  EXPECT_EQ(next_x(), 1);
  EXPECT_EQ(next_x(), 2);
}

TEST_F(HttpEvents, ABodyThatIsMostlyNoEventsIsRefused) {
  std::string lines = R"({"type":"A"})"
                      "\n";
  for (int i = 0; i < 10'001; ++i) lines += "x\n";
  const auto refused = http_.ask("POST", "/v1/events", lines);
  EXPECT_EQ(refused.status, 400u);
  EXPECT_THAT(refused.body, HasSubstr("most of the body is no event: not JSON"));
  std::string mixed;
  for (int i = 0; i < 10'001; ++i) mixed += event_line("A", i) + "\nx\n";
  HttpConnection other(http_address(server_));
  EXPECT_EQ(other.ask("POST", "/v1/events", mixed).json()["accepted"], 10'001);
}

TEST_F(HttpEvents, RowsThatTheEngineRefusesAreCountedInTheBody) {
  ASSERT_TRUE(watcher_.declare("Known", {{"x", ValueType::boolean}}));
  const auto json =
      http_
          .ask("POST", "/v1/events",
               "bad\n" + event_line("A", 1) + "bad\n" + event_line("Known", 2) + "bad\n")
          .json();
  EXPECT_EQ(json["accepted"], 1);
  EXPECT_EQ(json["refused"], 4);
  std::vector<int> rows;
  for (const auto& error : json["errors"]) rows.push_back(error["row"]);
  EXPECT_THAT(rows, testing::ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(json["errors"][2]["reason"].get<std::string>(), HasSubstr("bool"));
}

TEST_F(HttpEvents, EmptyBodiesPublishNothing) {
  for (const std::string body : {"", "\n", "  \r\n\n"}) {
    const auto json = http_.ask("POST", "/v1/events", body).json();
    EXPECT_EQ(json["accepted"], 0) << json;
    EXPECT_EQ(json["refused"], 0) << json;
  }
}

TEST_F(HttpEvents, BodiesMayBeCompressedAndCutIntoChunks) {
  const std::string lines = event_line("A", 1) + event_line("A", 2);
  EXPECT_EQ(http_.ask("POST", "/v1/events", gzip(lines), kGzip).json()["accepted"], 2);
  EXPECT_EQ(http_.ask("POST", "/v1/events", gzip(lines) + gzip(lines), kGzip).json()["accepted"],
            4);
  const std::string head =
      "POST /v1/events HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string first = lines.substr(0, 10), rest = lines.substr(10);
  char size[16];
  std::snprintf(size, sizeof size, "%zx", rest.size());
  http_.send(head + "a;name=value\r\n" + first + "\r\n" + size + "\r\n" + rest + "\r\n0\r\n\r\n");
  EXPECT_EQ(http_.receive().json()["accepted"], 2);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(next_x(), 1);
    EXPECT_EQ(next_x(), 2);
  }
}

TEST_F(HttpEvents, RequestsMayComeByteByByteOrManyAtOnce) {
  const std::string body = event_line("A", 1);
  const std::string request =
      "POST /v1/events HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  for (const char byte : request) http_.send({&byte, 1});
  EXPECT_EQ(http_.receive().json()["accepted"], 1);
  http_.send(request + request + request);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(http_.receive().json()["accepted"], 1);
}

TEST_F(HttpEvents, ExpectingClientsAreToldToGoOn) {
  const std::string body = event_line("A", 1);
  http_.send("POST /v1/events HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n");
  EXPECT_EQ(http_.receive().status, 100u);
  http_.send(body);
  EXPECT_EQ(http_.receive().json()["accepted"], 1);
}

TEST_F(HttpEvents, BodiesThatAreNotWholeApplyNothing) {
  const std::string lines = event_line("A", 1) + event_line("A", 2);
  const std::string whole = gzip(lines);
  std::string wrong_sum = whole;
  wrong_sum[wrong_sum.size() - 6] = static_cast<char>(wrong_sum[wrong_sum.size() - 6] ^ 1);
  for (const std::string& body :
       {whole.substr(0, whole.size() - 1), whole + "rest", wrong_sum, lines, std::string()}) {
    HttpConnection http(http_address(server_));
    const std::string head = body.empty() ? kGzip + "Content-Length: 0\r\n" : kGzip;
    EXPECT_EQ(http.ask("POST", "/v1/events", body, head).status, 400u);
    EXPECT_TRUE(http.is_closed());
  }
  const std::string chunked =
      "POST /v1/events HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string body : {"zz\r\n", "-1\r\n", "ffffffffffffffffff\r\n"}) {
    HttpConnection http(http_address(server_));
    http.send(chunked + "1e\r\n" + event_line("A", 1).substr(0, 30) + "\r\n" + body);
    EXPECT_EQ(http.receive().status, 400u) << body;
  }
  for (const bool half : {true, false}) {
    HttpConnection http(http_address(server_));
    http.send("POST /v1/events HTTP/1.1\r\nHost: test\r\nContent-Length: 1000\r\n\r\n" + lines);
    if (half) {
      http.stop_sending();
      EXPECT_TRUE(http.is_closed());
    } else {
      http.close();
    }
  }
  publish_mark();
  EXPECT_EQ(next_x(), 99);
}

TEST_F(HttpEvents, RepeatedSequencesAreDuplicatesWhateverTheyCarry) {
  const std::string target = "/v1/events?producer=7&sequence=";
  EXPECT_EQ(http_.ask("POST", target + "5", event_line("A", 1)).json()["accepted"], 1);
  const auto repeated =
      http_.ask("POST", target + "5", "bad\n" + event_line("A", 2) + event_line("A", 3)).json();
  EXPECT_EQ(repeated, Json::parse(R"({"accepted":0,"refused":0,"duplicate":true,"errors":[]})"));
  EXPECT_EQ(http_.ask("POST", target + "4", "").json()["duplicate"], true);
  EXPECT_EQ(http_.ask("POST", target + "6", "bad\n").json()["duplicate"], false);
  // What was refused as a whole has not taken the number.
  EXPECT_EQ(http_.ask("POST", target + "6", event_line("A", 3)).json()["duplicate"], false);
  EXPECT_EQ(http_.ask("POST", target + "6", event_line("A", 2)).json()["duplicate"], true);
  EXPECT_EQ(
      http_.ask("POST", target + "18446744073709551615", event_line("A", 4)).json()["accepted"], 1);
  EXPECT_EQ(next_x(), 1);
  EXPECT_EQ(next_x(), 3);
  EXPECT_EQ(next_x(), 4);
}

TEST_F(HttpEvents, WrongQueriesAreErrorsThatNameTheKey) {
  const std::pair<const char*, unsigned> wrong[] = {
      {"?ack=durable", 501},
      {"?ack=maybe", 400},
      {"?ack=none", 400},
      {"?producer=1", 400},
      {"?sequence=1", 400},
      {"?producer=0&sequence=1", 400},
      {"?producer=a&sequence=1", 400},
      {"?producer=1&sequence=-1", 400},
      {"?producer=1&sequence=18446744073709551616", 400},
      {"?ack=accepted&ack=processed", 400},
      {"?ack=%zz", 400}};
  for (const auto& [query, status] : wrong) {
    HttpConnection http(http_address(server_));
    const auto response = http.ask("POST", std::string("/v1/events") + query, event_line("A", 1));
    EXPECT_EQ(response.status, status) << query;
    EXPECT_NE(response.json()["reason"], "") << query;
  }
  publish_mark();
  EXPECT_EQ(next_x(), 99);
}

TEST_F(HttpEvents, ABombIsRefusedBeforeItIsInflated) {
  const std::string bomb = gzip(std::string(std::size_t{512} << 20, '\n'));
  ASSERT_LT(bomb.size(), std::size_t{1} << 20);
  const auto before = server_->counters().memory_bytes;
  // The first connection may have timed out while the bomb was made.
  HttpConnection http(http_address(server_));
  const auto response = http.ask("POST", "/v1/events", bomb, kGzip);
  ASSERT_EQ(response.status, 413u);
  EXPECT_THAT(response.json()["hint"].get<std::string>(), HasSubstr("http.max_body_bytes"));
  EXPECT_LT(server_->counters().memory_bytes, before + (std::size_t{1} << 20));
}

/// Each attribute that some event lacks takes room for it: a few bytes could stand for gigabytes.
TEST_F(HttpEvents, EventsThatAreTooWideTogetherAreRefused) {
  std::string body;
  for (int i = 0; i < 200'000; ++i) body += "{\"type\":\"A\"}\n";
  for (int line = 0; line < 30; ++line) {
    body += R"({"type":"A","attrs":{"x":0)";
    for (int i = 0; i < 4000; ++i) body += ",\"a" + std::to_string(4000 * line + i) + "\":1";
    body += "}}\n";
  }
  EXPECT_EQ(http_.ask("POST", "/v1/events", body).status, 413u);
}

TEST(HttpPublications, BodiesHaveALimit) {
  auto options = with_http();
  options.http.max_body_bytes = 1024;
  RunningServer server(options);
  const std::string body(1025, '\n');
  HttpConnection announced(http_address(server));
  EXPECT_EQ(announced.ask("POST", "/v1/events", body).status, 413u);
  HttpConnection chunked(http_address(server));
  chunked.send("POST /v1/events HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n401\r\n" +
               body + "\r\n0\r\n\r\n");
  EXPECT_EQ(chunked.receive().status, 413u);
  HttpConnection fits(http_address(server));
  EXPECT_EQ(fits.ask("POST", "/v1/events", body.substr(1)).status, 200u);
}

/// What is acknowledged as processed has its composites in the outboxes: whoever asks on another
/// connection afterwards gets them first.
TEST_F(HttpEvents, ProcessedMeansThatCompositesAreOnTheirWay) {
  deploy(watcher_, "event A(x: int); rule r: define C(x: int) from A() where x = A.x + 100;");
  for (int i = 1; i <= 20; ++i) {
    const auto response = http_.ask("POST", "/v1/events?ack=processed", event_line("A", i));
    EXPECT_EQ(response.json()["accepted"], 1);
    EXPECT_EQ(watcher_.rule("r")->composites, static_cast<std::uint64_t>(i));
    EXPECT_EQ(next_x(), i);
    EXPECT_EQ(next_x(), i + 100);
  }
}

TEST(HttpPublications, ProcessedWaitsForWhatLatenessHoldsBack) {
  auto options = with_http();
  options.processor.lateness = 10 * kMillisecond;
  options.processor.clock = [] { return Timestamp{0}; };
  RunningServer server(options);
  HttpConnection held(http_address(server)), other(http_address(server));
  held.request("POST", "/v1/events?ack=processed", R"({"type":"A","ts":1000,"attrs":{}})");
  // Accepted is said at once; only an event that is later by `lateness` releases the first.
  while (server.connect().tick(1000 * kMillisecond)) {
    if (server.connect().tick(1010 * kMillisecond)) break;
  }
  EXPECT_EQ(held.receive().json()["accepted"], 1);
}

TEST(HttpPublications, RequestsThatCannotBeAppliedAreTold) {
  RunningServer server(with_http());
  HttpConnection idle(http_address(server));
  EXPECT_EQ(idle.ask("POST", "/v1/events", event_line("A", 1)).status, 200u);
  server.stop();
  EXPECT_TRUE(idle.is_closed());
}

TEST(HttpPublications, ALongStringCountsAsLongAsItIsHeld) {
  constexpr std::size_t kString = std::size_t{4} << 20;
  http::EventsBody body(2 * kString);
  const std::string line = R"({"type":"A","attrs":{"s":")" + std::string(kString, 'x') + "\"}}\n";
  ASSERT_FALSE(body.put(line));
  ASSERT_FALSE(body.finish());
  EXPECT_GE(body.memory(), 3 * kString) << "the line, the event and the publication have it";
  EXPECT_GT(body.publish({}, 1).size(), kString);
  EXPECT_LT(body.memory(), kString);
}

}  // namespace
}  // namespace gorgo::server
