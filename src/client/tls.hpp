#pragma once

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <string>

#include "gorgo/client.hpp"
#include "protocol/stream.hpp"

namespace gorgo::client {

/// A failure for people, in the middle of a sentence.
std::string plain(const boost::system::error_code& failure);

/// What a client trusts and shows. An error names the file and says what is wrong with it.
Result<boost::asio::ssl::context> make_tls_context(const TlsClientOptions& options);

/// The handshake is to fail unless the server's certificate is for this name or IP address.
void expect_host(protocol::Stream::Tls& tls, const std::string& host);

/// Why a handshake failed, for people.
Error handshake_error(protocol::Stream::Tls& tls, const std::string& address,
                      const boost::system::error_code& failure);

}  // namespace gorgo::client
