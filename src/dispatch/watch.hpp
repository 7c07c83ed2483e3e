#pragma once

namespace gorgo::dispatch {

/// When a rule that takes time is tried on other engines, and what the outcome counts for. What a
/// trial says is right by a factor, so it moves a rule once; from then on only an attempt does,
/// which measures what counts, and that ever more seldom. When the cost of the rule has drifted,
/// trials and attempts are frequent again, and a trial that says much moves it once more: so where
/// two engines are about equally good the rule settles, whatever the noise, and a load that shifts
/// is followed.
class Watch {
 public:
  /// The rule has taken `spent` nanoseconds since the last time, and costs so much a terminator of
  /// late, on the engine where it is to stay. True: that is another cost than it was.
  bool look(double spent, double cost);
  /// Whether something else should be tried.
  bool is_due() const { return spent_ >= interval_; }
  /// Nanoseconds since something else was thought of.
  double spent() const { return spent_; }
  /// Nothing was worth a trial.
  void passed() { rest(kSlower); }
  /// A trial is over, `clearly` for the present engine or not.
  void tried(bool clearly) { rest(clearly ? kMuchSlower * kMuchSlower : kMuchSlower); }
  /// What a trial has to promise for the rule to move at once, as a factor on what is usually worth
  /// it: 1 at first, 0 where no promise is enough.
  double trust() const { return trust_; }
  /// It has moved because of a trial.
  void moved();
  /// Whether an attempt may follow the trial, to be asked once for each.
  bool may_attempt();
  /// An attempt is over, however.
  void attempted();
  /// The rule has moved together with others.
  void attempted_together();

 private:
  static constexpr double kSlower = 2, kMuchSlower = 8;

  void rest(double longer);
  bool has_drifted();
  void begin_anew();

  double spent_ = 0;     // nanoseconds since a trial or attempt
  double interval_ = 0;  // to spend until the next trial
  double trust_ = 1;
  unsigned attempts_ = 0;
  unsigned passes_ = 0;  // trials that no attempt follows
  double judged_ = 0;    // cost of a terminator since the last decision; 0: not long enough yet
  double weighted_ = 0;  // costs since, each times what was spent
  double weight_ = 0;    // what was spent
};

}  // namespace gorgo::dispatch
