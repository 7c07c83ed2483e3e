#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "gorgo/event.hpp"

namespace gorgo::server::http {

/// ROOT-ORDINAL, the id of an event.
inline std::string text_of(const Place& place) {
  return std::to_string(place.root) + "-" + std::to_string(place.ordinal);
}

/// The place that such a text names; nothing: it is none.
inline std::optional<Place> parse_place(std::string_view text) {
  Place place;
  const char* const end = text.data() + text.size();
  const auto root = std::from_chars(text.data(), end, place.root);
  if (root.ec != std::errc() || root.ptr == end || *root.ptr != '-') return std::nullopt;
  const auto ordinal = std::from_chars(root.ptr + 1, end, place.ordinal);
  if (ordinal.ec != std::errc() || ordinal.ptr != end) return std::nullopt;
  return place;
}

}  // namespace gorgo::server::http
