#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

/// What each fuzzer does with its seeds, whole and cut short at every byte. It is a test like any
/// other, for compilers without libFuzzer. A fuzzer ends the process where something is wrong; the
/// seed was printed before.
#define GORGO_FUZZER(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size)
GORGO_FUZZER(decode);
GORGO_FUZZER(events);
GORGO_FUZZER(http);
GORGO_FUZZER(http_body);
GORGO_FUZZER(login);
GORGO_FUZZER(mqtt);
GORGO_FUZZER(packing);
GORGO_FUZZER(parse);
GORGO_FUZZER(syslog);
GORGO_FUZZER(trex);
GORGO_FUZZER(web_socket);

namespace gorgo {
namespace {

namespace fs = std::filesystem;

struct Fuzzer {
  std::string name;
  int (*run)(const std::uint8_t*, std::size_t);
};

const std::vector<Fuzzer> kFuzzers = {
    {"decode", fuzz_decode},   {"events", fuzz_events},        {"http", fuzz_http},
    {"login", fuzz_login},     {"http_body", fuzz_http_body},  {"mqtt", fuzz_mqtt},
    {"packing", fuzz_packing}, {"parse", fuzz_parse},          {"syslog", fuzz_syslog},
    {"trex", fuzz_trex},       {"web_socket", fuzz_web_socket}};

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

class Seeds : public testing::TestWithParam<Fuzzer> {};

TEST_P(Seeds, PassWholeAndCutShort) {
  const auto paths = entries(fs::path(GORGO_CORPUS) / GetParam().name);
  ASSERT_FALSE(paths.empty());
  for (const fs::path& path : paths) {
    std::cout << path.filename().string() << std::endl;
    std::ifstream file(path, std::ios::binary);
    const std::string seed((std::istreambuf_iterator<char>(file)), {});
    for (std::size_t size = 0; size <= seed.size(); ++size) {
      // A copy of its own has sanitizers notice what is read behind its end.
      const std::vector<std::uint8_t> bytes(seed.begin(),
                                            seed.begin() + static_cast<std::ptrdiff_t>(size));
      GetParam().run(bytes.data(), bytes.size());
    }
  }
}

TEST(Fuzzers, AllHaveTheirSeedsTried) {
  std::vector<std::string> names, folders;
  for (const Fuzzer& fuzzer : kFuzzers) names.push_back(fuzzer.name);
  for (const fs::path& path : entries(GORGO_CORPUS)) folders.push_back(path.filename().string());
  std::ranges::sort(names);
  EXPECT_EQ(names, folders);
}

INSTANTIATE_TEST_SUITE_P(Fuzzers, Seeds, testing::ValuesIn(kFuzzers),
                         [](const auto& fuzzer) { return fuzzer.param.name; });

}  // namespace
}  // namespace gorgo
