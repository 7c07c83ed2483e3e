#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/sessions/closed_connections.hpp"

namespace gorgo::server {

/// Notes why one connection ends. The first reason that is given holds.
class EndNote {
 public:
  void give(EndReason reason, const std::string& detail = "") {
    if (reason_) return;
    reason_ = reason;
    detail_ = detail;
  }
  /// Nobody is left who could give a reason: it is that the client broke the protocol, where it
  /// did, or else this one.
  void settle(EndReason otherwise) {
    if (malformed_ > 0) give(EndReason::malformed, complaint_);
    give(otherwise);
  }
  /// The client has broken the protocol once more.
  void complain(const std::string& about) {
    complaint_ = about;
    ++malformed_;
  }
  /// Whether the client has not broken the protocol too often.
  bool may_go_on() const { return malformed_ < kMostMalformed; }

  /// Precondition: one was given or settled.
  EndReason reason() const { return *reason_; }
  const std::string& detail() const { return detail_; }

 private:
  // A client that works sends no malformed message; this bounds what another one costs.
  static constexpr std::uint64_t kMostMalformed = 1000;

  std::optional<EndReason> reason_;
  std::string detail_;
  std::uint64_t malformed_ = 0;
  std::string complaint_;  // about the last malformed message
};

}  // namespace gorgo::server
