#include "server/http/workbench.hpp"

#include <set>

#include "http_support.hpp"
#include "server/http/page_files.hpp"

// The workbench: its page and the stream of what it shows.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The rows of the next event of a stream, by kind and name.
std::map<std::string, Json> next_rows(HttpConnection& http) {
  std::string line = http.line();
  while (!line.empty() && !line.starts_with("data: ")) line = http.line();
  std::map<std::string, Json> rows;
  if (line.empty()) return rows;
  const Json json = Json::parse(line.substr(6));
  for (const Json& row : json["rows"]) {
    rows[row["kind"].get<std::string>() + " " + row.value("name", "")] = row;
  }
  http.line();  // the empty one behind the event
  return rows;
}

class WorkbenchPage : public testing::Test {
 protected:
  RunningServer server_{with_http()};
  HttpConnection http_{http_address(server_)};

  void SetUp() override {
    if (http::page_files().empty()) GTEST_SKIP() << "built without the workbench";
  }
};

TEST(Workbench, AServerBuiltWithoutItSaysSo) {
  if (!http::page_files().empty()) GTEST_SKIP() << "built with the workbench";
  RunningServer server(with_http());
  HttpConnection http(http_address(server));
  const auto response = http.ask("GET", "/");
  EXPECT_EQ(response.status, 501);
  EXPECT_THAT(response.body, HasSubstr("Node.js"));
}

