#include "server/doors/doors.hpp"

#include <utility>

namespace gorgo::server {

std::vector<std::string> differences(const doors::Doors& before, const doors::Doors& after) {
  std::vector<std::string> found;
  for (const auto& [name, settings] : before) {
    if (!after.contains(name)) found.push_back("doors." + name + ": removed");
  }
  for (const auto& [name, settings] : after) {
    const auto known = before.find(name);
    if (known == before.end()) found.push_back("doors." + name + ": added");
    if (known != before.end() && known->second != settings) {
      found.push_back("doors." + name + ": changed");
    }
  }
  return found;
}

void Doors::restore(const DoorPositions& positions) {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, position] : positions.all()) {
    positions_[name] = doors::Position(position.begin(), position.end());
  }
}

std::vector<std::string> Doors::apply(const doors::Doors& settings) {
  doors::Doors before;
  for (const auto& [name, runner] : runners_) before.emplace(name, runner->settings());
  const auto stays = [&](const auto& known) {
    const auto wanted = settings.find(known.first);
    return wanted != settings.end() && wanted->second == known.second->settings();
  };
  // All are told first, so that they end at the same time.
  for (const auto& known : runners_) {
    if (!stays(known)) known.second->stop();
  }
  std::erase_if(runners_, [&](const auto& known) { return !stays(known); });
  // Sinks first, so that they get what follows from the first events of the others.
  for (const bool sinks : {true, false}) {
    for (const auto& [name, wanted] : settings) {
      if (wanted.is_sink() != sinks || runners_.contains(name)) continue;
      runners_.emplace(name, make(name, wanted)).first->second->start();
    }
  }
  return differences(before, settings);
}

std::unique_ptr<Runner> Doors::make(const std::string& name, const doors::Settings& settings) {
  const std::uint64_t id = ++last_id_;
  if (settings.is_sink()) return make_sink_runner(parts_, id, name, settings);
  const auto note = [this, name](const doors::Position& position) {
    const std::lock_guard lock(mutex_);
    positions_[name] = position;
  };
  doors::Position position;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = positions_.find(name); known != positions_.end()) {
      position = known->second;
    }
  }
  return make_source_runner(parts_, id, name, settings, std::move(position), note);
}

void Doors::close() {
  if (parts_.has_journal) return close_all();
  for (const auto& [name, runner] : runners_) {
    if (!runner->settings().is_sink()) runner->stop();
  }
  std::erase_if(runners_, [](const auto& known) { return !known.second->settings().is_sink(); });
}

void Doors::finish() {
  for (const auto& [name, runner] : runners_) runner->finish();
  for (const auto& [name, runner] : runners_) runner->join();
  runners_.clear();
}

void Doors::close_all() {
  for (const auto& [name, runner] : runners_) runner->stop();
  runners_.clear();
}

std::vector<Door> Doors::infos() const {
  std::vector<Door> all;
  for (const auto& [name, runner] : runners_) all.push_back(runner->info());
  return all;
}

}  // namespace gorgo::server
