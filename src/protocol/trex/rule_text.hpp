#pragma once

#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "protocol/trex/condition_text.hpp"
#include "protocol/trex/packets.hpp"

namespace gorgo::protocol::trex {

/// A rule packet as a rule of the language.
struct RuleText {
  std::string text;
  std::string composite;           ///< the name of the type that it defines
  std::vector<std::string> notes;  ///< what of the packet was left out, and why
};

/// The error says what of the packet the language does not have. A text that comes out may still
/// have errors, which compiling it shows.
Result<RuleText> rule_text(const Rule& rule, const TypeNames& names);

}  // namespace gorgo::protocol::trex
