#include "dispatch/saved/saved_panes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "dispatch/saved/cells.hpp"

namespace gorgo::dispatch {
namespace {

saved::PaneT saved_pane(const engine::Pane& pane) {
  saved::PaneT result;
  result.number = pane.number;
  result.count = pane.count;
  if (pane.integers != 0) {
    result.integers = {static_cast<std::uint64_t>(pane.integers),
                       static_cast<std::uint64_t>(pane.integers >> 64)};
  }
  if (pane.extreme.exists()) {
    result.extreme = std::make_unique<saved::CellsT>(saved_cells({&pane.extreme, 1}));
  }
  if (pane.floats != nullptr) {
    const ExactSum::Words words = pane.floats->words();
    result.floats.assign(words.begin(), words.end());
  }
  return result;
}

std::optional<engine::Pane> restored_pane(const saved::PaneT& pane) {
  engine::Pane result{.number = pane.number, .count = pane.count};
  if (!pane.integers.empty()) {
    if (pane.integers.size() != 2) return std::nullopt;
    result.integers = static_cast<Int128>(UInt128{pane.integers[1]} << 64 | pane.integers[0]);
  }
  if (pane.extreme != nullptr) {
    const std::vector<Datum> cells = restored_cells(*pane.extreme);
    const bool is_number = cells.size() == 1 && (cells[0].tag == Datum::Tag::integer ||
                                                 cells[0].tag == Datum::Tag::floating);
    if (!is_number) return std::nullopt;
    result.extreme = cells[0];
  }
  if (!pane.floats.empty()) {
    ExactSum::Words words;
    if (pane.floats.size() != words.size()) return std::nullopt;
    std::ranges::copy(pane.floats, words.begin());
    result.floats = std::make_unique<ExactSum>(ExactSum::of(words));
  }
  return result;
}

}  // namespace

void save_panes(std::span<const engine::Panes> panes, saved::RuleT& rule) {
  for (std::uint32_t i = 0; i < panes.size(); ++i) {
    panes[i].for_each([&](const std::string& key, const engine::Panes::OfKey& of_key) {
      auto& added = rule.panes.emplace_back(std::make_unique<saved::PanesOfKeyT>());
      added->aggregate = i;
      added->key.assign(key.begin(), key.end());
      for (const engine::Pane& pane : of_key) {
        added->panes.push_back(std::make_unique<saved::PaneT>(saved_pane(pane)));
      }
    });
  }
}

bool restore_panes(const saved::RuleT& rule, std::vector<engine::Panes>& panes) {
  for (const auto& saved : rule.panes) {
    if (saved->aggregate >= panes.size()) return false;
    engine::Panes::OfKey of_key;
    for (const auto& pane : saved->panes) {
      auto restored = restored_pane(*pane);
      if (!restored) return false;
      if (!of_key.empty() && of_key.back().number >= restored->number) return false;
      of_key.push_back(std::move(*restored));
    }
    panes[saved->aggregate].restore({saved->key.begin(), saved->key.end()}, std::move(of_key));
  }
  return true;
}

}  // namespace gorgo::dispatch
