#pragma once

#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "protocol/gorgo_generated.h"
#include "server/options.hpp"

namespace gorgo::server {

/// Whether the texts of a request can be shown to others, as they will be in replies, in the log
/// and in metrics: texts are UTF-8, and names have no control characters. The text of a
/// subscription is within its limit, for the engine thread parses it.
Result<void> check_texts(const wire::Message& message, const Limits& limits);

/// A name for people, with `?` in the place of bytes that cannot be shown.
std::string shown_name(std::string_view name);

}  // namespace gorgo::server
