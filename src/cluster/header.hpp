#pragma once

#include <nats/nats.h>

#include <string_view>

namespace gorgo::cluster {

/// A header of a message; empty: it has none of this name. It refers into the message.
inline std::string_view header_of(natsMsg* message, const char* name) {
  const char* value = nullptr;
  return natsMsgHeader_Get(message, name, &value) == NATS_OK ? value : std::string_view();
}

}  // namespace gorgo::cluster
