#include "engine/cuda/turns.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::engine {

std::string text_of(std::span<const Task> tasks) {
  std::size_t terminators = 0;
  for (const Task& task : tasks) terminators += task.count;
  return terminators_text(terminators, tasks.size(), tasks.front().evaluator->name());
}

// Leaves out the first channel, which writes pages and is for steps that are alone.
Turns::Turns(Session& session, std::span<const Task> tasks, const Budget& budget)
    : session_(session),
      tasks_(tasks),
      budget_(budget),
      rounds_{Rounds(session, 1), Rounds(session, 2)} {
  for (Rounds& rounds : rounds_) unused_.push_back(&rounds);
}

void Turns::run(std::span<const Step> steps) {
  while (goes_on() && (!steps.empty() || !under_way_.empty())) {
    const Step* const next = steps.empty() || unused_.empty() ? nullptr : &steps.front();
    bool begins = false;
    const auto use = [&] {
      begins = next != nullptr && has_room_for(*next);
      begins ? begin(*next) : advance();
    };
    const bool succeeded = caught(session_, use, [&] { return text(); });
    if (begins || (!succeeded && next != nullptr)) steps = steps.subspan(1);
    if (!succeeded) abandon_all();
  }
  abandon_all();
}

bool Turns::goes_on() const { return !budget_.stopped() && session_.problem().empty(); }

/// A step that has the device to itself has room in any case.
bool Turns::has_room_for(const Step& step) {
  std::uint64_t earliest = session_.pages().round() + 1;
  for (const UnderWay& other : under_way_) earliest = std::min(earliest, other.round);
  session_.pages().end_rounds_before(earliest);
  return make_room_for_next(session_, step.needs) || under_way_.empty();
}

void Turns::begin(const Step& step) {
  session_.pages().begin_step();
  session_.pages().begin_round_beside();
  under_way_.push_back(
      {.step = &step, .round = session_.pages().round(), .works = {}, .rounds = unused_.back()});
  unused_.pop_back();
  UnderWay& begun = under_way_.back();
  for (const std::size_t i : step.evaluations) {
    begun.works.push_back(&tasks_[i].evaluator->begin(tasks_[i], session_));
  }
  for (const Need& need : step.needs.all()) need.field->need(need.pages);
  session_.pages().fetch();
  session_.device().publish();
  begun.rounds->add(begun.works);
  go_on();
}

/// Waits for the round that began first.
void Turns::advance() {
  under_way_.front().rounds->finish();
  std::rotate(under_way_.begin(), under_way_.begin() + 1, under_way_.end());
  go_on();
}

/// Begins the next round of the step in the back, or retires the step if it has none.
void Turns::go_on() {
  const UnderWay& last = under_way_.back();
  if (last.rounds->start()) return;
  for (std::size_t i = 0; i < last.works.size(); ++i) {
    const Task& task = tasks_[last.step->evaluations[i]];
    if (last.works[i]->is_too_large()) task.evaluator->abandon(task.part);
  }
  unused_.push_back(last.rounds);
  under_way_.pop_back();
}

void Turns::abandon_all() {
  for (const UnderWay& one : under_way_) {
    one.rounds->clear();
    for (const std::size_t i : one.step->evaluations) {
      tasks_[i].evaluator->abandon(tasks_[i].part);
    }
    unused_.push_back(one.rounds);
  }
  under_way_.clear();
}

/// The tasks under way, in words.
std::string Turns::text() const {
  std::vector<Task> tasks;
  for (const UnderWay& one : under_way_) {
    for (const std::size_t i : one.step->evaluations) tasks.push_back(tasks_[i]);
  }
  return text_of(tasks.empty() ? tasks_ : tasks);
}

}  // namespace gorgo::engine
