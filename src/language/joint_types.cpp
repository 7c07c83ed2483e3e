#include "language/joint_types.hpp"

#include <algorithm>

namespace gorgo::language {
namespace {

constexpr std::string_view kBetween = " or ";

}  // namespace

std::string joint_name(std::vector<std::string> members) {
  std::ranges::sort(members);
  std::string name;
  for (const std::string& member : members) {
    name += (name.empty() ? "" : std::string(kBetween)) + member;
  }
  return name;
}

std::vector<std::string> joined_names(std::string_view name) {
  std::vector<std::string> members;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = name.find(kBetween, begin)) != std::string_view::npos;) {
    members.emplace_back(name.substr(begin, end - begin));
    begin = end + kBetween.size();
  }
  if (!members.empty()) members.emplace_back(name.substr(begin));
  return members;
}

}  // namespace gorgo::language
