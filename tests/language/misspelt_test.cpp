#include "bind_support.hpp"

namespace gorgo::language {
namespace {

constexpr const char* kSmoke = "event Smoke(); event Temperature(value: float);";

std::vector<std::string> on_type(const std::string& type) {
  return messages(kSmoke + ("define F() from Smoke() and not " + type + "() within 5 from Smoke;"));
}

std::vector<std::string> suspected(const std::string& type) {
  return {"1:80: warning: type `" + type + "` is declared nowhere and used only here"};
}

TEST(MisspeltTypes, OneSlipFromAKnownType) {
  for (const char* name : {"Smokee", "Smoe", "Smole", "Somke", "smoke", "Temperatur"}) {
    EXPECT_EQ(on_type(name), suspected(name)) << name;
  }
  EXPECT_EQ(hint_of("event Smoke(); define F() from Smoke() and not Smokr() within 5 from Smoke;"),
            "did you mean `Smoke`?");
}

TEST(MisspeltTypes, OfDeployedRulesToo) {
  EXPECT_THAT(messages("define F() from Smokr();", schema_of("event Smoke();")),
              ElementsAre("1:17: warning: type `Smokr` is declared nowhere and used only here"));
}

TEST(MisspeltTypes, OfTwoUndeclaredOnesTheLater) {
  EXPECT_THAT(messages("define F() from Open(); define G() from Oepn();"),
              ElementsAre("1:41: warning: type `Oepn` is declared nowhere and used only here"));
}

TEST(MisspeltTypes, OtherNamesAreFine) {
  for (const char* name : {"Smokers", "Rain", "Smoke2", "Fog"}) {
    EXPECT_THAT(on_type(name), IsEmpty()) << name;
  }
  // Used twice, declared, or short.
  EXPECT_THAT(messages("event Smoke(); define F() from Smokr(); define G() from Smokr();"),
              IsEmpty());
  EXPECT_THAT(messages("event Smoke(); event Smokr(); define F() from Smokr();"), IsEmpty());
  EXPECT_THAT(messages("event Lon(); define F() from Lot(); define G() from Sensor1();"
                       "define H() from Sensor2();"),
              IsEmpty());
}

}  // namespace
}  // namespace gorgo::language
