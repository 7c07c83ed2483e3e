#include "tools/shadow.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/commands.hpp"
#include "tools/listing.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/rule_versions.hpp"

namespace gorgo::tools {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ShadowInfo::Counts& counts) {
  return {{"both", counts.both},
          {"only_deployed", counts.only_deployed},
          {"only_shadow", counts.only_shadow}};
}

Json to_json(const ShadowInfo& shadow) {
  return {{"name", shadow.name},
          {"user", shadow.who},
          {"since", when(shadow.since)},
          {"rules", shadow.rules},
          {"replaced", shadow.replaced},
          {"events", shadow.events},
          {"refused", shadow.refused},
          {"filling", shadow.filling},
          {"full_at", shadow.full_at},
          {"counts", to_json(shadow.counts)},
          {"before", to_json(shadow.before)},
          {"deployed_samples", shadow.deployed_samples},
          {"shadow_samples", shadow.shadow_samples},
          {"stopped", shadow.stopped}};
}

std::string state_of(const ShadowInfo& shadow) {
  if (!shadow.stopped.empty()) return "stopped: " + shadow.stopped;
  return shadow.filling ? "its windows fill" : "compares";
}

std::string listing(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

void print_samples(const char* whose, const std::vector<std::string>& samples) {
  if (samples.empty()) return;
  std::printf("\nthe last that only %s gave:\n", whose);
  for (const std::string& line : samples) std::printf("%s\n", line.c_str());
}

void print(const ShadowInfo& shadow) {
  std::printf("%s since %s: %s\n", shadow.name.c_str(), when(shadow.since).c_str(),
              state_of(shadow).c_str());
  std::printf("rules: %s\nin the place of: %s\n", listing(shadow.rules).c_str(),
              listing(shadow.replaced).c_str());
  if (shadow.filling && shadow.full_at > 0) {
    std::printf("its windows are full at %s, by the timestamps of events\n",
                when(shadow.full_at).c_str());
  }
  if (shadow.refused > 0) {
    std::printf("%llu events do not fit the types that its rules know\n",
                static_cast<unsigned long long>(shadow.refused));
  }
  std::puts("");
  Table rows = {{"COMPOSITES", "BOTH", "ONLY DEPLOYED", "ONLY SHADOW"}};
  const auto add = [&](const char* which, const ShadowInfo::Counts& counts) {
    rows.push_back({which, std::to_string(counts.both), std::to_string(counts.only_deployed),
                    std::to_string(counts.only_shadow)});
  };
  if (!shadow.filling) add("before", shadow.before);
  add(shadow.filling ? "so far" : "since", shadow.counts);
  print_table(rows);
  print_samples("the deployed rules", shadow.deployed_samples);
  print_samples("the shadow", shadow.shadow_samples);
}

}  // namespace

int list_shadows(Client& client, bool as_json) {
  const auto shadows = client.shadows();
  if (!shadows) return fail(shadows.error());
  if (as_json) {
    Json list = Json::array();
    for (const ShadowInfo& shadow : *shadows) list.push_back(to_json(shadow));
    print_json(list);
    return kSuccess;
  }
  Table rows = {{"NAME", "SINCE", "EVENTS", "BOTH", "ONLY DEPLOYED", "ONLY SHADOW", "STATE"}};
  for (const ShadowInfo& shadow : *shadows) {
    rows.push_back({shadow.name, when(shadow.since), std::to_string(shadow.events),
                    std::to_string(shadow.counts.both), std::to_string(shadow.counts.only_deployed),
                    std::to_string(shadow.counts.only_shadow), state_of(shadow)});
  }
  print_table(rows);
  return kSuccess;
}

int show_shadow(Client& client, const std::string& name, bool as_json) {
  const auto shadows = client.shadows();
  if (!shadows) return fail(shadows.error());
  const auto found = std::ranges::find(*shadows, name, &ShadowInfo::name);
  if (found == shadows->end()) {
    return fail(Error{"there is no shadow deployment '" + name + "'",
                      "`gorgo rules shadow list` shows them"});
  }
  if (as_json) {
    print_json(to_json(*found));
  } else {
    print(*found);
  }
  return kSuccess;
}

}  // namespace gorgo::tools
