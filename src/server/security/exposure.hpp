#pragma once

#include <string>

#include "server/options.hpp"

namespace gorgo::server {

/// Why a port must not be opened where others than this machine reach it: who connects is not
/// asked, or what travels is not encrypted. Empty: it may be. `is_trex`: the port is that of T-Rex,
/// whose clients can show nothing but certificates.
std::string danger_of(const ServerOptions& options, bool is_trex);

}  // namespace gorgo::server
