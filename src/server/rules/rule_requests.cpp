#include "server/rules/rule_requests.hpp"

#include <chrono>
#include <utility>

#include "dispatch/rules/rule_base.hpp"
#include "server/replies.hpp"
#include "server/rules/declaration.hpp"
#include "server/security/permissions.hpp"
#include "server/security/rule_permissions.hpp"

namespace gorgo::server {

void RuleRequests::check(const wire::Message& message) {
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
  const Shadow* const shadow = parts_.shadows.find(request->name()->str());
  if (shadow == nullptr) return;
  check(shadow->name(), shadow->text(), {.replace = true, .with_history = request->with_history()},
        Purpose::to_put_in_force);
}

void RuleRequests::check(std::string name, std::string text, const DeployOptions& options,
                         Purpose purpose) {
  DeployOptions checked_against = options;
  checked_against.actions = parts_.executable.texts();
  parts_.checker.begin([this, snapshot = parts_.processor.snapshot(), name = std::move(name),
                        text = std::move(text), options = std::move(checked_against),
                        purpose]() mutable {
    checked_ =
        prepare_rules(std::exchange(snapshot, nullptr), std::move(name), std::move(text), options);
    if (checked_->diagnostics.failed()) return;
    if (purpose == Purpose::to_run_beside) shadow_ = parts_.shadows.make(*checked_);
    if (purpose == Purpose::to_put_in_force) {
      checked_names_ = Deployments::names_of(checked_->source.path, *checked_);
    }
  });
}

PreparedRules RuleRequests::coming(const Command& change) const {
  const auto* deploy = change.message().body_as_Deploy();
  if (deploy != nullptr && (deploy->check() || deploy->shadow())) return nullptr;
  // Asked once, because it looks at all rules, and before anything is made for them.
  const bool is_asked = parts_.processor.is_getting_ready();
  if (!is_asked && checked_ != nullptr && !may_put_in_force(change, *checked_)) return nullptr;
  return checked_;
}

void RuleRequests::forget() {
  checked_ = nullptr;
  shadow_ = nullptr;
  checked_names_.clear();
  leaving_.clear();
}

Result<void> RuleRequests::check_user(const User& user, const wire::Remove& request) const {
  const std::string name = request.rule()->str();
  if (rule_to_remove(request)) return check_deployment(user, parts_.deployments.owner_of(name));
  return check_deployment(user, stem_of(name));
}

PreparedRules RuleRequests::finish_check(const Command& command, std::uint64_t id) {
  const auto refuse = [&](wire::ErrorCode code, const Error& why) {
    command.client->reply(error_reply(id, code, why));
    return nullptr;
  };
  try {
    parts_.checker.finish();
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

Result<void> RuleRequests::may_put_in_force(const Command& command,
                                            const dispatch::CheckedText& prepared) const {
  if (command.user == nullptr || prepared.diagnostics.failed()) return {};
  return check_rules(*command.user, prepared, parts_.deployments, parts_.processor);
}

void RuleRequests::declare(const Command& command, std::uint64_t id, const wire::Declare& request) {
  auto declared = parts_.journal.make_room(command.frame.size());
  if (declared) declared = server::declare(parts_.processor, request);
  if (declared) parts_.journal.write_request(command.frame);
  parts_.types.post(parts_.processor.schema());
  parts_.journal.reply_when_durable(
      command.client,
      declared ? ack(id) : error_reply(id, wire::ErrorCode::Invalid, declared.error()));
}

void RuleRequests::deploy(const Command& command, std::uint64_t id, const wire::Deploy& request) {
  const auto prepared = finish_check(command, id);
  auto shadow = std::exchange(shadow_, nullptr);
  if (prepared == nullptr) return;
  if (shadow != nullptr) return run_beside(command, id, *prepared, std::move(shadow));
  if (request.check() || request.shadow()) {
    command.client->reply(diagnostics_reply(id, prepared->diagnostics));
    return;
  }
  const auto diagnostics = put_in_force(command, prepared);
  parts_.journal.reply_when_durable(command.client, diagnostics_reply(id, diagnostics));
}

Diagnostics RuleRequests::put_in_force(const Command& command, const PreparedRules& prepared) {
  const std::string& name = prepared->source.path;
  auto diagnostics = parts_.book.deploy(prepared, {.who = name_of(command.user)});
  parts_.types.post(
      parts_.processor.schema());  // before the reply, after which the client relies on it
  if (!diagnostics.failed()) parts_.deployments.note(std::exchange(checked_names_, {}));
  parts_.rates.rules_came(std::chrono::steady_clock::now());
  parts_.log.info(diagnostics.failed() ? "rules refused" : "rules deployed",
                  {{"name", name},
                   {"session", command.client->id()},
                   {"diagnostics", diagnostics.list.size()}});
  return diagnostics;
}

void RuleRequests::take_out_of_force(const Command& command, const std::string& rule) {
  const auto removed = parts_.book.remove(
      rule, {.who = name_of(command.user), .deployment = parts_.deployments.name_of(rule)});
  parts_.deployments.forget(rule);
  if (!removed) return;
  parts_.log.info("rule removed", {{"rule", rule}, {"session", command.client->id()}});
}

Result<RuleInfo> RuleRequests::rule_to_remove(const wire::Remove& request) const {
  const std::string name = request.rule()->str();
  if (!request.deployment()) return parts_.processor.rule(name);
  return Error{"there is no deployment '" + name + "'",
               "`gorgo rules history` names those there were"};
}

void RuleRequests::remove(const Command& command, std::uint64_t id, const wire::Remove& request) {
  const std::string name = request.rule()->str();
  const auto known = rule_to_remove(request);
  leaving_ = known ? std::vector{name} : parts_.deployments.rules_of(name, parts_.processor);
  if (leaving_.empty()) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound, known.error()));
  }
}

bool RuleRequests::remove_some(const Command& command,
                               std::chrono::steady_clock::time_point until) {
  do {
    // The latest first, which moves the fewest others.
    take_out_of_force(command, leaving_.back());
    leaving_.pop_back();
  } while (!leaving_.empty() && std::chrono::steady_clock::now() < until);
  parts_.types.post(parts_.processor.schema());
  if (!leaving_.empty()) return false;
  parts_.journal.reply_when_durable(command.client, ack(command.message().id()));
  return true;
}

void RuleRequests::pin(const Command& command, std::uint64_t id, const wire::Pin& request) {
  const std::string rule = request.rule()->str(), engine = request.engine()->str();
  const auto pinned = parts_.book.pin(rule, engine, name_of(command.user));
  if (!pinned) {
    command.client->reply(error_reply(id, wire::ErrorCode::Invalid, pinned.error()));
    return;
  }
  parts_.log.info("rule pinned",
                  {{"rule", rule}, {"engine", engine}, {"session", command.client->id()}});
  parts_.journal.reply_when_durable(command.client, ack(id));
}

}  // namespace gorgo::server
