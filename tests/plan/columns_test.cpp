#include "plan_support.hpp"

namespace gorgo::plan {
namespace {

TEST(Columns, OfAllEventsIsSharedByStatesWithoutConditions) {
  const Planned planned(
      "event A(x: int); event B(x: int);"
      "define F() from A() and each B() within 5 from A and each B(x > 1) as C within 5 from A;");
  const Plan& plan = *planned.plans.front();
  const auto key_of = [](const ColumnSpec& column) { return std::string(column.key); };
  const ColumnSpec all = column_of_all(plan.rule.states[1].predicate.type);
  EXPECT_EQ(key_of(all), key_of(plan.states[1].scan.column));
  EXPECT_NE(key_of(all), key_of(plan.states[2].scan.column));
}

}  // namespace
}  // namespace gorgo::plan
