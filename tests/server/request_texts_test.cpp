#include "server/sessions/request_texts.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "protocol/framing.hpp"

namespace gorgo::server {
namespace {

template <class Body>
std::string problem_of(const Body& body) {
  const protocol::Bytes frame = protocol::encode(1, body);
  const Limits limits;
  const auto checked =
      check_texts(*flatbuffers::GetSizePrefixedRoot<wire::Message>(frame.data()), limits);
  return checked ? "" : checked.error().message;
}

TEST(RequestTexts, AreUtf8AndNamesHaveNoControlCharacters) {
  wire::DeployT deploy;
  deploy.name = "caf\u00E9/1";
  deploy.text = "define A() from B();\n\t// \u00E9\n";
  EXPECT_EQ(problem_of(deploy), "");
  deploy.text = "// \xFF";
  EXPECT_EQ(problem_of(deploy), "a text is not UTF-8");
  deploy.text = "";
  for (const char* name : {"a\nb", "\x1B[31m", "a\x7F"}) {
    deploy.name = name;
    EXPECT_EQ(problem_of(deploy), "a name has a control character") << name;
  }
  wire::SubscribeT subscribe;
  subscribe.text = "A";
  EXPECT_EQ(problem_of(subscribe), "");
  subscribe.durable = "d\xFF";
  EXPECT_EQ(problem_of(subscribe), "a text is not UTF-8");
}

TEST(RequestTexts, OfSubscriptionsAreBoundedBeforeTheyAreParsed) {
  wire::SubscribeT subscribe;
  subscribe.text = std::string(Limits().subscription_bytes, 'A');
  EXPECT_EQ(problem_of(subscribe), "");
  subscribe.text += 'A';
  EXPECT_EQ(problem_of(subscribe),
            "the text of the subscription has 65537 bytes, the limit is 65536");
  subscribe.durable = "d";
  EXPECT_NE(problem_of(subscribe), "");
}

TEST(RequestTexts, AreCheckedInAllRequestsThatNameSomething) {
  const std::string bad = "x\xFF", none;
  const auto with = [&](auto body, auto member) {
    body.*member = bad;
    return problem_of(body);
  };
  for (const std::string& problem :
       {with(wire::DeclareT(), &wire::DeclareT::name), with(wire::RemoveT(), &wire::RemoveT::rule),
        with(wire::ListRulesT(), &wire::ListRulesT::name),
        with(wire::AskWhyT(), &wire::AskWhyT::rule),
        with(wire::AcknowledgeT(), &wire::AcknowledgeT::durable),
        with(wire::EndDurableT(), &wire::EndDurableT::durable),
        with(wire::AskHistoryT(), &wire::AskHistoryT::name),
        with(wire::PromoteShadowT(), &wire::PromoteShadowT::name),
        with(wire::DropShadowT(), &wire::DropShadowT::name),
        with(wire::RemoveDoorT(), &wire::RemoveDoorT::name),
        with(wire::DeclareDoorT(), &wire::DeclareDoorT::text),
        with(wire::PinT(), &wire::PinT::engine)}) {
    EXPECT_EQ(problem, "a text is not UTF-8");
  }
  wire::OrderActionT order;
  order.name = "ops";
  order.silence = std::make_unique<wire::SilenceT>();
  order.silence->matchers = {"area=A1", "area=\xFF"};
  EXPECT_EQ(problem_of(order), "a text is not UTF-8");
}

TEST(RequestTexts, ANameIsShownWithoutWhatATerminalWouldTakeForOrders) {
  EXPECT_EQ(shown_name("caf\u00E9 1"), "caf\u00E9 1");
  EXPECT_EQ(shown_name("a\n\x1B[31m"), "a??[31m");
  EXPECT_EQ(shown_name("a\xFF\u00E9"), "a???");
  EXPECT_EQ(shown_name(std::string(1000, 'a')), std::string(256, 'a'));
  EXPECT_EQ(shown_name(std::string(255, 'a') + "\u00E9"), std::string(255, 'a'));
}

}  // namespace
}  // namespace gorgo::server
