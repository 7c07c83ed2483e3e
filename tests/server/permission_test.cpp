#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/attempts.hpp"
#include "http_support.hpp"
#include "server/security/credentials.hpp"
#include "server/security/exposure.hpp"
#include "server/security/permissions.hpp"
#include "server/security/secrets.hpp"
#include "server/security/users.hpp"
#include "users_support.hpp"

// What users may do, and the files that say so (docs/security.md).
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kToken = "gorgo_of_the_user";

/// A server with the administrator and a user of these permissions, and a client of that user.
class WithUser {
 public:
  explicit WithUser(const std::string& permissions, ServerOptions options = {})
      : users_(user_with_token("sensor", kToken, permissions)),
        server_(users_.server(std::move(options))),
        client_(connect(by_token(kToken))),
        admin_(connect(by_token(users_.token()))) {}

  RunningServer& server() { return server_; }
  Client& client() { return client_; }
  Client& admin() { return admin_; }
  const UsersFile& users() const { return users_; }

 private:
  UsersFile users_;
  RunningServer server_;
  Client client_, admin_;

  Client connect(const ClientOptions& options) {
    auto client = Client::connect(server_->address(), options);
    EXPECT_TRUE(client) << client.error().to_string();
    return std::move(*client);
  }
};

template <class T>
std::string problem_in(const Result<T>& result) {
  return result ? "" : result.error().to_string();
}

Event event(const std::string& type) { return {type, std::nullopt, {}}; }

TEST(Permissions, ForbiddenRowsAreRefusedAndTheOthersTaken) {
  WithUser with("publish = [\"Temp*\"]\npublish_deny = [\"TempSecret\"]");
  const auto published = with.client().publish(
      std::vector{event("TempA"), event("Fire"), event("TempSecret"), event("TempB")});
  ASSERT_TRUE(published) << published.error().to_string();
  EXPECT_EQ(published->accepted, 2u);
  ASSERT_EQ(published->refusals.size(), 2u);
  EXPECT_EQ(published->refusals[0].index, 1u);
  EXPECT_THAT(published->refusals[0].reason, HasSubstr("may not publish Fire"));
  EXPECT_THAT(published->refusals[0].hint, HasSubstr("publish = [\"Fire\"]"));
  EXPECT_EQ(published->refusals[1].index, 2u);
}

TEST(Permissions, ForbiddenRowsAreNotDelivered) {
  WithUser with("publish = [\"A\"]");
  subscribe(with.admin(), "*");
  ASSERT_TRUE(with.client().publish(std::vector{event("B"), event("A")}));
  EXPECT_EQ(next(with.admin()).event.type, "A");
}

TEST(Permissions, HttpNamesTheRowAndThePermission) {
  WithUser with("publish = [\"A\"]", with_http());
  HttpConnection http(http_address(with.server()));
  const auto answer =
      http.ask("POST", "/v1/events", event_line("A", 1) + event_line("B", 2), bearer(kToken));
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.json()["accepted"], 1);
  EXPECT_EQ(answer.json()["errors"][0]["row"], 1);
  EXPECT_THAT(answer.body, HasSubstr("may not publish B"));
  EXPECT_EQ(http.ask("GET", "/v1/rules", "", bearer(kToken)).status, 403u);
  EXPECT_EQ(with.server()->counters().forbidden_requests, 1u);
}

TEST(Permissions, SubscriptionsAreCheckedByTypeWhateverTheTextLooksLike) {
  WithUser with("subscribe = [\"Fire\"]");
  EXPECT_EQ(problem_in(with.client().subscribe("Fire(x > 1)")), "");
  EXPECT_THAT(problem_in(with.client().subscribe("Temp")), HasSubstr("may not subscribe to Temp"));
  EXPECT_THAT(problem_in(with.client().subscribe("  /* Fire */ Temp(x > 1)")),
              HasSubstr("may not subscribe to Temp"));
}

TEST(Permissions, AllTypesAreSubscribedToOnlyByThoseWhoMaySeeAll) {
  WithUser some("subscribe = [\"Fire\", \"Smoke\"]");
  EXPECT_THAT(problem_in(some.client().subscribe("*")),
              HasSubstr("single ones of these: Fire, Smoke"));
  EXPECT_EQ(problem_in(some.admin().subscribe("*")), "");
  WithUser nearly("subscribe = [\"*\"]\nsubscribe_deny = [\"Secret\"]");
  EXPECT_THAT(problem_in(nearly.client().subscribe("*")), HasSubstr("but not Secret"));
  EXPECT_EQ(problem_in(nearly.client().subscribe("Fire")), "");
}

