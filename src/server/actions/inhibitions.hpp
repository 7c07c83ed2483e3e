#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "actions/inhibitor.hpp"
#include "gorgo/processor.hpp"
#include "journal/records.hpp"

namespace gorgo::server {

/// Which events of which targets of actions are inhibited. The engine thread decides it when they
/// are detected, in their order and before they leave, so that it depends neither on the threads of
/// targets nor on which target gets the source. A replay decides the same again. Any thread.
class Inhibitions {
 public:
  explicit Inhibitions(const actions::Targets& targets) { post(targets); }

  /// These are the targets from now on. Tables that have not changed keep what they know.
  void post(const actions::Targets& targets);
  /// Composites have been detected. To be called once for each batch, in their order. One that
  /// there is no memory for inhibits nothing, and is not inhibited.
  void take(const OutputBatch& batch) noexcept;
  /// `durable`: the name of the target's durable subscription.
  bool is_inhibited(const std::string& durable, const Place& place) const;
  /// The target is done with every event up to this place.
  void forget(const std::string& durable, const Place& up_to);

  /// What a snapshot has of it.
  void save(journal::stored::ServerStateT& state) const;
  void restore(const journal::stored::ServerStateT& state);

 private:
  struct Target {
    std::string text;  ///< as rules name it
    std::map<std::string, actions::Inhibition> settings;
    actions::Inhibitor inhibitor;
    std::set<Place> inhibited = {};
  };
  mutable std::mutex mutex_;               // guards what follows
  std::map<std::string, Target> targets_;  // by durable subscription; those with tables

  void take(const OutputBatch& batch, const OutputBatch::Row& row);
};

}  // namespace gorgo::server
