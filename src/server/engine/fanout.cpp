#include "server/engine/fanout.hpp"

#include <chrono>
#include <string>

namespace gorgo::server {

std::uint64_t Fanout::deliver(const OutputBatch& batch) {
  if (batch.rows.empty()) return 0;
  parts_.inhibitions.take(batch);
  if (parts_.journal.is_on()) {
    parts_.results.take(batch);
    parts_.durables.take(batch, parts_.journal.journal().end());
  }
  std::uint64_t queued = 0;
  if (parts_.subscriptions.texts() > 0) {
    parts_.journal.before_output();
    if (!parts_.journal.read_only()) queued = parts_.subscriptions.deliver(batch);
  }
  parts_.latencies.take(batch, parts_.publications, std::chrono::steady_clock::now());
  parts_.shadows.take(batch);
  return queued;
}

bool Fanout::is_wanted(std::string_view type) const {
  return is_tracing_ || is_subscribed(type) || !parts_.shadows.all().empty();
}

bool Fanout::is_subscribed(std::string_view type) const {
  return parts_.subscriptions.wants(std::string(type)) || parts_.durables.names(type) ||
         parts_.durables.names("*");
}

}  // namespace gorgo::server
