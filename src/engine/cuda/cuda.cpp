#include "engine/cuda/cuda.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "cuda/host_device.hpp"
#include "cuda/nvrtc.hpp"
#include "engine/column/column.hpp"
#include "engine/cuda/device_plan.hpp"
#include "engine/cuda/options.hpp"
#include "engine/cuda/paging.hpp"
#include "engine/cuda/spread.hpp"

namespace gorgo::engine {
namespace {

/// What a device cannot do of a plan; empty: nothing.
std::string problem_of(const plan::Plan& plan) {
  const Rule& rule = plan.rule;
  if (rule.states.size() == 1 && rule.aggregates.empty()) return "it has nothing to search";
  for (std::uint32_t i = 1; i < plan.states.size(); ++i) {
    const auto program = compile(plan.states[i].scan, {}, consumes(rule, i));
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

std::size_t total_events(const DevicePlan& plan) {
  const DeviceScan& scan = plan.states.empty() ? plan.aggregates[0] : plan.states[0];
  return scan.timeline->end() - scan.timeline->begin();
}

class CudaEvaluator;

/// A part of an announced evaluation.
struct Task {
  CudaEvaluator* evaluator;
  const RuleState* state;
  std::size_t part;
  std::size_t first, count;  ///< of its terminators
};

class CudaEvaluator final : public Evaluator {
 public:
  CudaEvaluator(const CudaEngine& engine, DevicePlan plan, std::unique_ptr<Evaluator> on_cpu,
                std::uint64_t least_pairs)
      : engine_(engine),
        plan_(std::move(plan)),
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
    if (contended_ > 0) return 0;
    if (!history::all_hold(plan_.plan->states[0].scan.guards, {})) return 0;
    return terminators.slots.size() * total_events(plan_);
  }
  const std::string& name() const { return plan_.plan->rule.name; }
  /// What one terminator consumes decides about the next.
  bool is_divisible() const { return plan_.plan->rule.consuming.empty(); }

  /// The device that it is evaluated on, or was; null at first.
  const Session* home() const { return home_.get(); }
  void move_to(std::shared_ptr<Session> session) { home_ = std::move(session); }
  /// Whether a device has a column of it.
  bool has_columns_on(Session& session) const;
  /// The plan there, put there by the first call. Whoever calls holds the session's mutex.
  DevicePlan& plan_on(Session& session);

  /// Terminators that are going to be taken up, in so many parts, before they are evaluated.
  void expect(const Terminators& terminators, std::size_t parts) {
    announced_ = terminators;
    works_.clear();
    works_.resize(parts);
    left_to_cpu_.assign(parts, 0);
  }
  Terminators announced(const Task& task) const {
    return {announced_.slots.subspan(task.first, task.count), announced_.in_order};
  }
  /// Takes up a part, which stays until it is abandoned or all are evaluated. Parts may be taken up
  /// and abandoned on several threads once the plan is on their devices. Whoever calls holds the
  /// session's mutex.
  Work& begin(const Task& task, Session& session) {
    works_[task.part] = std::make_unique<Work>(plan_on(session), announced(task), *task.state);
    return *works_[task.part];
  }
  void abandon(std::size_t part) { works_[part].reset(); }
  /// A device has no room for a part.
  void leave_to_cpu(std::size_t part) { left_to_cpu_[part] = 1; }

 private:
  std::shared_ptr<Session> session_to_use();
  bool is_announced(const Terminators& terminators) const;
  bool is_done(const Terminators& terminators) const;
  std::size_t report(const Budget& budget, CompositeSink& sink);
  std::size_t report(Work& work, std::size_t first_terminator, const Budget& budget,
                     CompositeSink& sink);
  std::size_t evaluate_on(Session& session, const Terminators& terminators, const RuleState& state,
                          const Budget& budget, CompositeSink& sink);
  std::size_t evaluate_on_cpu(const Terminators& terminators, const RuleState& state,
                              const Budget& budget, CompositeSink& sink);
  void forget_marks(const DevicePlan* up_to_date);
  void decline(std::size_t terminators, std::string_view reason) {
    declined_ = {declined_.terminators + terminators, reason};
  }

  const CudaEngine& engine_;
  DevicePlan plan_;  // on no device
  std::shared_ptr<Session> home_;
  std::map<const Session*, DevicePlan> placed_;
  std::unique_ptr<Evaluator> on_cpu_;
  std::uint64_t least_pairs_;
  Terminators announced_;
  std::vector<std::unique_ptr<Work>> works_;  // of what was announced, done with their rounds
  std::size_t contended_ = 0;                 // so many terminators are left to the CPU
  std::vector<std::uint8_t> left_to_cpu_;     // by part of what was announced
  Declined declined_;
};

/// Terminators of rules, in words.
std::string text_of(std::size_t terminators, std::size_t rules, const std::string& first) {
  const std::string others =
      rules == 1 ? "" : " and " + std::to_string(rules - 1) + " other rules or parts";
  return std::to_string(terminators) + " terminators of '" + first + "'" + others;
}

/// Uses the device; false when it, or memory, failed. `during()` says in words what for.
template <class Use, class During>
bool caught(Session& session, Use use, During during) {
  const std::lock_guard lock(session.mutex());
  try {
    use();
    return true;
  } catch (const cuda::DeviceError& error) {
    session.fail(error, during());
  } catch (const std::bad_alloc&) {
    session.fail(cuda::DeviceError("no memory of the host", false), during());
  }
  return false;
}

/// Does all rounds of the works, and during the first has pages come that are needed `next`. False:
/// stopped.
bool run(Session& session, std::span<Work* const> works, const std::atomic<bool>* stop,
         const Needs* next = nullptr) {
  RoundWriter writer(session);
  std::vector<Work*> asking(works.begin(), works.end());
  for (;;) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) return false;
    writer.begin();
    std::erase_if(asking, [&](Work* work) { return !work->ask(writer); });
    const cuda::Round& round = writer.finish();
    if (asking.empty()) return true;
    session.device().start(round);
    if (next != nullptr) prefetch(session, *std::exchange(next, nullptr));
    const cuda::Answers answers = session.device().finish();
    for (Work* work : asking) work->take(answers);
  }
}

bool CudaEvaluator::has_columns_on(Session& session) const {
  const DeviceScan& scan = plan_.states.empty() ? plan_.aggregates[0] : plan_.states[0];
  return session.mirrors(*scan.timeline);
}

DevicePlan& CudaEvaluator::plan_on(Session& session) {
  const auto known = placed_.find(&session);
  if (known != placed_.end()) return known->second;
  return placed_.emplace(&session, put_on(plan_, session)).first->second;
}

/// Home, while it is in use.
std::shared_ptr<Session> CudaEvaluator::session_to_use() {
  if (home_ && home_->problem().empty()) return home_;
  const auto sessions = engine_.sessions();
  if (sessions.empty()) return nullptr;
  return home_ = sessions.front();
}

bool CudaEvaluator::is_announced(const Terminators& terminators) const {
  return announced_.slots.data() == terminators.slots.data() &&
         announced_.slots.size() == terminators.slots.size();
}

bool CudaEvaluator::is_done(const Terminators& terminators) const {
  return !works_.empty() && is_announced(terminators) &&
         std::ranges::none_of(works_, [](const auto& work) { return work == nullptr; });
}

/// What was announced.
std::size_t CudaEvaluator::report(const Budget& budget, CompositeSink& sink) {
  std::size_t done = 0;
  for (const auto& work : works_) {
    const std::size_t of_work = report(*work, done, budget, sink);
    done += of_work;
    if (of_work < work->terminators()) break;
  }
  return done;
}

std::size_t CudaEvaluator::evaluate(const Terminators& terminators, const RuleState& state,
                                    const Budget& budget, CompositeSink& sink) {
  if (is_done(terminators)) {
    const std::size_t done = report(budget, sink);
    works_.clear();
    return done;
  }
  works_.clear();
  if (contended_ > 0) {
    const std::size_t done = evaluate_on_cpu(terminators, state, budget, sink);
    contended_ -= std::min(contended_, done);
    decline(done, "terminators compete for the events that they consume");
    return done;
  }
  const std::uint64_t least = std::max<std::uint64_t>(1, least_pairs_);
  if (pairs(terminators) < least) return evaluate_on_cpu(terminators, state, budget, sink);
  if (std::ranges::count(left_to_cpu_, 1) > 0 && is_announced(terminators)) {
    decline(terminators.slots.size(),
            "a device has less memory for columns than those of the rule need");
    return evaluate_on_cpu(terminators, state, budget, sink);
  }
  std::optional<std::size_t> done;
  if (const auto session = session_to_use()) {
    caught(
        *session, [&] { done = evaluate_on(*session, terminators, state, budget, sink); },
        [&] { return text_of(terminators.slots.size(), 1, name()); });
  }
  if (done) return *done;
  // Nothing was reported: that happens after the last round only.
  decline(terminators.slots.size(), home_ ? home_->failure() : "no device is in use");
  return evaluate_on_cpu(terminators, state, budget, sink);
}

std::size_t CudaEvaluator::evaluate_on_cpu(const Terminators& terminators, const RuleState& state,
                                           const Budget& budget, CompositeSink& sink) {
  forget_marks(nullptr);
  return on_cpu_->evaluate(terminators, state, budget, sink);
}

std::size_t CudaEvaluator::report(Work& work, std::size_t first_terminator, const Budget& budget,
                                  CompositeSink& sink) {
  constexpr std::size_t kRest = 16;  // batches: what the attempt cost is little beside them
  if (work.is_contended()) contended_ = kRest * work.terminators();
  forget_marks(&work.plan());
  return work.report(static_cast<std::uint32_t>(first_terminator), budget, sink);
}

/// What is about to be consumed is known on one device at most.
void CudaEvaluator::forget_marks(const DevicePlan* up_to_date) {
  if (is_divisible()) return;
  for (auto& [session, plan] : placed_) {
    if (&plan == up_to_date) continue;
    for (DeviceScan& scan : plan.states) {
      if (scan.consumed) scan.consumed->all_changed();
    }
  }
}

/// All terminators together, or as many as the searches leave room for: the others are left for
/// the next call.
std::size_t CudaEvaluator::evaluate_on(Session& session, const Terminators& terminators,
                                       const RuleState& state, const Budget& budget,
                                       CompositeSink& sink) {
  DevicePlan& plan = plan_on(session);
  for (std::size_t count = terminators.slots.size();; count = (count + 1) / 2) {
    Work work(plan, {terminators.slots.first(count), terminators.in_order}, state);
    Work* const alone[] = {&work};
    if (!run(session, alone, budget.stop)) return 0;
    if (!work.is_too_large()) return report(work, 0, budget, sink);
  }
}

std::string text_of(std::span<const Task> tasks) {
  std::size_t terminators = 0;
  for (const Task& task : tasks) terminators += task.count;
  return text_of(terminators, tasks.size(), tasks.front().evaluator->name());
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

/// The tasks of one device, step by step.
void run_on(Session& session, std::span<const Task> tasks, const std::atomic<bool>& stop) {
  Steps planned;
  const auto plan = [&] {
    std::vector<std::vector<Need>> needs;
    for (const Task& task : tasks) {
      needs.push_back(needs_of(task.evaluator->plan_on(session), task.evaluator->announced(task)));
    }
    planned = plan_steps(session, needs);
  };
  caught(session, plan, [&] { return text_of(tasks); });
  for (const std::size_t i : planned.too_large) tasks[i].evaluator->leave_to_cpu(tasks[i].part);
  for (std::size_t i = 0; i < planned.steps.size() && session.problem().empty(); ++i) {
    const Step* const next = i + 1 < planned.steps.size() ? &planned.steps[i + 1] : nullptr;
    run_together(session, tasks, planned.steps[i], next, stop);
  }
}

struct Evaluation {
  CudaEvaluator* evaluator;
  const Announcement* announcement;
  std::uint64_t pairs;
};

/// In pairs: what the host does for a search takes about as long as testing so many.
constexpr std::uint64_t kSearch = 500'000;

using Sessions = std::span<const std::shared_ptr<Session>>;

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

/// What each device has to do. The plans are there then.
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

CudaEngine::Devices open_host_devices() {
  // Small pages, so that tests meet their boundaries, and in one device few, so that they swap.
  const auto open = [](std::uint32_t page_shift, std::uint64_t pages) {
    return std::make_unique<cuda::HostDevice>(cuda::DeviceOptions{
        .bytes = (pages * sizeof(std::uint64_t)) << page_shift, .page_shift = page_shift});
  };
  CudaEngine::Devices devices;
  devices.push_back(open(5, 1 << 18));
  devices.push_back(open(1, 24));
  return devices;
}

/// Those that the options name, or all.
std::vector<std::uint32_t> indices_of(const CudaOptions& options) {
  if (!options.devices.empty()) return options.devices;
  std::vector<std::uint32_t> all(cuda::describe_gpus().size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// As many as can be taken into use.
CudaEngine::Devices open_gpus() {
  const auto options = cuda_options();
  if (!options) throw cuda::DeviceError("GORGO_CUDA: " + options.error().to_string(), true);
  const cuda::DeviceOptions each{
      .bytes = options->memory,
      .page_shift = static_cast<std::uint32_t>(std::countr_zero(options->page_events)),
      .compile = options->compile};
  CudaEngine::Devices devices;
  std::optional<cuda::DeviceError> problem;
  for (const std::uint32_t index : indices_of(*options)) {
    try {
      devices.push_back(cuda::open_gpu(index, each));
    } catch (const cuda::DeviceError& error) {
      if (!problem) problem = error;
    }
  }
  if (devices.empty()) throw *problem;
  return devices;
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

std::string devices_text(const CudaOptions& options) {
  if (options.devices.empty()) return "all GPUs";
  std::string text;
  for (const std::uint32_t index : options.devices) {
    text += (text.empty() ? "" : ", ") + std::to_string(index);
  }
  return (options.devices.size() == 1 ? "GPU " : "GPUs ") + text;
}

std::vector<std::string> describe_cuda() {
  std::vector<std::string> lines = {"batches of terminators search columns on GPUs"};
  const auto gpus = cuda::describe_gpus();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string number = gpus.size() == 1 ? "" : std::to_string(i) + ": ";
    lines.push_back(number + description_of(gpus[i]));
  }
  const auto options = cuda_options();
  if (!options) {
    lines.push_back("unavailable: GORGO_CUDA: " + options.error().to_string());
  } else if (!gpus.front().name.empty()) {
    lines.push_back("uses " + devices_text(*options) + ", of each " +
                    std::to_string(options->memory >> 20) + " MiB for columns in pages of " +
                    std::to_string(options->page_events) + " events, for batches of at least " +
                    std::to_string(options->least_pairs) + " pairs");
    lines.push_back(description_of_shapes());
  }
  return lines;
}

}  // namespace

std::vector<std::shared_ptr<Session>> CudaEngine::sessions() const {
  const std::lock_guard lock(mutex_);
  if (sessions_.empty() && unavailable_.empty()) {
    try {
      for (auto& device : open_())
        sessions_.push_back(std::make_shared<Session>(std::move(device)));
      workers_ = std::make_unique<Workers>(static_cast<unsigned>(sessions_.size()));
    } catch (const cuda::DeviceError& error) {
      unavailable_ = error.what();
    }
  }
  std::vector<std::shared_ptr<Session>> in_use;
  for (const auto& session : sessions_) {
    if (session->problem().empty()) in_use.push_back(session);
  }
  return in_use;
}

std::string CudaEngine::declined(const plan::Plan& plan) const {
  if (auto problem = problem_of(plan); !problem.empty()) return problem;
  if (!sessions().empty()) return "";
  const std::lock_guard lock(mutex_);
  return "there is no GPU to use: " +
         (sessions_.empty() ? unavailable_ : sessions_.front()->problem());
}

void CudaEngine::announce(std::span<const Announcement> announced,
                          const std::atomic<bool>& stop) const {
  std::vector<Evaluation> evaluations;
  std::uint64_t pairs = 0;
  for (const Announcement& announcement : announced) {
    auto* const evaluator = dynamic_cast<CudaEvaluator*>(announcement.evaluator);
    const std::uint64_t own = evaluator == nullptr ? 0 : evaluator->pairs(announcement.terminators);
    if (own > 0) evaluations.push_back({evaluator, &announcement, own});
    pairs += own;
  }
  if (evaluations.empty() || pairs < least_pairs_) return;
  const auto sessions = this->sessions();
  if (sessions.empty()) return;
  auto tasks = tasks_of(evaluations, sessions, least_pairs_);
  const std::lock_guard lock(workers_mutex_);
  workers_->run(sessions.size(), [&](std::size_t i) { run_on(*sessions[i], tasks[i], stop); });
}

std::unique_ptr<Evaluator> CudaEngine::prepare(std::shared_ptr<const plan::Plan> plan,
                                               history::History& history) const {
  if (!declined(*plan).empty()) return ColumnEngine().prepare(std::move(plan), history);
  auto on_cpu = ColumnScanEngine().prepare(plan, history);
  return std::make_unique<CudaEvaluator>(*this, prepare_plan(std::move(plan), history),
                                         std::move(on_cpu), least_pairs_);
}

const CudaEngine& cuda_engine() {
  const auto options = cuda_options();
  static const CudaEngine engine("cuda", open_gpus, describe_cuda,
                                 options ? options->least_pairs : CudaOptions().least_pairs);
  return engine;
}

const CudaEngine& cuda_host_engine() {
  const auto describe = [] {
    return std::vector<std::string>{"cuda with the CPU in the place of two GPUs, for tests"};
  };
  static const CudaEngine engine("cuda-host", open_host_devices, describe, 0);
  return engine;
}

}  // namespace gorgo::engine