TEST(Permissions, PublishersWaitOnlyForThoseWhoMayHaveThemWait) {
  WithUser with("subscribe = [\"Fire\"]", with_http());
  const SubscribeOptions block{.slow = SlowPolicy::block};
  const std::string why = problem_in(with.client().subscribe("Fire", block));
  EXPECT_THAT(why, HasSubstr("may not have publishers wait"));
  EXPECT_THAT(why, HasSubstr("block = true"));
  EXPECT_EQ(problem_in(with.client().subscribe("Fire", {.slow = SlowPolicy::drop})), "");
  EXPECT_EQ(problem_in(with.admin().subscribe("Fire", block)), "");
  HttpConnection http(http_address(with.server()));
  const std::string path = "/v1/events?subscribe=Fire&slow=block";
  EXPECT_EQ(http.ask("GET", path, "", bearer(kToken)).status, 403u);
  WithUser trusted("subscribe = [\"Fire\"]\nblock = true");
  EXPECT_EQ(problem_in(trusted.client().subscribe("Fire", block)), "");
}

TEST(Permissions, PublicationsAreRefusedOnlyForTheBacklogOfUsersWhoMayHavePublishersWait) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(testing::TempDir()) / ("gorgo_backlog_" + std::to_string(getpid()));
  ServerOptions options;
  options.journal.path = folder.string();
  options.journal.backlog_policy = BacklogPolicy::refuse;
  const SubscribeOptions durable{.durable = "mine"};
  {
    WithUser with("subscribe = [\"Fire\"]", options);
    EXPECT_THAT(problem_in(with.client().subscribe("Fire", durable)), HasSubstr("block = true"));
    EXPECT_EQ(problem_in(with.admin().subscribe("Fire", durable)), "");
  }
  fs::remove_all(folder);
  {
    WithUser trusted("subscribe = [\"Fire\"]\nblock = true", options);
    EXPECT_EQ(problem_in(trusted.client().subscribe("Fire", durable)), "");
  }
  fs::remove_all(folder);
  options.journal.backlog_policy = BacklogPolicy::drop;
  {
    WithUser dropping("subscribe = [\"Fire\"]", options);
    EXPECT_EQ(problem_in(dropping.client().subscribe("Fire", durable)), "");
  }
  fs::remove_all(folder);
}

TEST(Permissions, TypesAreToldToWhoeverMaySubscribeToThemOrPublishThem) {
  WithUser with("subscribe = [\"In\"]\npublish = [\"Out*\"]\nrules = [\"see\"]");
  for (const char* type : {"In", "Outer", "Secret"}) {
    EXPECT_TRUE(with.admin().publish(std::vector{event(type)}));
  }
  const auto names = [](Client& client) {
    std::vector<std::string> names;
    for (const TypeInfo& type : *client.types()) names.push_back(type.name);
    return names;
  };
  EXPECT_THAT(names(with.client()), testing::UnorderedElementsAre("In", "Outer"));
  EXPECT_THAT(names(with.admin()), testing::UnorderedElementsAre("In", "Outer", "Secret"));
}

constexpr const char* kRule = "define Out(x: int) from In(x > 1) where x = In.x;";

TEST(Permissions, ADeployedRuleReadsAndEmitsOnlyWhatItsUserMay) {
  const std::string deploys = "rules = [\"deploy\"]\n";
  WithUser both(deploys + "subscribe = [\"In\"]\npublish = [\"Out\"]");
  EXPECT_EQ(problem_in(both.client().deploy("mine", kRule)), "");
  WithUser blind(deploys + "publish = [\"Out\"]");
  EXPECT_THAT(problem_in(blind.client().deploy("mine", kRule)),
              HasSubstr("may not subscribe to In"));
  WithUser mute(deploys + "subscribe = [\"In\"]");
  EXPECT_THAT(problem_in(mute.client().deploy("mine", kRule)), HasSubstr("may not publish Out"));
  EXPECT_TRUE(mute.admin().rules()->empty());
}

