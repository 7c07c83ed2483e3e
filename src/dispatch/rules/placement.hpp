#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "engine/engine.hpp"

namespace gorgo::dispatch {

/// What the terminators of a rule cost on an engine of late: a moving average that forgets with the
/// time spent, so that it follows a load that shifts within some tens of milliseconds of work.
class Cost {
 public:
  void add(std::uint64_t terminators, double nanoseconds);
  /// Nanoseconds of one thread; unset before the first measurement.
  std::optional<double> per_terminator() const {
    if (terminators_ == 0) return std::nullopt;
    return nanoseconds_ / terminators_;
  }

 private:
  double terminators_ = 0;
  double nanoseconds_ = 0;
};

/// An engine for a rule.
struct EngineEntry {
  explicit EngineEntry(const engine::Engine* engine_to_use) : engine(engine_to_use) {}

  const engine::Engine* engine;
  /// The first serves for everything; the others are for further threads, as the need arises. There
  /// are none while the rule does not run here.
  boost::container::small_vector<std::unique_ptr<engine::Evaluator>, 1> evaluators;
  /// What an evaluation took a terminator in the last trial, beside the rule's own engine.
  std::optional<double> estimate;
  Cost cost;  ///< where the rule has run here
  Cost upkeep;

  /// Notes in `upkeep` what it took since the last call to keep up to date what the evaluators
  /// search. `terminators`: how many the rule has had so far. The first call after evaluators were
  /// made only begins. Call it before there are more evaluators.
  void note_upkeep(std::uint64_t terminators);
  /// Lets go of the evaluators.
  void withdraw();

 private:
  struct Reading {
    double nanoseconds;
    std::uint64_t terminators;
  };
  std::optional<Reading> last_;
};

/// Where the terminators of a rule go: all to one engine, or some of them to a second one at the
/// same time.
struct Arrangement {
  const engine::Engine* engine = nullptr;
  const engine::Engine* reserve = nullptr;  ///< null: all go to `engine`

  bool operator==(const Arrangement&) const = default;
  /// "cuda", or "cuda and column".
  std::string to_string() const;
};

/// Where some terminators of a rule go: the first `own` to `entry`, the others to `reserve`.
struct Routing {
  EngineEntry* entry = nullptr;
  std::size_t own = 0;
  EngineEntry* reserve = nullptr;  ///< null where all go to `entry`
};

/// The engine that a rule runs on, and what is known of the others. Another engine may be its
/// reserve, which takes terminators that come few at a time, or a share of many.
class Placement {
 public:
  /// `automatic`: costs may change the engine; else it changes only by hand.
  Placement(const engine::Engine* engine, bool automatic) : automatic_(automatic) {
    entries_.emplace_back(engine);
  }

  const engine::Engine& engine() const { return *entries_[current_].engine; }
  EngineEntry& entry() { return entries_[current_]; }
  const EngineEntry& entry() const { return entries_[current_]; }
  /// Where the next `terminators` terminators go.
  Routing route(std::size_t terminators);
  std::span<const EngineEntry> entries() const { return {entries_.data(), entries_.size()}; }
  /// The entry of an engine, made without evaluators if there is none. References to entries of
  /// other engines stay valid from the second entry on.
  EngineEntry& at(const engine::Engine& engine);

  bool is_automatic() const { return automatic_; }
  void set_automatic(bool automatic) { automatic_ = automatic; }

  /// Has all terminators go to this engine. What the others hold stays. Precondition: its entry has
  /// an evaluator.
  void move_to(const engine::Engine& engine, std::string reason);
  Arrangement arrangement() const;
  /// Why it runs where it runs, for people; empty: nobody has chosen.
  const std::string& reason() const { return reason_; }
  void set_reason(std::string reason) { reason_ = std::move(reason); }
  /// How often it moved to another engine.
  std::uint64_t moves() const { return moves_; }
  /// Has fewer terminators than `few` at a time go to a reserve until the rule runs elsewhere,
  /// because the present engine has a fixed cost for any number. Precondition: as for `visit`.
  void leave_few_to(const engine::Engine& engine, std::size_t few);
  /// Fewer terminators than these go to the reserve; 0: none do.
  std::size_t few() const { return few_; }
  void leave_none() { few_ = 0; }
  /// Has this part of larger numbers of terminators go to a reserve, which works at the same time,
  /// until the rule runs elsewhere; 0: none. Preconditions: as for `visit`; two engines may
  /// evaluate terminators of the rule at once.
  void share_with(const engine::Engine& engine, double share);
  /// The part of larger numbers of terminators that the reserve gets; 0: there is no sharing.
  double share() const { return share_; }
  /// Where few terminators or a share of them go; meaningful only while they do.
  const EngineEntry& reserve() const { return entries_[reserve_]; }
  /// How many terminators come at a time, on average.
  double batch() const { return std::max(1.0, batch_); }
  /// About one time in twenty, fewer terminators than this come.
  double small_batch() const { return small_batch_; }
  /// Whether terminators may go to the entry of this engine.
  bool serves(const engine::Engine& engine) const;
  /// Lets go of all evaluators. Returns the engines that had some.
  std::vector<const engine::Engine*> withdraw_all();
  /// Lets go of the evaluators of all engines that serve for nothing.
  void withdraw_others();

  /// Bytes that the evaluators take.
  std::size_t bytes() const;

  /// Time, in nanoseconds by the clock on the wall, that terminators took.
  struct Spent {
    double nanoseconds = 0;
    double terminators = 0;
  };
  /// Adds time that the rule took. Returns the sum since the last one that it returned, once that
  /// is worth looking at the rule.
  static constexpr double kWorth = 2e6;
  std::optional<Spent> spend(const Spent& more) {
    spent_.nanoseconds += more.nanoseconds;
    spent_.terminators += more.terminators;
    if (spent_.nanoseconds < kWorth) return std::nullopt;
    return std::exchange(spent_, {});
  }

  /// How two engines disagreed, for people; empty: they never did.
  const std::string& alarm() const { return alarm_; }
  void set_alarm(std::string alarm) { alarm_ = std::move(alarm); }

  /// So many terminators at a time are always timed. Of evaluations of fewer, one in so many is
  /// timed, because reading the clock costs as much as a cheap terminator.
  static constexpr std::size_t kMany = 16;
  /// Whether the next evaluation is to be timed.
  bool is_timed(std::size_t terminators) {
    return automatic_ && (terminators >= kMany || ++untimed_ % kMany == 0);
  }

 private:
  std::uint32_t current_ = 0;
  std::uint32_t reserve_ = 0;
  std::size_t few_ = 0;
  double share_ = 0;
  double batch_ = 0;
  double small_batch_ = 0;
  std::uint32_t untimed_ = 0;
  bool automatic_;
  /// Most rules know one engine, which then stands here.
  boost::container::small_vector<EngineEntry, 1> entries_;
  Spent spent_;
  std::uint64_t moves_ = 0;
  std::string reason_;
  std::string alarm_;
};

}  // namespace gorgo::dispatch
