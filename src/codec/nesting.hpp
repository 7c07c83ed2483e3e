#pragma once

#include <cstddef>
#include <string_view>

/// Texts of others whose values stand in each other a hundred thousand times: libraries walk
/// through them by calling themselves, which takes a stack of megabytes and ends the process.
namespace gorgo::codec {

/// Enough for every message that anybody writes on purpose.
inline constexpr std::size_t kDeepest = 100;

/// Whether arrays and objects of JSON stand deeper in each other than `kDeepest`.
bool is_deep_json(std::string_view text);
/// Whether a key of TOML has more parts than `kDeepest`: `a.b.c` has three.
bool is_deep_toml(std::string_view text);

/// What `Json` reads in the text; discarded where it is no JSON, or is deep.
template <class Json>
Json parse_json(std::string_view text) {
  if (is_deep_json(text)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

}  // namespace gorgo::codec
