#include "engine/cuda/tasks.hpp"

#include <algorithm>
#include <string>

#include "engine/cuda/paging.hpp"
#include "engine/cuda/spread.hpp"
#include "engine/cuda/step_pipeline.hpp"

namespace gorgo::engine {
namespace {

/// In pairs: testing so many takes about as long as the host takes for a search, and for all of a
/// terminator.
constexpr std::uint64_t kSearch = 500'000, kTerminator = 2'000'000;
/// A turn has at least so many times the pairs that are worth a device: it takes some tenths of a
/// millisecond, in which others prepare theirs.
constexpr std::uint64_t kLeastTurn = 2500;
constexpr std::uint64_t kMostTurns = 8;

Load load_of(const DeviceRequest& request, DeviceContexts contexts) {
  const CudaEvaluator& evaluator = *request.evaluator;
  const std::size_t terminators = request.request->terminators.slots.size();
  Load load{.cost = request.pairs + kSearch * terminators,
            .terminators = terminators,
            .is_divisible = evaluator.is_divisible()};
  for (std::uint32_t i = 0; i < contexts.size() && load.home == Load::kAnywhere; ++i) {
    const bool is_home = evaluator.home() == nullptr ? evaluator.has_columns_on(*contexts[i])
                                                     : evaluator.home() == contexts[i].get();
    if (is_home) load.home = i;
  }
  return load;
}

/// Does tasks together; meanwhile the pages come that the next ones need.
void run_together(DeviceContext& context, std::span<const Task> tasks, unsigned threads,
                  const Step& step, const Step* next, const Budget& budget) {
  std::vector<RuleSearch*> searches;
  bool done = false;
  const auto use = [&] {
    context.pages().begin_step();
    make_room(context, step.working_set);
    ChannelSchedule by_place;
    for (const std::size_t i : step.tasks) {
      const Task& task = tasks[i];
      searches.push_back(&task.evaluator->begin(task, context));
      by_place.add(task.channel, task.turn, searches.back());
    }
    done = run(context, by_place, threads, budget.stop,
               next == nullptr ? nullptr : &next->working_set);
  };
  try_on_device(context, use, [&] {
    std::vector<Task> group;
    for (const std::size_t i : step.tasks) group.push_back(tasks[i]);
    return text_of(group);
  });
  for (std::size_t i = 0; i < step.tasks.size(); ++i) {
    const Task& task = tasks[step.tasks[i]];
    if (!done || searches[i]->is_too_large()) task.evaluator->abandon(task.part);
  }
}

void run_one_by_one(DeviceContext& context, std::span<const Task> tasks, unsigned threads,
                    std::span<const Step> steps, const Budget& budget) {
  for (std::size_t i = 0; i < steps.size() && context.problem().empty(); ++i) {
    const Step* const next = i + 1 < steps.size() ? &steps[i + 1] : nullptr;
    run_together(context, tasks, threads, steps[i], next, budget);
  }
}

/// Says what tasks need. One that consumes is exclusive, because it changes what others under way
/// would see.
std::vector<Demand> demands_of(DeviceContext& context, std::span<const Task> tasks) {
  const bool may_take_turns = context.device().channels() > StepPipeline::kChannels;
  std::vector<Demand> demands;
  for (const Task& task : tasks) {
    CudaEvaluator& evaluator = *task.evaluator;
    demands.push_back(
        {.needs = reachable_pages(evaluator.plan_on(context), evaluator.terminators(task)),
         .is_exclusive = !may_take_turns || !evaluator.is_divisible()});
  }
  return demands;
}

/// Cuts the shares of one device into partitions.
class Partitioner {
 public:
  struct Partition {
    Share share;
    std::uint32_t channel, turn;
  };

  Partitioner(std::span<const DeviceRequest> requests, DeviceContext& context,
              const PartitionOptions& options)
      : requests_(requests), context_(context), options_(options) {}

  /// Puts the plans on the device. Returns the partitions in the order of the shares.
  std::vector<Partition> partitions(std::span<const Share> shares) {
    std::vector<Partition> partitions;
    place(shares);
    const Split split = split_of(shares);
    if (split.channels == 1) {
      for (const Share& share : shares) partitions.push_back({share, 0, 0});
      return partitions;
    }
    for (const Share& share : shares) {
      if (!evaluator(share).is_divisible()) partitions.push_back({share, 0, 0});
    }
    const auto cut =
        spread(loads_of(shares), split.channels * split.turns, options_.least_terminators);
    for (std::uint32_t i = 0; i < cut.size(); ++i) {
      const std::uint32_t channel = 1 + i % split.channels, turn = i / split.channels;
      for (const auto& [number, first, count] : cut[i]) {
        const Share& share = shares[number];
        if (count == 0) continue;
        partitions.push_back({{share.load, share.first + first, count}, channel, turn});
      }
    }
    const auto place_of = [](const Partition& partition) {
      return std::pair(partition.share.load, partition.share.first);
    };
    std::ranges::sort(partitions, {}, place_of);
    return partitions;
  }
  bool fits() const { return fits_; }

 private:
  struct Split {
    std::uint32_t channels, turns;
  };

  CudaEvaluator& evaluator(const Share& share) const { return *requests_[share.load].evaluator; }

