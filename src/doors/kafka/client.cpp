#include "doors/kafka/client.hpp"

#include <string_view>
#include <utility>

namespace gorgo::doors::kafka {
namespace {

void on_error(rd_kafka_t*, int code, const char* reason, void* trouble) {
  if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && code != RD_KAFKA_RESP_ERR__AUTHENTICATION)
    return;
  static_cast<Trouble*>(trouble)->note(reason);
}

/// What is wrong with a certificate is told here alone: the error is that a connection has failed.
void on_log(const rd_kafka_t* client, int, const char*, const char* text) {
  if (std::string_view(text).find("SSL") == std::string_view::npos) return;
  static_cast<Trouble*>(rd_kafka_opaque(client))->note(text);
}

}  // namespace

void Config::set(const std::string& name, const std::string& value) {
  char why[512] = "";
  const auto outcome = rd_kafka_conf_set(get(), name.c_str(), value.c_str(), why, sizeof why);
  if (outcome != RD_KAFKA_CONF_OK && problem_) problem_ = Error{why, ""};
}

Result<void> Config::check() const { return problem_; }

Result<Owned<rd_kafka_t>> Config::make(rd_kafka_type_t type, Trouble& trouble) {
  if (!problem_) return problem_.error();
  rd_kafka_conf_set_opaque(get(), &trouble);
  rd_kafka_conf_set_error_cb(get(), on_error);
  rd_kafka_conf_set_log_cb(get(), on_log);
  char why[512] = "";
  Owned<rd_kafka_t> client(rd_kafka_new(type, get(), why, sizeof why));
  if (client == nullptr) return Error{std::string("librdkafka: ") + why, ""};
  static_cast<void>(config_.release());
  return {std::in_place, std::move(client)};
}

Result<void> configure(Config& config, const Settings& settings, const std::string& door) {
  config.set("bootstrap.servers", settings.broker);
  config.set("client.id", settings.client_id.empty() ? "gorgo-" + door : settings.client_id);
  if (!settings.ca.empty()) {
    config.set("security.protocol", settings.user.empty() ? "ssl" : "sasl_ssl");
    config.set("ssl.ca.location", settings.ca);
  } else if (!settings.user.empty()) {
    config.set("security.protocol", "sasl_plaintext");
  }
  if (!settings.user.empty()) {
    const auto password = password_of(settings);
    if (!password) return password.error();
    config.set("sasl.mechanism", "PLAIN");
    config.set("sasl.username", settings.user);
    config.set("sasl.password", *password);
  }
  for (const auto& [name, value] : settings.properties) config.set(name, value);
  return config.check();
}

}  // namespace gorgo::doors::kafka
