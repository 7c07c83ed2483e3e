#include <array>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "batch_fixture.hpp"

// Events that come in columns.
namespace gorgo {
namespace {

using ::testing::Pair;

TEST_F(BatchTest, EventsOfSeveralTypesKeepTheirOrder) {
  deploy(kFire);
  BatchBuilder collected;
  collected.add(temp(1, "A", 50));
  collected.add(smoke(2, "A"));
  collected.add(temp(3, "B", 60));
  collected.add(smoke(4, "B"));
  IncomingBatch batch(collected.batch());
  append(batch);
  EXPECT_TRUE(batch.done());
  EXPECT_EQ(batch.accepted(), 4u);
  EXPECT_THAT(process(),
              ElementsAre("1.0 Temp area=A value=50.000000", "2.0 Smoke area=A",
                          "2.1 Fire area=A value=50.000000", "3.0 Temp area=B value=60.000000",
                          "4.0 Smoke area=B", "4.1 Fire area=B value=60.000000"));
}

TEST_F(BatchTest, RefusalsNameTheEventAndTheOthersGoOn) {
  deploy(kFire);
  BatchBuilder collected;
  collected.add(smoke(1, "A"));
  collected.add({"Smoke", 2 * kMillisecond, {{"area", true}}});
  collected.add({"Temp", 3 * kMillisecond, {{"area", std::string("A")}}});
  collected.add(smoke(4, "B"));
  IncomingBatch batch(collected.batch());
  append(batch);
  EXPECT_EQ(batch.accepted(), 2u);
  EXPECT_THAT(refusals, ElementsAre(Pair(1u, HasSubstr("`area` is bool")),
                                    Pair(2u, HasSubstr("`value` is missing"))));
  EXPECT_THAT(process(), ElementsAre("1.0 Smoke area=A", "2.0 Smoke area=B"));
  EXPECT_EQ(processor.counters().refused, 2u);
}

TEST_F(BatchTest, ComesInPieces) {
  BatchBuilder collected;
  for (int i = 0; i < 10; ++i) collected.add(counted("A", i, i));
  IncomingBatch batch(collected.batch());
  append(batch, {.events = 3, .check = kByItself});
  EXPECT_EQ(processor.pending(), 3u);
  append(batch, {.pending = 5, .check = kByItself});
  EXPECT_EQ(processor.pending(), 5u);
  int asked = 0;
  append(batch, {.pause = [&] { return ++asked > 2; }, .check = kByItself});
  EXPECT_EQ(processor.pending(), 7u);
  append(batch, {.pending_bytes = 1, .check = kByItself});
  EXPECT_EQ(processor.pending(), 8u);
  batch.leave_out();
  append(batch);
  EXPECT_TRUE(batch.done());
  EXPECT_EQ(batch.accepted(), 9u);
  EXPECT_EQ(process().back(), "9.0 A n=9");
}

TEST_F(BatchTest, TheCallerMayRefuseForReasonsOfItsOwn) {
  BatchBuilder collected;
  for (int i = 0; i < 4; ++i) collected.add(counted("A", i, i));
  IncomingBatch batch(collected.batch());
  append(batch, {.check = [](const BatchCursor& event) -> Result<void> {
           if (event.position() % 2 == 0) return {};
           return Error{"odd", ""};
         }});
  EXPECT_THAT(refusals, ElementsAre(Pair(1u, "odd"), Pair(3u, "odd")));
  EXPECT_EQ(processor.counters().refused, 2u);
  EXPECT_THAT(process(), ElementsAre("1.0 A n=0", "2.0 A n=2"));
}

TEST_F(BatchTest, AttributesMayBeAbsentAndOfSeveralTypes) {
  BatchBuilder collected;
  collected.add({"T", 1, {{"v", std::int64_t{1}}}});
  collected.add({"T", 2, {{"v", std::string("x")}, {"w", 2.0}}});
  collected.add({"T", 3, {}});
  IncomingBatch batch(collected.batch());
  append(batch);
  EXPECT_THAT(process(), ElementsAre("1.0 T v=1", "2.0 T v=x w=2.000000", "3.0 T"));
}

TEST_F(BatchTest, AnAttributeTwiceIsRefused) {
  const std::array<std::int64_t, 1> values = {1};
  const EventColumn column{.name = "v", .integers = values};
  IncomingBatch batch(
      {.tables = {{.type = "T", .events = 1, .timestamps = {}, .columns = {column, column}}},
       .order = {}});
  append(batch);
  EXPECT_THAT(refusals, ElementsAre(Pair(0u, HasSubstr("given twice"))));
}

TEST_F(BatchTest, AnEventThatGivesAnAttributeTwiceLeavesTheOthersAsTheyAre) {
  BatchBuilder collected;
  collected.add({"T", 1, {{"v", std::int64_t{1}}}});
  collected.add({"T", 2, {{"v", std::int64_t{2}}, {"v", std::int64_t{3}}}});
  collected.add({"T", 3, {{"v", std::int64_t{4}}, {"v", std::int64_t{5}}}});
  collected.add({"T", 4, {{"v", std::int64_t{6}}}});
  ASSERT_EQ(collected.batch().tables[0].columns.size(), 2u);
  IncomingBatch batch(collected.batch());
  append(batch);
  EXPECT_THAT(refusals,
              ElementsAre(Pair(1u, HasSubstr("given twice")), Pair(2u, HasSubstr("given twice"))));
  EXPECT_THAT(process(), ElementsAre("1.0 T v=1", "2.0 T v=6"));
}

TEST_F(BatchTest, AnEventOfABatchMayLackAnAttributeAnywhere) {
  for (const int lacking : {0, 7, 8, 13, 19}) {
    BatchBuilder collected;
    for (int i = 0; i < 20; ++i) {
      Event event{"T", i, {{"w", true}}};
      if (i != lacking) event.attributes.push_back({"v", std::int64_t{i}});
      collected.add(event);
    }
    BatchCursor at(collected.batch());
    for (int i = 0; i < 20; ++i, at.advance()) {
      EXPECT_EQ(at.to_event().attributes.size(), i == lacking ? 1u : 2u);
      EXPECT_EQ(at.row(), static_cast<std::uint32_t>(i));
    }
  }
}

TEST_F(BatchTest, WithoutTimestampsEventsAreStamped) {
  processor = Processor({.clock = [] { return Timestamp{7}; }});
  BatchBuilder collected;
  collected.add({"T", std::nullopt, {}});
  IncomingBatch batch(collected.batch());
  append(batch);
  process();
  EXPECT_EQ(processor.clock(), 7);
}

TEST_F(BatchTest, EventsThatAreStampedTogetherGetTheTimesThatTheyWouldGetAlone) {
  std::vector<Event> events;
  for (int i = 0; i < 20; ++i) {
    events.push_back({i % 7 < 5 ? "A" : "B", std::nullopt, {{"n", std::int64_t{i}}}});
  }
  const auto outcome = [&](const std::vector<std::size_t>& sizes) {
    Timestamp now = 1000;
    processor = Processor({.clock = [&] { return now; }});
    deploy("event A(n: int); event B(n: int);");
    std::vector<std::tuple<std::string, Timestamp, std::uint64_t>> rows;
    auto event = events.begin();
    for (const std::size_t size : sizes) {
      BatchBuilder collected;
      for (std::size_t i = 0; i < size; ++i) collected.add(*event++);
      IncomingBatch batch(collected.batch());
      append(batch);
      EXPECT_EQ(batch.accepted(), size);
      if (event - events.begin() == 10) now -= 500;  // somebody has set the clock
      if (event - events.begin() == 15) now += 5000;
    }
    EXPECT_TRUE(processor.stamps());
    processor.process([&](const OutputBatch& batch) {
      for (const auto& row : batch.rows) {
        rows.emplace_back(batch.to_event(row).type, row.timestamp, row.place.root);
      }
    });
    return rows;
  };
  const auto alone = outcome(std::vector<std::size_t>(20, 1));
  ASSERT_EQ(alone.size(), 20u);
  EXPECT_EQ(std::get<1>(alone.front()), 1000);
  EXPECT_EQ(std::get<1>(alone[14]), 1014);
  EXPECT_EQ(std::get<1>(alone.back()), 5504);
  EXPECT_EQ(outcome({10, 5, 5}), alone);
}

TEST_F(BatchTest, TheClockIsReadOnceUnlessAnEventIsAheadOfWhatItSaid) {
  int readings = 0;
  processor = Processor({.max_ahead = 10, .clock = [&] { return Timestamp{100 * ++readings}; }});
  BatchBuilder collected;
  for (Timestamp at : {1, 2, 110, 111, 210, 400}) collected.add({"T", at, {}});
  IncomingBatch batch(collected.batch());
  append(batch, {.check = kByItself});
  EXPECT_EQ(readings, 3);
  EXPECT_THAT(refusals, ElementsAre(Pair(5u, HasSubstr("ahead of the clock"))));
  BatchBuilder more;
  more.add({"T", 400, {}});
  IncomingBatch later(more.batch());
  append(later);
  EXPECT_EQ(later.accepted(), 1u);
  EXPECT_EQ(readings, 4);
}

/// Values of few events are copied in another way than those of many.
TEST_F(BatchTest, TheSizeOfATableChangesNothing) {
  deploy(kFire);
  for (int events = 1; events <= 6; ++events) {
    BatchBuilder collected;
    std::vector<std::string> expected;
    for (int i = 0; i < events; ++i) {
      const int ms = 10 * events + i, root = events * (events - 1) / 2 + i + 1;
      const std::string area = std::string(static_cast<std::size_t>(i), 'x');
      collected.add(temp(ms, area.c_str(), i));
      expected.push_back(std::to_string(root) + ".0 Temp area=" + area +
                         " value=" + std::to_string(static_cast<double>(i)));
    }
    IncomingBatch batch(collected.batch());
    append(batch);
    EXPECT_EQ(batch.accepted(), static_cast<std::uint32_t>(events));
    EXPECT_GE(processor.pending_bytes(), events * 2 * sizeof(Datum));
    EXPECT_EQ(process(), expected);
  }
}

TEST_F(BatchTest, TablesThatTakeTurnsAreTakenLikeSingleEvents) {
  const auto take = [this](std::size_t size, const Intake& intake, bool wants_all = true) {
    std::minstd_rand random(7);
    processor =
        Processor({.max_late = 3 * kMillisecond,
                   .max_ahead = 1000 * kMillisecond,
                   .clock = [] { return 1000 * kMillisecond; },
                   .hands_out = [=](std::string_view type) { return wants_all || type != "B"; }});
    deploy(
        "event A(n: int, s: string); event B(x: float); event C(b: bool, s: string);\n"
        "define Found(s: string) from C() and last A(s = C.s) within 1 s from C where s = C.s;");
    Outcome outcome;
    Timestamp now = 0;
    for (std::size_t made = 0; made < 2000; made += size) {
      BatchBuilder collected;
      for (std::size_t i = 0; i < size; ++i) {
        now += static_cast<Timestamp>(random() % 2) * kMillisecond;
        constexpr std::array<Timestamp, 3> kOff = {-2, -9, 3000};  // late, too late, ahead
        const auto odd = random() % 60;
        const Timestamp timestamp = now + (odd < kOff.size() ? kOff[odd] * kMillisecond : 0);
        const auto text = std::string(random() % 3, 'x');
        const auto type = random() % 3;
        if (type == 0) collected.add({"A", timestamp, {{"n", std::int64_t{1}}, {"s", text}}});
        if (type == 1) collected.add({"B", timestamp, {{"x", 0.5}}});
        if (type == 2) collected.add({"C", timestamp, {{"b", true}, {"s", text}}});
      }
      IncomingBatch batch(collected.batch());
      while (!batch.done()) {
        append(batch, intake);
        for (const auto& line : process()) outcome.out.push_back(line);
      }
      for (const auto& [position, why] : refusals) outcome.refused.push_back(why);
      refusals.clear();
    }
    for (const TypeInfo& type : processor.types()) {
      outcome.counts.insert(outcome.counts.end(), {type.accepted, type.late, type.too_late});
    }
    return outcome;
  };
  const Outcome expected = take(1, {});
  EXPECT_GT(expected.refused.size(), 10u);
  EXPECT_GT(expected.out.size(), 2000u);
  EXPECT_EQ(take(250, {}), expected);
  EXPECT_EQ(take(2000, {}), expected);
  EXPECT_EQ(take(250, {.events = 7}), expected);
  EXPECT_EQ(take(250, {.pending = 10}), expected);
  EXPECT_EQ(take(250, {.pending_bytes = 1000}), expected);
  const Outcome without_b = take(1, {}, false);
  EXPECT_LT(without_b.out.size(), expected.out.size());
  EXPECT_EQ(without_b.counts, expected.counts);
  EXPECT_EQ(take(250, {}, false), without_b);
  EXPECT_EQ(take(250, {.events = 7}, false), without_b);
}

TEST_F(BatchTest, AnEventIsStampedByTheClockAlsoWhereOthersTookTheirTurnBefore) {
  for (const bool wants_b : {true, false}) {
    Timestamp now = 0;
    processor =
        Processor({.max_late = 50,
                   .clock = [&] { return now; },
                   .hands_out = [=](std::string_view type) { return wants_b || type != "B"; }});
    deploy("event A(); event B();");
    BatchBuilder collected;
    for (int i = 0; i < 4; ++i) collected.add({"A", i, {}});
    for (int i = 0; i < 4; ++i) collected.add({"B", std::nullopt, {}});  // from 100 on
    collected.add({"A", 1, {}});  // is refused, so what comes next is taken by itself
    for (int i = 0; i < 4; ++i) collected.add({"A", 200 + i, {}});
    for (int i = 0; i < 4; ++i) collected.add({"B", std::nullopt, {}});  // from 300 on
    IncomingBatch batch(collected.batch());
    append(batch, {.pause = [&] { return now += 100, false; }, .check = {}});
    EXPECT_EQ(batch.accepted(), 16u);
    process();
    EXPECT_EQ(processor.clock(), 303);
  }
}

TEST_F(BatchTest, EventsThatAreStampedTakeTurnsWithOthers) {
  processor = Processor({.clock = [] { return 100 * kMillisecond; }});
  deploy("event A(n: int); event B(n: int);");
  BatchBuilder collected;
  for (int i = 0; i < 12; ++i) {
    const bool is_stamped = i % 2 == 0;
    collected.add({i % 3 == 0 ? "A" : "B",
                   is_stamped ? std::optional<Timestamp>() : 100 * kMillisecond + i,
                   {{"n", std::int64_t{i}}}});
  }
  IncomingBatch batch(collected.batch());
  append(batch);
  EXPECT_EQ(batch.accepted(), 12u);
  std::vector<Timestamp> timestamps;
  processor.process([&](const OutputBatch& out) {
    for (const auto& row : out.rows) timestamps.push_back(row.timestamp - 100 * kMillisecond);
  });
  EXPECT_THAT(timestamps, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

TEST_F(BatchTest, EventsThatComeOneByOneAreForgotten) {
  processor = Processor({.max_late = 0});
  deploy(
      "event A(n: int); event B();\n"
      "define Found(n: int) from B() and last A() within 10 ms from B where n = A.n;");
  const auto kept = [&] {
    for (const TypeInfo& type : processor.types()) {
      if (type.name == "A") return type.events;
    }
    return std::uint64_t{0};
  };
  for (int i = 1; i < 900; ++i) {
    BatchBuilder collected;
    collected.add({"A", i * kMillisecond, {{"n", std::int64_t{i}}}});
    IncomingBatch batch(collected.batch());
    append(batch);
    process();
    ASSERT_GE(kept(), static_cast<std::uint64_t>(std::min(i, 9)));
    ASSERT_LE(kept(), 30u);  // some are looked for at a time
  }
}

TEST_F(BatchTest, AnEmptyBatchIsDone) {
  IncomingBatch batch(EventBatch{});
  EXPECT_TRUE(batch.done());
  append(batch);
  EXPECT_EQ(processor.pending(), 0u);
}

}  // namespace
}  // namespace gorgo
