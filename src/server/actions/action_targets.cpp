#include "server/actions/action_targets.hpp"

#include <utility>

#include "server/doors/durable_name.hpp"

namespace gorgo::server {

ActionTargets::ActionTargets(ActionParts parts, ActionBoard& board,
                             const actions::Targets& settings)
    : parts_(std::move(parts)), board_(board) {
  post(settings);
}

void ActionTargets::post(const actions::Targets& settings) {
  std::vector<std::string> texts;
  for (const auto& [name, target] : settings) texts.push_back(target.text(name));
  board_.post(std::move(texts));
  parts_.inhibitions.post(settings);
}

void ActionTargets::restore(const DoorPositions& positions) {
  for (const auto& [name, state] : positions.all()) {
    const std::string prefix = kActionPrefix;
    if (!name.starts_with(prefix)) continue;
    saved_[name.substr(prefix.size())] = std::string(state.begin(), state.end());
  }
}

std::vector<std::string> ActionTargets::apply(const actions::Targets& settings) {
  actions::Targets before;
  for (const auto& [name, runner] : runners_) before.emplace(name, runner->settings());
  const auto stays = [&](const auto& known) {
    const auto wanted = settings.find(known.first);
    return wanted != settings.end() && wanted->second == known.second->settings();
  };
  // All are told first, so that they end at the same time.
  for (const auto& known : runners_) {
    if (!stays(known)) known.second->stop();
  }
  std::erase_if(runners_, [&](const auto& known) {
    if (stays(known)) return false;
    const auto& [name, runner] = known;
    saved_[runner->settings().text(name)] = runner->saved();
    return true;
  });
  for (const auto& [name, wanted] : settings) {
    if (runners_.contains(name)) continue;
    auto runner =
        std::make_unique<ActionRunner>(parts_, next_id_, name, wanted, saved_[wanted.text(name)]);
    next_id_ += 2;
    runners_.emplace(name, std::move(runner)).first->second->start();
  }
  // Behind the subscriptions, so that a rule that is deployed from now on finds them.
  post(settings);
  std::vector<std::string> told;
  for (auto& [name, change] : differences("actions", before, settings)) told.push_back(change);
  return told;
}

void ActionTargets::close() {
  if (parts_.has_journal) stop_all(runners_);
}

void ActionTargets::finish() { finish_all(runners_); }

std::vector<ActionTarget> ActionTargets::infos() const {
  std::vector<ActionTarget> all;
  for (const auto& [name, runner] : runners_) all.push_back(runner->info());
  return all;
}

Result<ActionRunner*> ActionTargets::find(const std::string& name) {
  const auto found = runners_.find(name);
  if (found != runners_.end()) return found->second.get();
  std::vector<std::string> names;
  for (const auto& [known, runner] : runners_) names.push_back(known);
  const std::string nearest(closest_name(name, names));
  return Error{"the server has no target '" + name + "'",
               nearest.empty() ? "gorgo actions lists them" : "did you mean '" + nearest + "'?"};
}

Result<void> ActionTargets::test(const std::string& name) {
  const auto runner = find(name);
  if (!runner) return runner.error();
  (*runner)->test();
  return {};
}

Result<std::size_t> ActionTargets::retry(const std::string& name) {
  const auto runner = find(name);
  if (!runner) return runner.error();
  return (*runner)->retry();
}

Result<std::uint64_t> ActionTargets::silence(const std::string& name, ActionSilence silence) {
  const auto runner = find(name);
  if (!runner) return runner.error();
  return (*runner)->silence(std::move(silence));
}

Result<void> ActionTargets::end_silence(const std::string& name, std::uint64_t id) {
  const auto runner = find(name);
  if (!runner) return runner.error();
  if ((*runner)->end_silence(id)) return {};
  return Error{"the target '" + name + "' has no silence " + std::to_string(id),
               "gorgo actions show " + name + " lists them"};
}

}  // namespace gorgo::server
