#include "dispatch/evaluate/rule_runner.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/since.hpp"
#include "dispatch/evaluate/out_of_memory.hpp"

namespace gorgo::dispatch {
namespace {

constexpr double kWorthSharing = 20e3;  // nanoseconds: waking the other threads takes about as long
constexpr std::size_t kJobsPerThread = 4, kMostPerThread = 16;
constexpr double kLongJob = 500e3;    // nanoseconds: threads would wait for a longer one at the end
constexpr double kSmallestJob = 2e3;  // nanoseconds: far more than taking one costs

}  // namespace

void RuleRunner::clear() {
  loads_.clear();
  slots_.clear();
  tags_.clear();
  parts_.clear();
  for (Job& job : std::span(jobs_).first(used_jobs_)) job.sink.clear();
  used_jobs_ = 0;
}

void RuleRunner::add(std::uint32_t rule, history::Slot slot, std::size_t tag) {
  if (loads_.empty() || loads_.back().rule != rule) {
    loads_.push_back({.rule = rule, .first = slots_.size(), .count = 0, .routing = {}});
  }
  ++loads_.back().count;
  slots_.push_back(slot);
  tags_.push_back(tag);
}

void RuleRunner::run(Timestamp ordered_before, engine::HeldBytes& held, std::size_t certain) {
  if (empty()) return;
  held_ = &held;
  certain_ = certain;
  ordered_before_ = ordered_before;
  share_out();
  const bool is_timed = workers_.threads() > 1 || uses_device_;
  if (is_timed) began_ = Clock::now();
  workers_.run(used_jobs_, [this](std::size_t job) { run_job(jobs_[job]); });
  if (is_timed) watch_threads(nanoseconds_since(began_));
  report_costs();
  balance_shares();
}

/// A device has a job of its own, for the terminators of all its rules. It begins first, so that
/// the device and the other threads work side by side.
void RuleRunner::share_out() {
  place_loads();
  Opening opening;
  for (const Load& load : loads_) {
    const Routing& routing = load.routing;
    add_parts(load, *routing.entry, 0, routing.own, opening);
    if (routing.own < load.count) {
      add_parts(load, *routing.reserve, routing.own, load.count - routing.own, opening);
    }
  }
}

void RuleRunner::place_loads() {
  divided_ = 0;
  const auto count = [this](const EngineEntry& entry, std::size_t terminators) {
    if (entry.engine->is_device()) {
      job_of(*entry.engine);
    } else {
      divided_ += terminators;
    }
  };
  for (Load& load : loads_) {
    load.routing = placer_.place(load.rule, load.count);
    count(*load.routing.entry, load.routing.own);
    if (load.routing.own < load.count) count(*load.routing.reserve, load.count - load.routing.own);
  }
}

void RuleRunner::add_parts(const Load& load, EngineEntry& entry, std::size_t first,
                           std::size_t count, Opening& opening) {
  if (entry.engine->is_device()) {
    return add_part(load, entry, first, count, 0, job_of(*entry.engine));
  }
  const bool divisible =
      entry.engine->divides_terminators() && !rules_.rule(load.rule).rule().is_sequential();
  std::uint32_t evaluator = 0;
  for (const std::size_t end = first + count; first < end;) {
    if (opening.room == 0) opening = {begin_job(nullptr), job_size()};
    const std::size_t of_job = divisible ? std::min(end - first, opening.room) : end - first;
    add_part(load, entry, first, of_job, evaluator++, opening.job);
    first += of_job;
    opening.room -= std::min(opening.room, of_job);
  }
}

/// How many terminators one thread should take at a time.
std::size_t RuleRunner::job_size() const {
  if (workers_.threads() == 1) return divided_;
  if (job_terminators_ > 0) return job_terminators_;
  const double cost = static_cast<double>(divided_) * terminator_cost_;
  if (cost < kWorthSharing) return divided_;
  const double longest = cost / static_cast<double>(workers_.threads() * kJobsPerThread);
  const std::size_t jobs =
      workers_.threads() * (longest > kLongJob ? kMostPerThread : kJobsPerThread);
  return std::max((divided_ + jobs - 1) / jobs,
                  static_cast<std::size_t>(kSmallestJob / terminator_cost_));
}

std::size_t RuleRunner::begin_job(const engine::Engine* device) {
  if (used_jobs_ == jobs_.size()) jobs_.emplace_back();
  Job& job = jobs_[used_jobs_];
  job.requests.clear();
  job.calls.clear();
  job.device = device;
  uses_device_ = uses_device_ || device != nullptr;
  job.sink.count_in(held_);
  return used_jobs_++;
}

std::size_t RuleRunner::job_of(const engine::Engine& device) {
  for (std::size_t i = 0; i < used_jobs_; ++i) {
    if (jobs_[i].device == &device) return i;
  }
  return begin_job(&device);
}

void RuleRunner::add_part(const Load& load, EngineEntry& entry, std::size_t first,
                          std::size_t count, std::uint32_t evaluator, std::size_t job_number) {
  const DeployedRule& rule = rules_.rule(load.rule);
  if (entry.evaluators.size() <= evaluator) entry.note_upkeep(rule.state.terminators);
  while (entry.evaluators.size() <= evaluator) {
    entry.evaluators.push_back(entry.engine->prepare(rule.plan, history_));
  }
  Job& job = jobs_[job_number];
  if (job.calls.empty() || job.calls.back().engine != entry.engine) {
    job.calls.push_back({.engine = entry.engine, .requests = 0});
  }
  ++job.calls.back().requests;
  const std::size_t position = load.first + first;
  parts_.push_back({.rule = load.rule,
                    .entry = &entry,
                    .first = position,
                    .job = job_number,
                    .request = job.requests.size()});
  job.requests.push_back(
      {.evaluator = entry.evaluators[evaluator].get(),
       .rule = &rule.rule(),
       .state = &rules_.state(load.rule),
       .terminators = {std::span(slots_).subspan(position, count), ordered_before_},
       .sink = nullptr,
       .keep_sequences = rule.plan->deadline.has_value(),
       .certain = position == certain_ ? 1U : 0U,
       .timed = placer_.is_timed(load.rule, count) || suspensions_.is_limited()});
}

void RuleRunner::run_job(Job& job) {
  const bool timed = job.device != nullptr || workers_.threads() > 1;
  const auto start = timed ? Clock::now() : Clock::time_point();
  const unsigned threads = job.device != nullptr ? free_threads() : 1;
  for (engine::Request& request : job.requests) request.sink = &job.sink;
  std::size_t first = 0;
  for (const Call& call : job.calls) {
    evaluate(call, std::span(job.requests).subspan(first, call.requests), threads);
    first += call.requests;
  }
  if (!timed) return;
  job.ended = nanoseconds_since(began_);
  job.took = nanoseconds_since(start);
}

void RuleRunner::evaluate(const Call& call, std::span<engine::Request> requests,
                          unsigned threads) const {
  try {
    call.engine->evaluate(requests, {.stop = &stop_, .threads = threads});
  } catch (const std::bad_alloc&) {
    const auto failed = std::ranges::find(requests, false, &engine::Request::over);
    const engine::Request& request = failed == requests.end() ? requests.back() : *failed;
    throw OutOfMemory("evaluate rule", request.rule->name,
                      "make its windows shorter, or lower engine.max_held_bytes");
  }
}

/// How many threads a device's job may have, judged by the last run. Where the other threads have
/// work for as long as the job takes, it gets only its own thread, since threads that wait for a
/// device would be in their way.
unsigned RuleRunner::free_threads() const {
  const unsigned others = workers_.threads() - 1;
  const double cost = static_cast<double>(divided_) * terminator_cost_;
  if (cost < kWorthSharing) return 1 + others;
  if (device_took_ == 0) return 1;
  return 1 + others - static_cast<unsigned>(std::min<double>(others, cost / device_took_));
}

void RuleRunner::watch_threads(double took) {
  if (workers_.threads() == 1) return;
  double divided = 0, device = 0;
  for (const Job& job : std::span(jobs_).first(used_jobs_)) {
    if (job.device == nullptr) {
      divided += job.took;
    } else {
      device = std::max(device, job.took);
    }
  }
  if (divided_ > 0) terminator_cost_ = divided / static_cast<double>(divided_);
  if (device > 0) device_took_ = device;
  if (device == 0) placer_.watch_threads(divided, took);
}

void RuleRunner::balance_shares() {
  double threads = 0;
  for (const Job& job : std::span(jobs_).first(used_jobs_)) {
    if (job.device == nullptr) threads = std::max(threads, job.ended);
  }
  for (const Load& load : loads_) {
    const bool both = load.routing.reserve != nullptr && load.routing.entry->engine->is_device();
    if (!both || threads == 0) continue;
    const double device = jobs_[job_of(*load.routing.entry->engine)].took;
    const auto own = static_cast<double>(load.routing.own);
    placer_.balance(load.rule, own / device, (static_cast<double>(load.count) - own) / threads);
  }
}

void RuleRunner::report_costs() {
  const bool limited = suspensions_.is_limited();
  const auto now = limited ? Clock::now() : Clock::time_point();
  for (const Part& part : parts_) {
    const engine::Request& outcome = request(part);
    if (outcome.took == 0) continue;
    placer_.observe(part.rule, *part.entry, outcome.done, outcome.took);
    if (!limited) continue;
    suspensions_.spend(part.rule, outcome.took, now);
  }
  if (!placer_.is_trying()) return;
  try {
    try_elsewhere();
  } catch (const std::bad_alloc&) {
    placer_.give_up();
  }
}

void RuleRunner::try_elsewhere() {
  evaluated_.clear();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const bool is_first = i == 0 || parts_[i - 1].rule != parts_[i].rule;
    if (is_first && placer_.is_tried(parts_[i].rule)) evaluated_.push_back(evaluated(i));
  }
  placer_.try_elsewhere(evaluated_);
}

/// What became of a rule's terminators. `first`: the first of the rule's parts, which follow each
/// other.
Evaluated RuleRunner::evaluated(std::size_t first) const {
  Evaluated all{.rule = parts_[first].rule, .terminators = {}, .outcome = {}, .took = 0};
  std::size_t done = 0;
  for (std::size_t i = first; i < parts_.size() && parts_[i].rule == all.rule; ++i) {
    const engine::Request& part = request(parts_[i]);
    all.outcome.parts.push_back({part.sink, part.first_composite, part.end_composite, done});
    done += part.done;
    all.took += part.took;
    if (part.done < part.terminators.slots.size()) break;
  }
  const auto slots = std::span<const history::Slot>(slots_).subspan(parts_[first].first, done);
  all.terminators = {slots, ordered_before_};
  return all;
}

}  // namespace gorgo::dispatch
