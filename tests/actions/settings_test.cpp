#include "actions/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doors/shown.hpp"
#include "server/config/key.hpp"

namespace gorgo::actions {
namespace {

using testing::HasSubstr;
using Keys = std::vector<std::pair<std::string, SettingValue>>;

/// What is wrong with such a target; empty: nothing.
std::string problem(const Keys& keys, const std::string& name = "ops") {
  Settings settings;
  for (const auto& [key, value] : keys) {
    if (const auto done = set(settings, key, value); !done) return done.error().message;
  }
  const auto checked = check(name, settings);
  return checked ? "" : checked.error().message;
}

const std::string kWebhook = "webhook", kUrl = "https://example.org/hook";

TEST(ActionSettings, EachKindHasItsKeys) {
  EXPECT_EQ(problem({{"kind", kWebhook}, {"url", kUrl}}), "");
  EXPECT_EQ(problem({{"command", std::vector<std::string>{"/bin/true"}},
                     {"kind", std::string("command")}}),
            "");
  EXPECT_EQ(problem({{"kind", std::string("mail")},
                     {"server", std::string("smtp://127.0.0.1:25")},
                     {"from", std::string("gorgo@example.org")},
                     {"recipients", std::vector<std::string>{"a@example.org"}},
                     {"ca", std::string("/etc/ca.pem")}}),
            "");
  EXPECT_EQ(problem({{"kind", std::string("file")}, {"path", std::string("/tmp/x")}}), "");
  EXPECT_EQ(problem({{"broker", std::string("127.0.0.1:1883")},
                     {"kind", std::string("publish")},
                     {"to", std::string("mqtt")},
                     {"topic", std::string("alarms/{area}")}}),
            "");
  EXPECT_EQ(problem({{"kind", std::string("publish")},
                     {"path", std::string("/tmp/x")},
                     {"to", std::string("file")}}),
            "");
}

TEST(ActionSettings, WhatIsWrongIsNamed) {
  EXPECT_THAT(problem({{"url", kUrl}}),
              HasSubstr("actions.ops: kind: it is not said what is done"));
  EXPECT_THAT(problem({{"kind", std::string("webhok")}}), HasSubstr("no actions of kind 'webhok'"));
  EXPECT_THAT(problem({{"kind", std::string("mail")},
                       {"server", std::string("smtp://x")},
                       {"from", std::string("a@b>\r\nX: y")}}),
              HasSubstr("from: no address of mail"));
  EXPECT_THAT(problem({{"kind", kWebhook}}), HasSubstr("url: no address"));
  EXPECT_THAT(problem({{"kind", kWebhook}, {"url", std::string("ftp://example.org")}}),
              HasSubstr("url: no address"));
  EXPECT_THAT(problem({{"kind", kWebhook}, {"url", kUrl}, {"path", std::string("/x")}}),
              HasSubstr("path is for targets of kind file"));
  EXPECT_THAT(problem({{"kind", kWebhook}, {"url", kUrl}, {"topic", std::string("x")}}),
              HasSubstr("topic is for targets of kind publish"));
  EXPECT_THAT(problem({{"urll", kUrl}}), HasSubstr("did you mean 'url'?"));
  EXPECT_THAT(problem({{"url", std::int64_t{3}}}), HasSubstr("url: expected a string"));
  EXPECT_THAT(
      problem({{"kind", std::string("command")}, {"command", std::vector<std::string>{"page"}}}),
      HasSubstr("by its whole path"));
  EXPECT_THAT(problem({{"kind", std::string("publish")}, {"to", std::string("mqtt")}}),
              HasSubstr("broker"));
  EXPECT_THAT(problem({{"kind", std::string("publish")}}), HasSubstr("to: "));
  EXPECT_THAT(problem({{"kind", kWebhook}, {"url", kUrl}, {"in_flight", std::int64_t{0}}}),
              HasSubstr("in_flight"));
  EXPECT_THAT(
      problem({{"kind", kWebhook}, {"url", kUrl}, {"group_by", std::vector<std::string>{"a"}}}),
      HasSubstr("how long a group waits"));
  EXPECT_THAT(problem({{"kind", std::string("file")},
                       {"path", std::string("x")},
                       {"group_ms", std::int64_t{5}}}),
              HasSubstr("one by one"));
  EXPECT_THAT(problem({{"kind", kWebhook}, {"url", kUrl}}, "a b"),
              HasSubstr("the name of a target"));
  EXPECT_THAT(problem({{"kind", kWebhook},
                       {"url", kUrl},
                       {"headers", std::map<std::string, std::string>{{"A", "b\r\nC: d"}}}}),
              HasSubstr("headers"));
}

TEST(ActionSettings, InhibitionsAreChecked) {
  using Names = std::vector<std::string>;
  const auto with = [](const Keys& more) {
    Keys keys = {{"kind", kWebhook},
                 {"url", kUrl},
                 {"inhibit.fire.source", Names{"type=Fire"}},
                 {"inhibit.fire.target", Names{"type=Smoke"}},
                 {"inhibit.fire.for_ms", std::int64_t{600'000}}};
    keys.insert(keys.end(), more.begin(), more.end());
    return problem(keys);
  };
  EXPECT_EQ(with({{"inhibit.fire.equal", Names{"area"}}}), "");
  EXPECT_THAT(with({{"inhibit.fire.source", Names{}}}), HasSubstr("inhibit.fire.source"));
  EXPECT_THAT(with({{"inhibit.fire.target", Names{"Smoke"}}}), HasSubstr("inhibit.fire.target"));
  EXPECT_THAT(with({{"inhibit.fire.for_ms", std::int64_t{0}}}), HasSubstr("for_ms"));
  EXPECT_THAT(with({{"inhibit.fire.for_ms", std::string("1h")}}), HasSubstr("expected a number"));
  EXPECT_THAT(with({{"inhibit.fire.equal", std::string("area")}}), HasSubstr("a list of strings"));
  EXPECT_THAT(with({{"inhibit.fire.sauce", Names{}}}), HasSubstr("inhibit.fire.sauce"));
  EXPECT_THAT(with({{"inhibit.source", Names{}}}), HasSubstr("inhibit.source"));
  EXPECT_THAT(with({{"inhibit.smoke.source", Names{"type=X"}}}), HasSubstr("inhibit.smoke.target"));
}

TEST(ActionSettings, NoSecretIsShown) {
  Settings settings;
  ASSERT_TRUE(set(settings, "kind", kWebhook));
  ASSERT_TRUE(set(settings, "url", std::string("https://me:pass@example.org:8443/T01/token?k=v")));
  ASSERT_TRUE(set(settings, "headers", std::map<std::string, std::string>{{"A", "token"}}));
  ASSERT_TRUE(check("ops", settings));
  EXPECT_EQ(settings.address(), "https://example.org:8443/...");
  std::string shown;
  for (const auto& [key, value] : settings.given) {
    shown += server::toml_text(doors::shown(key, value));
  }
  EXPECT_THAT(shown, HasSubstr("https://example.org:8443/..."));
  EXPECT_THAT(shown, HasSubstr("webhook"));
  EXPECT_THAT(shown, testing::Not(HasSubstr("token")));
  EXPECT_THAT(shown, testing::Not(HasSubstr("pass")));
  EXPECT_EQ(doors::shown("database", std::string("host=db password=x")),
            doors::SettingValue(std::string("...")));
  EXPECT_EQ(doors::shown("database", std::string("dbname=plant")),
            doors::SettingValue(std::string("dbname=plant")));
  EXPECT_THAT(problem({{"kind", std::string("mail")},
                       {"server", std::string("smtp://me:pass@127.0.0.1:25")},
                       {"from", std::string("a@example.org")},
                       {"recipients", std::vector<std::string>{"b@example.org"}}}),
              HasSubstr("server: the user"));
}

}  // namespace
}  // namespace gorgo::actions
