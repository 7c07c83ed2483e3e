#pragma once

#include <string_view>

namespace gorgo::server::http {

/// The description of the interface, OpenAPI 3.0 as JSON.
std::string_view openapi();

}  // namespace gorgo::server::http
