#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "codec/event_line.hpp"
#include "tools/host_proc.hpp"
#include "tools/host_sampler.hpp"

namespace gorgo::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kStat =
    "cpu  30 1 20 140 10 2 3 4 0 0\n"
    "cpu0 10 1 10 70 5 1 2 1 0 0\n"
    "cpu1 20 0 10 70 5 1 1 3 7 0\n"
    "intr 251133 0\n"
    "ctxt 9\n";
constexpr std::string_view kMeminfo =
    "MemTotal:       24684092 kB\nMemFree:        23991192 kB\nMemAvailable:   24214616 kB\n";
constexpr std::string_view kDiskstats =
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    " 254       0 vda 77140 26691 100 18514 23613 17803 7 4665 0 8548 23429\n"
    " 254       1 vda1 10 0 8 5 2 0 0 0 0 4 5\n";
constexpr std::string_view kNetDev =
    "Inter-|   Receive                                     |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
    "    lo:    3267      29    0    0    0     0          0         0     3268      29    0\n"
    "  eth0:48584420     988    0    0    0     0          0         0    46218     593    0\n";

TEST(Proc, CountsBusyTicksPerCpu) {
  const auto cpus = parse_cpu_times(kStat);
  ASSERT_EQ(cpus.size(), 2u);
  EXPECT_EQ(cpus[0].cpu, 0);
  EXPECT_EQ(cpus[0].total, 100u);
  EXPECT_EQ(cpus[0].busy, 25u);    // without idle 70 and iowait 5
  EXPECT_EQ(cpus[1].total, 110u);  // guest time (7) is part of user time
  EXPECT_EQ(cpus[1].busy, 35u);
  EXPECT_THAT(parse_cpu_times(""), IsEmpty());
  EXPECT_THAT(parse_cpu_times("cpu0 1 2\nnonsense"), IsEmpty());
}

TEST(Proc, ReadsMemoryInBytes) {
  const auto memory = parse_memory(kMeminfo);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total, 24684092ull * 1024u);
  EXPECT_EQ(memory->available, 24214616ull * 1024u);
  EXPECT_FALSE(parse_memory("MemTotal: 5 kB\n"));
}

TEST(Proc, ReadsTheLoad) {
  const auto load = parse_load("0.24 0.16 1.05 3/102 6317\n");
  ASSERT_TRUE(load);
  EXPECT_EQ(load->one, 0.24);
  EXPECT_EQ(load->fifteen, 1.05);
  EXPECT_EQ(load->running, 3);
  EXPECT_FALSE(parse_load("0.24 x 1.05 3/102 6317\n"));
  EXPECT_FALSE(parse_load(""));
}

TEST(Proc, ReadsDisksThatWereUsed) {
  const auto disks = parse_disks(kDiskstats);
  ASSERT_EQ(disks.size(), 2u);
  EXPECT_EQ(disks[0].device, "vda");
  EXPECT_EQ(disks[0].in, 100u * 512u);
  EXPECT_EQ(disks[0].out, 7u * 512u);
  EXPECT_EQ(disks[1].device, "vda1");
}

TEST(Proc, ReadsNetworksWithAndWithoutASpaceBehindTheName) {
  const auto networks = parse_networks(kNetDev);
  ASSERT_EQ(networks.size(), 2u);
  EXPECT_EQ(networks[0].device, "lo");
  EXPECT_EQ(networks[0].in, 3267u);
  EXPECT_EQ(networks[0].out, 3268u);
  EXPECT_EQ(networks[1].device, "eth0");
  EXPECT_EQ(networks[1].in, 48584420u);
}

std::vector<std::string> lines_of(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const auto& event : events) {
    codec::append_event_line(lines.emplace_back(), event);
    lines.back().pop_back();
  }
  return lines;
}

TEST(HostSampler, TellsWhatHappenedBetweenTwoReadings) {
  const HostReading before = {.at = 0,
                              .cpus = {{0, 10, 100}, {1, 10, 100}},
                              .disks = {{"vda", 1000, 500}},
                              .networks = {{"lo", 100, 100}, {"eth0", 5000, 0}}};
  const HostReading now = {.at = 500'000'000,
                           .cpus = {{0, 25, 120}, {1, 10, 100}},
                           .memory = MemorySize{.total = 2048, .available = 512},
                           .load = LoadAverage{0.5, 0.25, 0.125, 3},
                           .disks = {{"vda", 2000, 500}, {"vdb", 1, 1}},
                           .networks = {{"lo", 600, 200}, {"eth0", 10, 0}},
                           .processes = 42};
  // cpu 1 had no tick, vdb has no reading before, eth0 was reset.
  EXPECT_THAT(
      lines_of(events_between(before, now)),
      ElementsAre(R"({"type":"Cpu","attrs":{"cpu":0,"busy":75.0}})",
                  R"({"type":"Memory","attrs":{"total":2048,"available":512,"used":75.0}})",
                  R"({"type":"Load","attrs":{"one":0.5,"five":0.25,"fifteen":0.125}})",
                  R"({"type":"Processes","attrs":{"count":42,"running":3}})",
                  R"({"type":"Disk","attrs":{"device":"vda","read":2000.0,"written":0.0}})",
                  R"({"type":"Network","attrs":{"interface":"lo","rx":1000.0,"tx":200.0}})"));
}

class HostRoot : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_ / "proc/net");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void put(const char* path, std::string_view text) { std::ofstream(root_ / path) << text; }

  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("host_root_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(HostRoot, ReadsEverySource) {
  put("proc/stat", kStat);
  put("proc/meminfo", kMeminfo);
  put("proc/loadavg", "0.24 0.16 1.05 3/102 6317\n");
  put("proc/diskstats", kDiskstats);
  put("proc/net/dev", kNetDev);
  std::filesystem::create_directories(root_ / "sys/block/vda");
  for (const char* process : {"proc/1", "proc/2630"}) {
    std::filesystem::create_directories(root_ / process);
  }
  const HostReading reading = read_host(root_);
  EXPECT_THAT(reading.missing, IsEmpty());
  EXPECT_EQ(reading.cpus.size(), 2u);
  EXPECT_EQ(reading.disks.size(), 1u);  // the partition vda1 is no disk
  EXPECT_EQ(reading.networks.size(), 2u);
  EXPECT_EQ(reading.processes, 2);
}

TEST_F(HostRoot, NamesWhatIsMissing) {
  put("proc/stat", kStat);
  put("proc/loadavg", "empty\n");
  const std::string proc = (root_ / "proc/").string();
  EXPECT_THAT(read_host(root_).missing,
              ElementsAre(proc + "meminfo", proc + "loadavg", proc + "diskstats", proc + "net/dev",
                          proc + "PID"));
}

}  // namespace
}  // namespace gorgo::tools
