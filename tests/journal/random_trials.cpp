#include "random_trials.hpp"

#include <random>
#include <vector>

#include "trial.hpp"

namespace gorgo::journal {
namespace {

/// Which faults a trial has.
struct Swarm {
  explicit Swarm(Random& random)
      : power(random() % 4 != 0),
        kill(random() % 2 == 0),
        failures(random() % 2 == 0),
        full(random() % 4 == 0),
        short_writes(random() % 3 == 0),
        in_recovery(random() % 2 == 0),
        trim(random() % 2 == 0),
        reopen(random() % 3 == 0),
        large(random() % 2 == 0),
        rare_syncs(random() % 3 == 0) {}

  bool power, kill, failures, full, short_writes, in_recovery, trim, reopen, large, rare_syncs;
};

Fate any_fate(Random& random) { return static_cast<Fate>(random() % 5); }

Step any_step(const Swarm& swarm, Random& random) {
  const auto die = random() % 40;
  if (die < (swarm.rare_syncs ? 1 : 10)) return {Step::What::sync};
  if (swarm.trim && die == 10) return {Step::What::trim, random() % 110};
  if (swarm.reopen && die == 11) return {Step::What::reopen};
  if (die >= 12 && die < 16) return {Step::What::write};
  // Many sizes with the same length of a record, so that remains of others fit.
  if (die < 25) return {Step::What::append, random() % 40};
  return {Step::What::append, random() % (swarm.large ? 2500 : 600)};
}

void break_disk(const Swarm& swarm, Trial& trial, Random& random) {
  SimulatedDisk& disk = trial.disk();
  disk.set_short_writes(swarm.short_writes);
  if (swarm.full && random() % 2 == 0) {
    trial.expect_faults();
    disk.set_capacity(2000 + random() % 20'000);
  }
  if (swarm.failures && random() % 2 == 0) {
    trial.expect_faults();
    constexpr Operation kKinds[] = {Operation::sync,        Operation::sync,   Operation::write,
                                    Operation::sync_folder, Operation::create, Operation::allocate,
                                    Operation::remove,      Operation::read};
    disk.fail(kKinds[random() % std::size(kKinds)], 1 + random() % 20);
  }
}

class RandomTrial {
 public:
  RandomTrial(std::uint64_t seed, TrialCounts& counts)
      : random_(seed), swarm_(random_), trial_(seed), counts_(counts) {}

  std::string run() {
    const auto lives = 1 + random_() % 8;
    for (std::uint64_t life = 0; life < lives && trial_.problem().empty(); ++life) live();
    trial_.must_open();
    return trial_.problem();
  }

 private:
  void live() {
    start();
    if (!trial_.journal()) return crash();
    if (swarm_.power) trial_.disk().cut_power_at(1 + random_() % 150);
    break_disk(swarm_, trial_, random_);
    const auto steps = random_() % 60;
    for (std::uint64_t i = 0; i < steps && trial_.journal() && trial_.disk().powered(); ++i) {
      trial_.perform(any_step(swarm_, random_));
      ++counts_.steps;
    }
    if (trial_.journal() && trial_.disk().powered() && trial_.journal()->failure())
      ++counts_.failed;
    crash();
  }

  /// Opens the journal, now and then with a crash meanwhile.
  void start() {
    if (!swarm_.in_recovery || random_() % 2 == 0) {
      trial_.must_open();
    } else {
      trial_.disk().cut_power_at(1 + random_() % 25);
      trial_.open();
      if (!trial_.disk().powered()) ++counts_.in_recovery;
    }
    if (trial_.journal() && trial_.journal()->recovery().torn_bytes > 0) ++counts_.torn;
  }

  void crash() {
    ++counts_.crashes;
    if (trial_.disk().powered() && swarm_.kill && random_() % 2 == 0) {
      ++counts_.kills;
      trial_.kill();
    } else {
      trial_.restart(any_fate(random_), any_fate(random_));
    }
    trial_.expect_no_faults();
    trial_.disk().heal();
  }

  Random random_;
  Swarm swarm_;
  Trial trial_;
  TrialCounts& counts_;
};

}  // namespace

TrialCounts run_random_trials(std::uint64_t seed, std::uint64_t crashes) {
  TrialCounts counts;
  while (counts.crashes < crashes) {
    const std::string problem = RandomTrial(seed, counts).run();
    ++counts.trials;
    if (!problem.empty()) {
      counts.problem = "seed " + std::to_string(seed) + ": " + problem;
      break;
    }
    ++seed;
  }
  return counts;
}

}  // namespace gorgo::journal
