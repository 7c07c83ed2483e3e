#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace gorgo::tools {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class EnginesCommand : public CommandLine {};

TEST_F(EnginesCommand, ListsTheDefaultFirstAndWhatTheGpuIs) {
  const Outcome outcome = run("engines");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("auto "));
  EXPECT_THAT(outcome.out, HasSubstr("\nreference "));
  const auto cuda = outcome.out.find("\ncuda ");
  ASSERT_NE(cuda, std::string::npos);
  // Here, or why not.
  const std::string rest = outcome.out.substr(cuda);
  EXPECT_TRUE(rest.find("unavailable: ") != rest.npos ||
              rest.find("compute capability") != rest.npos)
      << rest;
}

TEST_F(EnginesCommand, ExplainTellsWhatAnEngineDeclines) {
  write("rules.tesla",
        "event A(s: string);"
        "@engine(cuda-host) define O(s: string) from A(s > 'a') where s = A.s;");
  const Outcome outcome = run("explain rules.tesla");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("cuda-host declines, column evaluates: it has nothing to search"));
}

}  // namespace
}  // namespace gorgo::tools
