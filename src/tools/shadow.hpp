#pragma once

#include <string>

#include "gorgo/client.hpp"

namespace gorgo::tools {

/// Prints the shadow deployments of a server, with counts.
int list_shadows(Client& client, bool as_json);
/// Prints one of them, with samples of what differs.
int show_shadow(Client& client, const std::string& name, bool as_json);

}  // namespace gorgo::tools
