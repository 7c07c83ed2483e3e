#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "dispatch/evaluate/evaluation.hpp"
#include "dispatch/order/agenda.hpp"
#include "dispatch/order/handed_out.hpp"
#include "dispatch/order/released.hpp"
#include "dispatch/placement/placer.hpp"
#include "gorgo/processor.hpp"
#include "history/upkeep.hpp"

namespace gorgo::dispatch {

/// Takes released events through the rules and hands out all events in place order. Cuts the
/// stream into batches where instants of timers and deadlines stand; while rules have deadlines,
/// late events begin a batch, too.
class Dispatcher {
 public:
  using Deliver = std::function<void(const OutputBatch&)>;

  Dispatcher(RuleSet& rules, history::History& history, ProcessorCounters& counters, Placer& placer,
             Evaluation& evaluation, HandedOut& handed_out, std::uint64_t max_instants,
             Duration remember, const std::atomic<bool>& stop)
      : rules_(rules),
        history_(history),
        counters_(counters),
        remember_(remember),
        stop_(stop),
        agenda_(rules, max_instants),
        placer_(placer),
        evaluation_(evaluation),
        handed_out_(handed_out) {}

  /// Evaluates and delivers everything and leaves `released` empty. When `stop` is set meanwhile,
  /// the rest is given up.
  void process(Released& released, const Deliver& deliver);

  /// Goes on from there. Precondition: nothing was processed yet.
  void restore(std::optional<Timestamp> clock, std::uint64_t roots) {
    clock_ = clock;
    roots_ = roots;
    agenda_.forget();
  }

  /// The largest released timestamp, ticks included; unset before any.
  std::optional<Timestamp> clock() const { return clock_; }
  /// Places given out so far.
  std::uint64_t roots() const { return roots_; }
  /// The earliest instant or deadline that has not fired.
  std::optional<Timestamp> next_due() { return agenda_.next(); }
  std::optional<Timestamp> last_deadline() const { return agenda_.last_deadline(); }

 private:
  /// Fills `batch_` with what comes next, from record `next` on.
  void form_batch(Released& released, std::size_t& next);
  /// Where a batch ends, whatever room it has.
  struct EndOfBatch {
    std::optional<Timestamp> before = std::nullopt;  ///< an event that is not earlier
    bool before_late = false;  ///< also before a late event that may bring about a deadline
    bool is_alone = false;     ///< behind its first event
  };
  EndOfBatch end_of_batch(const Record& first);
  bool is_behind(const EndOfBatch& end, const Record& record, Timestamp last);
  void add_released(Released& released, std::size_t& next);
  void take(Released& released, std::size_t begin, std::size_t end);
  void pass_unseen(const Released& released);
  void advance(Timestamp timestamp);
  bool is_late(Timestamp timestamp) const { return clock_ && timestamp < *clock_; }
  void evaluate_batch(const Deliver& deliver);
  bool is_due(const Record& record) const;
  bool is_wanted(const Record& own);
  void order_composites(std::size_t first);
  void sort_by_root();
  void sort_by_place();
  static OutputBatch::Row row_of(const Record& record, const Place& place);
  void add_row(const Record& record, const Place& place, const Deliver& deliver);
  void deliver_finished(const Deliver& deliver);
  void hand_out(const Deliver& deliver);
  bool is_worth_forgetting() const;
  void forget();
  void forget_of_rules();
  void forget_decided(std::uint32_t rule);

  RuleSet& rules_;
  history::History& history_;
  ProcessorCounters& counters_;
  const Duration remember_;  // events stay so much longer than rules need them
  const std::atomic<bool>& stop_;
  Agenda agenda_;
  Placer& placer_;
  Evaluation& evaluation_;
  HandedOut& handed_out_;
  std::uint64_t unforgotten_ = 0;           // events since the last `forget`
  std::uint64_t unforgotten_of_rules_ = 0;  // and since the last `forget_of_rules`
  Timestamp forgot_at_ = std::numeric_limits<Timestamp>::min();  // by the events' time
  history::Sampler timed_;  // which rounds' time the placer is told

  std::optional<Timestamp> clock_;
  std::uint64_t roots_ = 0;
  std::uint64_t first_root_ = 0;  // that of the first event in hand, less one
  Batch batch_;
  OutputBatch output_;

  // Scratch of deliver_finished.
  std::vector<std::uint32_t> order_;      // composites in place order
  std::vector<std::uint32_t> unordered_;  // composites in the order of the batch
  std::vector<std::uint32_t> by_root_;    // by root from the batch's first: where its next one goes
};

}  // namespace gorgo::dispatch
