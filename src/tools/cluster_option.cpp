#include "tools/cluster_option.hpp"

#include <CLI/CLI.hpp>

#include "cluster/names.hpp"
#include "server/options.hpp"

namespace gorgo::tools {

void ClusterOption::add_to(CLI::App* command) {
  auto* config = command->add_option("--config", config_, "Configuration of a node of the cluster")
                     ->option_text("FILE.toml");
  const auto add = [&](const char* option, std::string& value, const char* what, const char* text) {
    command->add_option(option, value, what)->option_text(text)->excludes(config);
  };
  add("--cluster", name_, "Name of the cluster", "NAME");
  add("--broker", brokers_, "NATS servers, with commas between", "HOST:PORT=127.0.0.1:4222");
  add("--broker-user", user_, "Who we are for them", "NAME");
  add("--broker-password-file", password_file_, "File with the password", "FILE");
  add("--broker-ca", ca_, "Authorities of their certificates, PEM", "FILE");
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
