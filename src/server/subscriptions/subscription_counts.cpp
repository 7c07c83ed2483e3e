#include "server/subscriptions/subscription_counts.hpp"

namespace gorgo::server {

Result<void> SubscriptionCounts::check(const User* user) {
  if (user == nullptr) return {};
  const auto known = by_user_.find(user->name);
  return check(*user, known == by_user_.end() ? 0 : known->second, "subscriptions");
}

Result<void> SubscriptionCounts::check_durable(const User* user, std::size_t count) {
  if (user == nullptr) return {};
  return check(*user, count, "durable subscriptions");
}

Result<void> SubscriptionCounts::check(const User& user, std::size_t count,
                                       const std::string& what) {
  if (user.limits.subscriptions == 0 || count < user.limits.subscriptions) return {};
  ++refused_[user.name];
  return Error{
      "the user '" + user.name + "' has " + std::to_string(count) + " " + what + ", its limit",
      "remove one, or raise limits.subscriptions of the user in the file of users"};
}

void SubscriptionCounts::added(Outbox& client, const User* user) {
  client.set_subscriptions(client.subscriptions() + 1);
  if (user == nullptr) return;
  ++by_user_[user->name];
  OfClient& of_client = by_client_[client.id()];
  of_client.user = user->name;
  ++of_client.count;
}

void SubscriptionCounts::removed(Outbox& client) {
  client.set_subscriptions(client.subscriptions() - 1);
  const auto known = by_client_.find(client.id());
  if (known == by_client_.end()) return;
  subtract(known->second.user, 1);
  if (--known->second.count == 0) by_client_.erase(known);
}

void SubscriptionCounts::removed_all(Outbox& client) {
  client.set_subscriptions(0);
  const auto known = by_client_.find(client.id());
  if (known == by_client_.end()) return;
  subtract(known->second.user, known->second.count);
  by_client_.erase(known);
}

void SubscriptionCounts::subtract(const std::string& user, std::size_t count) {
  const auto known = by_user_.find(user);
  known->second -= count;
  if (known->second == 0) by_user_.erase(known);
}

}  // namespace gorgo::server
