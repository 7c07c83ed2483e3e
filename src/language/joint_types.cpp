#include "language/joint_types.hpp"

#include <algorithm>

namespace gorgo::language {
namespace {

constexpr std::string_view kBetween = " or ", kRows = "table ";

}  // namespace

std::string joint_name(std::vector<std::string> members) {
  std::ranges::sort(members);
  std::string name;
  for (const std::string& member : members) {
    name += (name.empty() ? "" : std::string(kBetween)) + member;
  }
  return name;
}

std::string rows_name(const std::string& table) { return std::string(kRows) + table; }
bool is_rows_name(std::string_view name) { return name.starts_with(kRows); }

std::vector<std::string> joined_names(std::string_view name) {
  if (is_rows_name(name)) return {std::string(name.substr(kRows.size()))};
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