  void place(std::span<const Share> shares) {
    std::size_t pages = 0;
    for (const Share& share : shares) {
      evaluator(share).move_to(context_.shared_from_this());
      pages += most_pages(evaluator(share).plan_on(context_), context_);
    }
    fits_ = pages <= context_.device().pages();
  }

  /// Takes as many channels as let the host's part be done as soon as the device's, or two for one
  /// thread. Takes turns for what keeps the device busy: meanwhile the host prepares the next turn
  /// and takes the answers of the last. What comes in several steps is not cut further.
  Split split_of(std::span<const Share> shares) const {
    std::uint64_t terminators = 0, pairs = 1;
    for (const Share& share : shares) {
      const DeviceRequest& request = requests_[share.load];
      if (!request.evaluator->is_divisible()) continue;
      const std::size_t all = request.request->terminators.slots.size();
      terminators += share.count;
      pairs += request.pairs / all * share.count;
    }
    const std::uint64_t parts = terminators / options_.least_terminators;
    const std::uint64_t most = std::min<std::uint64_t>(context_.device().channels() - 1, parts);
    if (!fits_ || most < 2) return {1, 1};
    const std::uint64_t wanted = 2 + terminators * kTerminator / pairs;
    const std::uint64_t channels =
        std::min({most, wanted, std::max<std::uint64_t>(2, options_.threads)});
    const std::uint64_t worth =
        pairs / std::max<std::uint64_t>(1, options_.least_pairs * kLeastTurn);
    const std::uint64_t turns =
        std::clamp<std::uint64_t>(std::min(worth, parts) / channels, 1, kMostTurns);
    return {static_cast<std::uint32_t>(channels), static_cast<std::uint32_t>(turns)};
  }

  /// Loads to be spread over the channels. Rules that consume go to the first channel, so
  /// they count nothing here.
  std::vector<Load> loads_of(std::span<const Share> shares) const {
    std::vector<Load> loads;
    for (const Share& share : shares) {
      const std::size_t own = evaluator(share).is_divisible() ? share.count : 0;
      loads.push_back({.cost = own, .terminators = own});
    }
    return loads;
  }

  std::span<const DeviceRequest> requests_;
  DeviceContext& context_;
  const PartitionOptions& options_;
  bool fits_ = true;
};

}  // namespace

std::vector<DeviceTasks> tasks_of(std::span<const DeviceRequest> requests, DeviceContexts contexts,
                                  const PartitionOptions& options) {
  std::vector<Load> loads;
  for (const DeviceRequest& request : requests) loads.push_back(load_of(request, contexts));
  const auto shares = spread(loads, contexts.size(), options.least_pairs);
  std::vector<DeviceTasks> tasks(contexts.size());
  std::vector<std::vector<Partitioner::Partition>> partitions;
  std::vector<std::size_t> parts(requests.size());
  for (std::size_t d = 0; d < contexts.size(); ++d) {
    const std::lock_guard lock(contexts[d]->mutex());
    Partitioner partitioner(requests, *contexts[d], options);
    partitions.push_back(partitioner.partitions(shares[d]));
    tasks[d].fits = partitioner.fits();
    tasks[d].threads = std::max(1U, options.threads);
    for (const auto& partition : partitions[d]) ++parts[partition.share.load];
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].evaluator->expect(requests[i].request->terminators, parts[i]);
    parts[i] = 0;
  }
  for (std::size_t d = 0; d < contexts.size(); ++d) {
    const std::lock_guard lock(contexts[d]->mutex());
    for (const auto& [share, channel, turn] : partitions[d]) {
      CudaEvaluator* const evaluator = requests[share.load].evaluator;
      evaluator->plan_on(*contexts[d], channel);
      tasks[d].tasks.push_back({evaluator, requests[share.load].request->state, parts[share.load]++,
                                share.first, share.count, channel, turn});
    }
  }
  return tasks;
}

void run_on(DeviceContext& context, const DeviceTasks& all, const Budget& budget) {
  if (all.tasks.empty()) return;
  std::vector<Task> tasks;
  Steps planned;
  const auto plan = [&] {
    for (const Task& task : all.tasks) {
      CudaEvaluator& evaluator = *task.evaluator;
      if (reaches_long_text(evaluator.plan_on(context, task.channel),
                            evaluator.terminators(task))) {
        evaluator.leave_to_cpu(task.part, kLongText);
      } else {
        tasks.push_back(task);
      }
    }
    if (tasks.empty()) return;
    if (all.fits) {
      planned = exclusive_step(tasks.size());
      return;
    }
    planned = plan_steps(context, demands_of(context, tasks));
  };
  try_on_device(context, plan, [&] { return text_of(all.tasks); });
  for (const std::size_t i : planned.too_large) {
    tasks[i].evaluator->leave_to_cpu(tasks[i].part, kNoRoom);
  }
  std::span<const Step> steps = planned.steps;
  while (!steps.empty() && context.problem().empty()) {
    const auto other = std::ranges::find(steps, !steps[0].is_exclusive, &Step::is_exclusive);
    const auto count = static_cast<std::size_t>(other - steps.begin());
    if (steps[0].is_exclusive) {
      run_one_by_one(context, tasks, all.threads, steps.first(count), budget);
    } else {
      const std::lock_guard lock(context.mutex());
      StepPipeline(context, tasks, budget).run(steps.first(count));
    }
    steps = steps.subspan(count);
  }
}

}  // namespace gorgo::engine
