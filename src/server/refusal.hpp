#pragma once

#include <string>

#include "protocol/framing.hpp"

namespace gorgo::server {

/// Why a request was refused, of which this is the reply; empty: it was not.
inline std::string refusal_in(const wire::Message& reply) {
  if (const auto* error = reply.body_as_Error()) return error->message()->str();
  const auto* diagnostics = reply.body_as_Diagnostics();
  if (diagnostics == nullptr || diagnostics->list() == nullptr) return "";
  for (const auto* one : *diagnostics->list()) {
    if (one->severity() == wire::Severity::Error) return one->message()->str();
  }
  return "";
}

}  // namespace gorgo::server
