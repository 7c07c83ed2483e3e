#include "dispatch/rule_runner.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "dispatch/out_of_memory.hpp"

namespace gorgo::dispatch {
namespace {

constexpr double kWorthSharing = 20e3;  // nanoseconds: waking the other threads takes about as long
constexpr std::size_t kJobsPerThread = 4, kMostPerThread = 16;
constexpr double kLongJob = 500e3;    // nanoseconds: threads would wait for a longer one at the end
constexpr double kSmallestJob = 2e3;  // nanoseconds: far more than taking one costs

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

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
    loads_.push_back({.rule = rule, .first = slots_.size(), .count = 0, .places = {}});
  }
  ++loads_.back().count;
  slots_.push_back(slot);
  tags_.push_back(tag);
}

void RuleRunner::run(bool in_order, engine::HeldBytes& held, std::size_t certain) {
  if (empty()) return;
  held_ = &held;
  certain_ = certain;
  share_out();
  in_order_ = in_order;
  began_ = Clock::now();
  workers_.run(used_jobs_, [this](std::size_t job) { run_job(jobs_[job]); });
  watch_threads(since(began_));
  report_costs();
  balance_shares();
}

void RuleRunner::settle_placement(Timestamp clock) {
  placer_.settle(clock);
  has_announced_ = false;
}

/// Engines that want all terminators of all rules at once have a job of their own, which begins
/// first, so that a device and the other threads work side by side.
void RuleRunner::share_out() {
  place_loads();
  Opening opening;
  for (const Load& load : loads_) {
    const Places& places = load.places;
    add_parts(load, *places.post, 0, places.own, opening);
    if (places.own < load.count) {
      add_parts(load, *places.reserve, places.own, load.count - places.own, opening);
    }
  }
}

void RuleRunner::place_loads() {
  divided_ = 0;
  const auto count = [this](const Post& post, std::size_t terminators) {
    if (post.engine->fixed_cost() == 0) {
      divided_ += terminators;
    } else {
      job_of(*post.engine);
    }
  };
  for (Load& load : loads_) {
    load.places = placer_.place(load.rule, load.count);
    count(*load.places.post, load.places.own);
    if (load.places.own < load.count) count(*load.places.reserve, load.count - load.places.own);
  }
}

void RuleRunner::add_parts(const Load& load, Post& post, std::size_t first, std::size_t count,
                           Opening& opening) {
  if (post.engine->fixed_cost() > 0) {
    return add_part(load, post, first, count, 0, job_of(*post.engine));
  }
  const bool divisible =
      post.engine->divides_terminators() && rules_.rules()[load.rule].rule().consuming.empty();
  std::uint32_t evaluator = 0;
  for (const std::size_t end = first + count; first < end;) {
    if (opening.room == 0) opening = {begin_job(nullptr), job_size()};
    const std::size_t of_job = divisible ? std::min(end - first, opening.room) : end - first;
    add_part(load, post, first, of_job, evaluator++, opening.job);
    first += of_job;
    opening.room -= std::min(opening.room, of_job);
  }
}

/// How many terminators one thread should take at a time.
std::size_t RuleRunner::job_size() const {
  if (workers_.threads() == 1) return divided_;
  if (sharing_.job_terminators > 0) return sharing_.job_terminators;
  const double cost = static_cast<double>(divided_) * terminator_cost_;
  if (cost < kWorthSharing) return divided_;
  const double longest = cost / static_cast<double>(workers_.threads() * kJobsPerThread);
  const std::size_t jobs =
      workers_.threads() * (longest > kLongJob ? kMostPerThread : kJobsPerThread);
  return std::max((divided_ + jobs - 1) / jobs,
                  static_cast<std::size_t>(kSmallestJob / terminator_cost_));
}

std::size_t RuleRunner::begin_job(const engine::Engine* announced) {
  if (used_jobs_ == jobs_.size()) jobs_.emplace_back();
  Job& job = jobs_[used_jobs_];
  job.parts.clear();
  job.announced = announced;
  has_announced_ = has_announced_ || announced != nullptr;
  job.sink.count_in(held_);
  job.terminators = 0;
  return used_jobs_++;
}

std::size_t RuleRunner::job_of(const engine::Engine& engine) {
  for (std::size_t i = 0; i < used_jobs_; ++i) {
    if (jobs_[i].announced == &engine) return i;
  }
  return begin_job(&engine);
}

void RuleRunner::add_part(const Load& load, Post& post, std::size_t first, std::size_t count,
                          std::uint32_t evaluator, std::size_t job) {
  while (post.evaluators.size() <= evaluator) {
    post.evaluators.push_back(post.engine->prepare(rules_.rules()[load.rule].plan, history_));
  }
  jobs_[job].parts.push_back(parts_.size());
  jobs_[job].terminators += count;
  parts_.push_back({.rule = load.rule,
                    .post = &post,
                    .evaluator = evaluator,
                    .first = load.first + first,
                    .count = count,
                    .job = job,
                    .timed = placer_.is_timed(load.rule, count) || sharing_.max_rule_time > 0});
}

void RuleRunner::run_job(Job& job) {
  if (job.announced != nullptr) return run_announced(job);
  if (workers_.threads() == 1) return run_parts(job);
  const auto start = Clock::now();
  run_parts(job);
  job.ended = since(began_);
  job.took = job.ended - std::chrono::duration<double, std::nano>(start - began_).count();
}

