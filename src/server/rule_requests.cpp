#include <algorithm>
#include <chrono>
#include <utility>

#include "dispatch/rules/rule_base.hpp"
#include "server/engine_thread.hpp"
#include "server/replies.hpp"
#include "server/security/permissions.hpp"
#include "server/security/rule_permissions.hpp"

// What clients ask about rules, on the engine thread.
namespace gorgo::server {

void EngineThread::check(const wire::Message& message) {
  if (const auto* request = message.body_as_Deploy()) {
    const bool shadow = request->shadow();
    return check(request->name()->str(), request->text()->str(),
                 {.replace = request->replace() || shadow, .with_history = request->with_history()},
                 shadow             ? Purpose::to_run_beside
                 : request->check() ? Purpose::to_tell
                                    : Purpose::to_put_in_force);
  }
  const auto* request = message.body_as_PromoteShadow();
  if (request == nullptr) return;
  const Shadow* const shadow = shadows_.find(request->name()->str());
  if (shadow == nullptr) return;
  check(shadow->name(), shadow->text(), {.replace = true, .with_history = request->with_history()},
        Purpose::to_put_in_force);
}

void EngineThread::check(std::string name, std::string text, const DeployOptions& options,
                         Purpose purpose) {
  DeployOptions checked_against = options;
  checked_against.actions = executable_.texts();
  checker_.begin([this, snapshot = processor_.snapshot(), name = std::move(name),
                  text = std::move(text), options = std::move(checked_against), purpose]() mutable {
    checked_ =
        prepare_rules(std::exchange(snapshot, nullptr), std::move(name), std::move(text), options);
    if (checked_->diagnostics.failed()) return;
    if (purpose == Purpose::to_run_beside) checked_shadow_ = shadows_.make(*checked_);
    if (purpose == Purpose::to_put_in_force) {
      checked_names_ = Deployments::names_of(checked_->source.path, *checked_);
    }
  });
}

PreparedRules EngineThread::finish_check(const Command& command, std::uint64_t id) {
  const auto refuse = [&](wire::ErrorCode code, const Error& why) {
    command.client->reply(error_reply(id, code, why));
    return nullptr;
  };
  try {
    checker_.finish();
  } catch (const std::exception& failure) {
    return refuse(
        wire::ErrorCode::Overloaded,
        {std::string("the rules cannot be checked: ") + failure.what(), "deploy fewer at a time"});
  }
  auto prepared = std::exchange(checked_, nullptr);
  if (const auto allowed = may_put_in_force(command, *prepared); !allowed) {
    return refuse(wire::ErrorCode::Forbidden, allowed.error());
  }
  return prepared;
}

Result<void> EngineThread::may_put_in_force(const Command& command,
                                            const dispatch::CheckedText& prepared) const {
  if (command.user == nullptr || prepared.diagnostics.failed()) return {};
  return check_rules(*command.user, prepared, deployments_, processor_);
}

void EngineThread::deploy(const Command& command, std::uint64_t id, const wire::Deploy& request) {
  const auto prepared = finish_check(command, id);
  auto shadow = std::exchange(checked_shadow_, nullptr);
  if (prepared == nullptr) return;
  if (shadow != nullptr) return run_beside(command, id, *prepared, std::move(shadow));
  if (request.check() || request.shadow()) {
    command.client->reply(diagnostics_reply(id, prepared->diagnostics));
    return;
  }
  const auto diagnostics = put_in_force(command, prepared);
  journal_.reply_when_durable(command.client, diagnostics_reply(id, diagnostics));
}

Diagnostics EngineThread::put_in_force(const Command& command, const PreparedRules& prepared) {
  const std::string& name = prepared->source.path;
  auto diagnostics = book_.deploy(prepared, {.who = name_of(command.user)});
  types_.post(processor_.schema());  // before the reply, after which the client relies on it
  if (!diagnostics.failed()) deployments_.note(std::exchange(checked_names_, {}));
  rate_watch_.rules_came(std::chrono::steady_clock::now());
  log_.info(diagnostics.failed() ? "rules refused" : "rules deployed",
            {{"name", name},
             {"session", command.client->id()},
             {"diagnostics", diagnostics.list.size()}});
  return diagnostics;
}

void EngineThread::take_out_of_force(const Command& command, const std::string& rule) {
  deployments_.forget(rule);
  if (!book_.remove(rule, {.who = name_of(command.user)})) return;
  log_.info("rule removed", {{"rule", rule}, {"session", command.client->id()}});
}

Result<RuleInfo> EngineThread::rule_to_remove(const wire::Remove& request) const {
  const std::string name = request.rule()->str();
  if (!request.deployment()) return processor_.rule(name);
  return Error{"there is no deployment '" + name + "'",
               "`gorgo rules history` names those there were"};
}

void EngineThread::remove(const Command& command, std::uint64_t id, const wire::Remove& request) {
  const std::string name = request.rule()->str();
  const auto known = rule_to_remove(request);
  const auto rules = known ? std::vector{name} : deployments_.take(name, processor_);
  // The latest first, which moves the fewest others.
  for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule) take_out_of_force(command, *rule);
  types_.post(processor_.schema());
  journal_.reply_when_durable(
      command.client,
      rules.empty() ? error_reply(id, wire::ErrorCode::NotFound, known.error()) : ack(id));
}

