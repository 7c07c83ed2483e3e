#include "http_support.hpp"

// Doors and targets of actions over HTTP.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

ServerOptions with_a_door() {
  ServerOptions options;
  options.http.listen = "127.0.0.1:0";
  doors::Settings& own = options.doors["own"];
  EXPECT_TRUE(doors::set(own, "kind", std::string("file")));
  EXPECT_TRUE(doors::set(own, "path", testing::TempDir() + "none*.log"));
  actions::Settings& log = options.actions["log"];
  EXPECT_TRUE(actions::set(log, "kind", std::string("file")));
  EXPECT_TRUE(actions::set(log, "path", testing::TempDir() + "none.ndjson"));
  return options;
}

class HttpDoors : public testing::Test {
 protected:
  RunningServer server_{with_a_door()};
  HttpConnection http_{http_address(server_)};

  Json door(const std::string& name) {
    const Json listed = http_.ask("GET", "/v1/doors").json();
    for (const Json& one : listed["doors"]) {
      if (one["name"] == name) return one;
    }
    return nullptr;
  }
};

TEST_F(HttpDoors, AreDeclaredAndRemoved) {
  const std::string text = "kind = \"file\"\npath = \"" + testing::TempDir() + "nothing*.log\"\n";
  const auto declared = http_.ask("POST", "/v1/doors/in", text);
  EXPECT_EQ(declared.status, 200u) << declared.body;
  EXPECT_THAT(declared.body, HasSubstr("no journal"));
  EXPECT_EQ(door("in")["declared"], true);
  EXPECT_EQ(door("own")["declared"], false);
  EXPECT_EQ(http_.ask("DELETE", "/v1/doors/in").status, 200u);
  EXPECT_EQ(door("in"), nullptr);
  EXPECT_EQ(http_.ask("DELETE", "/v1/doors/in").status, 404u);
}

TEST_F(HttpDoors, WhatIsWrongIsSaidWithWhatHelps) {
  const auto misspelt = http_.ask("POST", "/v1/doors/in", "kind = \"file\"\npth = \"x\"\n");
  EXPECT_EQ(misspelt.status, 422u);
  EXPECT_THAT(misspelt.body, HasSubstr("2:7: doors.in.pth: unknown key, did you mean 'path'?"));
  EXPECT_THAT(misspelt.body, HasSubstr("docs/doors.md"));
  const auto own = http_.ask("POST", "/v1/doors/own", "kind = \"file\"\npath = \"x\"\n");
  EXPECT_EQ(own.status, 422u);
  EXPECT_THAT(own.body, HasSubstr("take another name"));
  EXPECT_EQ(http_.ask("DELETE", "/v1/doors/own").status, 422u);
  EXPECT_EQ(door("in"), nullptr);
}

TEST_F(HttpDoors, ShowNoSecretsOfAUrl) {
  const auto declared = http_.ask(
      "POST", "/v1/doors/web",
      "kind = \"http\"\nurl = \"http://ada:geheim@127.0.0.1:9/data?token=geheim&page=2&geheim\"\n");
  EXPECT_EQ(declared.status, 200u) << declared.body;
  EXPECT_EQ(door("web")["target"], "http://127.0.0.1:9/data?token=...&page=...&...");
  Json failing = door("web");
  while (failing["problem"] == "") failing = door("web");
  EXPECT_EQ(failing.dump().find("geheim"), std::string::npos) << failing;
}

TEST_F(HttpDoors, ASilenceThatIsWrongIsNoMissingTarget) {
  const auto silence = [&](const std::string& target, const std::string& matchers) {
    return http_.ask("POST", "/v1/actions/" + target + "/silences",
                     R"({"seconds":60,"matchers":)" + matchers + "}");
  };
  EXPECT_EQ(silence("log", R"({"area":"A1"})").status, 200u);
  const auto nameless = silence("log", R"({"":"A1"})");
  EXPECT_EQ(nameless.status, 422u);
  EXPECT_THAT(nameless.body, HasSubstr("does not say which attribute"));
  EXPECT_EQ(silence("log", R"({"area":")" + std::string(3000, 'x') + R"("})").status, 422u);
  EXPECT_EQ(silence("log", R"({"area":1})").status, 400u);
  EXPECT_EQ(silence("none", R"({"area":"A1"})").status, 404u);
  const auto misspelt =
      http_.ask("POST", "/v1/actions/log/silences", R"({"seconds":60,"matcher":{"area":"A1"}})");
  EXPECT_EQ(misspelt.status, 400u);
  EXPECT_THAT(misspelt.body, HasSubstr("a silence has no 'matcher'"));
}

TEST_F(HttpDoors, AServerWithoutAClusterSaysSo) {
  const auto shown = http_.ask("GET", "/v1/cluster");
  EXPECT_EQ(shown.status, 404u);
  EXPECT_THAT(shown.body, HasSubstr("in no cluster"));
}

}  // namespace
}  // namespace gorgo::server
