#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <chrono>
#include <set>
#include <thread>

#include "http_support.hpp"
#include "protocol/trex/encode.hpp"
#include "trex_support.hpp"
#include "users_support.hpp"

// Who clients are, on every port (docs/security.md).
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWrong = "the login failed";

TEST(Login, NobodyIsLetInWithoutCredentials) {
  const UsersFile users;
  RunningServer server(users.server());
  EXPECT_THAT(error_of(Client::connect(server->address())), HasSubstr("asks who its clients are"));
  RawConnection raw(server->address());
  wire::HelloT hello;
  hello.min_version = hello.max_version = protocol::kVersion;
  raw.send(1, hello);
  EXPECT_EQ(raw.expect<wire::Error>(1).code, wire::ErrorCode::Unauthenticated);
  EXPECT_FALSE(raw.receive());
}

TEST(Login, ATokenLetsItsUserIn) {
  const UsersFile users;
  RunningServer server(users.server());
  auto client = Client::connect(server->address(), by_token(users.token()));
  ASSERT_TRUE(client) << client.error().to_string();
  EXPECT_TRUE(client->rules());
  EXPECT_EQ(error_of(Client::connect(server->address(), by_token(new_token()))), kWrong);
  EXPECT_EQ(server->counters().failed_logins, 1u);
}

TEST(Login, APasswordLetsItsUserIn) {
  const UsersFile users;
  RunningServer server(users.server());
  const auto client = Client::connect(server->address(), by_password("admin", "wonderland"));
  EXPECT_TRUE(client) << client.error().to_string();
}

TEST(Login, AWrongPasswordAndAnUnknownUserTakeTheSameWayAndGetTheSameAnswer) {
  const UsersFile users(user_with_token("tokens_only", new_token()));
  RunningServer server(users.server());
  std::set<std::string> answers;
  for (const char* name : {"admin", "nobody", "tokens_only"}) {
    const auto before = server->counters().hashed_passwords;
    const auto client = Client::connect(server->address(), by_password(name, "guess"));
    ASSERT_FALSE(client);
    answers.insert(client.error().to_string());
    EXPECT_EQ(server->counters().hashed_passwords, before + 1) << name;
  }
  EXPECT_EQ(answers.size(), 1u);
}

TEST(Login, WhoFailsTooOftenHasToWait) {
  const UsersFile users;
  RunningServer server(users.server());
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(error_of(Client::connect(server->address(), by_token(new_token()))), kWrong);
  }
  const auto hashed = server->counters().hashed_passwords;
  EXPECT_THAT(error_of(Client::connect(server->address(), by_password("admin", "wonderland"))),
              HasSubstr("too many logins from this address have failed"));
  EXPECT_EQ(server->counters().hashed_passwords, hashed);
  EXPECT_EQ(server->counters().failed_logins, 10u);
}

TEST(Login, WhoHasOnlyAskedForTheHealthOfTheServerIsANewcomer) {
  const UsersFile users;
  ServerOptions options = users.server(with_http());
  options.limits.max_newcomers = 1;
  RunningServer server(options);
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("GET", "/healthz").status, 200u);
  const auto refused = HttpConnection(http_address(server)).receive();
  EXPECT_EQ(refused.status, 503u);
  EXPECT_THAT(refused.body, HasSubstr("limits.max_newcomers"));
  EXPECT_EQ(http.ask("GET", "/v1/rules", "", bearer(users.token())).status, 200u);
  EXPECT_EQ(HttpConnection(http_address(server)).ask("GET", "/healthz").status, 200u);
}

/// Whether the server ends the connection behind a request for its health.
bool is_last(HttpConnection& http) {
  const auto response = http.ask("GET", "/healthz");
  EXPECT_EQ(response.status, 200u);
  const auto connection = response.headers.find("Connection");
  return connection != response.headers.end() && connection->second == "close";
}

