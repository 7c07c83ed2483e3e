#pragma once

#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/stream.hpp"
#include "server/options.hpp"

namespace gorgo::server {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

/// Reads the certificates and the key that the options name. Null: the options ask for no TLS. An
/// error names the file and what is wrong with it.
Result<TlsContext> make_tls_context(const TlsOptions& options);

/// When the first of the certificates that the server shows expires. Precondition: it is not null.
std::chrono::sys_seconds expiry_of(const TlsContext& context);

/// What is different for clients, for people: "another certificate". Precondition: neither is null.
std::vector<std::string> differences_between(const TlsContext& before, const TlsContext& now);

/// The common name in the certificate that the client has proved to own; empty: there is none, or
/// more than one. Nothing: the client showed no certificate. Precondition: the handshake is over.
std::optional<std::string> common_name_of(protocol::Stream::Tls& tls);

}  // namespace gorgo::server
