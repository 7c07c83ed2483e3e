#include "server/doors/doors.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>

namespace gorgo::server {
namespace {

/// Waits for its other side, and hears nobody before that has come.
class DeafSource final : public doors::Source {
 public:
  DeafSource(std::promise<void>& waits, std::shared_future<void> comes)
      : waits_(waits), comes_(std::move(comes)) {}

  Result<doors::Arrived> poll(std::chrono::milliseconds) override {
    waits_.set_value();
    comes_.wait();
    return {std::in_place, doors::Arrived{}};
  }
  void committed(const doors::Position&) override {}
  void wake() override {}
  std::string describe(const doors::Position&) const override { return ""; }

 private:
  std::promise<void>& waits_;
  const std::shared_future<void> comes_;
};

TEST(Doors, NobodyWaitsForTheEndOfADoorWhoseOtherSideIsSilent) {
  const Limits limits;
  ClientTotals totals{.memory = {limits.memory_bytes, [] {}}};
  CommandQueue queue(limits, totals.memory);
  Log log(LogFormat::text, LogLevel::off);
  std::promise<void> waits, comes;
  const auto makes = [&, side = comes.get_future().share()](const doors::Position&) {
    return Result<std::unique_ptr<doors::Source>>(std::make_unique<DeafSource>(waits, side));
  };
  doors::Settings settings;
  settings.kind = "deaf";
  Doors doors({.link = {queue, totals, limits},
               .types = {},
               .log = log,
               .has_journal = false,
               .is_durable = false,
               .position_of = [](const std::string&) { return doors::Position(); },
               .post = [](const std::function<void()>&) {}});
  doors.set_own({{"deaf", {.settings = settings, .make_source = makes, .make_sink = {}}}});
  doors.apply({});
  waits.get_future().wait();
  doors.set_own({});
  doors.apply({});
  EXPECT_TRUE(doors.infos().empty());
  comes.set_value();
}

}  // namespace
}  // namespace gorgo::server
