#include "engine/cuda/cuda.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "base/thread_name.hpp"
#include "engine/column/column.hpp"
#include "engine/cuda/device_plan.hpp"
#include "engine/cuda/evaluator.hpp"
#include "engine/cuda/tasks.hpp"
#include "engine/request.hpp"
#include "language/aggregate_names.hpp"

namespace gorgo::engine {
namespace {

/// What a device cannot do of a plan; empty if it can do all.
std::string problem_of(const plan::Plan& plan) {
  const Rule& rule = plan.rule;
  if (rule.states.size() == 1 && rule.aggregates.empty()) return "it has nothing to search";
  if (plan.panes) return "its aggregates come from panes";
  if (rule.at_most) return "what it has produced decides what it produces";
  if (rule.limit && !rule.consuming.empty()) return "its limit decides what it consumes";
  for (std::uint32_t i = 1; i < plan.states.size(); ++i) {
    if (rule.states[i].table) return rule.states[i].name + ": it is a table";
    if (!rule.states[i].per.empty()) return rule.states[i].name + ": it selects per key";
    if (rule.states[i].among) return rule.states[i].name + ": it counts the events of its window";
    const auto program = compile(plan.states[i].scan, {}, consumes(rule, i));
    if (!program) return rule.states[i].name + ": " + program.error().message;
  }
  for (const plan::Scan& scan : plan.negations) {
    if (const auto program = compile(scan, {}); !program) {
      return "a negation: " + program.error().message;
    }
  }
  for (std::size_t i = 0; i < plan.aggregates.size(); ++i) {
    if (rule.aggregates[i].span.table) return "it looks up rows of a table";
    if (rule.aggregates[i].newest || rule.aggregates[i].among)
      return "an aggregate counts the events of its window";
    if (!is_reduction(rule.aggregates[i].function)) {
      return "devices know only " + language::aggregate_names(is_reduction);
    }
    const auto program = compile(plan.aggregates[i].scan, rule.aggregates[i].attribute);
    if (!program) return "an aggregate: " + program.error().message;
  }
  return "";
}

/// Requests name evaluators of the engine.
CudaEvaluator& evaluator_of(const Request& request) {
  return static_cast<CudaEvaluator&>(*request.evaluator);
}

}  // namespace

std::vector<std::shared_ptr<DeviceContext>> CudaEngine::contexts() const {
  const std::lock_guard lock(mutex_);
  if (!is_opened_) {
    try {
      Opened opened = open_();
      std::vector<std::shared_ptr<DeviceContext>> contexts;
      for (auto& device : opened.devices)
        contexts.push_back(std::make_shared<DeviceContext>(std::move(device)));
      if (!contexts.empty())
        workers_ = std::make_unique<Workers>(static_cast<unsigned>(contexts.size()));
      unavailable_ = std::move(opened.why_none);
      left_out_ = std::move(opened.left_out);
      contexts_ = std::move(contexts);
    } catch (const std::bad_alloc&) {
      unavailable_ = "no memory of the host";
      is_at_fault_ = true;
    } catch (const std::exception& error) {  // a device failed, or there are too many threads
      unavailable_ = error.what();
      is_at_fault_ = true;
    }
    is_opened_ = true;
  }
  std::vector<std::shared_ptr<DeviceContext>> in_use;
  for (const auto& context : contexts_) {
    if (context->problem().empty()) in_use.push_back(context);
  }
  return in_use;
}

bool CudaEngine::is_ready() const {
  if (is_opened_) return true;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && !opener_.joinable()) {
    opener_ = std::thread([this] {
      name_thread("cuda opener");
      static_cast<void>(contexts());
    });
  }
  return false;
}

bool CudaEngine::is_warming_up() const {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock && std::ranges::any_of(contexts_, [](const auto& context) {
           return context->device().shapes().requested > 0;
         });
}

void CudaEngine::settle() const {
  const bool is_opening = [this] {
    const std::lock_guard lock(mutex_);
    return opener_.joinable();
  }();
  // Whoever comes first opens the devices, and the other waits for that.
  if (is_opening) static_cast<void>(contexts());
}

std::string CudaEngine::reason_to_decline(const plan::Plan& plan) const {
  if (auto problem = problem_of(plan); !problem.empty()) return problem;
  if (!contexts().empty()) return "";
  const std::lock_guard lock(mutex_);
  return "there is no GPU to use: " +
         (contexts_.empty() ? unavailable_ : contexts_.front()->problem());
}

void CudaEngine::evaluate(std::span<Request> requests, const Budget& budget) const {
  const auto start = std::chrono::steady_clock::now();
  try {
    search(requests, budget);
  } catch (const std::bad_alloc&) {  // `finish` does what was not searched for
    for (const Request& request : requests) evaluator_of(request).expect(request.terminators, 0);
  }
  std::size_t terminators = 0;
  for (Request& request : requests) {
    carry_out(request, [&] {
      return evaluator_of(request).finish(request.terminators, *request.state, budget,
                                          *request.sink);
    });
    terminators += request.terminators.slots.size();
  }
  // What requests took together is divided among them by their terminators.
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  for (Request& request : requests) {
    const auto own = static_cast<double>(request.terminators.slots.size());
    request.took = took.count() * own / static_cast<double>(terminators);
  }
}

/// Has the devices search for the terminators of all requests that are worth it.
void CudaEngine::search(std::span<const Request> requests, const Budget& budget) const {
  std::vector<DeviceRequest> worthwhile;
  std::uint64_t pairs = 0;
  for (const Request& request : requests) {
    CudaEvaluator& evaluator = evaluator_of(request);
    evaluator.expect(request.terminators, 0);
    const std::uint64_t own = evaluator.pairs(request.terminators);
    if (own > 0) worthwhile.push_back({&evaluator, &request, own});
    pairs += own;
  }
  if (worthwhile.empty() || pairs < tuning_.least_pairs) return;
  const auto contexts = this->contexts();
  if (contexts.empty()) return;
  const auto of_each = static_cast<unsigned>(budget.threads / contexts.size());
  const auto tasks = tasks_of(worthwhile, contexts,
                              {.least_pairs = tuning_.least_pairs,
                               .least_terminators = tuning_.least_terminators,
                               .threads = of_each});
  const std::lock_guard lock(workers_mutex_);
  workers_->run(contexts.size(), [&](std::size_t i) { run_on(*contexts[i], tasks[i], budget); });
}

std::unique_ptr<Evaluator> CudaEngine::prepare(std::shared_ptr<const plan::Plan> plan,
                                               history::History& history) const {
  if (!reason_to_decline(*plan).empty()) {
    return std::make_unique<CudaEvaluator>(
        *this, std::nullopt, ColumnEngine().make(std::move(plan), history), tuning_.least_pairs);
  }
  auto on_cpu = ColumnScanEngine().make(plan, history);
  return std::make_unique<CudaEvaluator>(
      *this, prepare_plan(std::move(plan), history, tuning_.longest_inside), std::move(on_cpu),
      tuning_.least_pairs);
}

}  // namespace gorgo::engine