void EngineThread::pin(const Command& command, std::uint64_t id, const wire::Pin& request) {
  const std::string rule = request.rule()->str(), engine = request.engine()->str();
  const auto pinned = book_.pin(rule, engine, name_of(command.user));
  if (!pinned) {
    command.client->reply(error_reply(id, wire::ErrorCode::Invalid, pinned.error()));
    return;
  }
  log_.info("rule pinned", {{"rule", rule}, {"engine", engine}, {"session", command.client->id()}});
  journal_.reply_when_durable(command.client, ack(id));
}

void EngineThread::list(const Command& command, std::uint64_t id, const wire::ListRules& request) {
  Outbox& client = *command.client;
  const User* const user = command.user.get();
  const bool sees_all = user == nullptr || user->deployments.allows_all();
  if (request.name() == nullptr || request.name()->size() == 0) {
    client.reply(sees_all ? all_rules(id, request.first()) : rules_of(*user, id, request.first()));
    return;
  }
  const std::string name = request.name()->str();
  auto rule = processor_.rule(name);
  if (!sees_all && !(rule && is_rule_of(*user, name, deployments_))) {
    // The usual words may name a rule that is spelt like it, of somebody else.
    rule = Error{"there is no rule '" + name + "'", ""};
  }
  if (!rule) {
    client.reply(error_reply(id, wire::ErrorCode::NotFound, rule.error()));
    return;
  }
  add_recent(*rule);
  client.reply(rule_reply(id, *rule, processor_.schema(), limits_.max_frame));
}

void EngineThread::add_recent(RuleInfo& rule) const {
  rule.rates = rate_watch_.rates({.serial = rule.serial,
                                  .events = rule.events,
                                  .terminators = rule.terminators,
                                  .composites = rule.composites},
                                 std::chrono::steady_clock::now());
  rule.latency = latencies_.of(rule.name);
}

protocol::Bytes EngineThread::all_rules(std::uint64_t id, std::uint32_t from) const {
  return rules_reply(
      id, processor_.rule_count(), from,
      [this](std::size_t first, std::size_t count) {
        auto rules = processor_.rules(first, count);
        for (RuleInfo& rule : rules) add_recent(rule);
        return rules;
      },
      processor_.schema());
}

protocol::Bytes EngineThread::rules_of(const User& user, std::uint64_t id,
                                       std::uint32_t from) const {
  const auto rules = visible_rules(user, deployments_, processor_);
  return rules_reply(
      id, rules.size(), from,
      [&](std::size_t first, std::size_t count) {
        const std::size_t begin = std::min(first, rules.size());
        const std::size_t end = std::min(begin + count, rules.size());
        std::vector<RuleInfo> page(rules.begin() + static_cast<std::ptrdiff_t>(begin),
                                   rules.begin() + static_cast<std::ptrdiff_t>(end));
        for (RuleInfo& rule : page) add_recent(rule);
        return page;
      },
      processor_.schema());
}

}  // namespace gorgo::server
