#pragma once

namespace gorgo::dispatch {

/// Says when a rule that takes time is tried on other engines, and what the outcome counts for. A
/// trial is right only to within a factor, so it moves a rule once. From then on only attempts move
/// the rule, because they measure what counts, and they become ever rarer. When the cost of the
/// rule has drifted, trials and attempts are frequent again, and a trial with a clear result moves
/// the rule once more. So a rule settles where two engines are about equally good, whatever the
/// noise, and still follows a load that shifts.
class Watch {
 public:
  /// The rule has taken `spent` nanoseconds since the last call, and of late a terminator costs
  /// `cost` nanoseconds on the engine where the rule is to stay. True: the cost has drifted.
  bool look(double spent, double cost);
  /// Whether something else should be tried.
  bool is_due() const { return spent_ >= interval_; }
  /// Nanoseconds since something else was thought of.
  double spent() const { return spent_; }
  /// Nothing was worth a trial.
  void passed() { rest(kSlower); }
  /// A trial is over, `clearly` for the present engine or not.
  void tried(bool clearly) { rest(clearly ? kMuchSlower * kMuchSlower : kMuchSlower); }
  /// How far a trial is trusted to move the rule at once, as a factor on the ratio of costs that is
  /// usually worth a move: 1 at first; 0: no trial moves it.
  double trust() const { return trust_; }
  /// The rule has moved because of a trial.
  void moved();
  /// Whether an attempt may follow the trial. To be asked once for each trial.
  bool may_attempt();
  /// An attempt is over, whichever way it ended.
  void attempted();
  /// The rule has moved together with others.
  void attempted_together();

 private:
  static constexpr double kSlower = 2, kMuchSlower = 8;

  void rest(double longer);
  bool has_drifted();
  void begin_anew();

  double spent_ = 0;     // nanoseconds since a trial or attempt
  double interval_ = 0;  // nanoseconds to spend until the next trial
  double trust_ = 1;
  unsigned attempts_ = 0;
  unsigned passes_ = 0;  // how many of the next trials no attempt follows
  double judged_ = 0;    // cost of a terminator since the last decision; 0: not long enough yet
  double weighted_ = 0;  // sum of costs, each times what was spent
  double weight_ = 0;    // what was spent
};

}  // namespace gorgo::dispatch
