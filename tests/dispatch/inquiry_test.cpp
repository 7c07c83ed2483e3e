#include <atomic>
#include <chrono>
#include <thread>

#include "gorgo/why.hpp"
#include "processor_fixture.hpp"

// Questions why for which what they need is gathered piece by piece, while events come and go.
namespace gorgo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Timestamp kSecond = 1000 * kMillisecond;

class InquiryTest : public ProcessorTest {
 protected:
  void come(const char* type, Timestamp at, std::int64_t n) {
    append({.type = type, .timestamp = at, .attributes = {{"n", n}}});
  }

  WhyInquiry ask(std::size_t last) {
    const auto inquiry = processor.inquire("r", {.last = last, .at = {}});
    EXPECT_TRUE(inquiry);
    return *inquiry;
  }

  /// Gathers in pieces that are as small as there are. `between` is called after each of them.
  /// Returns how many there were.
  template <class Between>
  int gather(const WhyInquiry& inquiry, Between between) {
    int pieces = 1;
    for (; !processor.gather(inquiry, Clock::time_point::min()); ++pieces) between();
    return pieces;
  }

  static Why answer_to(const WhyInquiry& inquiry) {
    const std::atomic<bool> stop = false;
    auto why = answer(inquiry, stop);
    EXPECT_TRUE(why);
    return std::move(*why);
  }
};

