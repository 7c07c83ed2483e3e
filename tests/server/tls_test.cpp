#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "http_support.hpp"
#include "protocol/trex/encode.hpp"
#include "server/security/tls.hpp"
#include "tls_support.hpp"
#include "trex_support.hpp"
#include "users_support.hpp"

// TLS on every port, with real certificates (docs/security.md).
namespace gorgo::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Tls : public testing::Test {
 protected:
  Certificates files_;

  /// A server of all ports.
  ServerOptions options() const { return files_.server(with_http(with_trex())); }
  /// What such a server finds when it reads its configuration again.
  ServerOptions reread() const {
    ServerOptions same = options();
    same.listen = "127.0.0.1:0";
    return same;
  }
};

TEST_F(Tls, NativeClientsPublishAndSubscribe) {
  RunningServer server(options());
  auto subscriber = Client::connect(server->address(), files_.client());
  ASSERT_TRUE(subscriber) << subscriber.error().to_string();
  subscribe(*subscriber, "A");
  auto publisher = Client::connect(server->address(), files_.client());
  ASSERT_TRUE(publisher) << publisher.error().to_string();
  constexpr std::int64_t kMany = 50'000;
  std::vector<Event> events;
  for (std::int64_t i = 0; i < kMany; ++i) events.push_back({"A", std::nullopt, {{"x", i}}});
  const auto published = publisher->publish(events);
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ(published->accepted, kMany);
  for (std::int64_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(next(*subscriber).event.attributes[0].value, Value(i));
  }
}

