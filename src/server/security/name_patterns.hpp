#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::server {

/// Which names somebody may use: those that a pattern allows and none denies. In a pattern `*`
/// stands for any characters, also none; everything else stands for itself.
struct NamePatterns {
  std::vector<std::string> allow, deny;

  bool allows(std::string_view name) const;
  /// Whether there is no name that is not allowed.
  bool allows_all() const;

  friend bool operator==(const NamePatterns&, const NamePatterns&) = default;
};

/// "Temp*, Smoke, but not TempSecret"; "none" where nothing is allowed.
std::string to_string(const NamePatterns& patterns);

}  // namespace gorgo::server
