#include "engine/cuda/cuda.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "cuda/host_device.hpp"
#include "cuda/nvrtc.hpp"
#include "engine/column/column.hpp"
#include "engine/cuda/options.hpp"
#include "engine/cuda/shape_text.hpp"
#include "engine/cuda/work.hpp"

namespace gorgo::engine {
namespace {

/// What a device cannot do of a plan; empty: nothing.
std::string problem_of(const plan::Plan& plan) {
  const Rule& rule = plan.rule;
  if (!rule.consuming.empty()) return "what a terminator consumes decides about the next";
  if (rule.states.size() == 1 && rule.aggregates.empty()) return "it has nothing to search";
  for (std::size_t i = 1; i < plan.states.size(); ++i) {
    const auto program = compile(plan.states[i].scan, {});
    if (!program) return rule.states[i].name + ": " + program.error().message;
  }
  for (const plan::Scan& scan : plan.negations) {
    if (const auto program = compile(scan, {}); !program) {
      return "a negation: " + program.error().message;
    }
  }
  for (std::size_t i = 0; i < plan.aggregates.size(); ++i) {
    const auto program = compile(plan.aggregates[i].scan, rule.aggregates[i].attribute);
    if (!program) return "an aggregate: " + program.error().message;
  }
  return "";
}

DeviceScan prepare_scan(const plan::Scan& scan, std::optional<std::uint32_t> aggregated,
                        history::History& history, Session& session) {
  DeviceScan prepared{.scan = &scan, .program = *compile(scan, aggregated)};
  prepared.column = history.column(scan.column);
  std::vector<std::uint32_t> own = prepared.program.attributes;
  std::erase(own, kTimestamps);
  prepared.timeline = prepared.column->timeline(own);
  const history::EventStore& store = prepared.column->store();
  prepared.mirror = session.mirror(store, prepared.timeline);
  for (const std::uint32_t attribute : prepared.program.attributes) {
    prepared.attributes.push_back(prepared.mirror->add(attribute));
  }
  prepared.shape = shape_of(prepared.program, store.is_nullable(), session.device());
  prepared.reduced_floats = aggregated && store.attribute_type(*aggregated) == ValueType::floating;
  return prepared;
}

DevicePlan prepare_plan(std::shared_ptr<const plan::Plan> plan, history::History& history,
                        Session& session) {
  DevicePlan prepared;
  const Rule& rule = plan->rule;
  prepared.terminators = &history.store(rule.states[0].predicate.type);
  for (std::size_t i = 1; i < plan->states.size(); ++i) {
    prepared.states.push_back(prepare_scan(plan->states[i].scan, {}, history, session));
  }
  for (const plan::Scan& scan : plan->negations) {
    prepared.negations.push_back(prepare_scan(scan, {}, history, session));
  }
  for (std::size_t i = 0; i < plan->aggregates.size(); ++i) {
    prepared.aggregates.push_back(
        prepare_scan(plan->aggregates[i].scan, rule.aggregates[i].attribute, history, session));
  }
  prepared.plan = std::move(plan);
  return prepared;
}

std::size_t total_events(const DevicePlan& plan) {
  const DeviceScan& scan = plan.states.empty() ? plan.aggregates[0] : plan.states[0];
  return scan.timeline->end() - scan.timeline->begin();
}

class CudaEvaluator final : public Evaluator {
 public:
  CudaEvaluator(DevicePlan plan, std::shared_ptr<Session> session,
                std::unique_ptr<Evaluator> on_cpu, std::uint64_t least_pairs)
      : plan_(std::move(plan)),
        session_(std::move(session)),
        on_cpu_(std::move(on_cpu)),
        least_pairs_(least_pairs) {}

  std::size_t evaluate(const Terminators& terminators, const RuleState& state, const Budget& budget,
                       CompositeSink& sink) override;
  bool is_absent(std::uint32_t negation, std::span<const history::EventRef> sequence,
                 const RuleState& state) override {
    return on_cpu_->is_absent(negation, sequence, state);
  }
  std::size_t bytes() const override { return on_cpu_->bytes(); }
  Declined declined() const override { return declined_; }

  /// How much there is to search for so many terminators, roughly; 0: nothing.
  std::uint64_t pairs(const Terminators& terminators) const {
    if (!history::all_hold(plan_.plan->states[0].scan.guards, {})) return 0;
    return terminators.slots.size() * total_events(plan_);
  }
  const DevicePlan& plan() const { return plan_; }
  /// Takes the terminators up before they are evaluated. Stays until then.
  Work& begin(const Terminators& terminators, const RuleState& state) {
    work_ = std::make_unique<Work>(plan_, terminators, state);
    return *work_;
  }
  void abandon() { work_.reset(); }

 private:
  std::size_t evaluate_on_device(const Terminators& terminators, const RuleState& state,
                                 const Budget& budget, CompositeSink& sink);

