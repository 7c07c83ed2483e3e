#include "codec/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include "codec/text.hpp"

namespace gorgo::codec {
namespace {

constexpr std::array<std::string_view, 5> kReserved = {"and", "or", "not", "true", "false"};
constexpr std::array<std::string_view, 8> kKeywords = {"define", "from",    "where", "consuming",
                                                       "within", "between", "after", "as"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& words, std::string_view name) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return std::ranges::equal(word, name, [](char lower, char c) {
      return lower == static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
  });
}

/// The most bytes of a name that errors show.
constexpr std::size_t kShown = 64;

std::string in_quotes(std::string_view name) {
  std::string shown(name.substr(0, kShown));
  if (shown.size() < name.size()) shown += "...";
  return "`" + shown + "`";
}

Error refuse(std::string_view name, std::string_view what, std::string hint) {
  return {in_quotes(name) + " cannot be the name of " + std::string(what), std::move(hint)};
}

std::optional<Error> problem_of_shape(std::string_view name, std::string_view what) {
  if (name.size() > kLongestName) {
    return refuse(name, what, "names have at most " + std::to_string(kLongestName) + " bytes");
  }
  if (!is_word(name))
    return refuse(name, what, "names are letters, digits and `_`, no digit first");
  if (holds(kReserved, name)) {
    return refuse(name, what, "it is a word of the language, in upper or lower case");
  }
  return std::nullopt;
}

}  // namespace

bool is_word(std::string_view text) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::ranges::all_of(text, is_part);
}

std::optional<Error> problem_of_name(std::string_view name, std::string_view what) {
  if (auto problem = problem_of_shape(name, what)) return problem;
  if (!holds(kKeywords, name)) return std::nullopt;
  return refuse(name, what, "it is a word of the language, in upper or lower case");
}

std::optional<Error> problem_of_attribute_name(std::string_view name) {
  if (name == "timestamp") {
    return refuse(name, "an attribute", "it means the time of the event, which every event has");
  }
  return problem_of_shape(name, "an attribute");
}

std::optional<Error> problem_of_attribute_count(std::string_view type, std::size_t count) {
  if (count <= kMostAttributes) return std::nullopt;
  return Error{"type " + in_quotes(type) + " has " + std::to_string(count) + " attributes",
               "a type has at most " + std::to_string(kMostAttributes)};
}

std::string what_event_names_are() {
  return "names are UTF-8, of 1 to " + std::to_string(kLongestName) + " bytes";
}

bool is_event_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && is_valid_utf8(name);
}

bool is_event_type(std::string_view name) { return name != "*" && is_event_name(name); }

std::optional<std::string_view> repeated_name(std::span<const std::string_view> names) {
  constexpr std::size_t kFew = 16;
  if (names.size() <= kFew) {
    for (std::size_t i = 1; i < names.size(); ++i) {
      const auto before = names.first(i);
      if (std::ranges::find(before, names[i]) != before.end()) return names[i];
    }
    return std::nullopt;
  }
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  const auto found = std::ranges::adjacent_find(sorted);
  return found == sorted.end() ? std::nullopt : std::optional(*found);
}

}  // namespace gorgo::codec
