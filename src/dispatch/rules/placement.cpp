#include "dispatch/rules/placement.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::dispatch {

void Cost::add(std::uint64_t terminators, double nanoseconds) {
  constexpr double kMemory = 20e6;  // nanoseconds of work
  if (terminators == 0) return;
  if (nanoseconds_ > kMemory) {
    terminators_ /= 2;
    nanoseconds_ /= 2;
  }
  terminators_ += static_cast<double>(terminators);
  nanoseconds_ += nanoseconds;
}

void EngineEntry::note_upkeep(std::uint64_t terminators) {
  if (evaluators.empty()) return;
  const Reading reading{evaluators.front()->upkeep(), terminators};
  const auto before = std::exchange(last_, reading);
  if (!before || reading.nanoseconds < before->nanoseconds) return;
  // All evaluators of the rule hold the same, each with the others.
  const auto holders = static_cast<double>(evaluators.size());
  upkeep.add(terminators - before->terminators,
             holders * (reading.nanoseconds - before->nanoseconds));
}

void EngineEntry::withdraw() {
  evaluators.clear();
  last_ = {};
}

std::string Arrangement::to_string() const {
  const std::string name(engine->name());
  return reserve == nullptr ? name : name + " and " + std::string(reserve->name());
}

EngineEntry& Placement::at(const engine::Engine& engine) {
  const auto known = std::ranges::find_if(
      entries_, [&](const EngineEntry& entry) { return entry.engine == &engine; });
  if (known != entries_.end()) return *known;
  entries_.reserve(engine::engines().size());
  return entries_.emplace_back(&engine);
}

Routing Placement::route(std::size_t terminators) {
  constexpr double kShare = 0.1;                // of the new value
  constexpr double kFewer = 0.4, kMore = 1.05;  // these balance where one in 20 is below
  const auto count = static_cast<double>(terminators);
  batch_ += kShare * (count - batch_);
  small_batch_ = small_batch_ == 0 ? count : small_batch_ * (count < small_batch_ ? kFewer : kMore);
  if (terminators < few_) return {.entry = &entries_[reserve_], .own = terminators};
  const auto shared = static_cast<std::size_t>(share_ * count);
  if (shared == 0) return {.entry = &entries_[current_], .own = terminators};
  return {&entries_[current_], terminators - shared, &entries_[reserve_]};
}

void Placement::move_to(const engine::Engine& engine, std::string reason) {
  const auto before =
      std::exchange(current_, static_cast<std::uint32_t>(&at(engine) - entries_.data()));
  if (current_ != before) ++moves_;
  few_ = 0;
  share_ = 0;
  reason_ = std::move(reason);
}

Arrangement Placement::arrangement() const {
  return {entries_[current_].engine, share_ > 0 ? entries_[reserve_].engine : nullptr};
}

void Placement::leave_few_to(const engine::Engine& engine, std::size_t few) {
  reserve_ = static_cast<std::uint32_t>(&at(engine) - entries_.data());
  few_ = few;
}

void Placement::share_with(const engine::Engine& engine, double share) {
  reserve_ = static_cast<std::uint32_t>(&at(engine) - entries_.data());
  share_ = share;
}

bool Placement::serves(const engine::Engine& engine) const {
  const bool has_reserve = few_ > 0 || share_ > 0;
  return &engine == entries_[current_].engine ||
         (has_reserve && &engine == entries_[reserve_].engine);
}

std::vector<const engine::Engine*> Placement::withdraw_all() {
  std::vector<const engine::Engine*> engines;
  for (EngineEntry& entry : entries_) {
    if (entry.evaluators.empty()) continue;
    engines.push_back(entry.engine);
    entry.withdraw();
  }
  return engines;
}

void Placement::withdraw_others() {
  for (EngineEntry& entry : entries_) {
    if (!serves(*entry.engine)) entry.withdraw();
  }
}

std::size_t Placement::bytes() const {
  std::size_t total = 0;
  for (const EngineEntry& entry : entries_) {
    for (const auto& evaluator : entry.evaluators) total += evaluator->bytes();
  }
  return total;
}

}  // namespace gorgo::dispatch