  DevicePlan plan_;
  std::shared_ptr<Session> session_;
  std::unique_ptr<Evaluator> on_cpu_;
  std::uint64_t least_pairs_;
  std::unique_ptr<Work> work_;  // done with its rounds
  Declined declined_;
};

/// Uses the device; false when it, or memory, failed.
template <class Use>
bool caught(Session& session, Use use) {
  const std::lock_guard lock(session.mutex());
  try {
    use();
    return true;
  } catch (const cuda::DeviceError& error) {
    session.fail(error);
  } catch (const std::bad_alloc&) {
    session.fail(cuda::DeviceError("no memory of the host", false));
  }
  return false;
}

/// Does all rounds of the works. False: stopped.
bool run(Session& session, std::span<Work* const> works, const std::atomic<bool>* stop) {
  RoundWriter writer(session);
  std::vector<Work*> asking(works.begin(), works.end());
  for (;;) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
    writer.begin();
    std::erase_if(asking, [&](Work* work) { return !work->ask(writer); });
    if (asking.empty()) return true;
    const cuda::Answers answers = session.device().run(writer.round());
    for (Work* work : asking) work->take(answers);
  }
}

std::size_t CudaEvaluator::evaluate(const Terminators& terminators, const RuleState& state,
                                    const Budget& budget, CompositeSink& sink) {
  const std::unique_ptr<Work> announced = std::move(work_);
  if (announced && announced->is_of(terminators)) return announced->report(0, budget, sink);
  const std::uint64_t least = std::max<std::uint64_t>(1, least_pairs_);
  if (pairs(terminators) < least) return on_cpu_->evaluate(terminators, state, budget, sink);
  std::optional<std::size_t> done;
  if (session_->problem().empty()) {
    caught(*session_, [&] { done = evaluate_on_device(terminators, state, budget, sink); });
  }
  if (done) return *done;
  // Nothing was reported: that happens after the last round only.
  declined_ = {declined_.terminators + terminators.slots.size(), session_->failure()};
  return on_cpu_->evaluate(terminators, state, budget, sink);
}

/// All terminators together, or as many as the searches leave room for: the others are left for
/// the next call.
std::size_t CudaEvaluator::evaluate_on_device(const Terminators& terminators,
                                              const RuleState& state, const Budget& budget,
                                              CompositeSink& sink) {
  for (std::size_t count = terminators.slots.size();; count = (count + 1) / 2) {
    Work work(plan_, {terminators.slots.first(count), terminators.in_order}, state);
    Work* const alone[] = {&work};
    if (!run(*session_, alone, budget.stop)) return 0;
    if (!work.is_too_large()) return work.report(0, budget, sink);
  }
}

using Evaluation = std::pair<CudaEvaluator*, const Announcement*>;

/// Those that evaluations have in common count once.
class PagesNeeded {
 public:
  /// So many more with this plan.
  std::uint64_t more(const DevicePlan& plan) const {
    std::set<const Mirror*> fresh;
    std::uint64_t pages = 0;
    for_each(plan, [&](const Mirror& mirror) {
      if (!known_.contains(&mirror) && fresh.insert(&mirror).second) pages += mirror.pages_needed();
    });
    return pages;
  }
  void add(const DevicePlan& plan) {
    total_ += more(plan);
    for_each(plan, [&](const Mirror& mirror) { known_.insert(&mirror); });
  }
  std::uint64_t total() const { return total_; }

 private:
  template <class F>
  static void for_each(const DevicePlan& plan, F f) {
    for (const auto* scans : {&plan.states, &plan.negations, &plan.aggregates}) {
      for (const DeviceScan& scan : *scans) f(*scan.mirror);
    }
  }

  std::set<const Mirror*> known_;
  std::uint64_t total_ = 0;
};

void run_together(Session& session, std::span<const Evaluation> group,
                  const std::atomic<bool>& stop) {
  std::vector<Work*> works;
  for (const auto& [evaluator, announcement] : group) {
    works.push_back(&evaluator->begin(announcement->terminators, *announcement->state));
  }
  const auto abandon = [&](auto which) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (which(*works[i])) group[i].first->abandon();
    }
  };
  bool done = false;
  caught(session, [&] { done = run(session, works, &stop); });
  abandon([&](const Work& work) { return !done || work.is_too_large(); });
}

std::unique_ptr<cuda::Device> open_host_device() {
  // Small pages, so that tests meet their boundaries.
  return std::make_unique<cuda::HostDevice>(
      cuda::DeviceOptions{.bytes = std::uint64_t{64} << 20, .page_shift = 5});
}

