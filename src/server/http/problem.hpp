#pragma once

#include <optional>

#include "gorgo/diagnostics.hpp"

namespace gorgo::server::http {

/// Why a request is not carried out.
struct Problem {
  unsigned status = 400;  ///< of HTTP
  Error why;
};

/// Nothing where all is well.
using Checked = std::optional<Problem>;

}  // namespace gorgo::server::http
