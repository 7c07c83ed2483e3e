#include "server/durability/server_state.hpp"

#include <utility>

namespace gorgo::server {

namespace stored = journal::stored;

stored::ServerStateT state_of(const ServerKnowledge& knowledge, std::uint64_t roots,
                              const std::vector<const Publication*>& unfinished) {
  stored::ServerStateT state;
  state.settings = std::make_unique<stored::SettingsT>(knowledge.settings);
  state.results = std::make_unique<stored::ResultsT>(knowledge.results.record(roots));
  state.producers = std::make_unique<stored::ProducersT>();
  knowledge.producers.for_each([&](std::uint64_t producer, std::uint64_t sequence) {
    state.producers->producers.emplace_back(producer, sequence);
  });
  for (const auto& [name, position] : knowledge.positions.all()) {
    auto& added = state.doors.emplace_back(std::make_unique<stored::DoorStateT>());
    added->name = name;
    added->position = position;
  }
  for (const auto& [name, text] : knowledge.declared_doors) {
    auto& added = state.declared.emplace_back(std::make_unique<stored::DeclaredDoorT>());
    added->name = name;
    added->text = text;
  }
  for (const auto& [name, file] : knowledge.files.all()) {
    auto& added = state.files.emplace_back(std::make_unique<stored::FileStateT>());
    added->name = name;
    added->text = file.text;
    added->rules = file.rules;
    added->whole = file.whole;
  }
  for (const RuleHistory::Entry& entry : knowledge.history.entries()) {
    auto& added = state.history.emplace_back(as_table<stored::ChangeStateT>(entry));
    added->deployment = entry.deployment;
  }
  for (const auto& [rule, name] : knowledge.deployments.all()) {
    auto& added = state.deployments.emplace_back(std::make_unique<stored::DeploymentStateT>());
    added->rule = rule;
    added->name = name;
  }
  for (const Publication* publication : unfinished) {
    if (publication->frame_at == 0) continue;  // its record will stand behind the snapshot
    auto& added = state.unfinished.emplace_back(std::make_unique<stored::UnfinishedFrameT>());
    added->frame_at = publication->frame_at;
    added->next_row = publication->batch.next().position();
    added->frame.assign(publication->frame.begin(), publication->frame.end());
  }
  state.durables = knowledge.durables.save();
  knowledge.inhibitions.save(state);
  return state;
}

void restore(const stored::ServerStateT& state, Producers& producers) {
  for (const stored::Producer& known : state.producers->producers) {
    producers.advance(known.producer(), known.sequence());
  }
}

void restore(const stored::ServerStateT& state, DoorPositions& positions) {
  for (const auto& door : state.doors) positions.set(door->name, door->position);
}

void restore(const stored::ServerStateT& state, DeclaredDoors& declared) {
  for (const auto& door : state.declared) declared[door->name] = door->text;
}

RuleHistory restored_history(const stored::ServerStateT& state) {
  RuleHistory history;
  for (const auto& entry : state.history) {
    history.restore({.number = entry->number,
                     .clock = entry->clock,
                     .who = entry->who,
                     .name = entry->name,
                     .text = entry->text,
                     .file = entry->file,
                     .deployment = entry->deployment});
  }
  return history;
}

KnownFiles restored_files(const stored::ServerStateT& state) {
  KnownFiles files;
  for (const auto& file : state.files) {
    files.restore(file->name, {.rules = file->rules, .text = file->text, .whole = file->whole});
  }
  return files;
}

void restore(const stored::ServerStateT& state, Deployments& deployments) {
  for (const auto& known : state.deployments) deployments.restore(known->rule, known->name);
}

}  // namespace gorgo::server
