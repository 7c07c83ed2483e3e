// A program with a journal loses its power at every operation of the disk, and whatever happens to
// what was not synced: what was durable is there, and nothing else than what was written.

#include <gtest/gtest.h>

#include <vector>

#include "random_trials.hpp"
#include "trial.hpp"

namespace gorgo::journal {
namespace {

struct Loss {
  Fate data;
  Fate names;
};

std::vector<Loss> all_losses() {
  std::vector<Loss> losses;
  for (const Fate data : {Fate::lost, Fate::kept, Fate::front, Fate::back, Fate::random}) {
    for (const Fate names : {Fate::lost, Fate::kept, Fate::random}) losses.push_back({data, names});
  }
  losses.insert(losses.end(), 3, {Fate::random, Fate::random});
  return losses;
}

/// What the program does after a recovery. Records have the sizes of lost ones, so that remains of
/// those would be found.
const std::vector<Step> kAfterwards = {{Step::What::append, 31},
                                       {Step::What::append, 900},
                                       {Step::What::sync},
                                       {Step::What::append, 700},
                                       {Step::What::append, 480}};

std::uint64_t operations_of_script() {
  Trial trial(1);
  trial.must_open();
  trial.perform(forty_steps());
  EXPECT_EQ(trial.problem(), "");
  return trial.disk().operations();
}

/// A trial whose power failed at operation `nth` of the script, restarted.
std::unique_ptr<Trial> crashed(std::uint64_t seed, std::uint64_t nth, const Loss& loss) {
  auto trial = std::make_unique<Trial>(seed);
  trial->disk().cut_power_at(nth);
  trial->open();
  trial->perform(forty_steps());
  trial->restart(loss.data, loss.names);
  return trial;
}

/// Recovers, goes on, and loses everything that is not synced, twice.
std::string go_on(Trial& trial) {
  for (int time = 0; time < 2; ++time) {
    trial.must_open();
    trial.perform(kAfterwards);
    trial.restart(time == 0 ? Fate::random : Fate::lost, Fate::lost);
  }
  trial.must_open();
  return trial.problem();
}

TEST(Crash, AtEveryOperationWithEveryLoss) {
  const std::uint64_t operations = operations_of_script();
  ASSERT_GT(operations, 100u);
  std::uint64_t seed = 0;
  for (std::uint64_t nth = 1; nth <= operations; ++nth) {
    for (const Loss& loss : all_losses()) {
      const auto trial = crashed(++seed, nth, loss);
      ASSERT_EQ(go_on(*trial), "") << "operation " << nth << ", seed " << seed;
    }
  }
}

TEST(Crash, DuringEveryOperationOfARecovery) {
  const std::uint64_t operations = operations_of_script();
  const std::vector<Loss> losses = all_losses();
  std::uint64_t seed = 0;
  for (std::uint64_t nth = 1; nth <= operations; ++nth) {
    for (std::uint64_t in_recovery = 1; in_recovery < 100; ++in_recovery) {
      ++seed;
      const auto trial = crashed(seed, nth, losses[seed % losses.size()]);
      trial->disk().cut_power_at(in_recovery);
      trial->open();
      const bool over = trial->disk().powered();
      const Loss& loss = losses[seed / 7 % losses.size()];
      trial->restart(loss.data, loss.names);
      ASSERT_EQ(go_on(*trial), "")
          << "operation " << nth << ", then " << in_recovery << ", seed " << seed;
      if (over) break;
    }
  }
}

TEST(Crash, AKilledProgramLosesNothingThatIsWritten) {
  for (std::size_t steps = 1; steps <= forty_steps().size(); ++steps) {
    Trial trial(steps);
    trial.must_open();
    auto script = forty_steps();
    script.resize(steps);
    trial.perform(script);
    const Place end = trial.journal()->written();
    trial.kill();
    trial.must_open();
    ASSERT_EQ(trial.problem(), "");
    ASSERT_EQ(trial.journal()->end(), end);
    // What was found is durable, although the first program never synced it.
    trial.restart(Fate::lost, Fate::lost);
    ASSERT_EQ(go_on(trial), "");
  }
}

TEST(Crash, AfterEveryFailedOperation) {
  for (const Operation kind :
       {Operation::write, Operation::sync, Operation::sync_folder, Operation::allocate,
        Operation::create, Operation::remove, Operation::truncate, Operation::forget}) {
    for (std::uint64_t nth = 1; nth < 60; ++nth) {
      for (const Fate fate : {Fate::lost, Fate::kept, Fate::random}) {
        Trial trial(nth);
        trial.expect_faults();
        trial.disk().fail(kind, nth);
        trial.open();
        trial.perform(forty_steps());
        if (nth % 2 == 0) {
          trial.restart(fate, fate);
        } else {
          trial.kill();
        }
        ASSERT_EQ(go_on(trial), "") << static_cast<int>(kind) << ", " << nth;
      }
    }
  }
}

TEST(Crash, TwentyThousandRandomOnes) {
#ifdef GORGO_SANITIZED
  constexpr std::uint64_t kCrashes = 5'000;  // for what only sanitizers see
#else
  constexpr std::uint64_t kCrashes = 20'000;
#endif
  const TrialCounts counts = run_random_trials(1, kCrashes);
  EXPECT_EQ(counts.problem, "");
  EXPECT_GE(counts.crashes, kCrashes);
  // The faults that a run is made of did occur.
  EXPECT_GT(counts.in_recovery, kCrashes / 20);
  EXPECT_GT(counts.kills, kCrashes / 20);
  EXPECT_GT(counts.failed, kCrashes / 100);
  EXPECT_GT(counts.torn, kCrashes * 3 / 40);
}

}  // namespace
}  // namespace gorgo::journal
