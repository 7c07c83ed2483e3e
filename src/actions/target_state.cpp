#include "actions/target_state.hpp"

#include <nlohmann/json.hpp>

namespace gorgo::actions {
namespace {

using Json = nlohmann::json;

std::string dead_in(const std::string& saved) {
  const Json json = Json::parse(saved, nullptr, false);
  return json.is_object() && json.contains("dead") ? json["dead"].dump() : "";
}

}  // namespace

TargetState::TargetState(const std::string& saved) : silences(saved), dead(dead_in(saved)) {}

std::string TargetState::saved() const {
  Json json = Json::parse(silences.saved());
  json["dead"] = Json::parse(dead.saved());
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gorgo::actions
