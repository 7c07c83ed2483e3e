#include "tools/cluster_option.hpp"

#include <CLI/CLI.hpp>

#include "cluster/names.hpp"
#include "server/options.hpp"

namespace gorgo::tools {

void ClusterOption::add_to(CLI::App* command) {
  auto* config = command->add_option("--config", config_, "Configuration of a node of the cluster")
                     ->option_text("FILE.toml");
  command->add_option("--cluster", name_, "Name of the cluster")
      ->option_text("NAME")
      ->excludes(config);
  command->add_option("--broker", brokers_, "NATS servers, with commas between")
      ->option_text("HOST:PORT=127.0.0.1:4222")
      ->excludes(config);
  command->add_option("--broker-user", user_, "Who we are for them")
      ->option_text("NAME")
      ->excludes(config);
  command->add_option("--broker-password-file", password_file_, "File with the password")
      ->option_text("FILE")
      ->excludes(config);
  command->add_option("--broker-ca", ca_, "Authorities of their certificates, PEM")
      ->option_text("FILE")
      ->excludes(config);
}

Result<cluster::Settings> ClusterOption::settings() const {
  server::ServerOptions options;
  if (!config_.empty()) {
    if (auto read = server::read_config(config_, options); !read) return read.error();
    if (options.cluster.is_on()) return options.cluster;
    return Error{config_ + " has no section [cluster] with a name", "docs/cluster.md"};
  }
  if (auto named = cluster::check_name(name_); !named) {
    return Error{"which cluster?", "--config gorgo.toml, or --cluster NAME"};
  }
  cluster::Settings settings;
  settings.name = name_;
  settings.node = "gorgo";  // no node, but whoever looks at the settings wants a name
  if (!brokers_.empty()) settings.brokers = brokers_;
  settings.user = user_;
  settings.password_file = password_file_;
  settings.ca = ca_;
  if (auto checked = cluster::check(settings); !checked) return checked.error();
  return settings;
}

}  // namespace gorgo::tools
