#include "plan/cycles.hpp"

#include <algorithm>
#include <deque>
#include <set>

namespace gorgo::plan {
namespace {

/// What is listed is for people to read, and every search may visit all rules.
constexpr std::size_t kMostSearches = 100;

using Edges = std::map<TypeId, std::set<TypeId>>;

/// Takes out what no cycle goes through: types into which nothing leads, again and again.
void trim(Edges& next, std::map<TypeId, std::size_t> incoming) {
  std::deque<TypeId> open;
  for (const auto& [type, count] : incoming) {
    if (count == 0) open.push_back(type);
  }
  while (!open.empty()) {
    const auto it = next.find(open.front());
    open.pop_front();
    if (it == next.end()) continue;
    for (const TypeId type : it->second) {
      if (--incoming[type] == 0) open.push_back(type);
    }
    next.erase(it);
  }
}

/// The shortest way from a type back to itself; empty without one.
std::vector<TypeId> way_round(TypeId start, const Edges& next) {
  std::map<TypeId, TypeId> before;
  std::deque<TypeId> open{start};
  while (!open.empty()) {
    const TypeId from = open.front();
    open.pop_front();
    const auto it = next.find(from);
    if (it == next.end()) continue;
    for (const TypeId to : it->second) {
      if (to == start) {
        std::vector<TypeId> way{from};
        while (way.back() != start) way.push_back(before.at(way.back()));
        std::reverse(way.begin(), way.end());
        return way;
      }
      if (before.emplace(to, from).second) open.push_back(to);
    }
  }
  return {};
}

}  // namespace

std::vector<std::vector<TypeId>> cycles(std::span<const Plan* const> plans) {
  Edges next;
  for (const Plan* plan : plans) {
    for (const auto& [type, reach] : plan->reach) next[type].insert(plan->rule.type);
  }
  std::map<TypeId, std::size_t> incoming;
  for (const auto& [type, targets] : next) {
    incoming.emplace(type, 0);
    for (const TypeId target : targets) ++incoming[target];
  }
  trim(next, std::move(incoming));

  std::vector<std::vector<TypeId>> found;
  std::set<TypeId> listed;
  std::size_t searches = 0;
  for (const auto& [type, targets] : next) {
    if (listed.contains(type)) continue;
    if (++searches > kMostSearches) break;
    auto way = way_round(type, next);
    listed.insert(way.begin(), way.end());
    if (!way.empty()) found.push_back(std::move(way));
  }
  return found;
}

}  // namespace gorgo::plan
