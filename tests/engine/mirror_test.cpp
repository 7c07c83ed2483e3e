#include "engine/cuda/mirror.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "cuda/host_device.hpp"
#include "engine/cuda/device_context.hpp"
#include "engine/cuda/mirrored_texts.hpp"

namespace gorgo::engine {
namespace {

constexpr std::uint32_t kPageShift = 2;
constexpr Field kValue{.attribute = 0}, kString{.attribute = 1};
constexpr Field kText{.kind = Field::Kind::text, .attribute = 1};

/// A timeline of events with a number and a string, and its mirror on a device.
class Mirrors : public testing::Test {
 protected:
  void add(Timestamp time, const std::string& text) {
    const std::vector<Datum> cells = {Datum::of(std::int64_t{time}), Datum::of(text)};
    const std::vector<history::Slot> slots = {store_.append(time, time, cells)};
    timeline_->add(slots);
  }
  void add_until(Timestamp time) {
    for (Timestamp t = last_; t < time; ++t) add(10 * t, "text");
    last_ = time;
  }
  void need_all(MirroredField& field) {
    context_->pages().begin_round();
    mirror_->sync();
    field.need(mirror_->pages_of({timeline_->begin(), timeline_->end()}));
  }
  std::size_t in_use() const { return context_->pages().in_use(); }
  const PageCounters& counters() const { return context_->pages().counters(); }

  history::EventStore store_{
      EventType{.name = "T", .attributes = {{"v", ValueType::integer}, {"s", ValueType::string}}}};
  std::shared_ptr<history::Timeline> timeline_ = [this] {
    auto timeline = std::make_shared<history::Timeline>(store_);
    timeline->materialise(std::vector<std::uint32_t>{0, 1});
    return timeline;
  }();
  std::shared_ptr<DeviceContext> context_ =
      std::make_shared<DeviceContext>(std::make_unique<gpu::HostDevice>(
          gpu::DeviceOptions{.bytes = 64 * 8 << kPageShift, .page_shift = kPageShift}, 0));
  std::shared_ptr<Mirror> mirror_ = context_->mirror(store_, timeline_);
  Timestamp last_ = 0;
};

TEST_F(Mirrors, ShareFieldsButNotMarks) {
  EXPECT_EQ(&mirror_->add(kValue), &mirror_->add(kValue));
  EXPECT_NE(&mirror_->add(kString), &mirror_->add(kText));
  EXPECT_NE(&mirror_->add_marks(), &mirror_->add_marks());
}

TEST_F(Mirrors, GiveThePagesOfMarksBackThatAreRemoved) {
  add_until(10);
  need_all(mirror_->add(kValue));
  const std::size_t before = in_use();
  MirroredMarks& marks = mirror_->add_marks();
  need_all(marks);
  EXPECT_EQ(in_use(), before + 3);
  mirror_->remove(marks);
  EXPECT_EQ(in_use(), before);
}

TEST_F(Mirrors, FetchWhatComesBackUnlessItMayHaveChanged) {
  add_until(8);
  MirroredField& values = mirror_->add(kValue);
  MirroredMarks& marks = mirror_->add_marks();
  need_all(values);
  need_all(marks);
  EXPECT_EQ(counters().uploaded, 4u);
  mirror_->evict();
  EXPECT_EQ(in_use(), 0u);
  EXPECT_EQ(values.missing({0, 2}), 2u);
  EXPECT_EQ(marks.missing({0, 2}), 0u);
  EXPECT_EQ(values.prefetch({0, 2}, 1), 1u);
  EXPECT_EQ(marks.prefetch({0, 2}, 1), 0u);
  EXPECT_EQ(counters().prefetched, 1u);
}

TEST_F(Mirrors, HaveAPageForEachPartOfTheLongestStringOfItsEvents) {
  add_until(4);
  MirroredField& texts = mirror_->add(kText);
  need_all(texts);
  EXPECT_EQ(texts.frames({0, 1}), 2u);
  add(100, std::string(20, 'x'));
  add(110, std::string(MirroredTexts::kLongest + 1, 'x'));
  need_all(texts);
  EXPECT_EQ(texts.frames({0, 1}), 2u);
  EXPECT_EQ(texts.frames({1, 2}), 4u);
  EXPECT_EQ(in_use(), 6u);
  EXPECT_FALSE(texts.has_too_long({0, 5}));
  EXPECT_TRUE(texts.has_too_long({0, 6}));
}

TEST_F(Mirrors, BeginLaterFieldsWithWhatTheTimelineHoldsThen) {
  add(0, std::string(MirroredTexts::kLongest + 1, 'x'));
  add_until(400);
  mirror_->add(kValue);
  mirror_->sync();
  timeline_->drop_until(10 * 395);
  store_.drop_before(timeline_->slot(timeline_->begin()));
  add_until(410);
  MirroredField& texts = mirror_->add(kText);
  EXPECT_EQ(mirror_->end(), timeline_->end());
  EXPECT_FALSE(texts.has_too_long({0, mirror_->end()}));
  need_all(texts);
}

TEST_F(Mirrors, KeepStringsInTheDictionaryAsLongAsTheyAreMirrored) {
  add_until(4);
  need_all(mirror_->add(kString));
  EXPECT_NE(context_->codes().find("text"), 0u);
  mirror_.reset();
  EXPECT_EQ(context_->codes().find("text"), 0u);
  EXPECT_EQ(in_use(), 0u);
}

TEST_F(Mirrors, TakeEventsBehindALateOneForNew) {
  add_until(10);
  MirroredMarks& marks = mirror_->add_marks();
  need_all(marks);
  marks.upload();
  EXPECT_EQ(marks.fresh_from(), 10u);
  add(45, "late");
  mirror_->sync();
  EXPECT_EQ(marks.fresh_from(), 5u);
  EXPECT_EQ(mirror_->end(), 11u);
}

}  // namespace
}  // namespace gorgo::engine
