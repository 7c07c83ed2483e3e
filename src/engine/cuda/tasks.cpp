#include "engine/cuda/tasks.hpp"

#include <string>

#include "engine/cuda/paging.hpp"
#include "engine/cuda/rounds.hpp"
#include "engine/cuda/spread.hpp"

namespace gorgo::engine {
namespace {

/// In pairs: what the host does for a search takes about as long as testing so many.
constexpr std::uint64_t kSearch = 500'000;

Load load_of(const Evaluation& evaluation, Sessions sessions) {
  const CudaEvaluator& evaluator = *evaluation.evaluator;
  const std::size_t terminators = evaluation.announcement->terminators.slots.size();
  Load load{.cost = evaluation.pairs + kSearch * terminators,
            .terminators = terminators,
            .is_divisible = evaluator.is_divisible()};
  for (std::uint32_t i = 0; i < sessions.size() && load.home == Load::kAnywhere; ++i) {
    const bool is_home = evaluator.home() == nullptr ? evaluator.has_columns_on(*sessions[i])
                                                     : evaluator.home() == sessions[i].get();
    if (is_home) load.home = i;
  }
  return load;
}

std::string text_of(std::span<const Task> tasks) {
  std::size_t terminators = 0;
  for (const Task& task : tasks) terminators += task.count;
  return terminators_text(terminators, tasks.size(), tasks.front().evaluator->name());
}

/// Does tasks together, and has what the next ones need come meanwhile.
void run_together(Session& session, std::span<const Task> tasks, const Step& step, const Step* next,
                  const std::atomic<bool>& stop) {
  std::vector<Work*> works;
  bool done = false;
  const auto use = [&] {
    session.begin_step();
    for (const std::size_t i : step.evaluations) {
      works.push_back(&tasks[i].evaluator->begin(tasks[i], session));
    }
    done = run(session, works, &stop, next == nullptr ? nullptr : &next->needs);
  };
  caught(session, use, [&] {
    std::vector<Task> group;
    for (const std::size_t i : step.evaluations) group.push_back(tasks[i]);
    return text_of(group);
  });
  for (std::size_t i = 0; i < step.evaluations.size(); ++i) {
    const Task& task = tasks[step.evaluations[i]];
    if (!done || works[i]->is_too_large()) task.evaluator->abandon(task.part);
  }
}

}  // namespace

std::vector<std::vector<Task>> tasks_of(std::span<const Evaluation> evaluations, Sessions sessions,
                                        std::uint64_t least_pairs) {
  std::vector<Load> loads;
  for (const Evaluation& evaluation : evaluations) loads.push_back(load_of(evaluation, sessions));
  const auto shares = spread(loads, sessions.size(), least_pairs);
  std::vector<std::size_t> parts(evaluations.size());
  for (const auto& of_device : shares) {
    for (const Share& share : of_device) ++parts[share.load];
  }
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    evaluations[i].evaluator->expect(evaluations[i].announcement->terminators, parts[i]);
    parts[i] = 0;
  }
  std::vector<std::vector<Task>> tasks(sessions.size());
  for (std::size_t d = 0; d < sessions.size(); ++d) {
    const std::lock_guard lock(sessions[d]->mutex());
    for (const Share& share : shares[d]) {
      CudaEvaluator* const evaluator = evaluations[share.load].evaluator;
      evaluator->move_to(sessions[d]);
      evaluator->plan_on(*sessions[d]);
      tasks[d].push_back({evaluator, evaluations[share.load].announcement->state,
                          parts[share.load]++, share.first, share.count});
    }
  }
  return tasks;
}

void run_on(Session& session, std::span<const Task> all, const std::atomic<bool>& stop) {
  if (all.empty()) return;
  std::vector<Task> tasks;
  Steps planned;
  const auto plan = [&] {
    for (const Task& task : all) {
      CudaEvaluator& evaluator = *task.evaluator;
      if (reaches_long_text(evaluator.plan_on(session), evaluator.announced(task))) {
        evaluator.leave_to_cpu(task.part, kLongText);
      } else {
        tasks.push_back(task);
      }
    }
    if (tasks.empty()) return;
    std::size_t most = 0;
    for (const Task& task : tasks) most += most_pages(task.evaluator->plan_on(session), session);
    if (most <= session.device().pages()) {
      planned = one_step(tasks.size());
      return;
    }
    std::vector<std::vector<Need>> needs;
    for (const Task& task : tasks) {
      needs.push_back(needs_of(task.evaluator->plan_on(session), task.evaluator->announced(task)));
    }
    planned = plan_steps(session, needs);
  };
  caught(session, plan, [&] { return text_of(all); });
  for (const std::size_t i : planned.too_large) {
    tasks[i].evaluator->leave_to_cpu(tasks[i].part, kNoRoom);
  }
  for (std::size_t i = 0; i < planned.steps.size() && session.problem().empty(); ++i) {
    const Step* const next = i + 1 < planned.steps.size() ? &planned.steps[i + 1] : nullptr;
    run_together(session, tasks, planned.steps[i], next, stop);
  }
}

}  // namespace gorgo::engine