TEST(Permissions, TimersTablesAndStatesOverSeveralTypesTakeThePermissionsOfTheirTypes) {
  const std::string types = "table Row(id: int key, x: int); event In(x: int); event Too(x: int);";
  const std::vector<std::string> texts = {
      "define Out(x: int) from Timer(every = 1 s) and last In() within 1 h from Timer where x = "
      "In.x;",
      "define Out(x: int) from In(x = $x) and table Row(id = $x) as R where x = R.x;",
      "define Out(x: int) from In(x = $x) where x = Row(id = $x).x;",
      "define Out(x: int) from In or Too() as E where x = E.x;",
      "define Out(x: int) from In(x = $x) and not In or Too() within 1 h from In where x = $x;"};
  WithUser all("rules = [\"deploy\"]\nsubscribe = [\"In\", \"Too\", \"Row\"]\npublish = [\"Out\"]");
  EXPECT_EQ(problem_in(all.admin().deploy("types", types)), "");
  for (const std::string& text : texts) {
    EXPECT_EQ(problem_in(all.client().deploy("mine", text, {.replace = true})), "") << text;
  }
  WithUser some(
      "rules = [\"deploy\"]\nsubscribe = [\"*\"]\nsubscribe_deny = [\"Too\", \"Row\"]\npublish = "
      "[\"Out\"]");
  EXPECT_EQ(problem_in(some.admin().deploy("types", types)), "");
  for (std::size_t i = 1; i < texts.size(); ++i) {
    EXPECT_THAT(problem_in(some.client().deploy("mine", texts[i])),
                HasSubstr("may not subscribe to"))
        << texts[i];
  }
}

TEST(Permissions, RulesBelongToDeployments) {
  WithUser with(
      "rules = [\"see\", \"deploy\", \"remove\"]\ndeployments = [\"mine*\"]\n"
      "subscribe = [\"*\"]\npublish = [\"*\"]");
  EXPECT_EQ(problem_in(with.admin().deploy("theirs", std::string("rule named: ") + kRule)), "");
  EXPECT_THAT(problem_in(with.client().deploy("theirs2", kRule)), HasSubstr("theirs2"));
  EXPECT_EQ(problem_in(with.client().deploy("mine", kRule)), "");
  EXPECT_THAT(problem_in(with.client().deploy("mine", std::string("rule named: ") + kRule,
                                              {.replace = true})),
              HasSubstr("the deployment 'theirs' is not one of the user"));
  EXPECT_THAT(problem_in(with.client().remove("named")), HasSubstr("theirs"));
  EXPECT_THAT(problem_in(with.client().remove("theirs")), HasSubstr("theirs"));
  const auto rules = with.client().rules();
  ASSERT_TRUE(rules) << rules.error().to_string();
  ASSERT_EQ(rules->size(), 1u);
  EXPECT_FALSE(with.client().rule("named"));
  EXPECT_TRUE(with.client().rule(rules->front().name));
  EXPECT_EQ(problem_in(with.client().remove(rules->front().name)), "");
  EXPECT_EQ(with.admin().rules()->size(), 1u);
}

TEST(Permissions, WhatIsWrongWithASubscriptionTellsOfNoTypeThatTheUserMayNotSee) {
  WithUser with("subscribe = [\"Fire\"]");
  EXPECT_EQ(problem_in(with.admin().deploy("types", "event Fire(n: int); event Smoke(area: int);")),
            "");
  const auto wrong = with.client().subscribe("Fire(x > 1)");
  ASSERT_TRUE(wrong) << wrong.error().to_string();
  EXPECT_THAT(wrong->diagnostics.render(), HasSubstr("no attribute `x`"));
  for (const char* text : {"Smoke(x > 1)", "Smoke(area > )", "/**/Smoke(x > 1)",
                           "Smoke//Fire\n(x > 1)", " Smoke(x > 1)", "*(x > 1)"}) {
    const std::string problem = problem_in(with.client().subscribe(text));
    EXPECT_THAT(problem, HasSubstr("may not subscribe to")) << text;
    EXPECT_THAT(problem, Not(HasSubstr("area"))) << text;
  }
}

