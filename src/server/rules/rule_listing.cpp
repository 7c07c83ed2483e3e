#include "server/rules/rule_listing.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "server/replies.hpp"
#include "server/security/permissions.hpp"
#include "server/security/rule_permissions.hpp"

namespace gorgo::server {
namespace {

template <class T>
std::vector<T> page_of(const std::vector<T>& all, std::size_t first, std::size_t count) {
  const auto rest = std::span(all).subspan(std::min(first, all.size()));
  const auto page = rest.first(std::min(count, rest.size()));
  return {page.begin(), page.end()};
}

}  // namespace

void RuleListing::list(const Command& command, std::uint64_t id,
                       const wire::ListRules& request) const {
  Outbox& client = *command.client;
  const User* const user = command.user.get();
  const bool sees_all = user == nullptr || user->deployments.allows_all();
  if (request.name() == nullptr || request.name()->size() == 0) {
    client.reply(sees_all ? all_rules(id, request.first()) : rules_of(*user, id, request.first()));
    return;
  }
  const std::string name = request.name()->str();
  auto rule = parts_.processor.rule(name);
  if (!sees_all && !(rule && is_rule_of(*user, name, parts_.deployments))) {
    // The usual words may name a rule that is spelt like it, of somebody else.
    rule = Error{"there is no rule '" + name + "'", ""};
  }
  if (!rule) {
    client.reply(error_reply(id, wire::ErrorCode::NotFound, rule.error()));
    return;
  }
  add_recent(*rule);
  client.reply(rule_reply(id, *rule, parts_.processor.schema(), parts_.max_frame));
}

void RuleListing::add_recent(RuleInfo& rule) const {
  rule.rates = parts_.rates.rates({.serial = rule.serial,
                                   .events = rule.events,
                                   .terminators = rule.terminators,
                                   .composites = rule.composites},
                                  std::chrono::steady_clock::now());
  rule.latency = parts_.latencies.of(rule.name);
}

protocol::Bytes RuleListing::all_rules(std::uint64_t id, std::uint32_t from) const {
  return rules_reply(
      id, parts_.processor.rule_count(), from,
      [this](std::size_t first, std::size_t count) {
        auto rules = parts_.processor.rules(first, count);
        for (RuleInfo& rule : rules) add_recent(rule);
        return rules;
      },
      parts_.processor.schema());
}

protocol::Bytes RuleListing::rules_of(const User& user, std::uint64_t id,
                                      std::uint32_t from) const {
  const auto rules = visible_rules(user, parts_.deployments, parts_.processor);
  return rules_reply(
      id, rules.size(), from,
      [&](std::size_t first, std::size_t count) {
        auto page = page_of(rules, first, count);
        for (RuleInfo& rule : page) add_recent(rule);
        return page;
      },
      parts_.processor.schema());
}

void RuleListing::list_types(const Command& command, std::uint64_t id,
                             const wire::ListTypes& request) const {
  const Processor& processor = parts_.processor;
  const User* const user = command.user.get();
  std::vector<TypeInfo> seen;
  std::size_t total = processor.type_count();
  const bool sees_all = user == nullptr || user->admin || user->subscribe.allows_all();
  if (!sees_all) {
    seen = processor.types();
    std::erase_if(seen, [&](const TypeInfo& type) { return !may_see_type(*user, type.name); });
    total = seen.size();
  }
  const auto read = [&](std::size_t first, std::size_t count) {
    auto types = sees_all ? processor.types(first, count) : page_of(seen, first, count);
    for (TypeInfo& type : types) type.is_subscribed = parts_.is_subscribed(type.name);
    return types;
  };
  command.client->reply(types_reply(id, total, request.first(), read, processor.schema()));
}

}  // namespace gorgo::server
