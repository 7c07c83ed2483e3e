#include "server/durability/decision_writer.hpp"

namespace gorgo::server {

namespace stored = journal::stored;

bool DecisionWriter::suspend(const std::string& rule, bool suspended) {
  if (!decides_ || !parts_.journal.make_room(rule.size())) return false;
  stored::SuspensionT suspension;
  suspension.rule = rule;
  suspension.suspended = suspended;
  suspension.next_root = parts_.processor.roots() + 1;
  suspension.clock = parts_.clock.now();
  parts_.journal.write<stored::Suspension>(stored::Kind::Suspension, suspension);
  return true;
}

bool DecisionWriter::starve(const Starvation& starvation) {
  if (!decides_ || !parts_.journal.make_room(starvation.rule.size())) return false;
  stored::StarvationT record;
  record.rule = starvation.rule;
  record.root = starvation.root;
  record.terminators = starvation.terminators;
  record.clock = parts_.clock.now();
  parts_.journal.write<stored::Starvation>(stored::Kind::Starvation, record);
  parts_.log.error(
      "no memory to evaluate a rule, so it is suspended for 10 seconds: make its windows shorter, "
      "lower engine.max_held_bytes, or give the process more memory",
      {{"rule", starvation.rule},
       {"event", starvation.root},
       {"reserve_bytes", parts_.reserve_bytes}});
  return true;
}

void DecisionWriter::write_results(bool at_the_end) {
  constexpr std::uint64_t kRoots = 1 << 20;
  if (!parts_.journal.is_on()) return;
  // A replay gives what was given up, too, and would take the hash for that of another program.
  if (parts_.processor.is_stopped()) return;
  const std::uint64_t roots = parts_.processor.roots();
  if (roots == results_written_ || (!at_the_end && roots < results_written_ + kRoots)) return;
  if (!parts_.journal.make_room(0))
    return;  // a full disk is no failure, and this helps only to compare
  parts_.journal.write<stored::Results>(stored::Kind::Results, parts_.results.record(roots));
  results_written_ = roots;
}

}  // namespace gorgo::server
