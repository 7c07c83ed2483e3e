#include "client/replies.hpp"

namespace gorgo::client {
namespace {

/// Converts a value of an enumeration of the wire. A later version may know more values: they
/// become the last one that this version knows.
template <class T, class Wire>
T to_enum(Wire value) {
  return static_cast<T>(value > Wire::MAX ? Wire::MAX : value);
}

std::optional<Miss> to_miss(const wire::Miss* miss) {
  if (miss == nullptr) return std::nullopt;
  return Miss{
      .event = miss->event()->str(), .test = miss->test()->str(), .found = miss->found()->str()};
}

Step to_step(const wire::Step& step) {
  Step result{.kind = to_enum<Step::Kind>(step.kind()),
              .clause = step.clause()->str(),
              .sequences = step.sequences(),
              .candidates = step.candidates(),
              .passed = step.passed(),
              .left = step.left(),
              .losses = {},
              .outside = to_miss(step.outside())};
  if (step.losses() == nullptr) return result;
  for (const auto* loss : *step.losses()) {
    result.losses.push_back({.kind = to_enum<Loss::Kind>(loss->kind()),
                             .test = loss->test()->str(),
                             .count = loss->count(),
                             .nearest = to_miss(loss->nearest())});
  }
  return result;
}

Funnel to_funnel(const wire::Funnel& funnel) {
  Funnel result{.event = funnel.event()->str(),
                .timestamp = funnel.timestamp(),
                .outcome = to_enum<Funnel::Outcome>(funnel.outcome()),
                .forgotten = funnel.forgotten(),
                .steps = {},
                .complete = funnel.complete(),
                .composites = funnel.composites(),
                .waiting = funnel.waiting(),
                .nearest = to_miss(funnel.nearest()),
                .cut = funnel.cut(),
                .number = funnel.number(),
                .every = funnel.every()};
  if (funnel.steps() == nullptr) return result;
  for (const auto* step : *funnel.steps()) result.steps.push_back(to_step(*step));
  return result;
}

}  // namespace

Why to_why(const wire::Why& why) {
  Why result{.rule = why.rule()->str(),
             .terminator = why.terminator()->str(),
             .evaluated = why.evaluated(),
             .produced = why.produced(),
             .funnels = {}};
  if (why.funnels() == nullptr) return result;
  for (const auto* funnel : *why.funnels()) result.funnels.push_back(to_funnel(*funnel));
  return result;
}

}  // namespace gorgo::client