TEST(Permissions, ADeclaredTypeBecomesATableByThoseWhoMayPublishIt) {
  WithUser with("rules = [\"deploy\"]\nsubscribe = [\"*\"]");
  EXPECT_EQ(problem_in(with.admin().deploy("types", "event Smoke(area: string);")), "");
  const char* const table = "table Smoke(area: string key);";
  EXPECT_THAT(problem_in(with.client().deploy("mine", table)), HasSubstr("may not publish Smoke"));
  EXPECT_EQ(problem_in(with.client().deploy("mine", "table Fire(area: string key);")), "");
  EXPECT_EQ(problem_in(with.admin().deploy("theirs", table)), "");
}

TEST(Permissions, SamplesOfShadowsAreOfTypesThatTheUserMaySubscribeTo) {
  WithUser with("rules = [\"see\"]\nsubscribe = [\"A\"]");
  EXPECT_EQ(problem_in(with.admin().deploy("out", kRule, {.replace = true})), "");
  EXPECT_EQ(problem_in(with.admin().deploy_shadow(
                "out", "define Out(x: int) from In(x > 5) where x = In.x;")),
            "");
  ASSERT_TRUE(
      with.admin().publish(std::vector{Event{"In", std::nullopt, {{"x", std::int64_t{3}}}}}));
  const auto all = with.admin().shadows(), some = with.client().shadows();
  ASSERT_TRUE(all && some);
  EXPECT_THAT(all->front().deployed_samples, testing::ElementsAre(HasSubstr("\"x\":3")));
  EXPECT_THAT(some->front().deployed_samples, testing::IsEmpty());
  const auto differing = [](const ShadowInfo& shadow) {
    return shadow.counts.only_deployed + shadow.before.only_deployed;
  };
  EXPECT_EQ(differing(some->front()), 1u);
}

TEST(Permissions, WithoutThemNothingIsAllowed) {
  WithUser with("");
  Client& client = with.client();
  EXPECT_EQ(client.publish(std::vector{event("A")})->refused, 1u);
  EXPECT_THAT(problem_in(client.subscribe("A")), HasSubstr("may not"));
  EXPECT_THAT(problem_in(client.declare("A", {})), HasSubstr("may not"));
  EXPECT_THAT(problem_in(client.deploy("a", kRule)), HasSubstr("may not"));
  EXPECT_THAT(problem_in(client.remove("a")), HasSubstr("may not"));
  EXPECT_THAT(problem_in(client.rules()), HasSubstr("may not"));
  EXPECT_THAT(problem_in(client.types()), HasSubstr("may not"));
  for (const std::string& error :
       {problem_in(client.tick(1)), problem_in(client.pin("a", "auto")),
        problem_in(client.devices()), problem_in(client.why("a")),
        problem_in(client.trace(event("A"))), problem_in(client.connections()),
        problem_in(client.disconnect(1)), problem_in(client.doors()),
        problem_in(client.declare_door("in", "kind = \"file\"\npath = \"x\"\n")),
        problem_in(client.remove_door("in"))}) {
    EXPECT_THAT(error, HasSubstr("admin = true"));
  }
  EXPECT_EQ(with.server()->counters().forbidden_requests, 15u);
}

// Without clients.

TEST(NamePatterns, AStarStandsForAnyCharacters) {
  const auto allows = [](const char* pattern, const char* name) {
    return NamePatterns{{pattern}, {}}.allows(name);
  };
  EXPECT_TRUE(allows("*", ""));
  EXPECT_TRUE(allows("Temp", "Temp"));
  EXPECT_FALSE(allows("Temp", "Temperature"));
  EXPECT_TRUE(allows("Temp*", "Temp"));
  EXPECT_TRUE(allows("*a*b", "xaxbab"));
  EXPECT_FALSE(allows("*a*b", "xaxba"));
  EXPECT_FALSE(allows("", "x"));
  EXPECT_FALSE((NamePatterns{{"*"}, {"Secret*"}}.allows("SecretPlan")));
  EXPECT_FALSE((NamePatterns{{"*"}, {"Secret*"}}.allows_all()));
  EXPECT_TRUE(allows("*a*a*a*a*a*a*a*a*a*b", (std::string(5000, 'a') + "b").c_str()));
}

