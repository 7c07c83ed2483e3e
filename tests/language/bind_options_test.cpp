// language.md §2 annotations, §8 timers and deadlines; what is not evaluated yet.
#include "bind_support.hpp"

namespace gorgo::language {
namespace {

TEST(BindOptions, EngineAndLimit) {
  const BoundFile bound = compile_text(
      "@engine(column-scan) @limit(max_sequences = 5) define F() from A();"
      "@engine(cuda) define G() from A(); define H() from A();");
  ASSERT_EQ(bound.rules.size(), 3u) << bound.diagnostics.render();
  EXPECT_EQ(bound.rules[0].options.engine, "column-scan");
  EXPECT_EQ(bound.rules[0].options.max_sequences, 5u);
  EXPECT_EQ(bound.rules[1].options.engine, "cuda");
  EXPECT_EQ(bound.rules[2].options.engine, "");
  EXPECT_EQ(bound.rules[2].options.max_sequences, 1'000'000u);
}

TEST(BindOptions, UnknownAnnotationsAndArguments) {
  EXPECT_THAT(messages("@engin(cuda) define F() from A();"),
              ElementsAre("1:2: there is no annotation `@engin`"));
  EXPECT_EQ(hint_of("@engin(cuda) define F() from A();"), "did you mean `engine`?");
  EXPECT_EQ(hint_of("@later define F() from A();"),
            "the annotations are `@at_most(N, per = TIME)`, `@engine(NAME)`, "
            "`@limit(max_sequences = N)` and `@panes`");
  EXPECT_THAT(messages("@limit(max_sequence = 5) define F() from A();"),
              ElementsAre("1:8: `@limit` has no argument `max_sequence`"));
  EXPECT_THAT(messages("@engine(a) @engine(b) define F() from A();"),
              ElementsAre("1:13: `@engine` stands twice before this rule"));
}

TEST(BindOptions, ArgumentsAreChecked) {
  const std::vector<std::string> engine = {"1:2: `@engine` takes the name of one engine"};
  EXPECT_EQ(messages("@engine define F() from A();"), engine);
  EXPECT_EQ(messages("@engine(a, b) define F() from A();"), engine);
  EXPECT_EQ(messages("@engine(5) define F() from A();"), engine);
  EXPECT_EQ(messages("@engine('a b') define F() from A();"), engine);
  EXPECT_EQ(messages("@engine(name = a) define F() from A();"), engine);
  const std::vector<std::string> limit = {
      "1:8: `max_sequences` must be a whole number of at least 1"};
  EXPECT_EQ(messages("@limit(max_sequences = 0) define F() from A();"), limit);
  EXPECT_EQ(messages("@limit(max_sequences = -1) define F() from A();"), limit);
  EXPECT_EQ(messages("@limit(max_sequences = 1.5) define F() from A();"), limit);
  EXPECT_THAT(messages("@limit define F() from A();"),
              ElementsAre("1:2: `@limit` needs an argument"));
}

TEST(BindOptions, Timers) {
  EXPECT_EQ(line_of("define F() from Timer(every = 1 min);", "from "), "Timer(every = 1 min)");
  EXPECT_EQ(line_of("define F() from Timer(hour = 9);", "from "),
            "Timer(hour = 9, minute = 0, second = 0)");
  EXPECT_EQ(line_of("define F() from Timer(minute = 30);", "from "),
            "Timer(minute = 30, second = 0)");
  EXPECT_EQ(line_of("define F() from Timer(second = 5);", "from "), "Timer(second = 5)");
}

TEST(BindOptions, TimersAreTerminatorsWithATime) {
  EXPECT_EQ(described("define F(t: int) from Timer(every = 1 s)"
                      " and $c = Count(A() within 1 s from Timer) where t = Timer.timestamp;"),
            "event F(t: int);\n"
            "from Timer(every = 1 s)\n"
            "state 0: Timer() as Timer\n"
            "$0 = COUNT(A() within 1 s from Timer): int\n"
            "required $0\n"
            "t := Timer.timestamp\n");
  EXPECT_THAT(messages("define F(t: int) from Timer(every = 1 s) where t = Timer.x;"),
              ElementsAre("1:58: a timer has no attribute `x`"));
}

}  // namespace
}  // namespace gorgo::language
