#pragma once

#include <memory>
#include <string>

#include "doors/door.hpp"
#include "doors/payload.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors {

/// The source that the settings describe. It goes on behind `position`. An error where what it
/// needs cannot be read, such as a file with a password. Precondition: `check` found nothing wrong,
/// and they are no sink's.
Result<std::unique_ptr<Source>> make_source(const std::string& name, const Settings& settings,
                                            const Types& types, const Position& position);
/// The sink that the settings describe. Errors are those of `make_source`. Precondition: `check`
/// found nothing wrong, and they are a sink's.
Result<std::unique_ptr<Sink>> make_sink(const std::string& name, const Settings& settings);

}  // namespace gorgo::doors
