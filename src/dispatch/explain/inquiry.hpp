#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/explain/why.hpp"
#include "dispatch/rules/deployed_rule.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/why.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// A question why a rule fired or not, with all that its answer needs: the terminators that are
/// asked for, what the rule remembers, and copies of the events that lie in the windows of these
/// terminators. What it copies has the slots that it has in the processor's history.
class Inquiry {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Inquiry(const DeployedRule& rule, const Schema& schema, const WhyOptions& options);
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;

  const std::string& rule_name() const { return plan_->rule.name; }
  /// Copies some of that. Returns whether all is there, or it is too much; else the time is over.
  /// Events that come between two calls are not looked at.
  bool gather(const DeployedRule& rule, const history::History& history, Time until);
  /// Evaluates the terminators again, as the rule saw them, with the reference engine. Call it
  /// once, when all is gathered. Gives up soon when `stop` is set or the time is over that the
  /// options allow.
  Result<Why> answer(const std::atomic<bool>& stop);

 private:
  /// The events of a type that are copied: those later than `after`, and the one before them that
  /// is the latest, which tells how far a window misses what it looks for.
  struct Copied {
    TypeId type = kNoType;
    history::Slot end = 0;    ///< what came before the question
    std::uint64_t again = 0;  ///< see EventStore: rows of a table that got new slots
    Timestamp after = 0;
    std::optional<history::Slot> scanned;  ///< every event before it is not later than `after`
    history::Slot nearest = 0;             ///< the latest of these
    std::optional<history::Slot> next;     ///< that is to be copied
  };

  void begin(const DeployedRule& rule, const history::History& history);
  bool is_outdated(const history::History& history) const;
  bool find(const DeployedRule& rule, const history::EventStore& store, Time until);
  bool has_time() const { return options_.at || options_.composite_at; }
  bool is_at_time(Timestamp terminator) const;
  bool is_between(std::uint64_t number) const;
  bool are_enough() const;
  bool is_asked_for(const DeployedRule& rule, const history::EventStore& store, history::Slot slot,
                    std::uint64_t number) const;
  std::uint64_t number_of(const DeployedRule& rule, const history::EventStore& store,
                          history::Slot slot);
  bool is_instant(const history::EventStore& store, history::Slot slot) const;
  void set_bounds();
  static bool scan(Copied& copied, const history::EventStore& store, Time until);
  bool copy(Copied& copied, const history::EventStore& store, Time until);
  void copy_some(Copied& copied, const history::EventStore& store);
  bool is_too_much();

  const std::shared_ptr<const plan::Plan> plan_;
  const Schema schema_;
  const WhyOptions options_;
  std::optional<Remembered> state_;  // unset: nothing has begun
  history::Slot first_terminator_ = 0;
  history::Slot sought_ = 0;              // terminators are among the events before it
  bool is_found_ = false;                 // all terminators are
  std::vector<history::Slot> asked_for_;  // descending
  std::vector<std::uint64_t> numbers_;    // of these, see Reenacted
  Timestamp oldest_ = 0;                  // of these, which the history may have forgotten since
  std::vector<Copied> copied_;            // the terminators' type first, which may go soonest
  history::History history_;
  std::optional<Error> too_much_;
};

}  // namespace gorgo::dispatch
