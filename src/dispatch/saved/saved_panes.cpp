#include "dispatch/saved/saved_panes.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dispatch/saved/cells.hpp"

namespace gorgo::dispatch {
namespace {

constexpr std::size_t kWordsOfSum = std::tuple_size_v<ExactSum::Words>;

saved::PanesOfKeyT saved_panes(const engine::Panes::OfKey& panes) {
  saved::PanesOfKeyT result;
  std::vector<Datum> extremes;
  for (const engine::Pane& pane : panes) {
    result.numbers.push_back(pane.number);
    result.counts.push_back(pane.count);
    result.integers.push_back(static_cast<std::uint64_t>(pane.integers));
    result.integers.push_back(static_cast<std::uint64_t>(pane.integers >> 64));
    extremes.push_back(pane.extreme);
    if (pane.floats == nullptr) continue;
    const ExactSum::Words words = pane.floats->words();
    result.floats.insert(result.floats.end(), words.begin(), words.end());
  }
  const auto is_none = [](const auto& value) { return value == 0; };
  if (std::ranges::all_of(result.integers, is_none)) result.integers.clear();
  if (std::ranges::any_of(extremes, &Datum::exists)) {
    result.extremes = std::make_unique<saved::CellsT>(saved_cells(extremes));
  }
  return result;
}

bool is_number_or_none(const Datum& value) {
  return value.tag == Datum::Tag::none || value.tag == Datum::Tag::integer ||
         value.tag == Datum::Tag::floating;
}

/// Unset: they are damaged.
std::optional<engine::Panes::OfKey> restored_panes(const saved::PanesOfKeyT& saved) {
  const std::size_t count = saved.numbers.size();
  const auto extremes = saved.extremes ? restored_cells(*saved.extremes) : std::vector<Datum>();
  const auto fits = [count](const auto& list, std::size_t each) {
    return list.empty() || list.size() == count * each;
  };
  if (saved.counts.size() != count || !fits(saved.integers, 2) || !fits(extremes, 1) ||
      !fits(saved.floats, kWordsOfSum) || !std::ranges::all_of(extremes, is_number_or_none)) {
    return std::nullopt;
  }
  engine::Panes::OfKey panes(count);
  for (std::size_t i = 0; i < count; ++i) {
    engine::Pane& pane = panes[i];
    pane.number = saved.numbers[i];
    pane.count = saved.counts[i];
    if (i > 0 && pane.number <= panes[i - 1].number) return std::nullopt;
    if (!saved.integers.empty()) {
      const UInt128 high = saved.integers[2 * i + 1];
      pane.integers = static_cast<Int128>(high << 64 | saved.integers[2 * i]);
    }
    if (!extremes.empty()) pane.extreme = extremes[i];
    if (saved.floats.empty()) continue;
    ExactSum::Words words;
    std::copy_n(saved.floats.data() + i * kWordsOfSum, kWordsOfSum, words.begin());
    pane.floats = std::make_unique<ExactSum>(ExactSum::of(words));
  }
  return panes;
}

}  // namespace

void save_panes(std::span<const engine::Panes> panes, saved::RuleT& rule) {
  for (std::uint32_t i = 0; i < panes.size(); ++i) {
    panes[i].for_each([&](const std::string& key, const engine::Panes::OfKey& of_key) {
      rule.panes.push_back(std::make_unique<saved::PanesOfKeyT>(saved_panes(of_key)));
      rule.panes.back()->aggregate = i;
      rule.panes.back()->key.assign(key.begin(), key.end());
    });
  }
}

bool restore_panes(const saved::RuleT& rule, std::vector<engine::Panes>& panes) {
  for (const auto& saved : rule.panes) {
    auto of_key = restored_panes(*saved);
    if (!of_key || saved->aggregate >= panes.size()) return false;
    panes[saved->aggregate].restore({saved->key.begin(), saved->key.end()}, std::move(*of_key));
  }
  return true;
}

}  // namespace gorgo::dispatch