TEST_F(InquiryTest, TerminatorsThatHaveGoneMeanwhileAreKnownByTheirCopies) {
  deploy(
      "event T(n: int); event W(n: int);\n"
      "rule r: define R(n: int) from T() as now and first W() within 1 h from now\n"
      "  where n = W.n;");
  for (int i = 0; i < 20'000; ++i) come("W", i, i);
  for (int i = 0; i < 5; ++i) come("T", kSecond + i, i);
  process();
  const WhyInquiry inquiry = ask(5);
  Timestamp clock = kSecond;
  int seen = 0;
  const int pieces = gather(inquiry, [&] {
    if (++seen < 3) return;  // the terminators are copied by then
    // All that came before is beyond what may come late.
    come("T", clock += 30 * kSecond, 9);
    come("W", clock, 0);
    process();
  });
  EXPECT_GT(pieces, 5);
  const Why why = answer_to(inquiry);
  ASSERT_EQ(why.funnels.size(), 5u);
  for (const Funnel& funnel : why.funnels) {
    EXPECT_EQ(funnel.composites, 1u);
    EXPECT_FALSE(funnel.forgotten);
  }
}

TEST_F(InquiryTest, EventsThatAreCountedSayWhichTheyAre) {
  deploy("event A(n: int); rule r: define C(n: int) from every 3 A(n > 0) per n where n = A.n;");
  Timestamp at = 0;
  for (const std::int64_t n : {1, 1, 2, 0, 1, 1, 2}) append(counted("A", ++at, n));
  process();
  const auto of = [&](const WhyOptions& options) {
    const auto why = processor.why("r", options);
    EXPECT_TRUE(why);
    std::vector<std::string> lines;
    for (const Funnel& funnel : why->funnels) {
      const bool is_counted = funnel.outcome == Funnel::Outcome::counted;
      lines.push_back(funnel.event + ": " + std::to_string(funnel.number) + " of " +
                      std::to_string(funnel.every) + (is_counted ? "" : ", evaluated") + ", " +
                      std::to_string(funnel.composites));
    }
    return lines;
  };
  // The newest event, and the only terminator.
  EXPECT_THAT(of({}), ElementsAre("A@5 {n=1}: 3 of 3, evaluated, 1", "A@7 {n=2}: 2 of 3, 0"));
  // The event comes in addition to the terminators that are asked for.
  EXPECT_THAT(of({.last = 1, .at = {}}),
              ElementsAre("A@5 {n=1}: 3 of 3, evaluated, 1", "A@7 {n=2}: 2 of 3, 0"));
  EXPECT_THAT(of({.at = 2 * kMillisecond}), ElementsAre("A@2 {n=1}: 2 of 3, 0"));
  EXPECT_THAT(of({.at = 3 * kMillisecond}), ElementsAre("A@3 {n=2}: 1 of 3, 0"));
  // It fails a condition of state 0, so it is not counted.
  EXPECT_THAT(of({.at = 4 * kMillisecond}), ElementsAre("A@4 {n=0}: 0 of 3, evaluated, 0"));
  EXPECT_THAT(of({.at = 6 * kMillisecond}), ElementsAre("A@6 {n=1}: 1 of 3, 0"));
}

TEST_F(InquiryTest, TerminatorsAreFoundByTheTimeOfTheirComposites) {
  deploy(
      "event A(n: int);\n"
      "rule at_once: define C(n: int) from A(n > 0) where n = A.n;\n"
      "rule later: define D(n: int) from A(n > 0) and not A(n = 9) within 5 ms after A\n"
      "  where n = A.n;");
  for (const Timestamp at : {1, 3, 8}) append(counted("A", at, at - 1));
  process();
  const auto found = [&](const std::string& rule, Timestamp at) {
    const auto why = processor.why(rule, {.at = {}, .composite_at = at * kMillisecond});
    EXPECT_TRUE(why);
    std::vector<std::string> events;
    for (const Funnel& funnel : why->funnels) events.push_back(funnel.event);
    return events;
  };
  EXPECT_THAT(found("at_once", 8), ElementsAre("A@8 {n=7}"));
  EXPECT_THAT(found("later", 8), ElementsAre("A@3 {n=2}"));
  // It fails a condition of state 0.
  EXPECT_THAT(found("later", 6), ElementsAre("A@1 {n=0}"));
  EXPECT_THAT(found("later", 7), ElementsAre());
}

TEST_F(InquiryTest, TerminatorsThatGoWhileOthersAreSoughtAreLeftOut) {
  deploy(
      "event T(n: int); event W(n: int);\n"
      "rule r: define R(n: int) from T(n = 1) as now and last W() within 1 h from now\n"
      "  where n = W.n;");
  come("W", 0, 7);
  const auto come_all = [&](Timestamp from) {
    for (int i = 0; i < 20'000; ++i) come("T", from + i, i % 1000 == 0 ? 1 : 0);
    process();
  };
  come_all(kSecond);
  const WhyInquiry inquiry = ask(1000);
  Timestamp clock = kSecond;
  const int pieces = gather(inquiry, [&] { come_all(clock += 30 * kSecond); });
  EXPECT_GT(pieces, 1);
  for (const Funnel& funnel : answer_to(inquiry).funnels) {
    EXPECT_EQ(funnel.composites, 1u);
    EXPECT_LT(funnel.timestamp, 2 * kSecond) << "it came behind the question";
  }
}

TEST_F(InquiryTest, RowsOfATableAreThereHoweverOldTheyAre) {
  deploy(
      "event T(n: int); table Row(n: int key, text: string);\n"
      "rule r: define R(text: string) from T(n = $n) where text = Row(n = $n).text;");
  for (const std::int64_t n : {1, 2}) {
    append({.type = "Row", .timestamp = n, .attributes = {{"n", n}, {"text", "old"}}});
  }
  come("T", 3600 * kSecond, 1);
  process();
  const WhyInquiry inquiry = ask(1);
  gather(inquiry, [] {});
  const Why why = answer_to(inquiry);
  ASSERT_EQ(why.funnels.size(), 1u);
  EXPECT_EQ(why.funnels[0].composites, 1u);
}

TEST_F(InquiryTest, AStopEndsTheAnswerThoughTimeIsUnbounded) {
  // An index finds at once that nothing has this number; the definition looks at all pairs.
  deploy(
      "event T(n: int); event W(n: int);\n"
      "@engine(column) rule r: define R(n: int) from T() as now\n"
      "  and each W() as first within 1 h from now\n"
      "  and each W(n = 0 - 1, n > first.n) as second within 1 h from now where n = 0;");
  for (int i = 0; i < 20'000; ++i) come("W", i, i);
  come("T", kSecond, 1);
  process();
  const WhyInquiry inquiry = ask(1);
  gather(inquiry, [] {});
  std::atomic<bool> stop = false;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // it is under way by then
    stop = true;
  });
  const auto why = answer(inquiry, stop);
  stopper.join();
  ASSERT_TRUE(why);
  ASSERT_EQ(why->funnels.size(), 1u);
  EXPECT_EQ(why->funnels[0].outcome, Funnel::Outcome::stopped);
}

}  // namespace
}  // namespace gorgo
