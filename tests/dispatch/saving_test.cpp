#include <optional>
#include <utility>

#include "processor_fixture.hpp"

namespace gorgo {
namespace {

using Parts = std::vector<Processor::SavedPart>;

class SavingTest : public ProcessorTest {
 protected:
  Parts save(std::size_t bytes = 1 << 20) {
    Parts parts;
    auto state = processor.begin_save();
    EXPECT_FALSE(state.has_error()) << state.error().to_string();
    if (state) parts.push_back(std::move(*state));
    while (auto part = processor.save_more(bytes)) parts.push_back(std::move(*part));
    processor.end_save();
    return parts;
  }

  /// Saves a bit behind each of so many steps, then the rest.
  template <class Step>
  Parts save_beside(int steps, Step&& step) {
    Parts parts = {*processor.begin_save()};
    for (int i = 0; i < steps; ++i) {
      step(i);
      process();
      if (auto part = processor.save_more(1)) parts.push_back(std::move(*part));
    }
    while (auto part = processor.save_more(1)) parts.push_back(std::move(*part));
    processor.end_save();
    return parts;
  }

  static Result<void> restore(Processor& into, Parts parts) {
    parts.emplace_back();
    std::size_t next = 0;
    return into.restore(
        [&]() -> Result<std::span<const std::byte>> { return parts[next++].bytes; });
  }

  /// Goes on with another processor.
  void go_on(ProcessorOptions options = {}) {
    const Parts parts = save();
    processor = Processor(std::move(options));
    const auto restored = restore(processor, parts);
    ASSERT_FALSE(restored.has_error()) << restored.error().to_string();
  }
};

TEST_F(SavingTest, WhatARuleHasConsumedStaysConsumed) {
  deploy(
      "event A(n: int); event B(n: int); rule r: define C(n: int) from B() and last A() "
      "within 1 h from B where n = A.n consuming A;");
  append(counted("A", 1, 1));
  append(counted("A", 2, 2));
  append(counted("B", 3, 0));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.0 A n=2", "3.0 B n=0", "3.1 C n=2"));
  go_on();
  append(counted("B", 4, 0));
  append(counted("B", 5, 0));
  EXPECT_THAT(process(), ElementsAre("4.0 B n=0", "4.1 C n=1", "5.0 B n=0"));
}

TEST_F(SavingTest, ARuleCountsOnFromWhereItWas) {
  deploy(
      "event A(n: int); rule r: define C(n: int) from every 3 A() where n = A.n; "
      "rule k: define D(n: int) from every 2 A() per n where n = A.n;");
  append(counted("A", 1, 1));
  append(counted("A", 2, 2));
  append(counted("A", 3, 2));
  append(counted("A", 4, 3));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "2.0 A n=2", "3.0 A n=2", "3.1 C n=2",
                                     "3.2 D n=2", "4.0 A n=3"));
  go_on();
  go_on();
  append(counted("A", 5, 2));
  append(counted("A", 6, 1));
  EXPECT_THAT(process(), ElementsAre("5.0 A n=2", "6.0 A n=1", "6.1 C n=1", "6.2 D n=1"));
  const auto why = processor.why("r", {.last = 1});
  ASSERT_TRUE(why);
  EXPECT_EQ(why->funnels.back().number, 3u);
}

TEST_F(SavingTest, PanesStayWithTheSumsThatTheyHave) {
  deploy(
      "event A(n: int); event F(x: float); "
      "@panes rule r: define C(n: int, least: int, sum: float) from Timer(every = 1 s) "
      "where n = Sum(A().n within 2 s inclusive from Timer), "
      "least = Min(A().n within 2 s inclusive from Timer), "
      "sum = Sum(F().x within 2 s inclusive from Timer);");
  append(counted("A", 100, -5));
  append({.type = "F", .timestamp = 200 * kMillisecond, .attributes = {{"x", 1e300}}});
  append({.type = "F", .timestamp = 300 * kMillisecond, .attributes = {{"x", 0.25}}});
  append({.type = "F", .timestamp = 400 * kMillisecond, .attributes = {{"x", -1e300}}});
  process();
  go_on();
  go_on();
  append(counted("A", 1200, 7));
  EXPECT_THAT(process(), ElementsAre("5.1 C n=-5 least=-5 sum=0.250000", "6.0 A n=7"));
  go_on();
  ASSERT_TRUE(processor.tick(3000 * kMillisecond));
  EXPECT_THAT(process(),
              ElementsAre("7.1 C n=2 least=-5 sum=0.250000", "8.1 C n=7 least=7 sum=0.000000"));
  const auto why = processor.why("r", {.last = 1});
  ASSERT_TRUE(why);
  EXPECT_EQ(why->funnels.back().composites, 1u);
}

TEST_F(SavingTest, ACompositeThatWaitsKeepsItsStrings) {
  deploy(
      "event A(s: string); rule r: define C(s: string, t: string) from A() and "
      "not A(s = 'stop') within 1 s after A where s = A.s, t = 'a constant that is long';");
  append({.type = "A", .timestamp = 0, .attributes = {{"s", std::string("some long text")}}});
  EXPECT_THAT(process(), ElementsAre("1.0 A s=some long text"));
  go_on();
  ASSERT_TRUE(processor.tick(2000 * kMillisecond));
  EXPECT_THAT(process(), ElementsAre("2.1 C s=some long text t=a constant that is long"));
}

