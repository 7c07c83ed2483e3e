#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "server/engine/type_board.hpp"

namespace gorgo::server {

/// What the numbers of types on the T-Rex wire are called here, and the deployments that rules from
/// there make. One object serves all clients of T-Rex; it belongs to the I/O thread.
class TrexNames {
 public:
  /// `configured` and `board` must outlive it.
  TrexNames(const std::map<std::int32_t, std::string>& configured, const TypeBoard& board)
      : configured_(configured), board_(board) {}

  /// The name that the configuration gives the number, or that `Assign` gave it in a rule, or one
  /// made of the number.
  std::string name_of(std::int32_t number) const;
  /// A name for the deployment of one more rule that defines this type.
  std::string deployment(const std::string& composite);

 private:
  const std::map<std::int32_t, std::string>& configured_;
  const TypeBoard& board_;
  std::map<std::string, std::uint64_t> rules_;  // how many, by composite
};

}  // namespace gorgo::server
