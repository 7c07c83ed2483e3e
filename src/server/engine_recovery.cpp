#include <exception>
#include <string>
#include <utility>

#include "server/engine_thread.hpp"

// How what the journal holds comes back, before the thread starts.
namespace gorgo::server {

namespace stored = journal::stored;

Result<void> EngineThread::recover(StartProgress& progress) {
  progress.begin("opening the journal");
  if (auto opened = journal_.open(); !opened) return opened;
  decides_ = !journal_.is_on();
  if (decides_) return {};
  try {
    return replay(progress);
  } catch (const JournalFailed& failure) {
    return Error{failure.why, "see to the disk and start again"};
  } catch (const std::exception& failure) {
    return Error{std::string("recovering from the journal failed: ") + failure.what(), ""};
  }
}

Result<void> EngineThread::replay(StartProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  Replay replay(journal_.journal().view(),
                {.processor = processor_,
                 .clock = clock_,
                 .producers = producers_,
                 .positions = positions_,
                 .declared_doors = declared_doors_,
                 .inhibitions = &inhibitions_,
                 .deployments = deployments_,
                 .results = results_,
                 .durables = durables_,
                 .process = [this] { process(); },
                 .process_if_many = [this] { process_if_many(); },
                 .flush = [this] { flush(); }},
                settings_, progress, log_);
  if (auto done = replay.run(); !done) return done;
  journal_.write<stored::Settings>(stored::Kind::Settings, settings_);
  decides_ = true;
  for (Replay::Unfinished& unfinished : replay.take_unfinished()) finish(std::move(unfinished));
  results_written_ = processor_.roots();
  KnownFiles files = replay.take_files();
  rule_files_.adopt(files);
  book_.adopt(std::move(files), replay.take_history());
  snapshots_.recovered(replay.snapshot_bytes(), replay.record_bytes());
  types_.post(processor_.schema());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  log_.info("recovered from the journal", {{"records", replay.records()},
                                           {"events", processor_.counters().accepted},
                                           {"rules", processor_.rule_count()},
                                           {"seconds", std::to_string(took.count())}});
  return {};
}

void EngineThread::finish(Replay::Unfinished unfinished) {
  while (admission_.append(*unfinished.publication, UINT32_MAX, true)) {
  }
  process();
}

bool EngineThread::note_suspension(const std::string& rule, bool suspended) {
  if (!decides_ || !journal_.make_room(rule.size())) return false;
  stored::SuspensionT suspension;
  suspension.rule = rule;
  suspension.suspended = suspended;
  suspension.next_root = processor_.roots() + 1;
  suspension.clock = clock_.now();
  journal_.write<stored::Suspension>(stored::Kind::Suspension, suspension);
  return true;
}

bool EngineThread::note_starvation(const Starvation& starvation) {
  if (!decides_ || !journal_.make_room(starvation.rule.size())) return false;
  stored::StarvationT record;
  record.rule = starvation.rule;
  record.root = starvation.root;
  record.terminators = starvation.terminators;
  record.clock = clock_.now();
  journal_.write<stored::Starvation>(stored::Kind::Starvation, record);
  log_.error(
      "no memory to evaluate a rule, so it is suspended for 10 seconds: make its windows shorter, "
      "lower engine.max_held_bytes, or give the process more memory",
      {{"rule", starvation.rule},
       {"event", starvation.root},
       {"reserve_bytes", limits_.reserve_bytes}});
  return true;
}

void EngineThread::write_results(bool at_the_end) {
  constexpr std::uint64_t kRoots = 1 << 20;
  if (!journal_.is_on()) return;
  const std::uint64_t roots = processor_.roots();
  if (roots == results_written_ || (!at_the_end && roots < results_written_ + kRoots)) return;
  if (!journal_.make_room(0)) return;  // a full disk is no failure, and this helps only to compare
  journal_.write<stored::Results>(stored::Kind::Results, results_.record(roots));
  results_written_ = roots;
}

}  // namespace gorgo::server
