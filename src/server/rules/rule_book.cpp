#include "server/rules/rule_book.hpp"

#include <stdexcept>
#include <utility>

#include "dispatch/rules/rule_base.hpp"

namespace gorgo::server {

namespace stored = journal::stored;

std::vector<std::string> full_names(const dispatch::CheckedText& text) {
  std::vector<std::string> names;
  for (const auto& plan : text.plans) names.push_back(plan->rule.name);
  return names;
}

RuleHistory::Entry entry_of(stored::RuleChangeT change, std::string deployment) {
  return {.clock = change.clock,
          .who = std::move(change.who),
          .name = std::move(change.name),
          .text = std::move(change.text),
          .file = change.file,
          .deployment = std::move(deployment)};
}

void RuleBook::make_room(std::size_t bytes) {
  if (const auto room = journal_.make_room(bytes); !room) {
    throw std::runtime_error(room.error().to_string());
  }
}

Diagnostics RuleBook::deploy(const PreparedRules& prepared, const Origin& origin) {
  make_room(prepared->source.path.size() + prepared->source.text.size());
  stored::RuleChangeT change;
  change.change = stored::Change::Deploy;
  change.name = prepared->source.path;
  change.replace = prepared->options.replace;
  change.with_history = prepared->options.with_history;
  change.file = origin.file;
  change.who = origin.who;
  before_change_();
  auto diagnostics = processor_.deploy(prepared);
  if (diagnostics.failed()) return diagnostics;
  change.text = std::move(prepared->source.text);
  if (origin.file || !files_.empty()) {
    files_.deployed(change.name, change.text, full_names(*prepared), origin.file);
  }
  change.clock = clock_.now();
  journal_.write<stored::RuleChange>(stored::Kind::RuleChange, change);
  history_.note(entry_of(std::move(change)));
  return diagnostics;
}

Result<void> RuleBook::remove(const std::string& rule, const Origin& origin) {
  make_room(rule.size());
  before_change_();
  auto removed = processor_.remove(rule);
  if (!removed) return removed;
  std::string deployment = files_.file_of(rule);
  if (deployment.empty()) deployment = origin.deployment;
  files_.removed(rule);
  stored::RuleChangeT change;
  change.change = stored::Change::Remove;
  change.name = rule;
  change.file = origin.file;
  change.who = origin.who;
  change.clock = clock_.now();
  journal_.write<stored::RuleChange>(stored::Kind::RuleChange, change);
  history_.note(entry_of(change, std::move(deployment)));
  return removed;
}

Result<void> RuleBook::pin(const std::string& rule, const std::string& engine,
                           const std::string& who) {
  make_room(rule.size() + engine.size());
  auto pinned = processor_.pin(rule, engine);
  if (!pinned) return pinned;
  stored::PinT pin;
  pin.rule = rule;
  pin.engine = engine;
  pin.who = who;
  pin.clock = clock_.now();
  journal_.write<stored::Pin>(stored::Kind::Pin, pin);
  return pinned;
}

}  // namespace gorgo::server
