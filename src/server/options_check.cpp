#include <algorithm>
#include <string>

#include "protocol/address.hpp"
#include "server/http/origin.hpp"
#include "server/http/redaction.hpp"
#include "server/options.hpp"

namespace gorgo::server {
namespace {

Result<void> check_listen(const char* key, const std::string& address) {
  const auto parsed = protocol::parse_listen_address(address);
  if (parsed) return {};
  return Error{std::string(key) + ": " + parsed.error().message, parsed.error().hint};
}

/// A port that is only opened when it is asked for.
Result<void> check_further_port(const char* key, const std::string& address) {
  return address.empty() ? Result<void>() : check_listen(key, address);
}

Result<void> check_engine(const std::string& name) {
  const auto engines = engine_names();
  if (std::ranges::find(engines, name) != engines.end()) return {};
  std::string known;
  for (const auto& engine : engines) known += (known.empty() ? "" : ", ") + engine;
  return Error{"unknown engine '" + name + "'", "one of " + known};
}

/// A limit of bytes holds at least one frame.
Result<void> holds_a_frame(const char* key, std::size_t bytes, const Limits& limits) {
  if (bytes >= limits.max_frame) return {};
  return Error{std::string(key) + " = " + std::to_string(bytes) +
                   " is less than limits.max_frame = " + std::to_string(limits.max_frame),
               "raise the one or lower the other"};
}

Result<void> check_tls(const TlsOptions& tls) {
  if (tls.certificate.empty() != tls.key.empty()) {
    return Error{"tls.certificate and tls.key go together", "give both or neither"};
  }
  if (tls.certificate.empty() && !tls.client_ca.empty()) {
    return Error{"tls.client_ca does nothing without TLS", "give tls.certificate and tls.key"};
  }
  if (tls.require_client_certificate && tls.client_ca.empty()) {
    return Error{"tls.require_client_certificate needs tls.client_ca",
                 "name the file of the authorities that issue clients' certificates"};
  }
  return {};
}

Result<void> check_trex_user(const ServerOptions& options) {
  if (options.trex.user.empty() || !options.security.users.empty()) return {};
  return Error{"trex.user does nothing without security.users", "name the file of users"};
}

Result<void> check_cluster(const ServerOptions& options) {
  if (auto checked = cluster::check(options.cluster); !checked) return checked;
  if (!options.cluster.is_on()) return {};
  if (options.journal.path.empty()) {
    return Error{
        "a node of a cluster needs a journal, which keeps events until the brokers have them",
        "name a folder as journal.path"};
  }
  if (options.journal.backlog_policy != BacklogPolicy::refuse) {
    return Error{"a node of a cluster must not drop events that wait for the brokers",
                 "journal.backlog_policy = \"refuse\""};
  }
  return {};
}

}  // namespace

Result<void> check(const ServerOptions& options) {
  const Limits& limits = options.limits;
  const Result<void> checks[] = {
      check_listen("listen", options.listen),
      check_further_port("http.listen", options.http.listen),
      check_further_port("trex.listen", options.trex.listen),
      check_tls(options.tls),
      http::check_redaction(options.http.redact),
      http::check_origins(options.http.origins),
      check_trex_user(options),
      check_cluster(options),
      check_engine(options.processor.engine),
      holds_a_frame("limits.queue_bytes", limits.queue_bytes, limits),
      holds_a_frame("limits.outbound_bytes", limits.outbound_bytes, limits),
      holds_a_frame("limits.memory_bytes", limits.memory_bytes, limits)};
  for (const auto& checked : checks) {
    if (!checked) return checked;
  }
  for (const auto& [name, target] : options.actions) {
    if (auto checked = actions::check(name, target); !checked) return checked;
  }
  return doors::check(options.doors);
}

}  // namespace gorgo::server
