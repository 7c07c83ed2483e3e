#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "http_support.hpp"
#include "server/sessions/closed_connections.hpp"
#include "server/sessions/recent_rate.hpp"
#include "stream_support.hpp"
#include "users_support.hpp"

// What operators ask over HTTP: reloads, and connections that have ended.
namespace gorgo::server {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReloadByHttp : public testing::Test {
 protected:
  ReloadByHttp() { write(kOne); }
  ~ReloadByHttp() override { fs::remove(file_); }

  static constexpr const char* kOne = "rule one: define C(v: int) from A(v = 1) where v = A.v;";
  const fs::path file_ =
      fs::path(testing::TempDir()) / ("gorgo_reload_" + std::to_string(getpid()) + ".tesla");

  void write(const std::string& text) { std::ofstream(file_) << text; }
  ServerOptions options() {
    auto options = with_http();
    options.rules = {file_.string()};
    return options;
  }
};

TEST_F(ReloadByHttp, SaysWhichRulesCameAndWent) {
  RunningServer server(options());
  HttpConnection http(http_address(server));
  const auto first = http.ask("POST", "/v1/reload");
  EXPECT_EQ(first.status, 200u) << first.body;
  EXPECT_THAT(first.json()["added"], ElementsAre("one"));
  write("rule two: define C(v: int) from A(v = 2) where v = A.v;");
  const auto second = http.ask("POST", "/v1/reload");
  EXPECT_EQ(second.status, 200u) << second.body;
  const Json json = second.json();
  EXPECT_EQ(json["files"], 1);
  EXPECT_THAT(json["added"], ElementsAre("two"));
  EXPECT_THAT(json["removed"], ElementsAre("one"));
  EXPECT_THAT(json["changed"], IsEmpty());
  EXPECT_EQ(http.ask("GET", "/v1/rules").json()["rules"].size(), 1u);
}

TEST(ReloadOfUsers, IsAnsweredAlsoToWhomItChanges) {
  const auto ops = [](const std::string& keys) {
    return user_with_token("ops", "gorgo_ops", "admin = true\n" + keys);
  };
  const UsersFile users(ops("publish = [\"A\"]"));
  RunningServer server(with_http(users.server()));
  server->set_reread([&] { return with_http(users.server()); });
  HttpConnection http(http_address(server));
  users.write(ops("publish = [\"B\"]"));
  const auto reloaded = http.ask("POST", "/v1/reload", "", bearer("gorgo_ops"));
  EXPECT_EQ(reloaded.status, 200u) << reloaded.body;
  EXPECT_THAT(reloaded.json()["changed"], ::testing::Contains("user 'ops': changed"));
  EXPECT_EQ(http.line(), "");  // the end of the connection
  HttpConnection anew(http_address(server));
  EXPECT_EQ(anew.ask("POST", "/v1/reload", "", bearer("gorgo_ops")).status, 200u);
}

TEST_F(ReloadByHttp, SaysWhatIsWrongAndKeepsTheOldRules) {
  RunningServer server(options());
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/reload").status, 200u);
  write("rule one: define");
  const auto wrong = http.ask("POST", "/v1/reload");
  EXPECT_EQ(wrong.status, 422u);
  EXPECT_EQ(wrong.json()["diagnostics"][0]["file"], file_.string());
  EXPECT_EQ(wrong.json()["diagnostics"][0]["severity"], "error");
  fs::remove(file_);
  const auto gone = http.ask("POST", "/v1/reload");
  EXPECT_EQ(gone.status, 422u);
  EXPECT_THAT(gone.json()["errors"][0]["reason"].get<std::string>(), HasSubstr("cannot read"));
  EXPECT_THAT(http.ask("GET", "/v1/rules").body, HasSubstr("\"one\""));
}

TEST_F(ReloadByHttp, PagesOfOthersMayNotAskForIt) {
  RunningServer server(options());
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/reload", "", "Origin: http://evil.example\r\n").status, 403u);
}

class Closed : public testing::Test {
 protected:
  RunningServer server_{with_http()};
  HttpConnection http_{http_address(server_)};

