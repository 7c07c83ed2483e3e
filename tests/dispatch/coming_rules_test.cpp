#include <chrono>
#include <string>

#include "processor_fixture.hpp"

// Rules that get ready piece by piece before they are in force.
namespace gorgo {
namespace {

/// A processor whose rules get ready while events come, and one whose rules come at once, where
/// those are put in force.
class ComingRulesTest : public ProcessorTest {
 protected:
  static constexpr int kEvents = 4000;

  ComingRulesTest() {
    for (Processor* each : {&processor, &at_once_}) {
      const auto told = each->deploy("before.tesla", kBefore);
      EXPECT_FALSE(told.failed()) << told.render();
    }
  }

  /// The next events; their keys and values go up and down, and some are late.
  void come(int count) {
    for (int i = 0; i < count; ++i, ++events_) {
      Event event{.type = events_ % 5 == 0 ? "Smoke" : "Temp",
                  .timestamp = (10 * events_ - (events_ % 11 == 0 ? 300 : 0)) * kMillisecond,
                  .attributes = {{"area", std::string(1, static_cast<char>('a' + events_ % 7))}}};
      if (event.type == "Temp") {
        event.attributes.push_back({"value", static_cast<double>(events_ * 37 % 100)});
        event.attributes.push_back({"count", std::int64_t{events_ % 13}});
      }
      append(event);
      ASSERT_FALSE(at_once_.append(event).has_error());
    }
    auto lines = process();
    std::swap(processor, at_once_);
    const auto expected = process();
    std::swap(processor, at_once_);
    EXPECT_EQ(lines, expected);
    composites_ += std::ranges::count_if(lines, [](const std::string& line) {
      return line.find(" Hot") != std::string::npos || line.find(" Sum") != std::string::npos;
    });
  }

  /// Puts the text in force; events come while it gets ready. Returns in how many pieces.
  int put_in_force(const std::string& text, const DeployOptions& options) {
    const auto past = std::chrono::steady_clock::now();
    const auto prepared = prepare_rules(processor.snapshot(), "coming.tesla", text, options);
    int pieces = 1;
    for (; !processor.get_ready(prepared, past); ++pieces) {
      EXPECT_TRUE(processor.is_getting_ready());
      EXPECT_EQ(processor.rule_count(), at_once_.rule_count());
      come(20);
    }
    const auto told = processor.deploy(prepared);
    EXPECT_FALSE(told.failed()) << told.render();
    EXPECT_FALSE(processor.is_getting_ready());
    at_once_.deploy("coming.tesla", text, options);
    EXPECT_EQ(processor.rule_count(), at_once_.rule_count());
    return pieces;
  }

  static constexpr const char* kBefore = R"(
event Temp(area: string, value: float, count: int);
event Smoke(area: string);
rule warm: define Warm(area: string)
from Smoke(area = $a) and last Temp(area = $a, value > 90) within 1 min from Smoke
where area = $a;
)";
  static constexpr const char* kComing = R"(
rule hot: define Hot(area: string, value: float)
from Smoke(area = $a) and each Temp(area = $a, value > 45) within 1 s from Smoke
where area = $a, value = Temp.value;
rule ranged: define HotRange(value: float)
from Smoke() and last Temp(value > 30, value < 60) within 1 s from Smoke
where value = Temp.value;
rule sum: define Sum(area: string, sum: int, average: float)
from Smoke(area = $a) and $s = Sum(Temp(area = $a).count within 1 min from Smoke)
  and $m = Avg(Temp(area = $a, value > 90).value within 1 min from Smoke)
where area = $a, sum = $s, average = $m;
rule again: define HotAgain(value: float)
from Hot() and last Hot(value > 50) as Before within 2 s from Hot
where value = Before.value;
)";

  Processor at_once_;
  int events_ = 100;
  std::ptrdiff_t composites_ = 0;
};

TEST_F(ComingRulesTest, RulesGetReadyBesideEventsAndSeeNothingOfThem) {
  come(kEvents);
  EXPECT_GT(put_in_force(kComing, {}), 2);
  EXPECT_EQ(composites_, 0);
  come(kEvents);
  EXPECT_GT(composites_, 100);
}

TEST_F(ComingRulesTest, WithHistoryTheySeeWhatTheyWouldHaveSeenAtOnce) {
  come(kEvents);
  EXPECT_GT(put_in_force(kComing, {.with_history = true}), 2);
  come(50);
  EXPECT_GT(composites_, 10);
  come(kEvents);
}

TEST_F(ComingRulesTest, RulesThatAreReplacedWorkUntilTheOthersAreInForce) {
  put_in_force(kComing, {});
  come(kEvents);
  std::string text = kComing;
  text.replace(text.find("45"), 2, "55");
  EXPECT_GT(put_in_force(text, {.replace = true, .with_history = true}), 2);
  come(kEvents);
}

TEST_F(ComingRulesTest, WhatIsGivenUpLeavesNothing) {
  const auto past = std::chrono::steady_clock::now();
  come(kEvents);
  for (const char* text : {kComing,
                           "event New(n: int); rule n: define N() from New() and last"
                           " Temp(value > 1) within 1 s from New;"}) {
    const auto prepared = prepare_rules(processor.snapshot(), "coming.tesla", text);
    EXPECT_FALSE(processor.get_ready(prepared, past));
    come(20);
    processor.give_up();
    EXPECT_FALSE(processor.is_getting_ready());
    EXPECT_EQ(processor.schema().find("New"), nullptr);
    come(20);
  }
  put_in_force(kComing, {.with_history = true});
  come(kEvents);
}

TEST_F(ComingRulesTest, AChangeInBetweenHasThemGetReadyAnew) {
  const auto past = std::chrono::steady_clock::now();
  come(kEvents);
  const auto prepared = prepare_rules(processor.snapshot(), "coming.tesla", kComing);
  EXPECT_FALSE(processor.get_ready(prepared, past));
  for (Processor* each : {&processor, &at_once_}) ASSERT_FALSE(each->remove("warm").has_error());
  come(20);
  EXPECT_FALSE(processor.deploy(prepared).failed());
  at_once_.deploy("coming.tesla", kComing);
  come(kEvents);
  EXPECT_GT(composites_, 100);
}

TEST_F(ComingRulesTest, AnotherTextTakesTheirPlace) {
  const auto past = std::chrono::steady_clock::now();
  come(kEvents);
  const auto first = prepare_rules(processor.snapshot(), "first.tesla", kComing);
  EXPECT_FALSE(processor.get_ready(first, past));
  const std::string other = "rule o: define Hotter() from Temp(value > 98);";
  put_in_force(other, {});
  come(kEvents);
  EXPECT_FALSE(processor.deploy(first).failed());
  at_once_.deploy("first.tesla", kComing);
  come(kEvents);
}

}  // namespace
}  // namespace gorgo