TEST(Authorization, TakesBearerAndBasicAndQuotesNothing) {
  EXPECT_EQ(parse_authorization("Bearer abc")->token, "abc");
  EXPECT_EQ(parse_authorization("bEARER  abc ")->token, "abc");
  const auto basic = parse_authorization("Basic YWRtaW46YTpi");  // admin:a:b
  ASSERT_TRUE(basic);
  EXPECT_EQ(basic->user, "admin");
  EXPECT_EQ(basic->password, "a:b");
  for (const char* wrong : {"", "Bearer", "Bearer ", "Basic", "Basic Hidden!",
                            "Basic OmE=", "Digest Hidden", "Hidden"}) {
    const auto refused = parse_authorization(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().to_string().find("Hidden"), std::string::npos);
  }
}

std::string problem_of(const std::string& text) {
  return problem_in(Users::parse(text, "users.toml"));
}

TEST(Permissions, ARefusalNamesTheListThatDenies) {
  User user{
      .name = "ann", .publish = {{"Temp*"}, {"TempSecret"}}, .subscribe = {{"*"}, {"Secret"}}};
  EXPECT_THAT(check_publish(user, "TempSecret").error().to_string(), HasSubstr("publish_deny"));
  EXPECT_THAT(check_publish(user, "Fire").error().to_string(), HasSubstr("publish = [\"Fire\"]"));
  EXPECT_THAT(check_subscribe(user, "Secret").error().to_string(), HasSubstr("subscribe_deny"));
}

TEST(UsersFile, TellsWhoCameWentAndChanged) {
  const auto read = [](const std::string& text) {
    return Users::parse(text, "users.toml").value();
  };
  const auto before =
      read("[[user]]\nname = \"a\"\n[[user]]\nname = \"b\"\n[[user]]\nname = \"c\"\n");
  const auto after = read(
      "[[user]]\nname = \"a\"\n[[user]]\nname = \"b\"\nadmin = true\n[[user]]\nname = \"d\"\n");
  EXPECT_THAT(after->changes_since(*before),
              testing::ElementsAre("user 'b': changed", "user 'd': new", "user 'c': gone"));
  EXPECT_THAT(after->changes_since(*after), testing::IsEmpty());
}

TEST(UsersFile, NamesThePlaceOfWhatIsWrong) {
  EXPECT_THAT(problem_of("[[user]]\nname = 5\n"),
              HasSubstr("users.toml:2:1: name: expected a string"));
  EXPECT_THAT(problem_of("[[user]]\nname = \"a\"\npublsh = []\n"),
              HasSubstr("did you mean 'publish'"));
  EXPECT_THAT(problem_of("[[user]]\nadmin = true\n"), HasSubstr("the user has no name"));
  EXPECT_THAT(problem_of("[[user]]\nname = \"a\"\n[[user]]\nname = \"a\"\n"),
              HasSubstr("stands twice"));
  EXPECT_THAT(problem_of("[[user]]\nname = \"a\"\nrules = [\"read\"]\n"),
              HasSubstr("none of see, deploy"));
  EXPECT_THAT(problem_of("[[users]]\nname = \"a\"\n"), HasSubstr("did you mean 'user'"));
  EXPECT_THAT(problem_of(""), HasSubstr("there is no user"));
  EXPECT_THAT(problem_of("[[user]\n"), HasSubstr("users.toml:1:"));
}

TEST(UsersFile, NeverQuotesASecret) {
  for (const char* line : {"password = \"Hidden\"", "tokens = [\"Hidden\"]", "password = Hidden"}) {
    const auto problem = problem_of(std::string("[[user]]\nname = \"a\"\n") + line + "\n");
    EXPECT_NE(problem, "");
    EXPECT_EQ(problem.find("Hidden"), std::string::npos) << problem;
  }
}

TEST(UsersFile, RefusesHashesThatCostTooMuch) {
  std::string hash = hash_password("secret").value();
  const auto problem = [&] {
    return problem_of("[[user]]\nname = \"a\"\npassword = \"" + hash + "\"\n");
  };
  EXPECT_EQ(problem(), "");
  const auto memory = hash.find("m="), passes = hash.find("t=");
  ASSERT_NE(passes, hash.npos);
  hash[passes + 2] = '9';
  EXPECT_THAT(problem(), HasSubstr("four passes"));
  hash[passes + 2] = '1';
  EXPECT_EQ(problem(), "");
  hash.replace(memory, passes - memory, "m=1048577,");
  EXPECT_THAT(problem(), HasSubstr("1 GiB"));
}

