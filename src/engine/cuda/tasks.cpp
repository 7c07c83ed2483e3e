#include "engine/cuda/tasks.hpp"

#include <algorithm>
#include <string>

#include "engine/cuda/paging.hpp"
#include "engine/cuda/spread.hpp"
#include "engine/cuda/turns.hpp"

namespace gorgo::engine {
namespace {

/// In pairs: testing so many takes about as long as the host takes for a search, and for all of a
/// terminator.
constexpr std::uint64_t kSearch = 500'000, kTerminator = 2'000'000;
/// A turn has at least so many times the pairs that are worth a device: it takes some tenths of a
/// millisecond, in which others prepare theirs.
constexpr std::uint64_t kLeastTurn = 2500;
constexpr std::uint64_t kMostTurns = 8;

Load load_of(const Evaluation& evaluation, Sessions sessions) {
  const CudaEvaluator& evaluator = *evaluation.evaluator;
  const std::size_t terminators = evaluation.request->terminators.slots.size();
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

/// Does tasks together; meanwhile the pages come that the next ones need.
void run_together(Session& session, std::span<const Task> tasks, unsigned threads, const Step& step,
                  const Step* next, const Budget& budget) {
  std::vector<Work*> works;
  bool done = false;
  const auto use = [&] {
    session.pages().begin_step();
    make_room(session, step.needs);
    Works by_place;
    for (const std::size_t i : step.evaluations) {
      const Task& task = tasks[i];
      works.push_back(&task.evaluator->begin(task, session));
      by_place.add(task.channel, task.turn, works.back());
    }
    done = run(session, by_place, threads, budget.stop, next == nullptr ? nullptr : &next->needs);
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

void run_one_by_one(Session& session, std::span<const Task> tasks, unsigned threads,
                    std::span<const Step> steps, const Budget& budget) {
  for (std::size_t i = 0; i < steps.size() && session.problem().empty(); ++i) {
    const Step* const next = i + 1 < steps.size() ? &steps[i + 1] : nullptr;
    run_together(session, tasks, threads, steps[i], next, budget);
  }
}

/// Says what tasks need. One that consumes is alone, because it changes what others under way would
/// see.
std::vector<Demand> demands_of(Session& session, std::span<const Task> tasks) {
  const bool may_take_turns = session.device().channels() > Turns::kChannels;
  std::vector<Demand> demands;
  for (const Task& task : tasks) {
    CudaEvaluator& evaluator = *task.evaluator;
    demands.push_back({.needs = needs_of(evaluator.plan_on(session), evaluator.terminators(task)),
                       .is_alone = !may_take_turns || !evaluator.is_divisible()});
  }
  return demands;
}

/// Cuts the shares of one device into pieces.
class Cut {
 public:
  struct Piece {
    Share share;
    std::uint32_t channel, turn;
  };

  Cut(std::span<const Evaluation> evaluations, Session& session, const Cutting& cutting)
      : evaluations_(evaluations), session_(session), cutting_(cutting) {}

  /// Puts the plans on the device. Returns the pieces in the order of the shares.
  std::vector<Piece> pieces(std::span<const Share> shares) {
    std::vector<Piece> pieces;
    place(shares);
    const Portions portions = portions_for(shares);
    if (portions.channels == 1) {
      for (const Share& share : shares) pieces.push_back({share, 0, 0});
      return pieces;
    }
    for (const Share& share : shares) {
      if (!evaluator(share).is_divisible()) pieces.push_back({share, 0, 0});
    }
    const auto cut =
        spread(loads_of(shares), portions.channels * portions.turns, cutting_.least_terminators);
    for (std::uint32_t i = 0; i < cut.size(); ++i) {
      const std::uint32_t channel = 1 + i % portions.channels, turn = i / portions.channels;
      for (const auto& [number, first, count] : cut[i]) {
        const Share& share = shares[number];
        if (count > 0) pieces.push_back({{share.load, share.first + first, count}, channel, turn});
      }
    }
    const auto place_of = [](const Piece& piece) {
      return std::pair(piece.share.load, piece.share.first);
    };
    std::ranges::sort(pieces, {}, place_of);
    return pieces;
  }
  bool fits() const { return fits_; }

 private:
  struct Portions {
    std::uint32_t channels, turns;
  };

  CudaEvaluator& evaluator(const Share& share) const { return *evaluations_[share.load].evaluator; }

  void place(std::span<const Share> shares) {
    std::size_t pages = 0;
    for (const Share& share : shares) {
      evaluator(share).move_to(session_.shared_from_this());
      pages += most_pages(evaluator(share).plan_on(session_), session_);
    }
    fits_ = pages <= session_.device().pages();
  }

  /// Takes as many channels as let the host's part be done as soon as the device's, or two for one
  /// thread. Takes turns for what keeps the device busy: meanwhile the host prepares the next turn
  /// and takes the answers of the last. What comes in several steps is not cut further.
  Portions portions_for(std::span<const Share> shares) const {
    std::uint64_t terminators = 0, pairs = 1;
    for (const Share& share : shares) {
      const Evaluation& evaluation = evaluations_[share.load];
      if (!evaluation.evaluator->is_divisible()) continue;
      const std::size_t all = evaluation.request->terminators.slots.size();
      terminators += share.count;
      pairs += evaluation.pairs / all * share.count;
    }
    const std::uint64_t parts = terminators / cutting_.least_terminators;
    const std::uint64_t most = std::min<std::uint64_t>(session_.device().channels() - 1, parts);
    if (!fits_ || most < 2) return {1, 1};
    const std::uint64_t wanted = 2 + terminators * kTerminator / pairs;
    const std::uint64_t channels =
        std::min({most, wanted, std::max<std::uint64_t>(2, cutting_.threads)});
    const std::uint64_t worth =
        pairs / std::max<std::uint64_t>(1, cutting_.least_pairs * kLeastTurn);
    const std::uint64_t turns =
        std::clamp<std::uint64_t>(std::min(worth, parts) / channels, 1, kMostTurns);
    return {static_cast<std::uint32_t>(channels), static_cast<std::uint32_t>(turns)};
  }

  /// Loads to be spread over the channels. Evaluations that consume go to the first channel, so
  /// they count nothing here.
  std::vector<Load> loads_of(std::span<const Share> shares) const {
    std::vector<Load> loads;
    for (const Share& share : shares) {
      const std::size_t own = evaluator(share).is_divisible() ? share.count : 0;
      loads.push_back({.cost = own, .terminators = own});
    }
    return loads;
  }

  std::span<const Evaluation> evaluations_;
  Session& session_;
  const Cutting& cutting_;
  bool fits_ = true;
};

}  // namespace

std::vector<DeviceTasks> tasks_of(std::span<const Evaluation> evaluations, Sessions sessions,
                                  const Cutting& cutting) {
  std::vector<Load> loads;
  for (const Evaluation& evaluation : evaluations) loads.push_back(load_of(evaluation, sessions));
  const auto shares = spread(loads, sessions.size(), cutting.least_pairs);
  std::vector<DeviceTasks> tasks(sessions.size());
  std::vector<std::vector<Cut::Piece>> pieces;
  std::vector<std::size_t> parts(evaluations.size());
  for (std::size_t d = 0; d < sessions.size(); ++d) {
    const std::lock_guard lock(sessions[d]->mutex());
    Cut cut(evaluations, *sessions[d], cutting);
    pieces.push_back(cut.pieces(shares[d]));
    tasks[d].fits = cut.fits();
    tasks[d].threads = std::max(1U, cutting.threads);
    for (const auto& piece : pieces[d]) ++parts[piece.share.load];
  }
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    evaluations[i].evaluator->expect(evaluations[i].request->terminators, parts[i]);
    parts[i] = 0;
  }
  for (std::size_t d = 0; d < sessions.size(); ++d) {
    const std::lock_guard lock(sessions[d]->mutex());
    for (const auto& [share, channel, turn] : pieces[d]) {
      CudaEvaluator* const evaluator = evaluations[share.load].evaluator;
      evaluator->plan_on(*sessions[d], channel);
      tasks[d].tasks.push_back({evaluator, evaluations[share.load].request->state,
                                parts[share.load]++, share.first, share.count, channel, turn});
    }
  }
  return tasks;
}

void run_on(Session& session, const DeviceTasks& all, const Budget& budget) {
  if (all.tasks.empty()) return;
  std::vector<Task> tasks;
  Steps planned;
  const auto plan = [&] {
    for (const Task& task : all.tasks) {
      CudaEvaluator& evaluator = *task.evaluator;
      if (reaches_long_text(evaluator.plan_on(session, task.channel),
                            evaluator.terminators(task))) {
        evaluator.leave_to_cpu(task.part, kLongText);
      } else {
        tasks.push_back(task);
      }
    }
    if (tasks.empty()) return;
    if (all.fits) {
      planned = one_step(tasks.size());
      return;
    }
    planned = plan_steps(session, demands_of(session, tasks));
  };
  caught(session, plan, [&] { return text_of(all.tasks); });
  for (const std::size_t i : planned.too_large) {
    tasks[i].evaluator->leave_to_cpu(tasks[i].part, kNoRoom);
  }
  std::span<const Step> steps = planned.steps;
  while (!steps.empty() && session.problem().empty()) {
    const auto other = std::ranges::find(steps, !steps[0].is_alone, &Step::is_alone);
    const auto count = static_cast<std::size_t>(other - steps.begin());
    if (steps[0].is_alone) {
      run_one_by_one(session, tasks, all.threads, steps.first(count), budget);
    } else {
      const std::lock_guard lock(session.mutex());
      Turns(session, tasks, budget).run(steps.first(count));
    }
    steps = steps.subspan(count);
  }
}

}  // namespace gorgo::engine