  /// The first connection that ended for the reason, once there is one.
  Json ended_for(const std::string& reason) {
    while (true) {
      const Json all = http_.ask("GET", "/v1/connections?closed=true").json();
      for (const auto& connection : all["connections"]) {
        if (connection["reason"] == reason) return connection;
      }
      std::this_thread::yield();
    }
  }
};

TEST_F(Closed, AMessageAboveTheLimitIsToldAndNamed) {
  WebSocketClient socket(http_address(server_));
  std::string frame("\x81\xff\0\0\0\0\0\x40\0\0\0\0\0\0", 14);  // 4 MiB
  frame.resize(frame.size() + (std::size_t{4} << 20));
  socket.http().send(frame);
  EXPECT_EQ(socket.receive(), "8");
  EXPECT_TRUE(socket.http().is_closed());
  socket.http().close();
  EXPECT_THAT(ended_for("malformed")["detail"].get<std::string>(),
              HasSubstr("http.max_message_bytes"));
}

TEST_F(Closed, ConnectionsThatEndAreKeptWithTheirReasons) {
  { auto client = server_.connect(); }
  const Json left = ended_for("client_left");
  EXPECT_EQ(left["dialect"], "native");
  EXPECT_THAT(left["peer"].get<std::string>(), HasSubstr("127.0.0.1:"));
  EXPECT_GT(left["closed_ms"], 1'600'000'000'000);

  HttpConnection once(http_address(server_));
  EXPECT_EQ(once.ask("GET", "/healthz", "", "Connection: close\r\n").status, 200u);
  EXPECT_TRUE(once.is_closed());
  once.close();
  EXPECT_EQ(ended_for("completed")["dialect"], "http");

  RawConnection broken(server_->address());
  broken.greet();
  broken.reset();
  ended_for("broken");

  RawConnection wrong(server_->address());
  wrong.send(protocol::Bytes(64, 0xff));
  wrong.expect<wire::Error>(0);
  wrong.close();
  EXPECT_NE(ended_for("malformed")["detail"], "");
  EXPECT_EQ(http_.ask("GET", "/v1/connections").json()["connections"].size(), 1u);
}

TEST_F(Closed, OperatorsSeeWhoIsConnectedAndEndOne) {
  ClientOptions named;
  named.name = "thermometer";
  auto client = Client::connect(server_->address(), named);
  ASSERT_TRUE(client) << client.error().to_string();
  subscribe(*client, "Temp");
  ASSERT_TRUE(client->publish(std::vector{temp(1000, "A1", 20), temp(2000, "A1", 20)}));
  next(*client);
  auto operator_ = server_.connect();
  const auto open = operator_.connections();
  ASSERT_TRUE(open) << open.error().to_string();
  const auto found = std::ranges::find(*open, "thermometer", &ClientConnection::name);
  ASSERT_NE(found, open->end());
  EXPECT_EQ(found->dialect, "native");
  EXPECT_EQ(found->subscriptions, 1u);
  EXPECT_EQ(found->published, 2u);
  EXPECT_EQ(found->reason, "");
  ASSERT_TRUE(operator_.disconnect(found->id));
  EXPECT_EQ(ended_for("disconnected")["name"], "thermometer");
  const auto closed = operator_.connections(true);
  ASSERT_TRUE(closed) << closed.error().to_string();
  EXPECT_EQ(closed->back().reason, "disconnected");
  EXPECT_EQ(closed->back().delivered, 2u);
  const auto gone = operator_.disconnect(found->id);
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().to_string(), HasSubstr("gorgo connections"));
}

TEST_F(Closed, AConnectionIsEndedOverHttp) {
  RawConnection raw(server_->address());
  raw.greet();
  const Json open = http_.ask("GET", "/v1/connections").json();
  std::uint64_t id = 0;
  for (const auto& connection : open["connections"]) {
    if (connection["dialect"] == "native") id = connection["id"];
  }
  const std::string path = "/v1/connections/" + std::to_string(id);
  EXPECT_EQ(http_.ask("DELETE", path).status, 200u);
  EXPECT_EQ(raw.expect<wire::Error>(0).code, wire::ErrorCode::Forbidden);
  raw.close();
  ended_for("disconnected");
  EXPECT_EQ(http_.ask("DELETE", path).status, 404u);
  EXPECT_EQ(http_.ask("DELETE", "/v1/connections/x").status, 400u);
}

/// Who looks at a busy server from outside wants to know which part of it is busy.
TEST(Threads, HaveNames) {
  RunningServer server;
  const auto has = [](const std::string& wanted) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(task.path() / "comm"), name);
      if (name == wanted) return true;
    }
    return false;
  };
  Client client = server.connect();
  ASSERT_TRUE(client.publish(std::vector{Event{"A", std::nullopt, {}}}));  // the engine answers
  EXPECT_TRUE(has("engine"));
}

TEST(RecentRate, IsThatOfTheLastWholeSecond) {
  const RecentRate::Time start{std::chrono::seconds(100)};
  RecentRate rate(start);
  rate.add(300);
  rate.look(start + std::chrono::milliseconds(500));
  EXPECT_EQ(rate.per_second(), 0);
  rate.look(start + std::chrono::milliseconds(1500));
  EXPECT_EQ(rate.per_second(), 200);
  rate.look(start + std::chrono::milliseconds(2500));
  EXPECT_EQ(rate.per_second(), 0);
  EXPECT_EQ(rate.total(), 300u);
}

TEST_F(Closed, MetricsCountThemByReason) {
  { auto client = server_.connect(); }
  ended_for("client_left");
  EXPECT_THAT(http_.ask("GET", "/metrics").body,
              HasSubstr("gorgo_connections_closed_total{reason=\"client_left\"} 1\n"));
}

TEST(ClosedConnections, OnlyTheLastAreKept) {
  ClosedConnections closed;
  for (std::uint64_t id = 0; id <= ClosedConnections::kMost; ++id) {
    ClosedConnection one;
    one.connection.id = id;
    one.reason = EndReason::slow;
    one.detail = std::string(100'000, 'x');
    closed.add(std::move(one));
  }
  EXPECT_EQ(closed.last().size(), ClosedConnections::kMost);
  EXPECT_EQ(closed.last().front().connection.id, 1u);
  EXPECT_LE(closed.last().front().detail.capacity(), 1000u);
  EXPECT_EQ(closed.count(EndReason::slow), ClosedConnections::kMost + 1);
}

}  // namespace
}  // namespace gorgo::server