TEST(UsersFile, MustNotBeReadableByOthers) {
  const UsersFile users;
  std::filesystem::permissions(users.path(), std::filesystem::perms(0644));
  EXPECT_THAT(problem_in(Users::read(users.path())), HasSubstr("chmod 600"));
}

TEST(Secrets, TokensAreKnownByTheirHashes) {
  const std::string token = new_token();
  EXPECT_TRUE(token.starts_with("gorgo_"));
  EXPECT_EQ(token.size(), 49u);
  EXPECT_NE(token, new_token());
  EXPECT_TRUE(is_token_hash(hash_of_token(token)));
  EXPECT_EQ(hash_of_token("abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Secrets, PasswordsAreKnownByHashesOfArgon2) {
  const auto hash = hash_password("secret");
  ASSERT_TRUE(hash);
  EXPECT_TRUE(hash->starts_with("$argon2id$"));
  EXPECT_NE(*hash, *hash_password("secret")) << "each has a salt of its own";
  EXPECT_EQ(check_password(*hash, "secret"), Verdict::right);
  EXPECT_EQ(check_password(*hash, "guess"), Verdict::wrong);
  EXPECT_FALSE(hash_password(""));
  EXPECT_TRUE(hash_password(std::string(1024, 'x')));
  const auto too_long = hash_password(std::string(1025, 'x'));
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().message, HasSubstr("more than 1024 bytes"));
}

TEST(Attempts, FailuresAreForgivenOneByOne) {
  Attempts attempts({.most = 10, .one = std::chrono::seconds(6)});
  const Attempts::Time start{};
  const auto from = boost::asio::ip::make_address("192.0.2.1");
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(attempts.may_try(from, start));
    attempts.failed(from, start);
  }
  EXPECT_FALSE(attempts.may_try(from, start));
  EXPECT_TRUE(attempts.may_try(boost::asio::ip::make_address("192.0.2.2"), start));
  EXPECT_FALSE(attempts.may_try(from, start + std::chrono::seconds(5)));
  EXPECT_TRUE(attempts.may_try(from, start + std::chrono::seconds(6)));
}

TEST(Attempts, ANetworkOfVersion6IsOneAddress) {
  Attempts attempts({.most = 10, .one = std::chrono::seconds(6)});
  const Attempts::Time start{};
  for (int i = 0; i < 10; ++i) {
    attempts.failed(boost::asio::ip::make_address("2001:db8::" + std::to_string(i + 1)), start);
  }
  EXPECT_FALSE(attempts.may_try(boost::asio::ip::make_address("2001:db8::ff"), start));
  EXPECT_TRUE(attempts.may_try(boost::asio::ip::make_address("2001:db8:0:1::1"), start));
}

TEST(Exposure, APortIsOpenToOthersOnlyWithUsersAndTls) {
  ServerOptions options;
  EXPECT_EQ(danger_of(options, false), "whoever connects may do everything");
  options.security.users = "users.toml";
  EXPECT_THAT(danger_of(options, false), HasSubstr("unencrypted"));
  options.tls.certificate = "server.pem";
  EXPECT_EQ(danger_of(options, false), "");
  options.trex.user = "legacy";
  EXPECT_EQ(danger_of(options, false), "");
  EXPECT_EQ(danger_of(options, true), "whoever connects is the user 'legacy'");
  options.tls.require_client_certificate = true;
  EXPECT_EQ(danger_of(options, true), "");
  options = {};
  options.insecure = true;
  EXPECT_NE(danger_of(options, false), "");
  options.security.insecure = true;
  EXPECT_EQ(danger_of(options, false), "");
}

TEST(Exposure, AReloadDoesNotTakeAwayWhatProtectsAnOpenPort) {
  const Certificates files;
  const UsersFile users;
  ServerOptions options = files.server(users.server(with_http()));
  options.http.listen = "0.0.0.0:0";
  RunningServer server(options);
  std::atomic<int> read = 0;
  server->set_reread([&] {
    ++read;
    ServerOptions bare = options;
    bare.security.users = "";
    return bare;
  });
  server->reload();
  wait_until([&] { return read == 1; });
  EXPECT_THAT(error_of(Client::connect(server->address(), files.client())),
              HasSubstr("asks who its clients are"));
}

}  // namespace
}  // namespace gorgo::server
