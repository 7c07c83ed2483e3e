#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::tools {

/// One thing that a rule test does: a line of `events:`, and for a deployment the rule text below.
struct TestStep {
  enum class Kind : std::uint8_t { event, tick, clock, declare, deploy, remove, flush };

  Kind kind = Kind::event;
  std::uint32_t line = 0;
  Event event;                            ///< a tick and the clock only have its timestamp
  std::string name;                       ///< of the declared type, deployment or removed rule
  std::vector<AttributeType> attributes;  ///< of the declared type
  DeployOptions options;
  std::string rules;                   ///< the deployed text
  std::optional<std::string> refusal;  ///< part of the message that must refuse the step
};

Result<TestStep> parse_step(std::string_view text, std::uint32_t line);

}  // namespace gorgo::tools
