#include "protocol/info_json.hpp"

namespace gorgo::protocol {

using Json = nlohmann::ordered_json;

Json to_json(const Door& door) {
  return {
      {"name", door.name},        {"kind", door.kind},         {"direction", door.direction},
      {"target", door.target},    {"state", door.state},       {"problem", door.problem},
      {"events", door.events},    {"refused", door.refused},   {"dead_letters", door.dead_letters},
      {"lost", door.lost},        {"failures", door.failures}, {"position", door.position},
      {"declared", door.declared}};
}

Json to_json(const ActionTarget& target) {
  Json silences = Json::array();
  for (const ActionSilence& silence : target.silences) {
    silences.push_back({{"id", silence.id},
                        {"matchers", silence.matchers},
                        {"until", silence.until},
                        {"comment", silence.comment}});
  }
  return {
      {"name", target.name},         {"kind", target.kind},         {"address", target.address},
      {"state", target.state},       {"problem", target.problem},   {"dry_run", target.dry_run},
      {"waiting", target.waiting},   {"done", target.done},         {"attempts", target.attempts},
      {"failures", target.failures}, {"dead", target.dead},         {"retriable", target.retriable},
      {"lost", target.lost},         {"silenced", target.silenced}, {"inhibited", target.inhibited},
      {"silences", silences}};
}

}  // namespace gorgo::protocol
