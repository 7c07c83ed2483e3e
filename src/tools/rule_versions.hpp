#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gorgo/client.hpp"

namespace gorgo::tools {

/// As RFC 3339, in UTC.
std::string when(Timestamp time);

/// Prints the latest changes of rules, of one deployment if `name` is not empty.
int print_history(Client& client, const std::string& name, bool as_json);
/// Two versions of a deployment. They are numbers of changes, a removal of rules among them; 0: the
/// last one, and the one before.
struct VersionPair {
  std::string name;
  std::uint64_t from = 0, to = 0;
  std::string file;  ///< instead of `to`: a rule file, to which 0 is the last version
  bool as_json = false;
};
/// Prints what changed from one version of a deployment to another.
int print_difference(Client& client, const VersionPair& pair);
/// Deploys an earlier version of a deployment, and removes the rules that it does not have. 0: the
/// version before the last one.
int roll_back(Client& client, const std::string& name, std::uint64_t to);

}  // namespace gorgo::tools
