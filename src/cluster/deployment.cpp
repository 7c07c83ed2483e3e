#include "cluster/deployment.hpp"

#include <nlohmann/json.hpp>

namespace gorgo::cluster {
namespace {

using PlanJson = nlohmann::json;

PlanJson json_of(const Family& family) {
  return {{"name", family.name},
          {"keys", family.keys},
          {"rules", family.rules},
          {"takes", family.takes},
          {"needs_clock", family.needs_clock}};
}

Family family_in(const PlanJson& json) {
  Family family;
  family.name = json.at("name").get<std::string>();
  family.keys = json.at("keys").get<std::map<std::string, std::string>>();
  family.rules = json.at("rules").get<std::vector<std::string>>();
  family.takes = json.at("takes").get<std::vector<std::string>>();
  family.needs_clock = json.at("needs_clock").get<bool>();
  return family;
}

Deployment deployment_in(const PlanJson& json) {
  Deployment one;
  one.version = json.at("version").get<std::uint64_t>();
  one.partitions = json.at("partitions").get<std::uint32_t>();
  one.replicas = json.at("replicas").get<std::uint32_t>();
  one.retain_hours = json.at("retain_hours").get<std::uint64_t>();
  for (const PlanJson& text : json.at("texts")) {
    one.texts.push_back({text.at("name").get<std::string>(), text.at("text").get<std::string>()});
  }
  for (const PlanJson& family : json.at("families")) {
    one.plan.families.push_back(family_in(family));
    for (const std::string& type : one.plan.families.back().takes) {
      one.plan.routes[type].push_back(one.plan.families.back().name);
    }
  }
  for (const PlanJson& rule : json.at("rules")) {
    one.plan.rules.push_back({rule.at("name").get<std::string>(),
                              rule.at("family").get<std::string>(),
                              rule.at("because").get<std::string>()});
  }
  return one;
}

}  // namespace

std::string Deployment::to_json() const {
  PlanJson all_texts = PlanJson::array(), families = PlanJson::array(), rules = PlanJson::array();
  for (const RuleText& one : texts) all_texts.push_back({{"name", one.name}, {"text", one.text}});
  for (const Family& one : plan.families) families.push_back(json_of(one));
  for (const RulePlace& one : plan.rules) {
    rules.push_back({{"name", one.rule}, {"family", one.family}, {"because", one.because}});
  }
  return PlanJson{{"version", version},
                  {"partitions", partitions},
                  {"replicas", replicas},
                  {"retain_hours", retain_hours},
                  {"texts", std::move(all_texts)},
                  {"families", std::move(families)},
                  {"rules", std::move(rules)}}
      .dump();
}

Result<Deployment> Deployment::parse(std::string_view json) {
  const Error wrong{"the cluster's plan is not understood", "it is of another version of Gorgo"};
  const PlanJson all = PlanJson::parse(json, nullptr, false);
  if (!all.is_object()) return wrong;
  try {
    Deployment one = deployment_in(all);
    if (one.partitions == 0) return wrong;
    return {std::in_place, std::move(one)};
  } catch (const PlanJson::exception&) {
    return wrong;
  }
}

std::vector<PartitionName> Deployment::partition_names() const {
  std::vector<PartitionName> names;
  for (const Family& family : plan.families) {
    for (std::uint32_t i = 0; i < partitions_of(family); ++i) names.push_back({family.name, i});
  }
  return names;
}

Routing::Routing(const Deployment& deployment) {
  for (const Family& family : deployment.plan.families) {
    Target target{.family = family.name,
                  .attribute = "",
                  .partitions = deployment.partitions_of(family),
                  .needs_clock = family.needs_clock};
    families_.push_back(target);
    for (const std::string& type : family.takes) {
      const auto key = family.keys.find(type);
      target.attribute = key == family.keys.end() ? "" : key->second;
      targets_[type].push_back(target);
    }
  }
}

const std::vector<Routing::Target>& Routing::targets(std::string_view type) const {
  static const std::vector<Target> kNone;
  const auto found = targets_.find(type);
  return found == targets_.end() ? kNone : found->second;
}

}  // namespace gorgo::cluster