TEST(Login, WhoOnlyAsksForTheHealthOfTheServerKeepsNoPlaceForEver) {
  const UsersFile users;
  ServerOptions options = users.server(with_http());
  options.greeting_timeout = std::chrono::seconds(4);
  RunningServer server(options);
  HttpConnection http(http_address(server));
  HttpConnection known(http_address(server));
  EXPECT_EQ(known.ask("GET", "/v1/rules", "", bearer(users.token())).status, 200u);
  EXPECT_FALSE(is_last(http));
  bool ends = false;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!ends && std::chrono::steady_clock::now() < patience) ends = is_last(http);
  EXPECT_TRUE(ends);
  EXPECT_FALSE(is_last(known));
}

TEST(Login, WhoFallsSilentWithoutCredentialsKeepsNoPlaceForLong) {
  const UsersFile users;
  ServerOptions options = users.server(with_http());
  options.greeting_timeout = std::chrono::seconds(2);
  options.http.keep_alive = options.frame_timeout = std::chrono::hours(1);
  RunningServer server(options);
  for (const std::string last : {"", "GET /healthz HTTP/1.1\r\nHost:"}) {
    HttpConnection http(http_address(server));
    EXPECT_EQ(http.ask("GET", "/healthz").status, 200u);
    http.send(last);
    EXPECT_TRUE(http.is_closed());
  }
}

TEST(Login, NumbersOfProducersBelongToTheirUsers) {
  const std::string token = new_token();
  const UsersFile users(user_with_token("sensor", token, "publish = [\"*\"]"));
  RunningServer server(users.server(with_http()));
  const auto is_repeated = [&](const std::string& by) {
    HttpConnection http(http_address(server));
    const std::string event = "{\"type\":\"T\"}\n";
    return http.ask("POST", "/v1/events?producer=7&sequence=1", event, bearer(by))
        .json()["duplicate"]
        .get<bool>();
  };
  EXPECT_FALSE(is_repeated(token));
  EXPECT_TRUE(is_repeated(token));
  EXPECT_FALSE(is_repeated(users.token()));
  EXPECT_TRUE(is_repeated(users.token()));
}

/// A publication whose batch begins where the bytes of its producer say, which are changed.
protocol::Bytes with_shared_bytes(protocol::Bytes frame) {
  auto* publish =
      const_cast<wire::Publish*>(wire::GetSizePrefixedMessage(frame.data())->body_as_Publish());
  auto* table = reinterpret_cast<std::uint8_t*>(publish);
  auto* slots = table - flatbuffers::ReadScalar<flatbuffers::soffset_t>(table);
  const auto at =
      flatbuffers::ReadScalar<flatbuffers::voffset_t>(slots + wire::Publish::VT_PRODUCER);
  const auto* batch = reinterpret_cast<const std::uint8_t*>(publish->batch());
  publish->mutate_producer(static_cast<std::uint64_t>(batch - (table + at)));
  flatbuffers::WriteScalar(slots + wire::Publish::VT_BATCH, at);
  return frame;
}

TEST(Login, FieldsThatShareTheBytesOfAProducerAreNoWayIn) {
  const std::string token = new_token();
  const UsersFile users(user_with_token("sensor", token, "publish = [\"*\"]"));
  RunningServer server(users.server());
  const auto frame = with_shared_bytes(publish_frame(2, {Event{"T", {}, {}}}, 7, 1));
  ASSERT_TRUE(protocol::open_frame(frame)) << "it is a message of the protocol";
  RawConnection raw(server->address());
  wire::HelloT hello;
  hello.min_version = hello.max_version = protocol::kVersion;
  hello.token = token;
  raw.send(1, hello);
  raw.expect<wire::Welcome>(1);
  raw.send(frame);
  EXPECT_EQ(raw.expect<wire::Error>(2).code, wire::ErrorCode::Malformed);
  EXPECT_TRUE(Client::connect(server->address(), by_token(token)));
}

