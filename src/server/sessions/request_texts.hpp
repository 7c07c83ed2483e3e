#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "protocol/gorgo_generated.h"

namespace gorgo::server {

/// Whether the texts of a request can be shown to others, as they will be in replies, in the log
/// and in metrics: texts are UTF-8, and names have no control characters.
Result<void> check_texts(const wire::Message& message);

/// A name for people, with `?` in the place of bytes that cannot be shown.
std::string shown_name(std::string_view name);

}  // namespace gorgo::server
