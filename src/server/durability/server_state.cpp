#include "server/durability/server_state.hpp"

#include <algorithm>
#include <iterator>
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

ServerParts::ServerParts(const ServerKnowledge& knowledge)
    : files_(knowledge.files.all()),
      history_(knowledge.history.entries()),
      deployments_(knowledge.deployments.all()),
      next_file_(files_.begin()),
      next_deployment_(deployments_.begin()) {}

std::optional<stored::ServerPartT> ServerParts::next() {
  constexpr std::size_t kEnough = std::size_t{64} << 10, kBesideTexts = 64;
  stored::ServerPartT part;
  std::size_t bytes = 0;
  for (; bytes < kEnough && next_file_ != files_.end(); ++next_file_) {
    const auto& [name, file] = *next_file_;
    auto& added = part.files.emplace_back(std::make_unique<stored::FileStateT>());
    added->name = name;
    added->text = file.text;
    added->rules = file.rules;
    added->whole = file.whole;
    bytes += kBesideTexts * (1 + file.rules.size()) + file.text.size();
  }
  for (; bytes < kEnough && next_entry_ < history_.size(); ++next_entry_) {
    const RuleHistory::Entry& entry = history_[next_entry_];
    auto& added = part.history.emplace_back(as_table<stored::ChangeStateT>(entry));
    added->deployment = entry.deployment;
    bytes += kBesideTexts + entry.text.size();
  }
  for (; bytes < kEnough && next_deployment_ != deployments_.end(); ++next_deployment_) {
    auto& added = part.deployments.emplace_back(std::make_unique<stored::DeploymentStateT>());
    added->rule = next_deployment_->first;
    added->name = next_deployment_->second;
    bytes += kBesideTexts;
  }
  return bytes > 0 ? std::optional(std::move(part)) : std::nullopt;
}

namespace {

void merge(stored::ServerPartT part, stored::ServerStateT& into) {
  std::ranges::move(part.files, std::back_inserter(into.files));
  std::ranges::move(part.history, std::back_inserter(into.history));
  std::ranges::move(part.deployments, std::back_inserter(into.deployments));
}

}  // namespace

Result<SavedServer> read_server(journal::SnapshotReader& reader) {
  auto record = reader.next();
  if (!record) return record.error();
  if (!*record) return Error{"a snapshot is empty", "remove it, and an older one is used"};
  auto state = journal::decode<stored::ServerState>((*record)->payload);
  if (!state) return state.error();
  SavedServer saved{.state = std::move(*state), .bytes = (*record)->payload.size(), .next = {}};
  while (true) {
    record = reader.next();
    if (!record) return record.error();
    saved.next = *record;
    const auto kind = static_cast<std::uint16_t>(stored::SnapshotKind::ServerPart);
    if (!saved.next || saved.next->kind != kind) return {std::in_place, std::move(saved)};
    auto part = journal::decode<stored::ServerPart>(saved.next->payload);
    if (!part) return part.error();
    saved.bytes += saved.next->payload.size();
    merge(std::move(*part), saved.state);
  }
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