wire::HelloT hello_of_admin(const std::string& password) {
  wire::HelloT hello;
  hello.min_version = hello.max_version = protocol::kVersion;
  hello.user = "admin";
  hello.password = password;
  return hello;
}

/// Logins by a wrong password from one address, of which nobody has read an answer.
std::vector<std::unique_ptr<RawConnection>> send_guesses(const std::string& address, int count) {
  std::vector<std::unique_ptr<RawConnection>> guesses;
  for (int i = 0; i < count; ++i) {
    guesses.push_back(std::make_unique<RawConnection>(address));
    guesses.back()->send(1, hello_of_admin("guess"));
  }
  return guesses;
}

TEST(Login, PasswordsOfAnAddressKeepOutNobodyElse) {
  const UsersFile users;
  RunningServer server(users.server());
  const auto guesses = send_guesses(server->address(), 40);
  RawConnection elsewhere(server->address(), "127.0.0.2");
  elsewhere.send(1, hello_of_admin("wonderland"));
  elsewhere.expect<wire::Welcome>(1);
  EXPECT_EQ(guesses.back()->expect<wire::Error>(1).code, wire::ErrorCode::Overloaded);
  // Sixteen may wait when the tenth has failed, behind which the address has to wait.
  EXPECT_LE(server->counters().hashed_passwords, 10u + 16u + 1u);
}

TEST(Login, AClientThatBreaksOffWhileItsPasswordIsCheckedHarmsNobody) {
  const UsersFile users;
  ServerOptions options = users.server();
  options.greeting_timeout = std::chrono::milliseconds(30);
  RunningServer server(options);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const auto guesses = send_guesses(server->address(), 6);
    for (const auto& guess : guesses) {
      while (guess->receive()) continue;
    }
  }
  EXPECT_TRUE(Client::connect(server->address(), by_token(users.token())));
}

TEST(Login, AServerStopsWhilePasswordsWait) {
  for (int round = 0; round < 3; ++round) {
    const UsersFile users;
    RunningServer server(users.server());
    const auto guesses = send_guesses(server->address(), 6);
    wait_until([&] { return server->counters().hashed_passwords >= 3; });
    server.stop();
  }
}

TEST(Login, OverHttpWhoFailsTooOftenIsToldForHowLong) {
  const UsersFile users;
  RunningServer server(users.server(with_http()));
  HttpConnection http(http_address(server));
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(http.ask("GET", "/v1/rules", "", bearer("gorgo_wrong")).status, 401u);
  }
  const auto refused = http.ask("GET", "/v1/rules", "", bearer("gorgo_wrong"));
  EXPECT_EQ(refused.status, 429u);
  EXPECT_EQ(refused.headers.at("Retry-After"), "6");
}

TEST(Login, TheNameInACertificateIsTheUser) {
  const Certificates files;
  const UsersFile users("[[user]]\nname = \"monitor\"\nsubscribe = [\"Fire\"]\n");
  RunningServer server(files.server(users.server()));
  auto client = Client::connect(server->address(), files.client("monitor"));
  ASSERT_TRUE(client) << client.error().to_string();
  EXPECT_TRUE(client->subscribe("Fire"));
  EXPECT_FALSE(client->subscribe("Temp"));
  EXPECT_FALSE(Client::connect(server->address(), files.client()));
  files.run(
      "openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /O=plant "
      "-keyout nameless.key -out nameless.csr");
  files.run(
      "openssl x509 -req -in nameless.csr -CA ca.pem -CAkey ca.key -CAcreateserial "
      "-days 365 -out nameless.pem");
  EXPECT_THAT(error_of(Client::connect(server->address(), files.client("nameless"))),
              HasSubstr("does not have one common name"));
}

