#pragma once

#include <string_view>

#include "gorgo/client.hpp"

namespace gorgo::tools {

/// Says on stderr when no rule of the server knows the type that a subscription or an event begins
/// with, and which one may be meant. It is no error: events of other types may still come.
void note_unknown_type(Client& client, std::string_view text);

}  // namespace gorgo::tools
