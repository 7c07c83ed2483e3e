#include "client/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <cctype>
#include <utility>

#include "client/replies.hpp"

namespace gorgo::client {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

bool is_ip(const std::string& host) {
  error_code failure;
  boost::asio::ip::make_address(host, failure);
  return !failure;
}

Result<void> read(const std::string& option, const std::string& path, const error_code& failure) {
  if (!failure) return {};
  return Error{option + ": " + path + ": " + plain(failure), "it must be a file in the PEM format"};
}

Result<void> use_files(ssl::context& context, const TlsClientOptions& options) {
  error_code failure;
  if (options.ca.empty()) {
    context.set_default_verify_paths(failure);
  } else {
    context.load_verify_file(options.ca, failure);
  }
  if (auto done = read("the file of authorities", options.ca, failure); !done) return done;
  if (options.certificate.empty() != options.key.empty()) {
    return Error{"a certificate and its key go together", "give both or neither"};
  }
  if (options.certificate.empty()) return {};
  context.use_certificate_chain_file(options.certificate, failure);
  if (auto done = read("the certificate", options.certificate, failure); !done) return done;
  context.use_private_key_file(options.key, ssl::context::pem, failure);
  return read("the key of the certificate", options.key, failure);
}

}  // namespace

std::string plain(const error_code& failure) {
  std::string text = failure.message();
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

Result<ssl::context> make_tls_context(const TlsClientOptions& options) {
  ssl::context context(ssl::context::tls_client);
  error_code failure;
  context.set_verify_mode(ssl::verify_peer, failure);
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_3_VERSION);
  if (auto done = use_files(context, options); !done) return done.error();
  return context;
}

void expect_host(protocol::Stream::Tls& tls, const std::string& host) {
  SSL* const handle = tls.native_handle();
  if (is_ip(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host.c_str());
  } else {
    SSL_set1_host(handle, host.c_str());
    SSL_ctrl(handle, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(host.c_str()));
  }
}

Error handshake_error(protocol::Stream::Tls& tls, const std::string& address,
                      const error_code& failure) {
  const long verdict = SSL_get_verify_result(tls.native_handle());
  if (verdict != X509_V_OK) {
    return {
        "the server at " + address + " is not trusted: " + X509_verify_cert_error_string(verdict),
        "name the file of its authority, and call the server as its certificate does", kConnect};
  }
  return {"no TLS with " + address + ": " + plain(failure),
          "does the server speak TLS 1.3 on this port?", kConnect};
}

}  // namespace gorgo::client
