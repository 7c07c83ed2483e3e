#include "cluster/saved_partition.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace gorgo::cluster {
namespace {

using Json = nlohmann::json;

/// Counts up where a reader of before would go wrong.
constexpr int kVersion = 1;

Json texts_json(const EvaluationState& state) {
  Json texts = Json::array();
  for (const auto& [name, text] : state.texts) texts.push_back({{"name", name}, {"text", text}});
  return texts;
}

Json places_json(const EvaluationState& state) {
  Json places = Json::array();
  for (const auto& [gateway, last] : state.last_places) {
    places.push_back({{"gateway", gateway}, {"root", last.root}, {"ordinal", last.ordinal}});
  }
  return places;
}

SavedPartition read(const Json& json) {
  SavedPartition saved;
  EvaluationState& state = saved.evaluation;
  state.sequence = json.at("sequence").get<std::uint64_t>();
  state.rules_version = json.at("rules_version").get<std::uint64_t>();
  for (const Json& one : json.at("texts")) {
    state.texts[one.at("name").get<std::string>()] = one.at("text").get<std::string>();
  }
  for (const Json& one : json.at("places")) {
    state.last_places[one.at("gateway").get<std::string>()] = {
        one.at("root").get<std::uint64_t>(), one.at("ordinal").get<std::uint32_t>()};
  }
  saved.output = json.at("output").get<std::uint64_t>();
  saved.rules_at = json.at("rules_at").get<std::int64_t>();
  saved.settings = json.at("settings").get<std::string>();
  return saved;
}

}  // namespace

std::string SavedPartition::to_json() const {
  const Json json = {{"version", kVersion},
                     {"sequence", evaluation.sequence},
                     {"rules_version", evaluation.rules_version},
                     {"texts", texts_json(evaluation)},
                     {"places", places_json(evaluation)},
                     {"output", output},
                     {"rules_at", rules_at},
                     {"settings", settings}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SavedPartition> SavedPartition::parse(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("version").get<int>() == kVersion) return {std::in_place, read(json)};
    return Error{"another version of Gorgo has written it", ""};
  } catch (const Json::exception& wrong) {
    return Error{std::string("it is not understood: ") + wrong.what(), ""};
  }
}

std::string settings_text(const ProcessorOptions& options) {
  const auto part = [](const char* name, auto value) {
    return std::string(name) + " " + std::to_string(value);
  };
  return part("lateness", options.lateness) + part(" max_late", options.max_late) +
         part(" max_depth", options.max_depth) + part(" max_composites", options.max_composites) +
         part(" max_instants", options.max_instants);
}

}  // namespace gorgo::cluster
