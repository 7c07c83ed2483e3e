#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"

namespace gorgo::actions {

/// Signs messages as Standard Webhooks says, so that a receiver knows who sent them, and when.
class Signer {
 public:
  /// `secret`: `whsec_` and at least 16 bytes in base64, as the receiver has it, with blanks
  /// around.
  static Result<Signer> make(std::string_view secret);

  /// The header `webhook-signature`. `seconds`: since the Unix epoch, as in `webhook-timestamp`.
  std::string sign(std::string_view id, std::int64_t seconds, std::string_view body) const;

 private:
  std::string key_;
};

}  // namespace gorgo::actions
