#include "engine/cuda/step_pipeline.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::engine {

std::string text_of(std::span<const Task> tasks) {
  std::size_t terminators = 0;
  for (const Task& task : tasks) terminators += task.count;
  return terminators_text(terminators, tasks.size(), tasks.front().evaluator->name());
}

// Leaves out the first channel, which writes pages and is for exclusive steps.
StepPipeline::StepPipeline(DeviceContext& context, std::span<const Task> tasks,
                           const Budget& budget)
    : context_(context),
      tasks_(tasks),
      budget_(budget),
      rounds_{Rounds(context, 1), Rounds(context, 2)} {
  for (Rounds& rounds : rounds_) unused_.push_back(&rounds);
}

void StepPipeline::run(std::span<const Step> steps) {
  while (goes_on() && (!steps.empty() || !under_way_.empty())) {
    const Step* const next = steps.empty() || unused_.empty() ? nullptr : &steps.front();
    bool begins = false;
    const auto use = [&] {
      begins = next != nullptr && has_room_for(*next);
      begins ? begin(*next) : advance();
    };
    const bool succeeded = try_on_device(context_, use, [&] { return text(); });
    if (begins || (!succeeded && next != nullptr)) steps = steps.subspan(1);
    if (!succeeded) abandon_all();
  }
  abandon_all();
}

bool StepPipeline::goes_on() const { return !budget_.stopped() && context_.problem().empty(); }

/// A step that has the device to itself has room in any case.
bool StepPipeline::has_room_for(const Step& step) {
  std::uint64_t earliest = context_.pages().round() + 1;
  for (const UnderWay& other : under_way_) earliest = std::min(earliest, other.round);
  context_.pages().end_rounds_before(earliest);
  return make_room_for_next(context_, step.working_set) || under_way_.empty();
}

void StepPipeline::begin(const Step& step) {
  context_.pages().begin_step();
  context_.pages().begin_round_beside();
  under_way_.push_back(
      {.step = &step, .round = context_.pages().round(), .searches = {}, .rounds = unused_.back()});
  unused_.pop_back();
  UnderWay& begun = under_way_.back();
  for (const std::size_t i : step.tasks) {
    begun.searches.push_back(&tasks_[i].evaluator->begin(tasks_[i], context_));
  }
  for (const FieldPages& need : step.working_set.all()) need.field->need(need.pages);
  context_.pages().fetch();
  context_.device().publish();
  begun.rounds->add(begun.searches);
  go_on();
}

/// Waits for the round that began first.
void StepPipeline::advance() {
  under_way_.front().rounds->finish();
  std::rotate(under_way_.begin(), under_way_.begin() + 1, under_way_.end());
  go_on();
}

/// Begins the next round of the step in the back, or retires the step if it has none.
void StepPipeline::go_on() {
  const UnderWay& last = under_way_.back();
  if (last.rounds->start()) return;
  for (std::size_t i = 0; i < last.searches.size(); ++i) {
    const Task& task = tasks_[last.step->tasks[i]];
    if (last.searches[i]->is_too_large()) task.evaluator->abandon(task.part);
  }
  unused_.push_back(last.rounds);
  under_way_.pop_back();
}

void StepPipeline::abandon_all() {
  for (const UnderWay& one : under_way_) {
    one.rounds->clear();
    for (const std::size_t i : one.step->tasks) {
      tasks_[i].evaluator->abandon(tasks_[i].part);
    }
    unused_.push_back(one.rounds);
  }
  under_way_.clear();
}

/// The tasks under way, in words.
std::string StepPipeline::text() const {
  std::vector<Task> tasks;
  for (const UnderWay& one : under_way_) {
    for (const std::size_t i : one.step->tasks) tasks.push_back(tasks_[i]);
  }
  return text_of(tasks.empty() ? tasks_ : tasks);
}

}  // namespace gorgo::engine
