#include "dispatch/rule_runner.hpp"

#include <algorithm>
#include <chrono>

namespace gorgo::dispatch {
namespace {

constexpr double kWorthSharing = 20e-6;  // seconds: waking the other threads takes about as long
constexpr std::size_t kJobsPerThread = 4;
constexpr double kSmallestJob = 2e-6;  // seconds: far more than taking one costs

}  // namespace

void RuleRunner::clear() {
  loads_.clear();
  slots_.clear();
  tags_.clear();
  parts_.clear();
  used_jobs_ = 0;
}

void RuleRunner::add(std::uint32_t rule, history::Slot slot, std::size_t tag) {
  if (loads_.empty() || loads_.back().rule != rule) loads_.push_back({rule, slots_.size(), 0});
  ++loads_.back().count;
  slots_.push_back(slot);
  tags_.push_back(tag);
}

void RuleRunner::run(bool in_order, std::size_t room) {
  if (empty()) return;
  share_out();
  // Every job may have its share, so that memory does not grow with the threads.
  share_ = room / used_jobs_;
  in_order_ = in_order;
  const auto start = std::chrono::steady_clock::now();
  announce();
  workers_.run(used_jobs_, [this](std::size_t job) { run_job(jobs_[job]); });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const auto threads = static_cast<double>(std::min<std::size_t>(workers_.threads(), used_jobs_));
  terminator_cost_ = took.count() * threads / static_cast<double>(slots_.size());
}

void RuleRunner::share_out() {
  const std::size_t size = job_size();
  std::size_t room = 0;  // in the last job
  for (const Load& load : loads_) {
    const DeployedRule& rule = rules_.rules()[load.rule];
    const bool divisible = rule.engine->divides_terminators() && rule.rule().consuming.empty();
    std::uint32_t evaluator = 0;
    for (std::size_t done = 0; done < load.count;) {
      if (room == 0) {
        begin_job();
        room = size;
      }
      const std::size_t left = load.count - done;
      const std::size_t count = divisible ? std::min(left, room) : left;
      add_part(load, done, count, evaluator++);
      done += count;
      room -= std::min(room, count);
    }
  }
}

/// How many terminators one thread should take at a time.
std::size_t RuleRunner::job_size() const {
  if (workers_.threads() == 1) return slots_.size();
  if (sharing_.job_terminators > 0) return sharing_.job_terminators;
  const double cost = static_cast<double>(slots_.size()) * terminator_cost_;
  if (cost < kWorthSharing) return slots_.size();
  const std::size_t jobs = workers_.threads() * kJobsPerThread;
  return std::max((slots_.size() + jobs - 1) / jobs,
                  static_cast<std::size_t>(kSmallestJob / terminator_cost_));
}

void RuleRunner::begin_job() {
  if (used_jobs_ == jobs_.size()) jobs_.emplace_back();
  Job& job = jobs_[used_jobs_++];
  job.first_part = job.last_part = parts_.size();
  job.sink.clear();
}

void RuleRunner::add_part(const Load& load, std::size_t first, std::size_t count,
                          std::uint32_t evaluator) {
  DeployedRule& rule = rules_.rules()[load.rule];
  while (rule.evaluators.size() <= evaluator) {
    rule.evaluators.push_back(rule.engine->prepare(rule.plan, history_));
  }
  parts_.push_back({.rule = load.rule,
                    .evaluator = evaluator,
                    .first = load.first + first,
                    .count = count,
                    .job = used_jobs_ - 1});
  jobs_[used_jobs_ - 1].last_part = parts_.size();
}

/// Engines that want all terminators of a rule at once may also want all rules at once.
void RuleRunner::announce() {
  engines_.clear();
  for (const Part& part : parts_) {
    const engine::Engine* const engine = rules_.rules()[part.rule].engine;
    const bool known = std::ranges::find(engines_, engine) != engines_.end();
    if (!known && !engine->divides_terminators()) engines_.push_back(engine);
  }
  for (const engine::Engine* const engine : engines_) {
    announced_.clear();
    for (const Part& part : parts_) {
      DeployedRule& rule = rules_.rules()[part.rule];
      if (rule.engine != engine) continue;
      const auto slots = std::span<const history::Slot>(slots_).subspan(part.first, part.count);
      announced_.push_back({.evaluator = rule.evaluators[part.evaluator].get(),
                            .terminators = {.slots = slots, .in_order = in_order_},
                            .state = &rule.state});
    }
    engine->announce(announced_, stop_);
  }
}

void RuleRunner::run_job(Job& job) {
  constexpr std::size_t kGroup = 8;  // whose cache misses overlap
  for (std::size_t p = job.first_part; p < job.last_part; ++p) {
    const std::size_t ahead = p - job.first_part;
    if (ahead % kGroup == 0) {
      const auto group = std::span(parts_).subspan(p, std::min(kGroup, job.last_part - p));
      for (const Part& part : group) evaluator(part).prefetch();
    }
    run_part(job, parts_[p]);
  }
}

void RuleRunner::run_part(Job& job, Part& part) {
  const engine::Budget budget{.composites = share_, .stop = &stop_};
  DeployedRule& rule = rules_.rules()[part.rule];
  job.sink.begin_rule(rule.rule(), rule.state, rule.plan->deadline.has_value());
  part.first_composite = job.sink.size();
  const auto slots = std::span(slots_).subspan(part.first, part.count);
  part.done = evaluator(part).evaluate({.slots = slots, .in_order = in_order_}, rule.state, budget,
                                       job.sink);
  part.end_composite = job.sink.size();
  part.overflows = job.sink.overflows();
}

}  // namespace gorgo::dispatch
