#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "protocol/stream.hpp"
#include "server/options.hpp"

namespace gorgo::server {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

/// Reads the certificates and the key that the options name. Null: the options ask for no TLS. An
/// error names the file and what is wrong with it.
Result<TlsContext> make_tls_context(const TlsOptions& options);

/// Whether both show the same certificate. Precondition: neither is null.
bool have_same_certificate(const TlsContext& one, const TlsContext& other);

/// The common name in the certificate that the client has proved to own; empty: there is none, or
/// more than one. Nothing: the client showed no certificate. Precondition: the handshake is over.
std::optional<std::string> common_name_of(protocol::Stream::Tls& tls);

}  // namespace gorgo::server
