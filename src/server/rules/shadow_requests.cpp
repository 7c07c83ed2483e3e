#include <memory>
#include <utility>

#include "dispatch/rules/rule_base.hpp"
#include "server/replies.hpp"
#include "server/rules/rule_requests.hpp"
#include "server/security/permissions.hpp"

// What clients ask about rules that run beside those in force.
namespace gorgo::server {
namespace {

Error no_shadow(const std::string& name) {
  return {"there is no shadow deployment '" + name + "'", "`gorgo rules shadow list` shows them"};
}

}  // namespace

/// Those that the text names, and those of the deployment that it lacks.
Shadow::Names RuleRequests::replaced_by(const dispatch::CheckedText& text) const {
  Shadow::Names replaced;
  for (const std::string& rule : full_names(text)) {
    if (parts_.processor.has_rule(rule)) replaced.insert(rule);
  }
  for (std::string& rule : parts_.deployments.rules_of(text.source.path, parts_.processor)) {
    replaced.insert(std::move(rule));
  }
  const auto file = parts_.book.files().all().find(text.source.path);
  if (file != parts_.book.files().all().end()) {
    replaced.insert(file->second.rules.begin(), file->second.rules.end());
  }
  return replaced;
}

void RuleRequests::run_beside(const Command& command, std::uint64_t id,
                              const dispatch::CheckedText& text, std::unique_ptr<Shadow> shadow) {
  const std::string name = shadow->name();
  const auto& problems = shadow->diagnostics().failed() ? shadow->diagnostics() : text.diagnostics;
  if (!problems.failed()) {
    shadow->start(replaced_by(text), parts_.processor, name_of(command.user), parts_.clock.now());
    if (const auto put = parts_.shadows.put(std::move(shadow)); !put) {
      command.client->reply(error_reply(id, wire::ErrorCode::Invalid, put.error()));
      return;
    }
    parts_.log.info("rules run as a shadow", {{"name", name}, {"session", command.client->id()}});
  }
  command.client->reply(diagnostics_reply(id, problems));
}

void RuleRequests::promote(const Command& command, std::uint64_t id,
                           const wire::PromoteShadow& request) {
  const std::string name = request.name()->str();
  if (!parts_.checker.is_busy()) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound, no_shadow(name)));
    return;
  }
  const auto prepared = finish_check(command, id);
  if (prepared == nullptr) return;
  Shadow::Names gone = replaced_by(*prepared);
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
    parts_.types.post(parts_.processor.schema());
    parts_.shadows.drop(name);
  }
  parts_.journal.reply_when_durable(command.client, diagnostics_reply(id, diagnostics));
}

void RuleRequests::drop_shadow(const Command& command, std::uint64_t id,
                               const wire::DropShadow& request) {
  const std::string name = request.name()->str();
  if (!parts_.shadows.drop(name)) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound, no_shadow(name)));
    return;
  }
  parts_.log.info("shadow dropped", {{"name", name}, {"session", command.client->id()}});
  command.client->reply(ack(id));
}

void RuleRequests::list_shadows(const Command& command, std::uint64_t id) const {
  wire::ShadowsT shadows;
  const User* const user = command.user.get();
  const auto may_see = [user](std::string_view type) {
    return user == nullptr || check_subscribe(*user, type).has_value();
  };
  for (const auto& [name, shadow] : parts_.shadows.all()) {
    if (user != nullptr && !check_deployment(*user, stem_of(name))) continue;
    shadows.list.push_back(std::make_unique<wire::ShadowInfoT>(shadow->info(may_see)));
  }
  command.client->reply(protocol::encode(id, shadows));
}

}  // namespace gorgo::server
