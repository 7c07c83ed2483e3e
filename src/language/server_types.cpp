#include "language/server_types.hpp"

#include <algorithm>
#include <array>

namespace gorgo::language {

std::span<const EventType> server_types() {
  constexpr auto integer = ValueType::integer;
  constexpr auto real = ValueType::floating;
  constexpr auto text = ValueType::string;
  constexpr auto boolean = ValueType::boolean;
  // So that events of later versions may have more attributes, and those of rule tests fewer.
  constexpr auto inferred = TypeOrigin::inferred;
  static const std::array<EventType, 5> kTypes = {
      EventType{.name = "gorgo.Stats",
                .attributes = {{"seconds", real},
                               {"accepted", integer},
                               {"refused", integer},
                               {"late", integer},
                               {"composites", integer},
                               {"dropped", integer},
                               {"lost_rows", integer},
                               {"accepted_per_second", real},
                               {"composites_per_second", real},
                               {"latency_p50_ms", real},
                               {"latency_p99_ms", real},
                               {"rules", integer},
                               {"connections", integer},
                               {"held", integer},
                               {"queue_bytes", integer},
                               {"memory_bytes", integer}},
                .origin = inferred},
      EventType{.name = "gorgo.RuleStats",
                .attributes = {{"rule", text},
                               {"engine", text},
                               {"seconds", real},
                               {"events", integer},
                               {"terminators", integer},
                               {"composites", integer},
                               {"terminators_per_second", real},
                               {"composites_per_second", real},
                               {"load", real},
                               {"pending", integer},
                               {"bytes", integer},
                               {"passed_over", integer},
                               {"suspended", boolean}},
                .origin = inferred},
      EventType{.name = "gorgo.SlowRule",
                .attributes = {{"rule", text},
                               {"engine", text},
                               {"load", real},
                               {"terminators_per_second", real},
                               {"passed_over", integer},
                               {"suspended", boolean}},
                .origin = inferred},
      EventType{.name = "gorgo.Connection",
                .attributes = {{"connection", integer},
                               {"what", text},
                               {"door", text},
                               {"peer", text},
                               {"name", text},
                               {"user", text},
                               {"reason", text},
                               {"seconds", real},
                               {"published", integer},
                               {"delivered", integer}},
                .origin = inferred},
      EventType{
          .name = "gorgo.DeadLetter",
          .attributes = {{"door", text}, {"place", text}, {"reason", text}, {"payload", text}},
          .origin = inferred}};
  return kTypes;
}

const EventType* server_type(std::string_view name) {
  const auto types = server_types();
  const auto found = std::ranges::find(types, name, &EventType::name);
  return found == types.end() ? nullptr : &*found;
}

}  // namespace gorgo::language
