#include "http_support.hpp"

// HTTP itself: what is a request, and what becomes of what is none.
namespace gorgo::server {
namespace {

class Http : public testing::Test {
 protected:
  RunningServer server_{with_http()};

  /// The status of the answer to these bytes; 0: the connection was closed.
  unsigned status_of(const std::string& bytes) {
    HttpConnection http(http_address(server_));
    http.send(bytes);
    return http.receive().status;
  }
};

TEST_F(Http, GarbageIsToldAndTheConnectionEnds) {
  const std::pair<std::string, unsigned> garbage[] = {
      {"\r\n\r\n\x01\x02\x03\x04\r\n\r\n", 400},
      {"GORGO\r\n\r\n", 400},
      {"GET /v1/events HTTP/2.0\r\nHost: t\r\n\r\n", 505},
      {"GET /v1/events HTTP/1.1\r\n\r\n", 400},
      {"GET /v1/events HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET /v1/events HTTP/1.1\r\nHost: t\r\n no name\r\nx\r\n\r\n", 400},
      {"GET  HTTP/1.1\r\nHost: t\r\n\r\n", 400},
      {"GET events HTTP/1.1\r\nHost: t\r\n\r\n", 400},
      {"GET /%4 HTTP/1.1\r\nHost: t\r\n\r\n", 400},
      {"GET /nowhere HTTP/1.1\r\nHost: t\r\n\r\n", 404},
      {"BREW /v1/events HTTP/1.1\r\nHost: t\r\n\r\n", 405},
      {"POST /v1/events HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
       400},
      {"POST /v1/events HTTP/1.1\r\nHost: t\r\nContent-Length: x\r\n\r\n", 400},
      {"POST /v1/events HTTP/1.1\r\nHost: t\r\nContent-Length: -5\r\n\r\n", 400},
      {"POST /v1/events HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999999\r\n\r\n", 413},
      {"POST /v1/events HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n"
       "\r\n",
       400},
      {"POST /v1/events HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
      {"POST /v1/events HTTP/1.1\r\nHost: t\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
       415},
      {"GET /" + std::string(20'000, 'a'), 431},
      {"GET / HTTP/1.1\r\nHost: t\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n", 431}};
  for (const auto& [bytes, status] : garbage) EXPECT_EQ(status_of(bytes), status) << bytes;
  EXPECT_EQ(status_of("POST /v1/events HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n"), 200u);
}

TEST_F(Http, HeadAndOptionsAreAnswered) {
  HttpConnection http(http_address(server_));
  const auto options = http.ask("OPTIONS", "/v1/events");
  EXPECT_EQ(options.status, 204u);
  EXPECT_THAT(options.headers.at("Allow"), testing::HasSubstr("POST"));
  EXPECT_EQ(http.ask("HEAD", "/nowhere").status, 404u);
  const auto wrong = http.ask("DELETE", "/v1/events");
  EXPECT_EQ(wrong.status, 405u);
  EXPECT_THAT(wrong.headers.at("Allow"), testing::HasSubstr("POST"));
}

TEST_F(Http, AConnectionIsKeptUnlessTheClientWantsItClosed) {
  HttpConnection http(http_address(server_));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(http.ask("GET", "/nowhere").status, 404u);
  const auto last = http.ask("GET", "/nowhere", "", "Connection: close\r\n");
  EXPECT_EQ(last.headers.at("Connection"), "close");
  EXPECT_TRUE(http.is_closed());
  HttpConnection old(http_address(server_));
  old.send("GET /nowhere HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.receive().status, 404u);
  EXPECT_TRUE(old.is_closed());
}

TEST_F(Http, PagesOfOthersMayNotPublish) {
  HttpConnection http(http_address(server_));
  const auto ask = [&](const std::string& origin) {
    return http.ask("POST", "/v1/events", "", "Content-Length: 0\r\nOrigin: " + origin + "\r\n")
        .status;
  };
  EXPECT_EQ(ask("http://evil.example"), 403u);
  EXPECT_EQ(ask("null"), 403u);
  EXPECT_EQ(ask("http://" + http_address(server_)), 200u);
  const std::string port = http_address(server_).substr(http_address(server_).rfind(':'));
  EXPECT_EQ(ask("http://localhost" + port), 200u);
  EXPECT_EQ(ask("https://localhost" + port), 403u);
}

// Pictures of a page have no origin.
TEST_F(Http, PagesOfOthersMayTakeNoDurableSubscription) {
  const auto ask = [&](const std::string& target, const std::string& header) {
    HttpConnection http(http_address(server_));
    http.request("GET", target, "", header + "\r\n");
    return http.receive().status;
  };
  const std::string durable = "/v1/events?subscribe=A&durable=d";
  EXPECT_EQ(ask(durable, "Origin: http://evil.example"), 403u);
  EXPECT_EQ(ask(durable, "Sec-Fetch-Site: cross-site"), 403u);
  EXPECT_EQ(ask(durable, "Sec-Fetch-Site: same-site"), 403u);
  EXPECT_NE(ask(durable, "Sec-Fetch-Site: same-origin"), 403u);
  EXPECT_NE(ask(durable, "Sec-Fetch-Site: none"), 403u);
  EXPECT_EQ(ask("/v1/events?subscribe=A", "Origin: http://evil.example"), 200u);
}

TEST(HttpLimits, NamedOriginsMayPublish) {
  auto options = with_http();
  options.http.origins = {"https://console.example"};
  RunningServer server(options);
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/events", "x", "Origin: https://console.example\r\n").status,
            200u);
}

TEST(HttpLimits, SlowRequestsAreEnded) {
  auto options = with_http();
  options.frame_timeout = std::chrono::milliseconds(50);
  RunningServer server(options);
  HttpConnection body(http_address(server)), later(http_address(server));
  body.send("POST /v1/events HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_EQ(body.receive().status, 408u);
  EXPECT_EQ(later.ask("GET", "/nowhere").status, 404u);
  later.send("GET /");
  EXPECT_EQ(later.receive().status, 408u);
}

TEST(HttpLimits, ConnectionsThatSayNothingAreEnded) {
  auto options = with_http();
  options.greeting_timeout = std::chrono::milliseconds(50);
  RunningServer server(options);
  HttpConnection half(http_address(server)), nothing(http_address(server));
  half.send("POST /v1/ev");
  EXPECT_TRUE(half.is_closed());
  EXPECT_TRUE(nothing.is_closed());
}

TEST(HttpLimits, IdleConnectionsAreEnded) {
  auto options = with_http();
  options.http.keep_alive = std::chrono::milliseconds(50);
  RunningServer server(options);
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("GET", "/nowhere").status, 404u);
  EXPECT_TRUE(http.is_closed());
}

TEST(HttpLimits, SessionsCountOverAllPorts) {
  auto options = with_http();
  options.limits.max_sessions = 2;
  options.limits.reserved_sessions = 0;
  RunningServer server(options);
  auto native = server.connect();
  HttpConnection first(http_address(server));
  EXPECT_EQ(first.ask("GET", "/nowhere").status, 404u);
  HttpConnection second(http_address(server));
  const auto refused = second.receive();
  EXPECT_EQ(refused.status, 503u);
  EXPECT_EQ(refused.headers.at("Retry-After"), "1");
}

}  // namespace
}  // namespace gorgo::server