void RuleRunner::run_parts(Job& job) {
  constexpr std::size_t kGroup = 8;  // parts whose cache misses overlap
  for (std::size_t i = 0; i < job.parts.size(); ++i) {
    if (i % kGroup == 0) {
      const auto group = std::span(job.parts).subspan(i, std::min(kGroup, job.parts.size() - i));
      for (const std::size_t part : group) evaluator(parts_[part]).prefetch();
    }
    run_part(job, parts_[job.parts[i]]);
  }
}

/// How many threads an announced job may have, judged by the last run. Where the other threads have
/// work for as long as the job takes, it gets only its own thread, since threads that wait for a
/// device would be in their way.
unsigned RuleRunner::free_threads() const {
  const unsigned others = workers_.threads() - 1;
  const double cost = static_cast<double>(divided_) * terminator_cost_;
  if (cost < kWorthSharing) return 1 + others;
  if (announced_took_ == 0) return 1;
  return 1 + others - static_cast<unsigned>(std::min<double>(others, cost / announced_took_));
}

/// Runs the parts of a job whose engine wants them together. Their common time is divided among
/// them by terminators.
void RuleRunner::run_announced(Job& job) {
  job.announcements.clear();
  const auto start = std::chrono::steady_clock::now();
  for (const std::size_t index : job.parts) {
    const Part& part = parts_[index];
    job.announcements.push_back(
        {&evaluator(part), terminators(part), &rules_.rules()[part.rule].state});
  }
  job.announced->announce(job.announcements, free_threads(), stop_);
  for (const std::size_t index : job.parts) run_part(job, parts_[index]);
  job.took = since(start);
  const double each = job.took / static_cast<double>(job.terminators);
  for (const std::size_t index : job.parts) {
    parts_[index].took = each * static_cast<double>(parts_[index].count);
  }
}

void RuleRunner::watch_threads(double took) {
  if (workers_.threads() == 1) return;
  double divided = 0, announced = 0;
  for (const Job& job : std::span(jobs_).first(used_jobs_)) {
    if (job.announced == nullptr) {
      divided += job.took;
    } else {
      announced = std::max(announced, job.took);
    }
  }
  if (divided_ > 0) terminator_cost_ = divided / static_cast<double>(divided_);
  if (announced > 0) announced_took_ = announced;
  if (announced == 0) placer_.watch_threads(divided, took);
}

void RuleRunner::balance_shares() {
  double threads = 0;
  for (const Job& job : std::span(jobs_).first(used_jobs_)) {
    if (job.announced == nullptr) threads = std::max(threads, job.ended);
  }
  for (const Load& load : loads_) {
    if (load.places.reserve == nullptr || threads == 0) continue;
    const double device = jobs_[job_of(*load.places.post->engine)].took;
    const auto own = static_cast<double>(load.places.own);
    placer_.balance(load.rule, own / device, (static_cast<double>(load.count) - own) / threads);
  }
}

void RuleRunner::report_costs() {
  const bool limited = sharing_.max_rule_time > 0;
  const auto now = limited ? Clock::now() : Clock::time_point();
  for (const Part& part : parts_) {
    if (part.took == 0) continue;
    placer_.observe(part.rule, *part.post, part.done, part.took);
    if (!limited) continue;
    rules_.rules()[part.rule].throttle.spend(part.took, sharing_.max_rule_time, now);
  }
  if (!placer_.is_trying()) return;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const bool is_first = i == 0 || parts_[i - 1].rule != parts_[i].rule;
    if (is_first && placer_.is_tried(parts_[i].rule)) try_elsewhere(i);
  }
}

/// Tries the rule of part `first` elsewhere, with the terminators of all its parts, which follow
/// each other.
void RuleRunner::try_elsewhere(std::size_t first) {
  const std::size_t begin = parts_[first].first;
  std::size_t done = 0;
  double took = 0;
  outcome_.parts.clear();
  for (std::size_t i = first; i < parts_.size() && parts_[i].rule == parts_[first].rule; ++i) {
    const Part& part = parts_[i];
    outcome_.parts.push_back({&sink(part), part.first_composite, part.end_composite, done});
    done += part.done;
    took += part.took;
    if (part.done < part.count) break;
  }
  const auto slots = std::span<const history::Slot>(slots_).subspan(begin, done);
  placer_.try_elsewhere(parts_[first].rule, {slots, in_order_}, outcome_, took);
}

void RuleRunner::run_part(Job& job, Part& part) {
  with_memory_to("evaluate rule", rules_.names()[part.rule],
                 "make its windows shorter, or lower engine.max_held_bytes",
                 [&] { evaluate(job, part); });
}

void RuleRunner::evaluate(Job& job, Part& part) {
  const engine::Budget budget{.stop = &stop_};
  DeployedRule& rule = rules_.rules()[part.rule];
  job.sink.begin_rule(rule.rule(), rule.state, rule.plan->deadline.has_value(),
                      part.first == certain_ ? 1 : 0);
  part.first_composite = job.sink.size();
  const auto start = part.timed ? Clock::now() : Clock::time_point();
  part.done = evaluator(part).evaluate(terminators(part), rule.state, budget, job.sink);
  if (part.timed) part.took = since(start);
  part.end_composite = job.sink.size();
  part.overflows = job.sink.overflows();
}

}  // namespace gorgo::dispatch
