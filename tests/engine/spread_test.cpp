#include "engine/cuda/spread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gorgo::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Spread, PutsTheDearestFirstWhereLeastIs) {
  const std::vector<Load> loads = {{.cost = 3, .terminators = 1},
                                   {.cost = 5, .terminators = 1},
                                   {.cost = 4, .terminators = 1},
                                   {.cost = 2, .terminators = 1}};
  EXPECT_THAT(spread(loads, 2, 0), ElementsAre(ElementsAre(Share{1, 0, 1}, Share{3, 0, 1}),
                                               ElementsAre(Share{0, 0, 1}, Share{2, 0, 1})));
}

TEST(Spread, LeavesLoadsWhereTheirColumnsAre) {
  // 5 + 4 and 4 + 3: uneven, but not by enough to move a column.
  const std::vector<Load> loads = {{.cost = 5, .terminators = 9, .home = 1},
                                   {.cost = 4, .terminators = 9, .home = 1},
                                   {.cost = 4, .terminators = 9, .home = 0},
                                   {.cost = 3, .terminators = 9, .home = 0}};
  EXPECT_THAT(spread(loads, 2, 0), ElementsAre(ElementsAre(Share{2, 0, 9}, Share{3, 0, 9}),
                                               ElementsAre(Share{0, 0, 9}, Share{1, 0, 9})));
}

TEST(Spread, MovesLoadsFromADeviceThatHasTooMuch) {
  const std::vector<Load> loads = {{.cost = 4, .terminators = 9, .home = 0},
                                   {.cost = 4, .terminators = 9, .home = 0},
                                   {.cost = 4, .terminators = 9, .home = 0},
                                   // A device that is gone.
                                   {.cost = 3, .terminators = 9, .home = 7}};
  EXPECT_THAT(spread(loads, 2, 0), ElementsAre(ElementsAre(Share{0, 0, 9}, Share{1, 0, 9}),
                                               ElementsAre(Share{2, 0, 9}, Share{3, 0, 9})));
}

TEST(Spread, DividesWhatIsMoreThanAFairPart) {
  const std::vector<Load> loads = {{.cost = 30, .terminators = 10},
                                   {.cost = 3, .terminators = 1, .home = 2}};
  EXPECT_THAT(spread(loads, 3, 10),
              ElementsAre(ElementsAre(Share{0, 0, 3}), ElementsAre(Share{0, 3, 3}),
                          ElementsAre(Share{0, 6, 4}, Share{1, 0, 1})));
}

TEST(Spread, KeepsTogetherWhatCannotBeDivided) {
  EXPECT_THAT(spread({{{.cost = 30, .terminators = 10, .is_divisible = false}}}, 2, 0),
              ElementsAre(ElementsAre(Share{0, 0, 10}), IsEmpty()));
  EXPECT_THAT(spread({{{.cost = 30, .terminators = 10}}}, 2, 16),
              ElementsAre(ElementsAre(Share{0, 0, 10}), IsEmpty()));
  EXPECT_THAT(spread({{{.cost = 30, .terminators = 1}}}, 2, 0),
              ElementsAre(ElementsAre(Share{0, 0, 1}), IsEmpty()));
  EXPECT_THAT(spread({{{.cost = 30, .terminators = 10}}}, 1, 0),
              ElementsAre(ElementsAre(Share{0, 0, 10})));
}

}  // namespace
}  // namespace gorgo::engine