TEST_F(SavingTest, RulesThatHaveGoneOrWereReplacedStayGone) {
  deploy(
      "event A(n: int); rule one: define X(n: int) from A() where n = 1; "
      "rule two: define Y(n: int) from A() where n = 2; "
      "rule three: define Z(n: int) from A() where n = 3;");
  ASSERT_TRUE(processor.remove("two"));
  deploy("rule one: define W(n: int) from A(n > 0) where n = 4;", true);
  go_on();
  EXPECT_EQ(processor.rule_count(), 2u);
  EXPECT_EQ(processor.schema().find("Y"), nullptr);
  append(counted("A", 1, 1));
  EXPECT_THAT(process(), ElementsAre("1.0 A n=1", "1.1 W n=4", "1.2 Z n=3"));
  EXPECT_THAT(refusal("rule three: define Z(n: int) from A() where n = 3;"),
              HasSubstr("is deployed already"));
}

TEST_F(SavingTest, ATextThatWouldBeRefusedAloneIsNamed) {
  deploy(
      "event A(n: int); rule one: define X(n: int) from A() where n = 1; "
      "rule two: define Y(n: int) from A() where n = 2;");
  ASSERT_TRUE(processor.remove("two"));
  ASSERT_FALSE(
      processor.deploy("other.tesla", "rule y: define Y(s: string) from A() where s = 'a';")
          .failed());
  const auto begun = processor.begin_save();
  ASSERT_TRUE(begun.has_error());
  EXPECT_THAT(begun.error().to_string(), HasSubstr("rules/test.tesla"));
  EXPECT_FALSE(processor.is_saving());
}

TEST_F(SavingTest, EnginesThatRulesArePinnedToStay) {
  deploy(kFire);
  ASSERT_TRUE(processor.pin("fire", "automaton"));
  go_on();
  EXPECT_EQ(processor.rule("fire")->engine, "automaton");
  EXPECT_FALSE(processor.rule("fire")->automatic);
}

TEST_F(SavingTest, EventsThatAreHeldAndThoseOfUnknownTypesComeInTheirOrder) {
  processor = Processor({.lateness = 10 * kMillisecond});
  deploy("event A(n: int); rule r: define C(n: int) from A() where n = A.n;");
  append(counted("A", 5, 1));
  append(counted("Unknown", 3, 2));
  append(counted("A", 4, 3));
  EXPECT_THAT(process(), IsEmpty());
  go_on({.lateness = 10 * kMillisecond});
  append(counted("A", 4, 4));
  append(counted("A", 100, 5));
  EXPECT_THAT(process(), ElementsAre("1.0 Unknown n=2", "2.0 A n=3", "2.1 C n=3", "3.0 A n=4",
                                     "3.1 C n=4", "4.0 A n=1", "4.1 C n=1"));
}

TEST_F(SavingTest, NothingIsForgottenBeforeItIsSaved) {
  deploy(
      "event A(n: int); event B(n: int); rule r: define C(n: int) from B() and each A() "
      "within 10 ms from B where n = A.n;");
  for (int i = 0; i < 100; ++i) append(counted("A", i, i));
  process();
  const Parts parts = save_beside(100, [this](int i) {
    append(counted("A", 50'000 + i, i));  // those before go out of reach
  });
  Processor other;
  ASSERT_TRUE(restore(other, parts));
  std::swap(processor, other);
  append(counted("B", 100, 0));
  EXPECT_EQ(process().size(), 10u);
}

TEST_F(SavingTest, RulesAreSavedAsTheyWereWhenItBegan) {
  constexpr int kRules = 300;  // of several parts
  std::string text = "event A(n: int);";
  for (int i = 0; i < kRules; ++i) {
    const std::string name = (i % 2 == 0 ? "third" : "each") + std::to_string(i);
    const std::string every = i % 2 == 0 ? "every 3 " : "";
    text += "rule " + name + ": define C(n: int) from " + every + "A() where n = A.n;";
  }
  deploy(text);
  append(counted("A", 1, 1));
  process();
  const Parts parts = save_beside(5, [this](int i) { append(counted("A", i + 2, i)); });
  Processor other;
  ASSERT_TRUE(restore(other, parts));
  std::swap(processor, other);
  for (const RuleInfo& rule : processor.rules()) {
    EXPECT_EQ(rule.terminators, rule.name.starts_with("each") ? 1u : 0u) << rule.name;
  }
  append(counted("A", 2, 2));
  append(counted("A", 3, 3));
  EXPECT_EQ(process().size(), 2u + kRules + kRules / 2);  // every third is the last
}

TEST_F(SavingTest, DamageIsAnError) {
  deploy(kFire);
  append(temp(1, "kitchen", 50));
  process();
  const Parts whole = save();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Parts lacking = whole;
    lacking.erase(lacking.begin() + static_cast<std::ptrdiff_t>(i));
    Processor other;
    EXPECT_TRUE(restore(other, lacking).has_error());
    Parts torn = whole;
    torn[i].bytes = torn[i].bytes.first(torn[i].bytes.size() / 2);
    Processor another;
    EXPECT_TRUE(restore(another, torn).has_error());
  }
  Processor empty;
  EXPECT_TRUE(restore(empty, {}).has_error());
}

}  // namespace
}  // namespace gorgo
