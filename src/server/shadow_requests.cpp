#include <memory>
#include <utility>

#include "dispatch/rules/rule_base.hpp"
#include "server/engine_thread.hpp"
#include "server/replies.hpp"
#include "server/security/permissions.hpp"

// What clients ask about rules that run beside those in force, on the engine thread.
namespace gorgo::server {
namespace {

Error no_shadow(const std::string& name) {
  return {"there is no shadow deployment '" + name + "'", "`gorgo rules shadow list` shows them"};
}

}  // namespace

/// Those that the text names, and those of the deployment that it lacks.
Shadow::Names EngineThread::rules_replaced_by(const dispatch::CheckedText& text) const {
  Shadow::Names replaced;
  for (const std::string& rule : full_names(text)) {
    if (processor_.has_rule(rule)) replaced.insert(rule);
  }
  for (std::string& rule : deployments_.rules_of(text.source.path, processor_)) {
    replaced.insert(std::move(rule));
  }
  const auto file = book_.files().all().find(text.source.path);
  if (file != book_.files().all().end()) {
    replaced.insert(file->second.rules.begin(), file->second.rules.end());
  }
  return replaced;
}

void EngineThread::run_beside(const Command& command, std::uint64_t id,
                              const dispatch::CheckedText& text, std::unique_ptr<Shadow> shadow) {
  const std::string name = shadow->name();
  const auto& problems = shadow->diagnostics().failed() ? shadow->diagnostics() : text.diagnostics;
  if (!problems.failed()) {
    shadow->start(rules_replaced_by(text), processor_, name_of(command.user), clock_.now());
    if (const auto put = shadows_.put(std::move(shadow)); !put) {
      command.client->reply(error_reply(id, wire::ErrorCode::Invalid, put.error()));
      return;
    }
    log_.info("rules run as a shadow", {{"name", name}, {"session", command.client->id()}});
  }
  command.client->reply(diagnostics_reply(id, problems));
}

void EngineThread::promote(const Command& command, std::uint64_t id,
                           const wire::PromoteShadow& request) {
  const std::string name = request.name()->str();
  if (!checker_.is_busy()) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound, no_shadow(name)));
    return;
  }
  const auto prepared = finish_check(command, id);
  if (prepared == nullptr) return;
  Shadow::Names gone = rules_replaced_by(*prepared);
  for (const std::string& rule : full_names(*prepared)) gone.erase(rule);
  if (command.user != nullptr && !command.user->removes_rules && !gone.empty()) {
    command.client->reply(error_reply(
        id, wire::ErrorCode::Forbidden,
        {"the shadow deployment lacks the rule '" + *gone.begin() + "', which would be removed",
         "it takes the permission rules = [\"remove\"] in the file of users"}));
    return;
  }
  const auto diagnostics = put_in_force(command, prepared);
  if (!diagnostics.failed()) {
    for (const std::string& rule : gone) take_out_of_force(command, rule);
    types_.post(processor_.schema());
    shadows_.drop(name);
  }
  journal_.reply_when_durable(command.client, diagnostics_reply(id, diagnostics));
}

void EngineThread::drop_shadow(const Command& command, std::uint64_t id,
                               const wire::DropShadow& request) {
  const std::string name = request.name()->str();
  if (!shadows_.drop(name)) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound, no_shadow(name)));
    return;
  }
  log_.info("shadow dropped", {{"name", name}, {"session", command.client->id()}});
  command.client->reply(ack(id));
}

void EngineThread::list_shadows(const Command& command, std::uint64_t id) const {
  wire::ShadowsT shadows;
  const User* const user = command.user.get();
  const auto may_see = [user](std::string_view type) {
    return user == nullptr || check_subscribe(*user, type).has_value();
  };
  for (const auto& [name, shadow] : shadows_.all()) {
    if (user != nullptr && !check_deployment(*user, stem_of(name))) continue;
    shadows.list.push_back(std::make_unique<wire::ShadowInfoT>(shadow->info(may_see)));
  }
  command.client->reply(protocol::encode(id, shadows));
}

}  // namespace gorgo::server
