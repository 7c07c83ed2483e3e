#pragma once

/// All that placement is tuned by. Times are nanoseconds.
namespace gorgo::dispatch::tuning {

/// A move has to promise a tenth less: with less, what the move itself costs is hardly won back.
/// Sharing has to promise that twice, because both engines are kept up to date for it.
constexpr double kGain = 0.9;
/// A single evaluation is right to within this factor unless it was held up. What costs so many
/// times as much is left alone for longer.
constexpr double kSurely = 4;
/// What a trial may take before it is decided, and what there has to be time for when it begins. A
/// device may take a few milliseconds for a batch.
constexpr double kTry = 4e6;
/// What trials owe at first. With what one has to have when it begins, a run of 100 ms has none:
/// one of an automaton took 5 ms of runs of 30 ms, and another engine can save less in them.
constexpr double kDebt = 6e6;
/// What rules on proof take before the middle decides, however close the costs are. Engines are
/// often slow for some tens of milliseconds.
constexpr double kProof = 80e6;
/// An engine that is worse is left alone for so many times as long each time, so that two engines
/// that are about equal are compared a few times in a minute.
constexpr double kLonger = 8;
/// After a proof, the worse engine is left alone for at least so long: a move costs more than a
/// trial.
constexpr double kLost = 10e9;
/// A cost that changes by this factor has all begin anew. Averages hardly do so by noise.
constexpr double kDrift = 2;
/// So do batches with so many times as many terminators, for which a device costs less. The first
/// batches of a run grow from 64 events to 4096, which counts once at most.
constexpr double kGrown = 16;
/// A trial waits no longer than this for what a device compiles, or for terminators.
constexpr double kWait = 2e9;

/// The engine before stays prepared for few terminators only where batches come that have so many
/// times fewer: keeping two engines costs more than a few of them give.
constexpr double kMuchFewer = 2;

/// The part of all time that goes into trials, and the part in the first half second: a rule on a
/// slow engine should not stay there. Only devices are tried in it. An automaton can save less, and
/// its trial took a sixth of runs of 40 ms.
constexpr double kExploration = 0.02, kEager = 0.1, kEagerFor = 500e6;
/// Trials hold up a batch for no longer, which a person would not see.
constexpr double kPause = 20e6;
/// Where more than this part of the events is late, an engine that does not bear them is left. An
/// automaton leaves a batch to scans for one late event; with all batches late, four nodes of a
/// cluster took three times as long.
constexpr double kLate = 0.01;
/// What an engine takes for each event that it takes in when it is first tried: a device that
/// copies columns. An automaton may take far longer, so it has a limit besides.
constexpr double kTakeIn = 20;

}  // namespace gorgo::dispatch::tuning
