#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cpu_engine.hpp"
#include "engine/cuda/cuda.hpp"
#include "engine/cuda/mirrored_texts.hpp"
#include "engine/cuda/rule_search.hpp"

namespace gorgo::engine {

class CudaEvaluator;

/// Why terminators are left to the CPU.
inline constexpr std::string_view kNoRoom =
    "a device has less memory for columns than those of the rule need";
inline constexpr std::string_view kLongText =
    "a string of more than 256 bytes is compared by order or part";
static_assert(MirroredTexts::kLongest == 256);

/// A part of a request, for a device.
struct Task {
  CudaEvaluator* evaluator;
  const RuleState* state;
  std::size_t part;
  std::size_t first, count;  ///< of the terminators
  std::uint32_t channel;     ///< of the device
  std::uint32_t turn;        ///< in the channel
};

/// A rule on the devices of an engine, which outlives it. The engine has the devices search for the
/// terminators of all requests, in parts (`expect`, `begin`), and then has each evaluator `finish`
/// its request.
class CudaEvaluator final : public Evaluator {
 public:
  /// `plan`: unset if devices cannot do it, and `on_cpu` does it all.
  CudaEvaluator(const CudaEngine& engine, std::optional<DevicePlan> plan,
                std::unique_ptr<CpuEvaluator> on_cpu, std::uint64_t least_pairs)
      : engine_(engine),
        plan_(std::move(plan)),
        on_cpu_(std::move(on_cpu)),
        least_pairs_(least_pairs) {}

  /// Reports the parts that were searched for. What was not is evaluated: on a device by itself, or
  /// on the CPU. Returns how many terminators are done.
  std::size_t finish(const Terminators& terminators, const RuleState& state, const Budget& budget,
                     CompositeSink& sink);
  bool is_absent(std::uint32_t negation, std::span<const history::EventRef> sequence,
                 const RuleState& state) override {
    return on_cpu_->is_absent(negation, sequence, state);
  }
  std::size_t bytes() const override { return on_cpu_->bytes(); }
  double upkeep() override;
  Declined declined() const override { return declined_; }

  /// About how many pairs of a terminator and an event there are to search; 0: none.
  std::uint64_t pairs(const Terminators& terminators) const;

  // The members below are for rules that have terminators to search for, by `pairs`.
  const std::string& name() const { return plan_->plan->rule.name; }
  /// False if the rule consumes: what one terminator consumes decides about the next.
  bool is_divisible() const { return plan_->plan->rule.consuming.empty(); }

  /// The device that it is or was evaluated on; null at first.
  const DeviceContext* home() const { return home_.get(); }
  void move_to(std::shared_ptr<DeviceContext> context) { home_ = std::move(context); }
  /// Whether a device has a column of the rule.
  bool has_columns_on(DeviceContext& context) const;
  /// The plan on a device, as a channel uses it. The first call puts it there. Whoever calls holds
  /// the context's mutex.
  DevicePlan& plan_on(DeviceContext& context, std::uint32_t channel = 0);

  /// Says which terminators are going to be taken up, in so many parts.
  void expect(const Terminators& terminators, std::size_t parts) {
    terminators_ = terminators;
    searches_.clear();
    searches_.resize(parts);
    left_to_cpu_.assign(parts, {});
  }
  Terminators terminators(const Task& task) const {
    return {terminators_.slots.subspan(task.first, task.count), terminators_.ordered_before};
  }
  /// Takes up a part, which stays until it is abandoned or the request is finished. Parts may be
  /// taken up and abandoned on several threads once the plan is on their devices. Whoever calls
  /// holds the context's mutex.
  RuleSearch& begin(const Task& task, DeviceContext& context) {
    keep_in_step(*task.state);
    DevicePlan& plan = plan_on(context, task.channel);
    searches_[task.part] = std::make_unique<RuleSearch>(plan, terminators(task), *task.state);
    return *searches_[task.part];
  }
  void abandon(std::size_t part) { searches_[part].reset(); }
  /// Says that a device cannot do a part; the reason stays valid.
  void leave_to_cpu(std::size_t part, std::string_view reason) { left_to_cpu_[part] = reason; }

 private:
  std::size_t evaluate_somewhere(const Terminators& terminators, const RuleState& state,
                                 const Budget& budget, CompositeSink& sink);
  std::shared_ptr<DeviceContext> context_to_use();
  bool is_searched() const;
  std::size_t report(const Budget& budget, CompositeSink& sink);
  std::size_t report(RuleSearch& search, std::size_t first_terminator, const Budget& budget,
                     CompositeSink& sink);
  std::unique_ptr<RuleSearch> search_on(DeviceContext& context, const Terminators& terminators,
                                        const RuleState& state, const Budget& budget);
  std::size_t evaluate_on_cpu(const Terminators& terminators, const RuleState& state,
                              const Budget& budget, CompositeSink& sink);
  void count_upkeep();
  void forget_marks(const DevicePlan* up_to_date);
  void keep_in_step(const RuleState& state);
  void decline(std::size_t terminators, std::string_view reason) {
    declined_ = {declined_.terminators + terminators, reason};
  }

  const CudaEngine& engine_;
  std::optional<DevicePlan> plan_;  // on no device
  std::shared_ptr<DeviceContext> home_;
  std::map<std::pair<const DeviceContext*, std::uint32_t>, DevicePlan> placed_;  // by channel
  std::unique_ptr<CpuEvaluator> on_cpu_;
  std::uint64_t least_pairs_;
  Terminators terminators_;                            // of the request in hand
  std::vector<std::unique_ptr<RuleSearch>> searches_;  // by part of the request; null: not taken up
  std::uint64_t consumed_ = 0;  // what the rule consumed so far, as this evaluator knows
  std::size_t contended_ = 0;   // so many terminators are left to the CPU
  std::vector<std::string_view> left_to_cpu_;  // why, by part of the request
  Declined declined_;
  double upkeep_ = 0;   // nanoseconds of all plans so far
  double counted_ = 0;  // nanoseconds of one holder that are in it
};

}  // namespace gorgo::engine
