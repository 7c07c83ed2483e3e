#pragma once

#include <memory>
#include <string>

#include "actions/target.hpp"

namespace gorgo::actions {

/// Has events leave through a door, many at once and in their order. Precondition and errors are
/// those of `make_target`, and the kind is `file` or `publish`.
Result<std::unique_ptr<Target>> make_sink_target(const std::string& name, const Settings& settings);

}  // namespace gorgo::actions
