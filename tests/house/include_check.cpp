#include "include_check.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace gorgo::house {
namespace {

/// A room may include public headers and the rooms that stand before it.
constexpr std::array<std::string_view, 17> kRooms = {
    "base",    "journal", "codec",  "protocol", "functions", "language",
    "plan",    "history", "engine", "dispatch", "doors",     "actions",
    "cluster", "server",  "client", "bench",    "tools"};
/// The rooms within `dispatch`. Each may include those before it. What stands in none of them, the
/// processor, may include all.
constexpr std::array<std::string_view, 6> kDispatch = {"rules", "placement", "evaluate",
                                                       "order", "saved",     "explain"};
constexpr std::string_view kPublic = "gorgo";
/// The device side, a folder of its own: it includes only base, and one engine includes it.
constexpr std::string_view kDevice = "cuda";
constexpr std::string_view kForDevice = "base";
constexpr std::string_view kDeviceEngine = "src/engine/cuda/";
/// What clients link must not pull in the engines.
constexpr std::array<std::string_view, 4> kForClient = {"base", "codec", "protocol", "client"};
/// Public headers come without these.
constexpr std::array<std::string_view, 7> kHidden = {"antlr4", "boost",    "cuda",  "flatbuffers",
                                                     "CLI",    "nlohmann", "spdlog"};

struct Include {
  std::string_view name;
  bool quoted;
};

std::optional<Include> include_of(std::string_view line) {
  const auto skip = [&] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip();
  if (!line.starts_with('#')) return std::nullopt;
  line.remove_prefix(1);
  skip();
  if (!line.starts_with("include")) return std::nullopt;
  line.remove_prefix(7);
  skip();
  if (line.empty() || (line[0] != '"' && line[0] != '<')) return std::nullopt;
  const bool quoted = line[0] == '"';
  const std::size_t end = line.find(quoted ? '"' : '>', 1);
  if (end == line.npos) return std::nullopt;
  return Include{line.substr(1, end - 1), quoted};
}

std::string_view first_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

std::string check_public(const Include& include) {
  if (include.quoted && first_folder(include.name) != kPublic) {
    return "a public header includes \"" + std::string(include.name) + "\", which is not public";
  }
  for (const auto hidden : kHidden) {
    if (include.name.starts_with(hidden)) {
      return "a public header includes <" + std::string(include.name) + ">";
    }
  }
  return {};
}

std::string check_device(const Include& include) {
  const std::string_view other = first_folder(include.name);
  if (!include.quoted || other == kPublic || other == kDevice || other == kForDevice) return {};
  return "the device side must not include from '" + std::string(other) + "'";
}

/// `from`, `to`: paths within `dispatch`.
std::string check_dispatch(std::string_view from, std::string_view to) {
  const std::string_view room = first_folder(from), other = first_folder(to);
  if (room.empty()) return {};
  const auto own = std::ranges::find(kDispatch, room);
  if (own == kDispatch.end()) return "room 'dispatch/" + std::string(room) + "' is not in the list";
  if (std::ranges::find(kDispatch, other) <= own) return {};
  return "room 'dispatch/" + std::string(room) + "' must not include from 'dispatch/" +
         std::string(other) + "'";
}

std::string check_room(std::string_view path, std::string_view room, const Include& include) {
  const std::string_view other = first_folder(include.name);
  // Names without a folder are generated; libraries stand in angle brackets.
  if (!include.quoted || other.empty() || other == kPublic) return {};
  if (other == room) {
    if (room != "dispatch") return {};
    return check_dispatch(path.substr(path.find(room) + room.size() + 1),
                          include.name.substr(room.size() + 1));
  }
  if (other == kDevice) {
    return path.starts_with(kDeviceEngine) ? "" : "only src/engine/cuda may include from 'cuda'";
  }
  const auto from = std::ranges::find(kRooms, room);
  const auto to = std::ranges::find(kRooms, other);
  if (to == kRooms.end()) return "\"" + std::string(include.name) + "\" is in no known room";
  const bool client = room == "client" && std::ranges::find(kForClient, other) == kForClient.end();
  if (to < from && !client) return {};
  return "room '" + std::string(room) + "' must not include from '" + std::string(other) + "'";
}

}  // namespace

std::vector<std::string> check_includes(std::string_view path, std::string_view text) {
  const bool is_public = path.starts_with("include/");
  const bool is_device = first_folder(path) == kDevice;
  const std::string_view room = is_public ? kPublic : first_folder(path.substr(4));
  if (!is_public && !is_device && std::ranges::find(kRooms, room) == kRooms.end()) {
    return {std::string(path) + ":1: room '" + std::string(room) + "' is not in the list of rooms"};
  }
  std::vector<std::string> wrong;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (const auto include = include_of(text.substr(0, end))) {
      const std::string what = is_public   ? check_public(*include)
                               : is_device ? check_device(*include)
                                           : check_room(path, room, *include);
      if (!what.empty()) {
        wrong.push_back(std::string(path) + ":" + std::to_string(number) + ": " + what);
      }
    }
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return wrong;
}

}  // namespace gorgo::house
