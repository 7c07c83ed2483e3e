#include "gorgo/event_batch.hpp"
#include "processor_fixture.hpp"

// Events that no rule reads and nobody wants, which are taken together.
namespace gorgo {
namespace {

using ::testing::Pair;

constexpr const char* kDeclared = "event Noise(n: int, x: float, ok: bool, s: string);\n";

Event noise(Timestamp ms, std::int64_t n = 0) {
  return {.type = "Noise",
          .timestamp = ms * kMillisecond,
          .attributes = {{"n", n}, {"x", 1.5}, {"ok", true}, {"s", std::string("a")}}};
}

class UnseenTest : public ProcessorTest {
 protected:
  std::vector<std::pair<std::uint32_t, std::string>> refusals;

  UnseenTest() { start({}); }

  /// Wants the types whose names begin with W.
  void start(ProcessorOptions options) {
    options.hands_out = [](std::string_view type) { return type.starts_with("W"); };
    processor = Processor(options);
  }

  std::uint32_t append(const std::vector<Event>& events, const Intake& intake = {}) {
    BatchBuilder collected;
    for (const Event& event : events) collected.add(event);
    IncomingBatch batch(collected.batch());
    processor.append(
        batch,
        [&](const BatchCursor& event, const Error& why) {
          refusals.emplace_back(event.position(), why.message);
        },
        intake);
    return batch.accepted();
  }
  std::uint64_t accepted_of(const std::string& type) {
    for (const TypeInfo& info : processor.types()) {
      if (info.name == type) return info.accepted;
    }
    return 0;
  }
};

TEST_F(UnseenTest, CountAndHavePlacesButAreNotHandedOut) {
  deploy(std::string(kDeclared) + kFire);
  EXPECT_EQ(append({noise(1),
                    temp(2, "A", 50),
                    noise(3),
                    {"Nobody", 4 * kMillisecond, {}},
                    smoke(5, "A"),
                    noise(6)}),
            6u);
  EXPECT_EQ(processor.pending(), 6u);
  EXPECT_THAT(process(), ElementsAre("5.1 Fire area=A value=50.000000"));
  EXPECT_EQ(processor.roots(), 6u);
  EXPECT_EQ(processor.clock(), 6 * kMillisecond);
  EXPECT_EQ(processor.counters().accepted, 6u);
  EXPECT_EQ(processor.pending(), 0u);
  EXPECT_EQ(accepted_of("Noise"), 3u);
  EXPECT_EQ(accepted_of("Nobody"), 1u);
  EXPECT_EQ(accepted_of("Temp"), 1u);
}

TEST_F(UnseenTest, AreHandedOutWhereSomebodyWantsThem) {
  deploy(kDeclared);
  append({counted("W", 1, 1), noise(2), counted("W", 3, 2), counted("V", 4, 3)});
  EXPECT_THAT(process(), ElementsAre("1.0 W n=1", "3.0 W n=2"));
  EXPECT_EQ(processor.roots(), 4u);
}

TEST_F(UnseenTest, AreRefusedOutOfTimeAsAllAre) {
  start({.max_late = 2 * kMillisecond, .max_ahead = 10 * kMillisecond, .clock = [] {
           return 20 * kMillisecond;
         }});
  deploy(kDeclared);
  EXPECT_EQ(append({noise(10), noise(11), noise(8), noise(9), noise(31), noise(30)}), 4u);
  EXPECT_THAT(refusals, ElementsAre(Pair(2u, HasSubstr("behind the clock")),
                                    Pair(4u, HasSubstr("ahead of the clock"))));
  EXPECT_EQ(processor.counters().too_late, 1u);
  EXPECT_EQ(processor.counters().late, 1u);
  EXPECT_EQ(processor.counters().too_ahead, 1u);
  EXPECT_EQ(processor.counters().refused, 2u);
  EXPECT_THAT(process(), IsEmpty());
  EXPECT_EQ(processor.roots(), 4u);
  EXPECT_EQ(processor.clock(), 30 * kMillisecond);
}

TEST_F(UnseenTest, AreRefusedByNameWhereTheyDoNotFit) {
  deploy(kDeclared);
  const auto why = [&](const Event& event) {
    refusals.clear();
    EXPECT_EQ(append({event, event}), 0u);
    return refusals.empty() ? "" : refusals.back().second;
  };
  Event event = noise(1);
  event.attributes[0].value = std::string("1");
  EXPECT_THAT(why(event), HasSubstr("`n` is string"));
  event = noise(1);
  event.attributes.pop_back();
  EXPECT_THAT(why(event), HasSubstr("`s` is missing"));
  event = noise(1);
  event.attributes.push_back({"m", true});
  EXPECT_THAT(why(event), HasSubstr("no attribute `m`"));
  event = {"Nobody", kMillisecond, {{"v", std::int64_t{1}}, {"v", std::int64_t{2}}}};
  EXPECT_THAT(why(event), HasSubstr("given twice"));
  EXPECT_EQ(processor.pending(), 0u);
}

TEST_F(UnseenTest, ComeInPieces) {
  deploy(kDeclared);
  std::vector<Event> events;
  for (int i = 0; i < 10'000; ++i) events.push_back(noise(i));
  EXPECT_EQ(append(events, {.events = 3, .pause = {}, .check = {}}), 3u);
  EXPECT_EQ(processor.pending(), 3u);
  for (Event& event : events) *event.timestamp += 10 * kMillisecond;
  EXPECT_EQ(append(events, {.pending = 9000, .pause = {}, .check = {}}), 8997u);
  EXPECT_EQ(append({noise(20'000), noise(20'001)}, {.pending = 9000, .pause = {}, .check = {}}),
            1u);
  process();
  EXPECT_EQ(processor.roots(), 9001u);
  const auto odd = [](const BatchCursor& event) -> Result<void> {
    if (event.position() % 2 == 0) return {};
    return Error{"odd", ""};
  };
  EXPECT_EQ(append({noise(20'002), noise(20'003), noise(20'004)}, {.pause = {}, .check = odd}), 2u);
  EXPECT_THAT(refusals, ElementsAre(Pair(1u, "odd")));
}

TEST_F(UnseenTest, TimersFireAmongThem) {
  deploy(std::string(kDeclared) + "define Tick() from Timer(second = 10);\n");
  append({noise(1), noise(9'999), noise(10'001), noise(20'001)});
  EXPECT_THAT(process(), ElementsAre("3.1 Tick"));
  EXPECT_EQ(processor.roots(), 5u);
}

TEST_F(UnseenTest, HaveWindowsEnd) {
  deploy(std::string(kDeclared) + kFire);
  append({temp(1, "A", 50)});
  process();
  append({noise(400'000)});
  process();
  for (const TypeInfo& type : processor.types()) EXPECT_EQ(type.events, 0u) << type.name;
}

TEST_F(UnseenTest, AreSeenFromTheRuleOnThatReadsThem) {
  deploy(kDeclared);
  append({noise(1, 1)});
  process();
  deploy("define Loud(n: int) from Noise(n > 0) where n = Noise.n;");
  append({noise(2, 2), noise(3, 0)});
  EXPECT_THAT(process(), ElementsAre("2.1 Loud n=2"));
}

TEST_F(UnseenTest, AreSeenWhereARuleReadsThemAmongSeveralTypes) {
  deploy(std::string(kDeclared) +
         "event Ask();\nevent W(n: int);\n"
         "define Answer(n: int) from Ask() and last Noise or W() as S within 1 s from Ask "
         "where n = S.n;");
  append({noise(1, 7), {"Ask", 2 * kMillisecond, {}}});
  EXPECT_THAT(process(), ElementsAre("2.1 Answer n=7"));
}

}  // namespace
}  // namespace gorgo
