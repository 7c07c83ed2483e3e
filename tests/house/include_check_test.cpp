#include "include_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace gorgo::house {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(IncludeCheck, AllowsRoomsToTheLeftPublicHeadersAndOwnFiles) {
  EXPECT_THAT(check_includes("src/engine/engine.cpp",
                             "#include \"engine/engine.hpp\"\n"
                             "#include <vector>\n"
                             "#include \"gorgo/rule.hpp\"\n"
                             "  #  include \"base/int128.hpp\"\n"
                             "#include \"Generated.h\"\n"
                             "#include \"history/page.hpp\"\n"),
              IsEmpty());
  EXPECT_THAT(check_includes("src/tools/serve.cpp", "#include \"server/server.hpp\"\n"), IsEmpty());
}

TEST(IncludeCheck, RefusesRoomsToTheRight) {
  EXPECT_THAT(
      check_includes("src/language/bind.cpp",
                     "#include \"language/ast.hpp\"\n#include \"engine/engine.hpp\"\n"),
      ElementsAre("src/language/bind.cpp:2: room 'language' must not include from 'engine'"));
}

TEST(IncludeCheck, KeepsTheRoomsOfTheDispatcherApart) {
  EXPECT_THAT(check_includes("src/dispatch/evaluate/a.cpp", "#include \"dispatch/rules/x.hpp\"\n"),
              IsEmpty());
  EXPECT_THAT(check_includes("src/dispatch/processor.cpp", "#include \"dispatch/order/x.hpp\"\n"),
              IsEmpty());
  EXPECT_THAT(check_includes("src/dispatch/rules/a.cpp", "#include \"dispatch/order/x.hpp\"\n"),
              ElementsAre("src/dispatch/rules/a.cpp:1: room 'dispatch/rules' must not include from "
                          "'dispatch/order'"));
  EXPECT_THAT(check_includes("src/dispatch/rules/a.cpp", "#include \"dispatch/processor.hpp\"\n"),
              ElementsAre("src/dispatch/rules/a.cpp:1: room 'dispatch/rules' must not include from "
                          "'dispatch/'"));
}

TEST(IncludeCheck, TheClientKnowsNoEngine) {
  EXPECT_THAT(check_includes("src/client/a.cpp", "#include \"protocol/framing.hpp\"\n"), IsEmpty());
  EXPECT_THAT(check_includes("src/client/a.cpp", "#include \"dispatch/x.hpp\"\n"),
              ElementsAre("src/client/a.cpp:1: room 'client' must not include from 'dispatch'"));
  EXPECT_THAT(check_includes("src/server/a.cpp", "#include \"client/x.hpp\"\n"),
              ElementsAre("src/server/a.cpp:1: room 'server' must not include from 'client'"));
}

TEST(IncludeCheck, RefusesUnknownRooms) {
  EXPECT_THAT(check_includes("src/base/a.cpp", "#include \"util/x.hpp\"\n"),
              ElementsAre("src/base/a.cpp:1: \"util/x.hpp\" is in no known room"));
  EXPECT_THAT(check_includes("src/util/a.cpp", ""),
              ElementsAre("src/util/a.cpp:1: room 'util' is not in the list of rooms"));
}

TEST(IncludeCheck, OneEngineKnowsTheDeviceSide) {
  const char* const include = "#include \"cuda/device.hpp\"\n";
  EXPECT_THAT(check_includes("src/engine/cuda/device_context.cpp", include), IsEmpty());
  EXPECT_THAT(check_includes("cuda/kernels.cuh", include), IsEmpty());
  EXPECT_THAT(check_includes("cuda/search.hpp", "#include \"base/arithmetic.hpp\"\n"), IsEmpty());
  EXPECT_THAT(check_includes("src/engine/engine.cpp", include),
              ElementsAre("src/engine/engine.cpp:1: only src/engine/cuda may include from 'cuda'"));
  EXPECT_THAT(check_includes("cuda/a.cu", "#include \"plan/plan.hpp\"\n"),
              ElementsAre("cuda/a.cu:1: the device side must not include from 'plan'"));
}

TEST(IncludeCheck, PublicHeadersStandAlone) {
  EXPECT_THAT(
      check_includes("include/gorgo/a.hpp",
                     "#include \"gorgo/value.hpp\"\n#include \"base/x.hpp\"\n"
                     "#include <boost/asio.hpp>\n"),
      ElementsAre("include/gorgo/a.hpp:2: a public header includes \"base/x.hpp\", which is "
                  "not public",
                  "include/gorgo/a.hpp:3: a public header includes <boost/asio.hpp>"));
}

TEST(House, EveryIncludePointsToTheLeft) {
  const fs::path repository = GORGO_REPOSITORY;
  std::vector<std::string> wrong;
  std::size_t files = 0;
  for (const char* folder : {"src", "include", "cuda"}) {
    for (const auto& entry : fs::recursive_directory_iterator(repository / folder)) {
      const auto extension = entry.path().extension();
      const bool is_source =
          extension == ".hpp" || extension == ".cpp" || extension == ".cuh" || extension == ".cu";
      if (!is_source) continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const auto found = check_includes(fs::relative(entry.path(), repository).string(), text);
      wrong.insert(wrong.end(), found.begin(), found.end());
      ++files;
    }
  }
  EXPECT_GT(files, 10u);
  EXPECT_THAT(wrong, IsEmpty());
}

}  // namespace
}  // namespace gorgo::house