TEST(Login, ACertificateOfAnUnknownUserIsNotEnough) {
  const Certificates files;
  const UsersFile users;
  RunningServer server(files.server(users.server()));
  EXPECT_THAT(error_of(Client::connect(server->address(), files.client("monitor"))),
              HasSubstr("is no user of this server"));
}

TEST(Login, HttpTakesTokensAndPasswords) {
  const UsersFile users;
  RunningServer server(users.server(with_http()));
  HttpConnection http(http_address(server));
  const auto anonymous = http.ask("GET", "/v1/rules");
  EXPECT_EQ(anonymous.status, 401u);
  EXPECT_THAT(anonymous.headers.at("WWW-Authenticate"), HasSubstr("Basic"));
  const auto page = http.ask("GET", "/v1/rules", "", "Sec-Fetch-Mode: cors\r\n");
  EXPECT_EQ(page.status, 401u);
  EXPECT_THAT(page.headers.at("WWW-Authenticate"), HasSubstr("Bearer")) << "a page asks by itself";
  EXPECT_EQ(http.ask("GET", "/v1/rules", "", bearer(users.token())).status, 200u);
  EXPECT_EQ(http.ask("GET", "/v1/rules", "", bearer("gorgo_wrong")).status, 401u);
  // admin:wonderland
  const std::string basic = "Authorization: Basic YWRtaW46d29uZGVybGFuZA==\r\n";
  EXPECT_EQ(http.ask("GET", "/v1/rules", "", basic).status, 200u);
  const auto hashed = server->counters().hashed_passwords;
  EXPECT_EQ(http.ask("GET", "/v1/rules", "", basic).status, 200u);
  EXPECT_EQ(server->counters().hashed_passwords, hashed) << "once for a connection";
  EXPECT_EQ(http.ask("GET", "/v1/rules", "", "Authorization: Basic !\r\n").status, 401u);
  EXPECT_EQ(http.ask("GET", "/v1/rules").status, 401u) << "each request says who sends it";
}

TEST(Login, ARefusedPublicationOverHttpAppliesNothing) {
  const UsersFile users;
  RunningServer server(users.server(with_http()));
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("POST", "/v1/events", event_line("A", 1)).status, 401u);
  HttpConnection again(http_address(server));
  const auto taken = again.ask("POST", "/v1/events", event_line("A", 2), bearer(users.token()));
  EXPECT_EQ(taken.json()["accepted"], 1);
  const auto metrics = again.ask("GET", "/metrics", "", bearer(users.token()));
  EXPECT_THAT(metrics.body, HasSubstr("gorgo_events_accepted_total 1"));
}

TEST(Login, HealthNeedsNoneAndMetricsOnlyByConfiguration) {
  const UsersFile users(user_with_token("reader", "gorgo_reader", "subscribe = [\"*\"]"));
  ServerOptions options = users.server(with_http());
  {
    RunningServer server(options);
    HttpConnection http(http_address(server));
    EXPECT_EQ(http.ask("GET", "/healthz").status, 200u);
    EXPECT_EQ(http.ask("GET", "/readyz").status, 200u);
    EXPECT_EQ(http.ask("GET", "/metrics").status, 401u);
    EXPECT_EQ(http.ask("GET", "/metrics", "", bearer("gorgo_reader")).status, 403u);
    EXPECT_EQ(http.ask("GET", "/v1/connections", "", bearer("gorgo_reader")).status, 403u);
    EXPECT_EQ(http.ask("GET", "/metrics", "", bearer(users.token())).status, 200u);
    EXPECT_EQ(http.ask("GET", "/v1/connections", "", bearer(users.token())).status, 200u);
  }
  options.http.open_metrics = true;
  RunningServer server(options);
  HttpConnection http(http_address(server));
  EXPECT_EQ(http.ask("GET", "/metrics").status, 200u);
  EXPECT_EQ(http.ask("GET", "/v1/rules").status, 401u) << "a scrape lets nobody in";
  EXPECT_EQ(http.ask("GET", "/v1/connections").status, 401u);
}

