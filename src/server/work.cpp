#include "server/work.hpp"

#include <string_view>

namespace gorgo::server {
namespace {

constexpr std::uint64_t kMicrosecond = 1'000;
constexpr std::uint64_t kMillisecondOfWork = 1'000'000;

// These are orders of magnitude: who asks for much waits longer than who asks for little. `Pace`
// makes up for what the sum is wrong by.
constexpr std::uint64_t kRequest = 1 * kMicrosecond;
constexpr std::uint64_t kRow = 300;
constexpr std::uint64_t kCell = 30;
constexpr std::uint64_t kRuleText = 200;          // a byte of it
constexpr std::uint64_t kSubscriptionText = 100;  // a byte of it
/// What the patterns of a subscription may take to compile, however short their text is.
constexpr std::uint64_t kPatterns = 20 * kMillisecondOfWork;

Work publication(const wire::Batch& batch, std::uint64_t cost) {
  Work work{cost, 0, true};
  if (batch.tables() == nullptr) return work;
  for (const auto* table : *batch.tables()) {
    const std::uint64_t columns = table->columns() == nullptr ? 0 : table->columns()->size();
    work.rows += table->rows();
    work.cost += table->rows() * (kRow + columns * kCell);
  }
  return work;
}

std::uint64_t cost_of_subscription(std::string_view text) {
  const bool has_patterns = text.find("matches") != text.npos;
  return 10 * kMicrosecond + text.size() * kSubscriptionText + (has_patterns ? kPatterns : 0);
}

std::uint64_t cost_of(const wire::Message& message) {
  switch (message.body_type()) {
    case wire::Body::Tick:
      return 1 * kMicrosecond;
    case wire::Body::Declare:
      return 20 * kMicrosecond;
    case wire::Body::Subscribe:
      return cost_of_subscription(message.body_as_Subscribe()->text()->string_view());
    case wire::Body::DropShadow:
    case wire::Body::ListShadows:
    case wire::Body::Unsubscribe:
    case wire::Body::Credit:
      return 5 * kMicrosecond;
    case wire::Body::Deploy:
      return 200 * kMicrosecond + message.body_as_Deploy()->text()->size() * kRuleText;
    case wire::Body::DeclareDoor:
    case wire::Body::RemoveDoor:
    case wire::Body::PromoteShadow:
    case wire::Body::Remove:
    case wire::Body::Pin:
    case wire::Body::ListDevices:
    case wire::Body::AskStatistics:
      return 100 * kMicrosecond;
    case wire::Body::ListRules:
    case wire::Body::ListTypes:
    case wire::Body::Trace:
    case wire::Body::Reload:
      return 1 * kMillisecondOfWork;
    case wire::Body::AskWhy:
      return 10 * kMillisecondOfWork;
    default:
      return 0;
  }
}

}  // namespace

Work work_of(const wire::Message& message, std::size_t frame_bytes) {
  const std::uint64_t cost = kRequest + frame_bytes;
  if (const auto* publish = message.body_as_Publish()) return publication(*publish->batch(), cost);
  const wire::Body kind = message.body_type();
  // A reload has begun already: the configuration is taken over, and the rule files are to follow.
  const bool is_kept =
      kind == wire::Body::Tick || kind == wire::Body::Acknowledge || kind == wire::Body::Reload;
  return {cost + cost_of(message), 0, is_kept};
}

}  // namespace gorgo::server
