#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "dispatch/saved/saved_generated.h"
#include "gorgo/value.hpp"

namespace gorgo::dispatch {

/// Copies values.
inline saved::CellsT saved_cells(std::span<const Datum> cells) {
  saved::CellsT result;
  for (const Datum& cell : cells) {
    result.tags.push_back(static_cast<std::uint8_t>(cell.tag));
    const bool is_text = cell.tag == Datum::Tag::string;
    const bool is_bool = cell.tag == Datum::Tag::boolean;
    std::uint64_t word = 0;
    if (is_bool) {
      word = cell.boolean ? 1 : 0;
    } else if (cell.exists() && !is_text) {
      word = std::bit_cast<std::uint64_t>(cell.integer);
    }
    result.words.push_back(word);
    if (is_text) result.texts.emplace_back(cell.text());
  }
  return result;
}

/// The values; strings refer to `cells`. Empty where they are damaged.
inline std::vector<Datum> restored_cells(const saved::CellsT& cells) {
  std::vector<Datum> result;
  auto text = cells.texts.begin();
  if (cells.words.size() != cells.tags.size()) return {};
  for (std::size_t i = 0; i < cells.tags.size(); ++i) {
    const std::uint64_t word = cells.words[i];
    switch (static_cast<Datum::Tag>(cells.tags[i])) {
      case Datum::Tag::none:
        result.push_back(Datum::none());
        break;
      case Datum::Tag::integer:
        result.push_back(Datum::of(std::bit_cast<std::int64_t>(word)));
        break;
      case Datum::Tag::floating:
        result.push_back(Datum::of(std::bit_cast<double>(word)));
        break;
      case Datum::Tag::boolean:
        result.push_back(Datum::of(word != 0));
        break;
      case Datum::Tag::string:
        if (text == cells.texts.end()) return {};
        result.push_back(Datum::of(std::string_view(*text++)));
        break;
      default:
        return {};
    }
  }
  return result;
}

}  // namespace gorgo::dispatch