TEST_F(Tls, HttpIsServedAndEndsInOrder) {
  RunningServer server(options());
  TlsConnection http(http_address(server));
  ASSERT_FALSE(http.failure()) << http.failure().message();
  http.send("GET /healthz HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(http.receive(), HasSubstr("200 OK"));
  EXPECT_TRUE(http.ended_in_order()) << http.failure().message();
}

TEST_F(Tls, ClientsOfTrexPublish) {
  RunningServer server(options());
  auto subscriber = Client::connect(server->address(), files_.client());
  ASSERT_TRUE(subscriber) << subscriber.error().to_string();
  subscribe(*subscriber, "*");
  TlsConnection publisher(trex_address(*server));
  ASSERT_FALSE(publisher.failure());
  trex::Bytes bytes;
  trex::encode(bytes, trex::Publication{.type = 7, .timestamp = 0, .attributes = {}});
  publisher.send({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  EXPECT_THAT(next(*subscriber).event.type, HasSubstr("7"));
}

TEST_F(Tls, ACertificateOfNoUserIsNobodyForTrexEither) {
  const UsersFile users(user_with_token("legacy", new_token(), "publish = [\"*\"]"));
  ServerOptions with = files_.server(users.server(with_trex()));
  with.trex.user = "legacy";
  RunningServer server(with);
  TlsConnection stranger(trex_address(*server), files_.client("monitor"));
  ASSERT_FALSE(stranger.failure()) << stranger.failure().message();
  stranger.receive();
  EXPECT_TRUE(stranger.failure()) << "the server ends the connection";
  EXPECT_EQ(server->counters().sessions, 1u);
}

TEST_F(Tls, AClientRefusesAServerOfAnotherAuthority) {
  const Certificates others;
  RunningServer server(options());
  const auto client = Client::connect(server->address(), others.client());
  EXPECT_THAT(error_of(client), HasSubstr("is not trusted"));
}

TEST_F(Tls, AClientRefusesAnExpiredCertificate) {
  files_.run(
      "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial"
      " -copy_extensions copy -days -1 -out server.pem");
  RunningServer server(options());
  const auto client = Client::connect(server->address(), files_.client());
  EXPECT_THAT(error_of(client), HasSubstr("certificate has expired"));
}

TEST_F(Tls, AClientRefusesACertificateOfAnotherName) {
  files_.run("cp monitor.pem server.pem && cp monitor.key server.key");
  RunningServer server(options());
  const auto client = Client::connect(server->address(), files_.client());
  EXPECT_THAT(error_of(client), HasSubstr("mismatch"));
}

TEST_F(Tls, Version12IsRefused) {
  RunningServer server(options());
  const TlsConnection old(server->address(), boost::asio::ssl::context::tlsv12_client);
  EXPECT_TRUE(old.failure());
  wait_until([&] { return server->counters().failed_handshakes == 1; });
}

TEST_F(Tls, PlainTextOnAnyPortEndsTheConnectionAndIsCounted) {
  RunningServer server(options());
  const std::vector<std::string> ports = {server->address(), http_address(server),
                                          trex_address(*server)};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    HttpConnection plain(ports[i]);
    EXPECT_EQ(plain.ask("GET", "/healthz").status, 0u);
    wait_until([&] { return server->counters().failed_handshakes == i + 1; });
  }
  EXPECT_TRUE(Client::connect(server->address(), files_.client()));
}

TEST_F(Tls, AnAbandonedHandshakeEndsWithTheGreetingTimeout) {
  ServerOptions impatient = options();
  impatient.greeting_timeout = std::chrono::milliseconds(50);
  RunningServer server(impatient);
  HttpConnection silent(server->address());
  HttpConnection begun(server->address());
  begun.send(std::string("\x16\x03\x01\x02\x00\x01", 6));  // a ClientHello that does not go on
  EXPECT_EQ(silent.line(), "");
  EXPECT_EQ(begun.line(), "");
  wait_until([&] { return server->counters().failed_handshakes == 2; });
}

TEST_F(Tls, AHandshakeThatTheClientBreaksOffIsCounted) {
  RunningServer server(options());
  for (std::uint64_t i = 1; i <= 20; ++i) {
    HttpConnection leaves(server->address());
    leaves.send(std::string("\x16\x03\x01", 3));
    leaves.close();
    wait_until([&] { return server->counters().failed_handshakes == i; });
  }
  EXPECT_TRUE(Client::connect(server->address(), files_.client()));
}

TEST_F(Tls, AConnectionBeyondTheLimitIsClosed) {
  ServerOptions few = options();
  few.limits.max_sessions = 1;
  few.limits.reserved_sessions = 0;
  RunningServer server(few);
  auto first = Client::connect(server->address(), files_.client());
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_FALSE(Client::connect(server->address(), files_.client()));
  EXPECT_EQ(server->counters().refused_sessions, 1u);
  const auto closed = first->connections(true);
  ASSERT_TRUE(closed) << closed.error().to_string();
  ASSERT_EQ(closed->size(), 1u);
  EXPECT_EQ(closed->back().reason, "refused");
  EXPECT_THAT(closed->back().peer, HasSubstr("127.0.0.1:"));
}

TEST_F(Tls, AClientIsToldThatTheServerStops) {
  RunningServer server(options());
  auto client = Client::connect(server->address(), files_.client());
  ASSERT_TRUE(client) << client.error().to_string();
  (*server).stop();
  const auto end = client->next(30 * kSecond);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("stopping"));
  client = Error{};
  server.stop();
}

TEST_F(Tls, WhereCertificatesAreRequiredAClientWithoutOneIsTurnedAway) {
  ServerOptions strict = options();
  strict.tls.require_client_certificate = true;
  RunningServer server(strict);
  const auto client = Client::connect(server->address(), files_.client("monitor"));
  EXPECT_TRUE(client) << client.error().to_string();
  EXPECT_THAT(error_of(Client::connect(server->address(), files_.client())),
              HasSubstr("certificate required"));
  const Certificates others;
  ClientOptions foreign = others.client("monitor");
  foreign.tls.ca = files_.path("ca.pem");
  EXPECT_NE(error_of(Client::connect(server->address(), foreign)), "connected");
  wait_until([&] { return server->counters().failed_handshakes == 2; });
}

TEST_F(Tls, AReloadTakesNewCertificatesForNewConnections) {
  RunningServer server(options());
  server->set_reread([this] { return reread(); });
  auto before = Client::connect(server->address(), files_.client());
  ASSERT_TRUE(before) << before.error().to_string();
  const Certificates others;
  files_.run("cp '" + others.path("server.pem") + "' '" + others.path("server.key") + "' .");
  server->reload();
  wait_until([&] { return Client::connect(server->address(), others.client()).has_value(); });
  EXPECT_FALSE(Client::connect(server->address(), files_.client()));
  EXPECT_TRUE(before->rules());
}

TEST_F(Tls, WhatAReloadChangesIsTold) {
  const Certificates others;
  const auto context = [](const TlsOptions& options) {
    auto made = make_tls_context(options);
    EXPECT_TRUE(made) << made.error().to_string();
    return *made;
  };
  const TlsOptions mine = files_.server().tls, theirs = others.server().tls;
  TlsOptions authorities = mine;
  authorities.client_ca = theirs.client_ca;
  TlsOptions longer = mine;
  longer.certificate = files_.path("chain.pem");
  files_.run("(cat server.pem ca.pem > chain.pem)");
  const auto differences = [&](const TlsOptions& now) {
    return differences_between(context(mine), context(now));
  };
  EXPECT_THAT(differences(mine), IsEmpty());
  EXPECT_THAT(differences(theirs),
              ElementsAre("another certificate", "other authorities of clients"));
  EXPECT_THAT(differences(authorities), ElementsAre("other authorities of clients"));
  EXPECT_THAT(differences(longer), ElementsAre("another certificate"));
}

TEST_F(Tls, AReloadWithAWrongCertificateChangesNothing) {
  RunningServer server(options());
  std::atomic<bool> is_read = false;
  server->set_reread([&] {
    is_read = true;
    ServerOptions fresh = this->reread();
    fresh.limits.max_sessions = 1;
    return fresh;
  });
  const auto first = Client::connect(server->address(), files_.client());
  files_.write("server.pem", "no certificate");
  server->reload();
  wait_until([&] { return is_read.load(); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Client::connect(server->address(), files_.client()));
  }
}

/// What a start with these options says.
std::string problem_of(const ServerOptions& options) {
  if (const auto checked = check(options); !checked) return checked.error().to_string();
  Log log(LogFormat::text, LogLevel::off);
  Server server(options, log);
  const auto listening = server.listen();
  return listening ? "" : listening.error().to_string();
}

TEST_F(Tls, WrongFilesAreRefusedByName) {
  ServerOptions good = files_.server();
  good.listen = "127.0.0.1:0";
  EXPECT_EQ(problem_of(good), "");

  ServerOptions wrong = good;
  wrong.tls.key = files_.path("monitor.key");
  EXPECT_THAT(problem_of(wrong), HasSubstr("does not belong to tls.certificate"));
  wrong.tls.key = files_.path("absent.key");
  EXPECT_THAT(problem_of(wrong), HasSubstr("absent.key: No such file"));
  wrong.tls.key = "";
  EXPECT_THAT(problem_of(wrong), HasSubstr("tls.certificate and tls.key go together"));
  wrong = good;
  wrong.tls.certificate = files_.write("text.pem", "no certificate");
  EXPECT_THAT(problem_of(wrong), HasSubstr("tls.certificate: "));
  wrong = good;
  wrong.tls.client_ca = files_.path("monitor.pem");
  EXPECT_THAT(problem_of(wrong), HasSubstr("certificate 1 is not that of an authority"));
  files_.run("cat ca.pem server.pem | tee both.pem");
  wrong.tls.client_ca = files_.path("both.pem");
  EXPECT_THAT(problem_of(wrong), HasSubstr("certificate 2 is not that of an authority"));
  wrong = good;
  wrong.tls.client_ca = "";
  wrong.tls.require_client_certificate = true;
  EXPECT_THAT(problem_of(wrong), HasSubstr("needs tls.client_ca"));
}

TEST_F(Tls, AnEncryptedKeyIsRefusedWithItsRemedy) {
  ServerOptions options = files_.server();
  options.listen = "127.0.0.1:0";
  files_.run("openssl pkey -aes256 -passout pass:secret -in server.key -out locked.key");
  files_.run("chmod 600 locked.key");
  options.tls.key = files_.path("locked.key");
  EXPECT_THAT(problem_of(options), HasSubstr("is encrypted"));
  EXPECT_THAT(problem_of(options), HasSubstr("openssl pkey -in"));
}

TEST_F(Tls, ACertificateThatExpiresIsToldOf) {
  ServerOptions options = files_.server(with_http());
  const auto told = [&] {
    testing::internal::CaptureStderr();
    { RunningServer server(options, LogLevel::warning); }
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(told(), Not(HasSubstr("certificate")));
  files_.run(
      "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial "
      "-copy_extensions copy -days 2900000 -out server.pem");  // beyond the year 9900
  EXPECT_THAT(told(), Not(HasSubstr("certificate")));
  files_.run(
      "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial "
      "-copy_extensions copy -days 3 -out server.pem");
  EXPECT_THAT(told(), HasSubstr("the certificate expires soon"));
  files_.run(
      "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial "
      "-copy_extensions copy -days -1 -out server.pem");
  EXPECT_THAT(told(), HasSubstr("the certificate has expired"));
}

TEST_F(Tls, AKeyThatOthersMayReadIsRefused) {
  ServerOptions options = files_.server();
  options.listen = "127.0.0.1:0";
  files_.run("chmod 644 server.key");
  EXPECT_THAT(problem_of(options), HasSubstr("has the rights 0644, which let others in"));
  files_.run("chmod 640 server.key");
  EXPECT_EQ(problem_of(options), "");
}

}  // namespace
}  // namespace gorgo::server
