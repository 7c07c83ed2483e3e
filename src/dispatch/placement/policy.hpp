#pragma once

#include <string_view>
#include <vector>

namespace gorgo::dispatch {

/// Decides by costs where a rule runs: when other engines are worth a trial, when what a trial
/// found is worth a move, and whether the rule stays where it went. It knows no clock, no engine
/// and no thread. All times are nanoseconds that the rule has taken. A cost is that of a
/// terminator, with the rule's part of keeping indexes.
///
/// A trial is right only to within a factor, so a rule that has moved is on probation: it goes back
/// when it is measured to cost more than it did before. Either engine of the two is then left
/// alone for long. So a rule settles where two engines are about equally good, whatever the noise;
/// when its cost has drifted, or many more terminators come at a time, all begins anew, so that it
/// follows a load that shifts. What a device costs for few terminators says nothing about many.
class Policy {
 public:
  /// The rule has taken so long since the last call, costs so much of late, and gets so many
  /// terminators at a time. True: the load has shifted.
  bool look(double spent, double cost, double batch);
  /// So much time has passed of which no cost is known.
  void pass(double nanoseconds) { total_ += nanoseconds; }
  /// Whether other engines should be tried.
  bool is_due() const { return spent_ >= interval_; }
  /// Whether an engine may be tried: it has not proved to be worse of late.
  bool may_try(std::string_view engine) const;
  /// Nothing was worth a trial.
  void passed() { rest(kSlower); }
  /// All engines that were worth it have been tried. `clearly`: all of them cost at least twice as
  /// much.
  void tried(bool clearly) { rest(clearly ? kMuchSlower * kMuchSlower : kMuchSlower); }
  /// Whether an engine is worth a move that promises to cost this part of what the present one
  /// does.
  bool is_worth(double ratio) {
    promised_ = ratio;
    return ratio < gain_;
  }
  /// The rule has moved from one engine to another because of the last promise, and was left there
  /// (`kept`) or went back. `worse`: the other one of the two.
  void settled(std::string_view worse, bool kept);
  /// What a terminator has cost of late; 0: not known.
  double cost() const { return spent_of_late_ == 0 ? 0 : spent_of_late_ / terminators_of_late_; }

 private:
  static constexpr double kSlower = 2, kMuchSlower = 8;
  /// A rule moves when that promises to cost a fourteenth less: probation takes back what was
  /// promised wrongly. After each probation the promise must be better by as much again, and better
  /// than one that was broken.
  static constexpr double kGain = 0.93;
  /// An engine that has proved to be worse is left alone for so long, and each time `kMuchSlower`
  /// times as long.
  static constexpr double kPatience = 10e9;

  struct Worse {
    std::string_view engine;
    double until;  ///< by `total_`
  };

  void rest(double longer);
  void remember(double spent, double cost);
  bool has_drifted();
  bool has_grown(double batch);

  double total_ = 0;     // all time that it was told of
  double spent_ = 0;     // since the last trial
  double interval_ = 0;  // until the next trial
  double gain_ = kGain;
  double patience_ = kPatience;  // how long an engine that is worse is left alone
  std::vector<Worse> worse_;
  double promised_ = 1;
  double spent_of_late_ = 0, terminators_of_late_ = 0;
  double judged_ = 0;  // cost since the last decision; 0: not long enough yet
  double batch_ = 0;   // terminators at a time, when engines were last judged by them; 0: not yet
  double latest_batch_ = 0;
  double weighted_ = 0;  // sum of costs, each times what was spent
  double weight_ = 0;    // what was spent
};

/// Finds out whether rules cost less where they went. Costs before the move count as they were
/// then.
class Probation {
 public:
  enum class Verdict { go_on, stay, go_back };

  /// Some terminators took `took` nanoseconds, where they would have taken `before` without the
  /// move. What a device takes for several rules is divided among them somehow, so only the sum
  /// over all rules of a batch means anything.
  void add(double before, double took) {
    batch_.before += before;
    batch_.took += took;
  }
  /// To be called when a batch is done. A single batch may take long for another reason, for
  /// example when a device takes in what a further rule reads. So the batch that lost most and the
  /// one that won most are left out, and few batches decide nothing unless they take very long.
  Verdict look();
  /// Leaves out what was added so far, because the engine was getting ready.
  void begin_anew() { *this = {}; }
  /// What the move has cost so far, in nanoseconds; below 0: it has won.
  double loss() const { return all_.loss(); }
  /// What a terminator takes now by what it took before.
  double ratio() const;

 private:
  struct Sum {
    double before = 0, took = 0;

    double loss() const { return took - before; }
  };

  /// The sum without these two, once there are enough batches.
  Sum typical() const;

  unsigned uncounted_ = 0, counted_ = 0;  // batches
  Sum batch_, all_;
  // The batches that have lost and won most, if any has; parts of `all_`.
  Sum dearest_, cheapest_;
};

/// What a terminator costs where two engines share the terminators. `a` and `b` are what it costs
/// with each of them alone, in any unit. The speeds add up, as where CPU and GPU share a join in
/// Karnagel et al., "Stream Join Processing on Heterogeneous Processors" (BTW 2013).
inline double shared_cost(double a, double b) { return 1 / (1 / a + 1 / b); }

}  // namespace gorgo::dispatch