TEST(Login, ASecretInAUrlIsRefused) {
  const UsersFile users;
  RunningServer server(users.server(with_http()));
  HttpConnection http(http_address(server));
  for (const char* key : {"token", "access_token", "password"}) {
    const auto refused = http.ask("GET", std::string("/v1/rules?") + key + "=" + users.token(), "",
                                  bearer(users.token()));
    EXPECT_EQ(refused.status, 400u);
    EXPECT_THAT(refused.body, HasSubstr("a URL is no place for a secret"));
  }
}

TEST(Login, AWebSocketMayCarryItsTokenAmongItsProtocols) {
  const UsersFile users;
  RunningServer server(users.server(with_http()));
  const auto upgrade = [&](const std::string& protocols) {
    HttpConnection http(http_address(server));
    return http.ask("GET", "/v1/events?subscribe=A", "",
                    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                        protocols);
  };
  auto taken = upgrade("Sec-WebSocket-Protocol: gorgo, gorgo.token." + users.token() + "\r\n");
  EXPECT_EQ(taken.status, 101u);
  EXPECT_EQ(taken.headers["Sec-WebSocket-Protocol"], "gorgo");
  EXPECT_EQ(upgrade("Sec-WebSocket-Protocol: gorgo, gorgo.token.wrong\r\n").status, 401u);
  EXPECT_EQ(upgrade("").status, 401u);
}

TEST(Login, PagesOfOthersMayNotUseWhatABrowserRemembers) {
  const UsersFile users;
  RunningServer server(users.server(with_http()));
  HttpConnection http(http_address(server));
  const auto refused = http.ask("POST", "/v1/events", event_line("A", 1),
                                bearer(users.token()) + "Origin: https://evil.example\r\n");
  EXPECT_EQ(refused.status, 403u);
}

TEST(Login, ClientsOfTrexAreTheUserThatTheConfigurationNames) {
  const UsersFile users(user_with_token("legacy", new_token(), "publish = [\"T7\"]"));
  ServerOptions options = users.server(with_trex());
  options.trex.types = {{7, "T7"}, {8, "T8"}};
  const trex::Publication allowed{.type = 7, .timestamp = 0, .attributes = {}};
  const trex::Publication forbidden{.type = 8, .timestamp = 0, .attributes = {}};
  {
    RunningServer server(options);
    TrexConnection nobody(trex_address(*server));
    EXPECT_TRUE(nobody.is_closed());
  }
  options.trex.user = "legacy";
  RunningServer server(options);
  auto watching = Client::connect(server->address(), by_token(users.token()));
  ASSERT_TRUE(watching) << watching.error().to_string();
  subscribe(*watching, "*");
  TrexConnection client(trex_address(*server));
  client.publish(forbidden);
  client.publish(allowed);
  EXPECT_EQ(next(*watching).event.type, "T7");
}

/// An address of this machine that others can reach; "": there is none.
std::string public_address() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return "";
  std::string found;
  for (const ifaddrs* each = all; each != nullptr && found.empty(); each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    const boost::asio::ip::address_v4 ip(ntohl(address->sin_addr.s_addr));
    if (!ip.is_loopback()) found = ip.to_string();
  }
  freeifaddrs(all);
  return found;
}

TEST(Login, SecretsAreNeitherSentNorTakenInTheClearOverANetwork) {
  const std::string ip = public_address();
  if (ip.empty()) GTEST_SKIP() << "this machine has only loopback addresses";
  const UsersFile users;
  ServerOptions options = users.server();
  options.http.listen = "0.0.0.0:0";
  options.insecure = options.security.insecure = true;
  RunningServer server(options);
  const std::string local = http_address(server);
  const std::string address = ip + local.substr(local.rfind(':'));
  HttpConnection http(address);
  const auto refused = http.ask("GET", "/v1/rules", "", bearer(users.token()));
  EXPECT_EQ(refused.status, 401u);
  EXPECT_THAT(refused.body, HasSubstr("unencrypted over a network"));
  EXPECT_THAT(error_of(Client::connect(address, by_token(users.token()))),
              HasSubstr("would travel unencrypted"));
}

