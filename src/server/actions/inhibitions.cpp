#include "server/actions/inhibitions.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "server/doors/durable_name.hpp"

namespace gorgo::server {
namespace {

namespace stored = journal::stored;

/// A target that takes up nothing may have so many inhibited events; the oldest are forgotten.
constexpr std::size_t kMostInhibited = 100'000;

}  // namespace

void Inhibitions::post(const actions::Targets& targets) {
  const std::lock_guard lock(mutex_);
  auto before = std::exchange(targets_, {});
  for (const auto& [name, settings] : targets) {
    if (settings.inhibit.empty()) continue;
    const std::string text = settings.text(name), durable = durable_of_action(text);
    const auto known = before.find(durable);
    Target target{text, settings.inhibit, actions::Inhibitor(settings.inhibit)};
    if (known != before.end()) {
      target.inhibitor.restore(known->second.inhibitor.saved());
      target.inhibited = std::move(known->second.inhibited);
    }
    targets_.emplace(durable, std::move(target));
  }
}

void Inhibitions::take(const OutputBatch& batch) noexcept {
  const std::lock_guard lock(mutex_);
  if (targets_.empty()) return;
  for (const OutputBatch::Row& row : batch.rows) {
    if (row.rule == OutputBatch::kPrimitive) continue;
    try {
      take(batch, row);
    } catch (const std::bad_alloc&) {  // in doubt something is done
    }
  }
}

void Inhibitions::take(const OutputBatch& batch, const OutputBatch::Row& row) {
  const std::string_view type = batch.type_name(row);
  const auto executed = batch.actions(row);
  doors::Departing::Row event{row.place, {}};
  for (auto& [durable, target] : targets_) {
    if (!target.inhibitor.is_about(type)) continue;
    if (event.event.type.empty()) event.event = batch.to_event(row);
    const bool is_inhibited = target.inhibitor.takes(event);
    if (!is_inhibited || std::ranges::find(executed, target.text) == executed.end()) continue;
    target.inhibited.insert(row.place);
    if (target.inhibited.size() > kMostInhibited) target.inhibited.erase(target.inhibited.begin());
  }
}

bool Inhibitions::is_inhibited(const std::string& durable, const Place& place) const {
  const std::lock_guard lock(mutex_);
  const auto target = targets_.find(durable);
  return target != targets_.end() && target->second.inhibited.contains(place);
}

void Inhibitions::forget(const std::string& durable, const Place& up_to) {
  const std::lock_guard lock(mutex_);
  const auto target = targets_.find(durable);
  if (target == targets_.end()) return;
  auto& inhibited = target->second.inhibited;
  inhibited.erase(inhibited.begin(), inhibited.upper_bound(up_to));
}

void Inhibitions::save(stored::ServerStateT& state) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [durable, target] : targets_) {
    for (const auto& known : target.inhibitor.saved()) {
      auto& added = *state.inhibitions.emplace_back(std::make_unique<stored::InhibitionStateT>());
      added.target = durable;
      added.name = known.name;
      added.settings = known.settings;
      for (const auto& [shared, time] : known.sources) {
        auto& source = *added.sources.emplace_back(std::make_unique<stored::InhibitionSourceT>());
        source.shared = shared;
        source.time = time;
      }
    }
    auto& events = *state.inhibited.emplace_back(std::make_unique<stored::InhibitedEventsT>());
    events.target = durable;
    for (const Place& place : target.inhibited) {
      events.places.emplace_back(place.root, place.ordinal);
    }
  }
}

void Inhibitions::restore(const stored::ServerStateT& state) {
  const std::lock_guard lock(mutex_);
  for (const auto& known : state.inhibitions) {
    const auto target = targets_.find(known->target);
    if (target == targets_.end()) continue;
    actions::Inhibitor::Saved saved{known->name, known->settings, {}};
    for (const auto& source : known->sources) {
      saved.sources.emplace_back(source->shared, source->time);
    }
    target->second.inhibitor.restore({std::move(saved)});
  }
  for (const auto& events : state.inhibited) {
    const auto target = targets_.find(events->target);
    if (target == targets_.end()) continue;
    for (const auto& place : events->places) {
      target->second.inhibited.insert({place.root(), place.ordinal()});
    }
  }
}

}  // namespace gorgo::server
