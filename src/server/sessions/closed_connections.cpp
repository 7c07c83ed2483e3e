#include "server/sessions/closed_connections.hpp"

#include <utility>

namespace gorgo::server {
namespace {

constexpr std::size_t kLongestDetail = 200;

}  // namespace

std::string_view name_of(EndReason reason) {
  static constexpr std::array<std::string_view, kEndReasons> kNames = {
      "client_left", "completed", "broken",    "handshake",    "refused",
      "forbidden",   "malformed", "timed_out", "slow",         "memory",
      "undrained",   "stopped",   "failed",    "disconnected", "withdrawn"};
  return kNames[static_cast<std::size_t>(reason)];
}

void ClosedConnections::add(ClosedConnection closed) {
  ++counts_[static_cast<std::size_t>(closed.reason)];
  if (closed.detail.size() > kLongestDetail) closed.detail.resize(kLongestDetail);
  closed.detail.shrink_to_fit();
  if (last_.size() == kMost) last_.pop_front();
  last_.push_back(std::move(closed));
}

}  // namespace gorgo::server
