#include "dispatch/order/arrivals.hpp"

#include <utility>

namespace gorgo::dispatch {

Arrivals::Type& Arrivals::note(std::string_view type,
                               std::span<const std::string_view> attributes) {
  auto known = types_.find(type);
  if (known == types_.end()) {
    if (types_.size() >= kMostTypes || type.size() > kLongestName) return others_;
    known = types_.emplace(type, Type()).first;
  }
  auto& noted = known->second.attributes;
  for (const std::string_view attribute : attributes) {
    const bool is_new = noted.find(attribute) == noted.end();
    if (is_new && noted.size() < kMostAttributes && attribute.size() <= kLongestName) {
      noted.emplace(attribute);
    }
  }
  return known->second;
}

void Arrivals::restore(std::string_view type, Type before) { note(type, {}) = std::move(before); }

}  // namespace gorgo::dispatch