TEST(Login, AReloadEndsTheConnectionsOfUsersWhoAreGoneOrChanged) {
  const auto reader = [](const std::string& keys) {
    return user_with_token("reader", "gorgo_reader", keys);
  };
  const UsersFile users(reader("subscribe = [\"A\"]") + user_with_token("gone", "gorgo_gone"));
  RunningServer server(users.server());
  server->set_reread([&] { return users.server(); });
  auto stays = Client::connect(server->address(), by_token(users.token()));
  auto gone = Client::connect(server->address(), by_token("gorgo_gone"));
  auto changed = Client::connect(server->address(), by_token("gorgo_reader"));
  ASSERT_TRUE(stays && gone && changed);
  users.write(reader("subscribe = [\"B\"]"));
  server->reload();
  for (Client* ended : {&*gone, &*changed}) {
    const auto end = ended->next(30 * kSecond);
    ASSERT_FALSE(end);
    EXPECT_THAT(end.error().message, HasSubstr("the users of the server have changed"));
  }
  EXPECT_TRUE(stays->rules());
  EXPECT_EQ(error_of(Client::connect(server->address(), by_token("gorgo_gone"))), kWrong);
}

// A reload may come while the engine has a question of a stream, whose reader has gone when the
// answer comes.
TEST(Login, AReloadLeavesNoConnectionOfStreamsThatItEnds) {
  const auto admin = [](int limit) {
    return user_with_token("other", "gorgo_other",
                           "admin = true\nlimits = { connections = 100 }\nsubscribe = [\"T" +
                               std::to_string(limit) + "\"]");
  };
  const UsersFile users(admin(0));
  RunningServer server(with_http(users.server()));
  server->set_reread([&] { return with_http(users.server()); });
  // What the workbench asks for takes a moment then.
  std::string rules;
  for (int i = 0; i < 2000; ++i) {
    rules += "rule r" + std::to_string(i) + ": define B(x: int) from A(x = " + std::to_string(i) +
             ") where x = A.x;\n";
  }
  auto client = Client::connect(server->address(), by_token(users.token()));
  ASSERT_TRUE(client && client->deploy("many.tesla", rules));
  for (int round = 1; round <= 30; ++round) {
    std::vector<std::unique_ptr<HttpConnection>> streams;
    for (int i = 0; i < 8; ++i) {
      streams.push_back(std::make_unique<HttpConnection>(http_address(server)));
      streams.back()->request("GET", "/v1/workbench/stream", "", bearer("gorgo_other"));
    }
    // At another moment of what the streams do in each round.
    std::this_thread::sleep_for(std::chrono::milliseconds(round));
    users.write(admin(round));
    server->reload();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // some are ended, others begin
  }
  HttpConnection http(http_address(server));
  wait_until([&] {
    const auto answer = http.ask("GET", "/v1/connections", "", bearer(users.token()));
    return answer.body.find("\"other\"") == answer.body.npos;
  });
}

TEST(Login, AReloadWithAWrongFileOfUsersChangesNothing) {
  const UsersFile users;
  RunningServer server(users.server());
  std::atomic<int> read = 0;
  server->set_reread([&] {
    ++read;
    return users.server();
  });
  auto client = Client::connect(server->address(), by_token(users.token()));
  ASSERT_TRUE(client) << client.error().to_string();
  users.replace("[[user]]\nnam = \"x\"\n");
  server->reload();
  wait_until([&] { return read == 1; });
  EXPECT_TRUE(client->rules());
  EXPECT_TRUE(Client::connect(server->address(), by_token(users.token())));
}

}  // namespace
}  // namespace gorgo::server
