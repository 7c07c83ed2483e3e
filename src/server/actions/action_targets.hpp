#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "actions/settings.hpp"
#include "gorgo/diagnostics.hpp"
#include "server/actions/action_board.hpp"
#include "server/actions/action_runner.hpp"
#include "server/door_positions.hpp"
#include "server/doors/runners.hpp"

namespace gorgo::server {

/// The targets of actions of a server. Belongs to the I/O thread; each target has a thread of its
/// own.
class ActionTargets {
 public:
  ActionTargets(ActionParts parts, ActionBoard& board, const actions::Targets& settings);
  ~ActionTargets() { stop_all(runners_); }

  /// Begins with the targets that are new, ends those that are gone, and begins those anew whose
  /// settings have changed. Returns what was done, for people. Precondition: `actions::check` found
  /// nothing wrong.
  std::vector<std::string> apply(const actions::Targets& settings);
  /// Takes over what the journal has of targets. Before the first `apply`.
  void restore(const DoorPositions& positions);
  /// With a journal, what still waits is kept for the next start.
  void close();
  /// Without one, tries what waits once more; ends all of them.
  void finish();

  std::vector<ActionTarget> infos() const;
  bool has(const std::string& name) const { return runners_.contains(name); }
  /// Sends an event that says it is a test. An error: there is no such target.
  Result<void> test(const std::string& name);
  /// Sends again what was given up, and returns how much that is. Errors as above.
  Result<std::size_t> retry(const std::string& name);
  /// Does nothing about some events for a while, and returns the silence's id. An error also where
  /// it is no silence.
  Result<std::uint64_t> silence(const std::string& name, ActionSilence silence);
  Result<void> end_silence(const std::string& name, std::uint64_t id);

 private:
  const ActionParts parts_;
  ActionBoard& board_;
  Runners<ActionRunner> runners_;
  std::uint64_t next_id_ = std::uint64_t{3} << 62;  // doors count from half of that

  /// By what rules name a target by, what those are to know again that have no runner at the
  /// moment.
  std::map<std::string, std::string> saved_;

  void post(const actions::Targets& settings);
  Result<ActionRunner*> find(const std::string& name);
};

}  // namespace gorgo::server