std::unique_ptr<cuda::Device> open_gpu() {
  const auto options = cuda_options();
  if (!options) throw cuda::DeviceError("GORGO_CUDA: " + options.error().to_string(), true);
  return cuda::open_gpu(
      {.bytes = options->memory,
       .page_shift = static_cast<std::uint32_t>(std::countr_zero(options->page_events)),
       .compile = options->compile});
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string description_of(const cuda::GpuInfo& gpu) {
  if (gpu.name.empty()) return "unavailable: " + gpu.unavailable;
  return gpu.name + ", " + std::to_string(gpu.memory >> 20) + " MiB, " +
         std::to_string(gpu.multiprocessors) + " multiprocessors, compute capability " +
         std::to_string(gpu.capability / 10) + "." + std::to_string(gpu.capability % 10) +
         ", driver for CUDA " + version_text(gpu.driver) + ", built with CUDA " +
         version_text(gpu.runtime);
}

std::string description_of_shapes() {
  const std::string version = cuda::nvrtc::version();
  if (version.empty()) {
    return "interprets conditions other than one comparison: " + cuda::nvrtc::unavailable();
  }
  return "compiles kernels for conditions, with NVRTC " + version;
}

std::vector<std::string> describe_cuda() {
  std::vector<std::string> lines = {"batches of terminators search columns on a GPU"};
  const auto gpus = cuda::describe_gpus();
  for (const auto& gpu : gpus) lines.push_back(description_of(gpu));
  const auto options = cuda_options();
  if (!options) {
    lines.push_back("unavailable: GORGO_CUDA: " + options.error().to_string());
  } else if (!gpus.front().name.empty()) {
    lines.push_back("uses the first GPU, " + std::to_string(options->memory >> 20) +
                    " MiB for columns in pages of " + std::to_string(options->page_events) +
                    " events, for batches of at least " + std::to_string(options->least_pairs) +
                    " pairs");
    lines.push_back(description_of_shapes());
  }
  return lines;
}

}  // namespace

std::shared_ptr<Session> CudaEngine::session() const {
  const std::lock_guard lock(mutex_);
  if (!session_ && unavailable_.empty()) {
    try {
      session_ = std::make_shared<Session>(open_());
    } catch (const cuda::DeviceError& error) {
      unavailable_ = error.what();
    }
  }
  if (session_ && !session_->problem().empty()) return nullptr;
  return session_;
}

std::string CudaEngine::declined(const plan::Plan& plan) const {
  if (auto problem = problem_of(plan); !problem.empty()) return problem;
  if (session()) return "";
  const std::lock_guard lock(mutex_);
  return "there is no GPU to use: " + (session_ ? session_->problem() : unavailable_);
}

void CudaEngine::announce(std::span<const Announcement> announced,
                          const std::atomic<bool>& stop) const {
  std::vector<Evaluation> evaluations;
  std::uint64_t pairs = 0;
  for (const Announcement& announcement : announced) {
    auto* const evaluator = dynamic_cast<CudaEvaluator*>(announcement.evaluator);
    const std::uint64_t own = evaluator == nullptr ? 0 : evaluator->pairs(announcement.terminators);
    if (own > 0) evaluations.emplace_back(evaluator, &announcement);
    pairs += own;
  }
  if (evaluations.empty() || pairs < least_pairs_) return;
  const auto session = this->session();
  if (!session) return;
  // Where columns have to make room for each other, what was used last is what is used next.
  if (session->turn()) std::ranges::reverse(evaluations);
  for (std::size_t first = 0, last; first < evaluations.size(); first = last) {
    PagesNeeded pages;
    for (last = first; last < evaluations.size(); ++last) {
      const DevicePlan& plan = evaluations[last].first->plan();
      const bool fits = pages.total() + pages.more(plan) <= session->device().pages();
      if (last > first && !fits) break;
      pages.add(plan);
    }
    run_together(*session, std::span(evaluations).subspan(first, last - first), stop);
  }
}

std::unique_ptr<Evaluator> CudaEngine::prepare(std::shared_ptr<const plan::Plan> plan,
                                               history::History& history) const {
  if (!declined(*plan).empty()) return ColumnEngine().prepare(std::move(plan), history);
  const auto session = this->session();
  const std::lock_guard lock(session->mutex());
  auto on_cpu = ColumnScanEngine().prepare(plan, history);
  return std::make_unique<CudaEvaluator>(prepare_plan(std::move(plan), history, *session), session,
                                         std::move(on_cpu), least_pairs_);
}

const CudaEngine& cuda_engine() {
  const auto options = cuda_options();
  static const CudaEngine engine("cuda", open_gpu, describe_cuda,
                                 options ? options->least_pairs : CudaOptions().least_pairs);
  return engine;
}

const CudaEngine& cuda_host_engine() {
  const auto describe = [] {
    return std::vector<std::string>{"cuda with the CPU in the place of the GPU, for tests"};
  };
  static const CudaEngine engine("cuda-host", open_host_device, describe, 0);
  return engine;
}

}  // namespace gorgo::engine
