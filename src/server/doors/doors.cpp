#include "server/doors/doors.hpp"

#include <algorithm>
#include <utility>

#include "doors/kind.hpp"
#include "server/config/door_text.hpp"

namespace gorgo::server {

namespace {

constexpr std::size_t kMostDeclared = 1000, kLongestText = std::size_t{64} << 10;

/// What an operator is told changes where the doors of the configuration do.
std::vector<std::string> changes_of_doors(const doors::Doors& before, const doors::Doors& after,
                                          const doors::Doors& declared) {
  std::vector<std::string> told;
  for (auto& [name, change] : differences("doors", before, after)) {
    told.push_back(change);
    if (!declared.contains(name)) continue;
    if (!after.contains(name)) told.back() += ", and the one that was declared opens again";
    if (!before.contains(name))
      told.back() += ", in the place of the one that was declared, which waits";
  }
  return told;
}

}  // namespace

void Doors::restore(const DoorPositions& positions, const DeclaredDoors& declared) {
  for (const auto& [name, text] : declared) declare(name, text);
  for (const auto& [name, position] : positions.all()) {
    positions_[name] = doors::Position(position.begin(), position.end());
  }
}

std::vector<std::string> Doors::apply(const doors::Doors& configured) {
  const auto before = std::exchange(configured_, configured);
  for (const auto& [name, settings] : configured_) {
    if (!declared_.contains(name) || before.contains(name)) continue;
    parts_.log.warning("a door of the configuration takes the place of one that was declared",
                       {{"door", name}});
  }
  open_wanted();
  return changes_of_doors(before, configured_, declared_);
}

Result<void> Doors::check(const std::string& name, const std::string& text) const {
  if (configured_.contains(name)) {
    return Error{"the door '" + name + "' stands in the configuration of the server",
                 "change it there and reload, or take another name"};
  }
  if (text.size() > kLongestText) return Error{"the text is longer than 64 KiB", "shorten it"};
  if (!declared_.contains(name) && declared_.size() >= kMostDeclared) {
    return Error{"clients have declared 1000 doors", "remove some of them"};
  }
  const auto settings = read_door(name, text);
  if (!settings) return settings.error();
  if (auto checked = doors::check(name, *settings); !checked) return checked;
  if (settings->kind != "stdin") return {};
  return Error{"doors." + name + ": the standard input is given to the server when it starts",
               "put the door into its configuration"};
}

Result<void> Doors::check_removal(const std::string& name) const {
  if (own_.contains(name)) {
    return Error{"the door '" + name + "' is how the server takes part in its cluster",
                 "take [cluster] out of its configuration and restart"};
  }
  const bool is_declared = declared_.contains(name) || unusable_.contains(name);
  if (is_declared || !configured_.contains(name)) return {};
  return Error{"the door '" + name + "' stands in the configuration of the server",
               "take it out there and reload"};
}

void Doors::declare(const std::string& name, const std::string& text) {
  declared_.erase(name);
  unusable_.erase(name);
  const auto settings = read_door(name, text);
  const auto checked = settings ? doors::check(name, *settings) : settings.error();
  if (checked) {
    declared_.emplace(name, *settings);
    return;
  }
  unusable_[name] = checked.error().to_string();
  parts_.log.warning("a door that was declared cannot be opened by this program",
                     {{"door", name}, {"error", unusable_[name]}});
}

void Doors::open(const std::string& name, const std::string& text) {
  closing_.erase(name);
  declare(name, text);
  open_wanted();
}

void Doors::close(const std::string& name, DoorCalls::Closed then) {
  closing_.insert(name);
  const bool is_configured = configured_.contains(name);
  auto done = [then = std::move(then), is_configured] { then(is_configured); };
  if (!is_configured && runners_.contains(name)) return let_go(name, std::move(done));
  // A link that asks for nothing: its end stands in the queue at once.
  EngineLink(parts_.link, ++last_id_, name, {}).at_end(std::move(done));
}

void Doors::let_go(const std::string& name, std::function<void()> then) {
  auto runner = std::move(runners_.extract(name).mapped());
  // The next one goes on behind what this one has published, which may not be taken yet.
  leaving_.insert(name);
  runner->at_end([this, name, then = std::move(then)] {
    if (then) then();
    parts_.post([this, name, position = parts_.position_of(name)] { gone(name, position); });
  });
  runner->stop();
  part_with(std::move(runner));
}

void Doors::part_with(std::unique_ptr<Runner> runner) {
  std::erase_if(ends_, [](const std::future<void>& end) {
    return end.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  ends_.push_back(
      std::async(std::launch::async, [leaving = std::move(runner)]() mutable { leaving.reset(); }));
}

void Doors::gone(const std::string& name, const doors::Position& position) {
  if (!position.empty()) positions_[name] = position;
  if (leaving_.erase(name) > 0) open_wanted();
}

void Doors::remove(const std::string& name, bool forget) {
  closing_.erase(name);
  declared_.erase(name);
  unusable_.erase(name);
  if (forget) positions_.erase(name);
}

doors::Doors Doors::wanted() const {
  doors::Doors wanted = configured_;
  for (const auto& [name, door] : own_) wanted.emplace(name, door.settings);
  for (const auto& [name, settings] : declared_) {
    if (!closing_.contains(name)) wanted.emplace(name, settings);
  }
  return wanted;
}

void Doors::open_wanted() {
  if (is_ending_) return;
  const auto settings = wanted();
  const auto stays = [&](const auto& known) {
    const auto wanted = settings.find(known.first);
    return wanted != settings.end() && wanted->second == known.second->settings();
  };
  std::vector<std::string> unwanted;
  for (const auto& known : runners_) {
    if (stays(known)) continue;
    known.second->stop();  // all are told first, so that they end at the same time
    unwanted.push_back(known.first);
  }
  for (const std::string& name : unwanted) let_go(name, {});
  // Sinks first, so that they get what follows from the first events of the others.
  for (const bool sinks : {true, false}) {
    for (const auto& [name, wanted] : settings) {
      if (wanted.is_sink() != sinks || runners_.contains(name) || leaving_.contains(name)) continue;
      runners_.emplace(name, make(name, wanted)).first->second->start();
    }
  }
}

std::unique_ptr<Runner> Doors::make(const std::string& name, const doors::Settings& settings) {
  const std::uint64_t id = ++last_id_;
  const auto own = own_.find(name);
  const doors::Kind* const kind = doors::find_kind(settings.kind);
  if (settings.is_sink()) {
    const SinkMaker make = [=]() -> Result<std::unique_ptr<doors::ColumnSink>> {
      auto made = kind->make_sink(name, settings);
      if (!made) return made.error();
      return {std::in_place, *std::move(made)};
    };
    return make_sink_runner(parts_, id, name, settings,
                            own == own_.end() ? make : own->second.make_sink);
  }
  const auto make = [=, types = parts_.types](const doors::Position& position) {
    return kind->make_source(name, settings, types, position);
  };
  return make_source_runner(parts_, id, name, settings, positions_[name],
                            own == own_.end() ? make : own->second.make_source);
}

void Doors::close() {
  is_ending_ = true;
  ends_.clear();
  if (parts_.has_journal) return stop_all(runners_);
  for (const auto& [name, runner] : runners_) {
    if (!runner->settings().is_sink()) runner->stop();
  }
  std::erase_if(runners_, [](const auto& known) { return !known.second->settings().is_sink(); });
}

void Doors::finish() {
  is_ending_ = true;
  finish_all(runners_);
}

std::vector<Door> Doors::infos() const {
  std::vector<Door> all;
  for (const auto& [name, runner] : runners_) {
    all.push_back(runner->info());
    all.back().declared = declared_.contains(name) && !configured_.contains(name);
  }
  for (const auto& [name, settings] : wanted()) {
    if (runners_.contains(name)) continue;
    all.push_back(identity_of(name, settings));
    all.back().state = "opening";
    all.back().declared = declared_.contains(name) && !configured_.contains(name);
  }
  for (const auto& [name, problem] : unusable_) {
    if (configured_.contains(name)) continue;
    all.push_back({.name = name, .state = "failing", .problem = problem, .declared = true});
  }
  std::ranges::sort(all, {}, &Door::name);
  return all;
}

}  // namespace gorgo::server
