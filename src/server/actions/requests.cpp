#include "server/actions/requests.hpp"

#include <memory>

#include "protocol/info.hpp"
#include "server/actions/action_targets.hpp"
#include "server/replies.hpp"

namespace gorgo::server {
namespace {

std::unique_ptr<wire::ActionInfoT> to_wire(const ActionTarget& target) {
  auto told = std::make_unique<wire::ActionInfoT>();
  told->name = target.name;
  told->kind = target.kind;
  told->address = target.address;
  told->state = target.state;
  told->problem = target.problem;
  told->dry_run = target.dry_run;
  told->waiting = target.waiting;
  told->done = target.done;
  told->attempts = target.attempts;
  told->failures = target.failures;
  told->dead = target.dead;
  told->retriable = target.retriable;
  told->lost = target.lost;
  told->silenced = target.silenced;
  told->inhibited = target.inhibited;
  for (const ActionSilence& silence : target.silences) {
    auto& added = *told->silences.emplace_back(std::make_unique<wire::SilenceT>());
    added.id = silence.id;
    added.matchers = silence.matchers;
    added.until = silence.until;
    added.comment = silence.comment;
  }
  return told;
}

ActionSilence silence_of(const wire::Silence& silence) {
  ActionSilence result{.until = silence.until(), .comment = protocol::text_of(silence.comment())};
  if (silence.matchers() == nullptr) return result;
  for (const auto* matcher : *silence.matchers()) result.matchers.push_back(matcher->str());
  return result;
}

/// How many events it is about, or the id of a silence.
Result<std::uint64_t> carry_out(ActionTargets& targets, const wire::OrderAction& request) {
  const std::string name = request.name()->str();
  const auto done = [](Result<void> outcome, std::uint64_t number) -> Result<std::uint64_t> {
    if (outcome) return number;
    return outcome.error();
  };
  const wire::Silence* const silence = request.silence();
  switch (request.order()) {
    case wire::ActionOrder::Test:
      return done(targets.test(name), 1);
    case wire::ActionOrder::Retry:
      return targets.retry(name);
    case wire::ActionOrder::Silence:
      if (silence != nullptr) return targets.silence(name, silence_of(*silence));
      break;
    case wire::ActionOrder::Unsilence:
      if (silence != nullptr) return done(targets.end_silence(name, silence->id()), silence->id());
      break;
  }
  return Error{"this server does not know that order", ""};
}

}  // namespace

bool answer_about_actions(SessionHub& hub, Outbox& client, const wire::Message& message) {
  if (const auto* order = message.body_as_OrderAction()) {
    const auto done = carry_out(*hub.actions, *order);
    wire::AckT ack;
    if (done) ack.accepted = static_cast<std::uint32_t>(*done);
    client.reply(done ? protocol::encode(message.id(), ack)
                      : error_reply(message.id(), wire::ErrorCode::Invalid, done.error()));
    return true;
  }
  if (message.body_as_ListActions() == nullptr) return false;
  wire::ActionsT reply;
  for (const ActionTarget& target : hub.actions->infos()) reply.list.push_back(to_wire(target));
  client.reply(protocol::encode(message.id(), reply));
  return true;
}

}  // namespace gorgo::server
