#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "command_line.hpp"
#include "gorgo/processor.hpp"

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

/// Lists that CMake and the workbench cannot ask the program for.
TEST_F(EnginesCommand, AreInTheListsThatAreKeptByHand) {
  const auto content = [](const std::string& file) {
    std::ifstream in(GORGO_SOURCE_DIR "/" + file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const auto list = [&](const std::string& file, const std::string& begin, const char* end) {
    const std::string text = content(file);
    const auto at = text.find(begin);
    EXPECT_NE(at, text.npos) << file;
    return " " + text.substr(at, text.find(end, at) - at) + " ";
  };
  const std::string pins = list("web/src/rule_detail.tsx", "const kEngines = [", "]");
  for (const std::string& engine : engine_names()) {
    // What is for tests alone is not offered. CI has no GPU, and `auto` takes one of the others.
    if (engine != "cuda-host") EXPECT_THAT(pins, HasSubstr("'" + engine + "'"));
    if (engine == "cuda" || engine == "auto") continue;
    for (const std::string folder : {"rules", "series"}) {
      const std::string file = "tests/" + folder + "/CMakeLists.txt";
      EXPECT_THAT(list(file, "foreach(engine ", ")"), HasSubstr(" " + engine + " ")) << file;
    }
  }
}

}  // namespace
}  // namespace gorgo::tools
