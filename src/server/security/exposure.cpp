#include "server/security/exposure.hpp"

namespace gorgo::server {

std::string danger_of(const ServerOptions& options, bool is_trex) {
  if (options.insecure && options.security.insecure) return "";
  const bool needs_certificate = options.tls.require_client_certificate;
  if (!needs_certificate && options.security.users.empty()) {
    return "whoever connects may do everything";
  }
  if (!needs_certificate && is_trex && !options.trex.user.empty()) {
    return "whoever connects is the user '" + options.trex.user + "'";
  }
  if (options.tls.certificate.empty()) return "passwords, tokens and events travel unencrypted";
  return "";
}

}  // namespace gorgo::server