TEST_F(WorkbenchPage, EveryPathOfAViewGivesThePageUnderAStrictPolicy) {
  for (const char* path : {"/", "/graph", "/rules/heat.Hot", "/why/heat.Hot", "/connections"}) {
    const auto response = http_.ask("GET", path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.headers.at("Content-Type"), "text/html; charset=utf-8");
    const std::string policy = response.headers.at("Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'self'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  }
  EXPECT_EQ(http_.ask("GET", "/nothing").status, 404);
}

TEST_F(WorkbenchPage, APageThatTheBrowserHasIsNotSentAgain) {
  const auto first = http_.ask("GET", "/");
  const auto again =
      http_.ask("GET", "/graph", "", "If-None-Match: " + first.headers.at("ETag") + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(http_.ask("GET", "/healthz").status, 200);
}

TEST_F(WorkbenchPage, AssetsAreCompressedAndKept) {
  for (const http::PageFile& file : http::page_files()) {
    if (!file.path.starts_with("assets/")) continue;
    const std::string path = "/" + std::string(file.path);
    const auto plain = http_.ask("GET", path);
    EXPECT_EQ(plain.body, file.plain);
    EXPECT_THAT(plain.headers.at("Cache-Control"), HasSubstr("immutable"));
    const auto gzip = http_.ask("GET", path, "", "Accept-Encoding: gzip\r\n");
    EXPECT_EQ(gzip.headers.at("Content-Encoding"), "gzip");
    EXPECT_TRUE(gzip.body.starts_with("\x1f\x8b"));
    const auto brotli = http_.ask("GET", path, "", "Accept-Encoding: gzip, br\r\n");
    EXPECT_EQ(brotli.headers.at("Content-Encoding"), "br");
    EXPECT_EQ(brotli.body, file.brotli);
  }
  EXPECT_EQ(http_.ask("GET", "/assets/none.js").status, 404);
}

class WorkbenchStream : public testing::Test {
 protected:
  RunningServer server_{with_http()};
  HttpConnection http_{http_address(server_)};
  HttpConnection stream_{http_address(server_)};

  /// Reads events of the stream until one has the row and the test takes it.
  template <class Wanted>
  Json await_row(const std::string& key, Wanted wanted) {
    while (true) {
      const auto rows = next_rows(stream_);
      if (rows.empty() && stream_.is_closed()) break;
      const auto row = rows.find(key);
      if (row != rows.end() && wanted(row->second)) return row->second;
    }
    ADD_FAILURE() << "the stream has ended";
    return {};
  }
};

TEST_F(WorkbenchStream, TellsOfRulesAsTheyComeFireAndGo) {
  stream_.request("GET", "/v1/workbench/stream");
  EXPECT_EQ(stream_.receive().headers.at("Content-Type"), "text/event-stream");
  await_row("totals ", [](const Json& row) { return row["events_accepted"] == 0; });
  const std::string text = "define Hot(x: int) from Temp(x > 1) where x = Temp.x;";
  ASSERT_EQ(http_.ask("POST", "/v1/rules/heat", text).status, 200);
  const Json shape = await_row("shape heat.Hot", [](const Json&) { return true; });
  EXPECT_EQ(shape["reads"], Json::array({"Temp"}));
  EXPECT_EQ(shape["type"], "Hot");
  ASSERT_EQ(http_.ask("POST", "/v1/events?ack=processed", event_line("Temp", 2)).status, 200);
  await_row("rule heat.Hot", [](const Json& row) { return row["composites"] == 1; });
  ASSERT_EQ(http_.ask("DELETE", "/v1/rules/heat").status, 200);
  await_row("rule heat.Hot", [](const Json& row) { return row.value("gone", false); });
}

TEST_F(WorkbenchStream, SaysOnlyWhatHasChanged) {
  const std::string text = "define Hot(x: int) from Temp(x > 1) where x = Temp.x;";
  ASSERT_EQ(http_.ask("POST", "/v1/rules/heat", text).status, 200);
  stream_.request("GET", "/v1/workbench/stream");
  stream_.receive();
  EXPECT_EQ(next_rows(stream_).count("shape heat.Hot"), 1);
  EXPECT_EQ(next_rows(stream_).count("shape heat.Hot"), 0);
}

TEST_F(WorkbenchStream, EndsWhenTheServerStops) {
  stream_.request("GET", "/v1/workbench/stream");
  stream_.receive();
  next_rows(stream_);
  server_->stop();
  while (!stream_.is_closed()) stream_.line();
}

/// A workbench with a number of types.
class WorkbenchRows : public testing::Test {
 protected:
  using Workbench = http::Workbench;
  using Rows = std::set<std::string>;
  const std::shared_ptr<Workbench> workbench_ = std::make_shared<Workbench>();
  Workbench::Time now_ = Workbench::Time() + std::chrono::hours(1);

  void gather(int types, std::uint64_t accepted) {
    now_ += Workbench::kTick;
    Workbench::Gathering gathering(*workbench_, now_);
    for (int i = 0; i < types; ++i) {
      wire::TypeInfoT type;
      type.name = "T" + std::to_string(i);
      type.accepted = accepted;
      flatbuffers::FlatBufferBuilder builder;
      builder.Finish(wire::CreateTypeInfo(builder, &type));
      gathering.put(*flatbuffers::GetRoot<wire::TypeInfo>(builder.GetBufferPointer()));
    }
    gathering.complete();
  }
  static Rows names(const std::string& text, bool* more = nullptr) {
    Rows names;
    const Json json = Json::parse(text);
    for (const Json& row : json["rows"]) names.insert(row["name"]);
    if (more != nullptr) *more = json["more"];
    return names;
  }
};

TEST_F(WorkbenchRows, ABrowserThatComesLaterGetsEverything) {
  http::WorkbenchView first(workbench_);
  gather(3, 1);
  EXPECT_EQ(names(first.next({})).size(), 3);
  EXPECT_EQ(names(first.next({})).size(), 0);
  http::WorkbenchView second(workbench_);
  EXPECT_EQ(names(second.next({})).size(), 3);
}

TEST_F(WorkbenchRows, MoreThanABrowserMayGetComesInTurnsSoThatNoRowStarves) {
  http::WorkbenchView view(workbench_);
  constexpr int kTypes = 500;
  Rows seen;
  for (int tick = 1; tick <= 6; ++tick) {
    gather(kTypes, static_cast<std::uint64_t>(tick));  // every row changes
    bool more = false;
    const std::string text = view.next({});
    EXPECT_LE(text.size(), http::WorkbenchView::kBytesPerSecond / 2);
    seen.merge(names(text, &more));
    EXPECT_TRUE(more);
  }
  EXPECT_EQ(seen.size(), kTypes);
}

TEST_F(WorkbenchRows, WhatIsGoneIsToldToThoseWhoKnewIt) {
  http::WorkbenchView knows(workbench_);
  gather(2, 1);
  knows.next({});
  gather(1, 1);
  EXPECT_EQ(names(knows.next({})), Rows{"T1"});
  http::WorkbenchView newcomer(workbench_);
  EXPECT_EQ(names(newcomer.next({})), Rows{"T0"});
}

TEST_F(WorkbenchRows, WithoutABrowserNothingIsKept) {
  {
    http::WorkbenchView view(workbench_);
    gather(2, 1);
  }
  http::WorkbenchView view(workbench_);
  EXPECT_EQ(names(view.next({})).size(), 0);
  EXPECT_TRUE(workbench_->is_due(now_));
}

}  // namespace
}  // namespace gorgo::server
