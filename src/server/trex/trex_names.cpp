#include "server/trex/trex_names.hpp"

#include "protocol/trex/condition_text.hpp"

namespace gorgo::server {

std::string TrexNames::name_of(std::int32_t number) const {
  if (const auto it = configured_.find(number); it != configured_.end()) return it->second;
  const auto types = board_.types();
  const EventType* type = types->numbered(number);
  return type == nullptr ? protocol::trex::default_name(number) : type->name;
}

std::string TrexNames::deployment(const std::string& composite) {
  return "trex-" + composite + "-" + std::to_string(++rules_[composite]);
}

}  // namespace gorgo::server
