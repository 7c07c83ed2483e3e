#include "server/security/permissions.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "protocol/framing.hpp"

namespace gorgo::server {
namespace {

Error missing(const User& user, const std::string& action, const std::string& permission) {
  return {"the user '" + user.name + "' may not " + action,
          "it takes the permission " + permission + " in the file of users"};
}

/// Why a user may not do something with a type which a list denies; nothing: no list does.
std::optional<Error> denial(const User& user, const NamePatterns& patterns, std::string_view type,
                            const std::string& what) {
  if (!NamePatterns{patterns.allow, {}}.allows(type)) return std::nullopt;
  return Error{"the user '" + user.name + "' may not " + what + " " + std::string(type),
               "the list " + what.substr(0, what.find(' ')) +
                   "_deny of the user in the file of users names it"};
}

Result<void> need(const User& user, bool has, const std::string& action,
                  const std::string& permission) {
  if (has) return {};
  return missing(user, action, permission);
}

Result<void> check_manner(const User& user, const wire::Subscribe& request) {
  return request.slow() == wire::SlowPolicy::Block ? check_blocking(user) : Result<void>();
}

Result<void> check_deploy(const User& user, std::string_view name) {
  auto checked = need(user, user.deploys_rules, "deploy rules", "rules = [\"deploy\"]");
  if (checked) checked = check_deployment(user, stem_of(name));
  return checked;
}

}  // namespace

Result<void> check_blocking(const User& user) {
  return need(user, user.blocks || user.admin, "have publishers wait for a subscription",
              "block = true");
}

Result<void> check_request(const User& user, const wire::Message& message) {
  switch (message.body_type()) {
    case wire::Body::Publish:
    case wire::Body::Unsubscribe:
    case wire::Body::Credit:
    case wire::Body::Acknowledge:
    case wire::Body::EndDurable:
    case wire::Body::ListDurables:
    case wire::Body::Ping:
    case wire::Body::Pong:
      return {};
    case wire::Body::Subscribe:
      return check_manner(user, *message.body_as_Subscribe());
    case wire::Body::Declare:
      return check_publish(user, message.body_as_Declare()->name()->string_view());
    case wire::Body::Deploy:
      return check_deploy(user, message.body_as_Deploy()->name()->string_view());
    case wire::Body::PromoteShadow:
      return check_deploy(user, message.body_as_PromoteShadow()->name()->string_view());
    case wire::Body::DropShadow:
      return check_deploy(user, message.body_as_DropShadow()->name()->string_view());
    case wire::Body::Remove:
      return need(user, user.removes_rules, "remove rules", "rules = [\"remove\"]");
    case wire::Body::ListRules:
    case wire::Body::ListTypes:
    case wire::Body::AskHistory:
    case wire::Body::ListShadows:
      return need(user, user.sees_rules, "see rules", "rules = [\"see\"]");
    default:
      return need(user, user.admin, "send a " + std::string(protocol::name_of(message.body_type())),
                  "admin = true");
  }
}

bool may_see_type(const User& user, std::string_view type) {
  return user.admin || user.subscribe.allows(type) || user.publish.allows(type);
}

bool may_publish_all(const User& user, const wire::Batch& batch) {
  if (batch.tables() == nullptr || user.publish.allows_all()) return true;
  return std::ranges::all_of(*batch.tables(), [&](const wire::EventTable* table) {
    return user.publish.allows(table->type()->string_view());
  });
}

Result<void> check_publish(const User& user, std::string_view type) {
  if (user.publish.allows(type)) return {};
  if (auto denied = denial(user, user.publish, type, "publish")) return *denied;
  return missing(user, "publish " + std::string(type), "publish = [\"" + std::string(type) + "\"]");
}

Result<void> check_subscribe(const User& user, std::string_view type) {
  if (type == "*" && !user.subscribe.allows_all()) {
    return Error{"the user '" + user.name + "' may not subscribe to all types",
                 "subscribe to single ones of these: " + to_string(user.subscribe)};
  }
  if (user.subscribe.allows(type)) return {};
  if (auto denied = denial(user, user.subscribe, type, "subscribe to")) return *denied;
  return missing(user, "subscribe to " + std::string(type),
                 "subscribe = [\"" + std::string(type) + "\"]");
}

Result<void> check_deployment(const User& user, std::string_view deployment) {
  if (user.deployments.allows(deployment)) return {};
  return Error{
      "the deployment '" + std::string(deployment) + "' is not one of the user '" + user.name + "'",
      "the user may use these deployments: " + to_string(user.deployments)};
}

std::string_view stem_of(std::string_view deployment) {
  if (const auto slash = deployment.rfind('/'); slash != deployment.npos) {
    deployment.remove_prefix(slash + 1);
  }
  if (const auto dot = deployment.rfind('.'); dot != deployment.npos && dot > 0) {
    deployment = deployment.substr(0, dot);
  }
  return deployment;
}

}  // namespace gorgo::server
