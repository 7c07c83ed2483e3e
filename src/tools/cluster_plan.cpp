#include "tools/cluster_plan.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "tools/listing.hpp"

namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string in_a_row(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

std::string keys_text(const cluster::Family& family) {
  if (family.is_whole()) return "none: one partition";
  std::vector<std::string> keys;
  for (const auto& [type, attribute] : family.keys) keys.push_back(type + "." + attribute);
  return in_a_row(keys);
}

std::string table_text(const Table& rows) {
  std::string text;
  for (const std::string& line : table_lines(rows)) {
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string cluster_text(const cluster::ClusterPlan& plan) {
  Table families = {{"FAMILY", "RULES", "KEY"}};
  for (const cluster::Family& family : plan.families) {
    families.push_back({family.name, std::to_string(family.rules.size()), keys_text(family)});
  }
  Table rules = {{"RULE", "FAMILY", "NOT DIVIDED BECAUSE"}};
  for (const cluster::RulePlace& rule : plan.rules) {
    rules.push_back({rule.rule, rule.family, rule.because});
  }
  Table events = {{"EVENTS", "SENT", "TO"}};
  for (const auto& [type, to] : plan.routes) {
    events.push_back(
        {type, std::to_string(to.size()) + (to.size() == 1 ? " time" : " times"), in_a_row(to)});
  }
  return table_text(families) + "\n" + table_text(rules) + "\n" + table_text(events);
}

Json cluster_json(const cluster::ClusterPlan& plan) {
  Json families = Json::array(), rules = Json::array(), events = Json::array();
  for (const cluster::Family& family : plan.families) {
    families.push_back({{"name", family.name},
                        {"keys", Json(family.keys)},
                        {"rules", family.rules},
                        {"takes", family.takes},
                        {"needs_clock", family.needs_clock}});
  }
  for (const cluster::RulePlace& rule : plan.rules) {
    rules.push_back({{"name", rule.rule}, {"family", rule.family}, {"because", rule.because}});
  }
  for (const auto& [type, to] : plan.routes) {
    events.push_back({{"type", type}, {"sent", to.size()}, {"families", to}});
  }
  return {{"families", families}, {"rules", rules}, {"events", events}};
}

}  // namespace gorgo::tools
