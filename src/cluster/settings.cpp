#include "cluster/settings.hpp"

namespace gorgo::cluster {

doors::Settings broker_settings(const Settings& settings) {
  doors::Settings broker;
  broker.broker = settings.brokers;
  broker.user = settings.user;
  broker.password_file = settings.password_file;
  broker.ca = settings.ca;
  return broker;
}

}  // namespace gorgo::cluster
