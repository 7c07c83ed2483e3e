#pragma once

#include "gorgo/processor.hpp"
#include "protocol/gorgo_generated.h"

namespace gorgo::server {

/// Declares the type that a request describes. Precondition: `processor.pending() == 0`.
Result<void> declare(Processor& processor, const wire::Declare& request);

}  // namespace gorgo::server
