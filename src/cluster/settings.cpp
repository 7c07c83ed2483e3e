#include "cluster/settings.hpp"

#include <sstream>

#include "cluster/names.hpp"
#include "doors/kind.hpp"
#include "protocol/address.hpp"

namespace gorgo::cluster {

Result<void> check(const Settings& settings) {
  if (!settings.is_on()) {
    if (settings.node.empty()) return {};
    return Error{"cluster.node says nothing without cluster.name", "name = \"plant\""};
  }
  if (auto named = check_name(settings.name); !named) {
    return Error{"cluster.name: " + named.error().message, named.error().hint};
  }
  if (auto named = check_name(settings.node); !named) {
    return Error{"cluster.node: " + named.error().message, named.error().hint};
  }
  std::istringstream brokers(settings.brokers + (settings.brokers.empty() ? "," : ""));
  for (std::string one; std::getline(brokers, one, ',');) {
    if (const auto address = protocol::parse_address(one); !address) {
      return Error{"cluster.brokers: " + address.error().message, "brokers = \"127.0.0.1:4222\""};
    }
  }
  if (auto user = doors::check_user(broker_settings(settings)); !user) {
    return Error{"cluster: " + user.error().message, user.error().hint};
  }
  return {};
}

doors::Settings broker_settings(const Settings& settings) {
  doors::Settings broker;
  broker.broker = settings.brokers;
  broker.user = settings.user;
  broker.password_file = settings.password_file;
  broker.ca = settings.ca;
  return broker;
}

}  // namespace gorgo::cluster
