#include "server/replies.hpp"

namespace gorgo::server {
namespace {

std::unique_ptr<wire::MissT> to_wire(const std::optional<Miss>& miss) {
  if (!miss) return nullptr;
  auto result = std::make_unique<wire::MissT>();
  result->event = miss->event;
  result->test = miss->test;
  result->found = miss->found;
  return result;
}

std::unique_ptr<wire::LossT> to_wire(const Loss& loss) {
  auto result = std::make_unique<wire::LossT>();
  result->kind = static_cast<wire::LossKind>(loss.kind);
  result->test = loss.test;
  result->count = loss.count;
  result->nearest = to_wire(loss.nearest);
  return result;
}

std::unique_ptr<wire::StepT> to_wire(const Step& step) {
  auto result = std::make_unique<wire::StepT>();
  result->kind = static_cast<wire::StepKind>(step.kind);
  result->clause = step.clause;
  result->sequences = step.sequences;
  result->candidates = step.candidates;
  result->passed = step.passed;
  result->left = step.left;
  for (const Loss& loss : step.losses) result->losses.push_back(to_wire(loss));
  result->outside = to_wire(step.outside);
  return result;
}

std::unique_ptr<wire::FunnelT> to_wire(const Funnel& funnel) {
  auto result = std::make_unique<wire::FunnelT>();
  result->event = funnel.event;
  result->timestamp = funnel.timestamp;
  result->outcome = static_cast<wire::Outcome>(funnel.outcome);
  result->forgotten = funnel.forgotten;
  for (const Step& step : funnel.steps) result->steps.push_back(to_wire(step));
  result->complete = funnel.complete;
  result->composites = funnel.composites;
  result->waiting = funnel.waiting;
  result->nearest = to_wire(funnel.nearest);
  result->cut = funnel.cut;
  result->number = funnel.number;
  result->every = funnel.every;
  return result;
}

}  // namespace

protocol::Bytes why_reply(std::uint64_t id, const Why& why, std::size_t max_frame) {
  wire::WhyT reply;
  reply.rule = why.rule;
  reply.terminator = why.terminator;
  reply.evaluated = why.evaluated;
  reply.produced = why.produced;
  for (const Funnel& funnel : why.funnels) reply.funnels.push_back(to_wire(funnel));
  auto frame = protocol::encode(id, reply);
  if (frame.size() <= max_frame) return frame;
  return error_reply(id, wire::ErrorCode::TooLarge,
                     {"the answer does not fit in a frame", "ask about fewer terminators"});
}

}  // namespace gorgo::server
