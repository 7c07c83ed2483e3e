#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "gorgo/diagnostics.hpp"
#include "gorgo/processor.hpp"
#include "tools/event_stream.hpp"

namespace gorgo::tools {

/// So many events are evaluated at once, if they come fast enough.
inline constexpr std::size_t kManyPending = 4096;

/// The error with the line in front.
Error at_line(std::uint64_t line, const Error& error);

/// What to do meanwhile. Each returns whether to go on.
struct AppendCallbacks {
  std::function<bool(const Error& error)> refused;  ///< an event; the error names its line
  std::function<bool()> process;                    ///< many events are pending
};

/// Appends events that were read and adds the number of those accepted to `accepted`. Returns
/// whether to go on; if not, the events behind the one at hand are left out.
bool append_events(ReadEvents read, Processor& processor, std::uint64_t& accepted,
                   const AppendCallbacks& callbacks);

}  // namespace gorgo::tools
