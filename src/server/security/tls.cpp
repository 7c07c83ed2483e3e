#include "server/security/tls.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/file.hpp"
#include "server/endpoint_text.hpp"
#include "server/security/secret_file.hpp"

namespace gorgo::server {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Error wrong_file(const std::string& key, const std::string& path, const error_code& failure) {
  return {key + ": " + path + ": " + plain(failure), "it must be a file in the PEM format"};
}

Result<void> use_certificate(ssl::context& context, const std::string& path) {
  const auto chain = read_regular_file(path);
  if (!chain) return Error{"tls.certificate: " + chain.error().message, chain.error().hint};
  error_code failure;
  context.use_certificate_chain(asio::buffer(*chain), failure);
  if (failure) return wrong_file("tls.certificate", path, failure);
  return {};
}

Result<void> use_key(ssl::context& context, const std::string& path) {
  const auto key = read_secret_file(path);
  if (!key) return Error{"tls.key: " + key.error().message, key.error().hint};
  error_code failure;
  bool is_encrypted = false;
  context.set_password_callback(
      [&is_encrypted](std::size_t, ssl::context::password_purpose) {
        is_encrypted = true;
        return "";
      },
      failure);
  if (!failure) context.use_private_key(asio::buffer(*key), ssl::context::pem, failure);
  if (!failure) return {};
  if (is_encrypted) {
    return Error{"tls.key: " + path + " is encrypted, and nobody is there to type its password",
                 "write it out with `openssl pkey -in " + path +
                     " -out plain.key`, and let nobody else read it"};
  }
  if (ERR_GET_REASON(static_cast<unsigned long>(failure.value())) == X509_R_KEY_VALUES_MISMATCH) {
    return Error{"tls.key: " + path + " does not belong to tls.certificate", ""};
  }
  return wrong_file("tls.key", path, failure);
}

struct FreeX509 {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Certificate = std::unique_ptr<X509, FreeX509>;

/// Whether OpenSSL would believe nothing because of this certificate: it signs no other, and it is
/// not one that its owner has signed, which stands for itself.
bool vouches_for_nothing(X509& certificate) {
  return X509_check_ca(&certificate) == 0 &&
         (X509_get_extension_flags(&certificate) & EXFLAG_SS) == 0;
}

Result<void> check_authorities(const std::string& pem, const std::string& path) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  int number = 0;
  while (const Certificate next{PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)}) {
    ++number;
    if (!vouches_for_nothing(*next)) continue;
    return Error{"tls.client_ca: " + path + ": certificate " + std::to_string(number) +
                     " is not that of an authority",
                 "name the certificate of whoever has signed those of the clients"};
  }
  ERR_clear_error();  // the end of the text is one
  return {};
}

/// Whoever shows a certificate must have it from these authorities.
Result<void> use_client_ca(ssl::context& context, const TlsOptions& options) {
  if (options.client_ca.empty()) return {};
  const auto certificates = read_regular_file(options.client_ca);
  if (!certificates) {
    return Error{"tls.client_ca: " + certificates.error().message, certificates.error().hint};
  }
  error_code failure;
  context.add_certificate_authority(asio::buffer(*certificates), failure);
  if (failure) return wrong_file("tls.client_ca", options.client_ca, failure);
  if (auto checked = check_authorities(*certificates, options.client_ca); !checked) return checked;
  auto mode = ssl::verify_peer;
  if (options.require_client_certificate) mode |= ssl::verify_fail_if_no_peer_cert;
  context.set_verify_mode(mode, failure);
  // Clients that have several certificates choose by the names of the authorities.
  SSL_CTX_set_client_CA_list(context.native_handle(),
                             SSL_load_client_CA_file(options.client_ca.c_str()));
  return {};
}

using Certificates = std::vector<const X509*>;

/// The certificate, and those that stand behind it in its file.
Certificates shown_by(const TlsContext& context) {
  SSL_CTX* const handle = context->native_handle();
  Certificates all{SSL_CTX_get0_certificate(handle)};
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get_extra_chain_certs(handle, &chain);
  for (int i = 0; i < sk_X509_num(chain); ++i) all.push_back(sk_X509_value(chain, i));
  return all;
}

Certificates believed_by(const TlsContext& context) {
  Certificates all;
  const STACK_OF(X509_OBJECT)* const known =
      X509_STORE_get0_objects(SSL_CTX_get_cert_store(context->native_handle()));
  for (int i = 0; i < sk_X509_OBJECT_num(known); ++i) {
    const X509* const one = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(known, i));
    if (one != nullptr) all.push_back(one);
  }
  return all;
}

/// In any order: OpenSSL sorts some of its lists when they are first used.
bool are_same(const Certificates& some, const Certificates& others) {
  return std::ranges::is_permutation(
      some, others, [](const X509* one, const X509* other) { return X509_cmp(one, other) == 0; });
}

Result<void> only_tls_1_3(ssl::context& context) {
  SSL_CTX* const handle = context.native_handle();
  const bool done = SSL_CTX_set_min_proto_version(handle, TLS1_3_VERSION) == 1 &&
                    SSL_CTX_set_max_proto_version(handle, TLS1_3_VERSION) == 1 &&
                    // A session that is resumed would outlive a certificate that was withdrawn.
                    SSL_CTX_set_num_tickets(handle, 0) == 1;
  SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
  // An idle connection keeps no buffers.
  SSL_CTX_set_mode(handle, SSL_MODE_RELEASE_BUFFERS);
  if (!done) return Error{"OpenSSL does not offer TLS 1.3", ""};
  return {};
}

}  // namespace

Result<TlsContext> make_tls_context(const TlsOptions& options) {
  if (options.certificate.empty()) return TlsContext();
  const auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  if (auto done = only_tls_1_3(*context); !done) return done.error();
  if (auto done = use_certificate(*context, options.certificate); !done) return done.error();
  if (auto done = use_key(*context, options.key); !done) return done.error();
  if (auto done = use_client_ca(*context, options); !done) return done.error();
  return context;
}

std::chrono::sys_seconds expiry_of(const TlsContext& context) {
  auto first = std::chrono::sys_seconds::max();
  for (const X509* one : shown_by(context)) {
    std::tm until{};
    if (one == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(one), &until) != 1) continue;
    first = std::min(first, std::chrono::sys_seconds(std::chrono::seconds(timegm(&until))));
  }
  return first;
}

std::vector<std::string> differences_between(const TlsContext& before, const TlsContext& now) {
  std::vector<std::string> differences;
  if (!are_same(shown_by(before), shown_by(now))) differences.emplace_back("another certificate");
  if (!are_same(believed_by(before), believed_by(now))) {
    differences.emplace_back("other authorities of clients");
  }
  return differences;
}

std::optional<std::string> common_name_of(protocol::Stream::Tls& tls) {
  const Certificate certificate(SSL_get1_peer_certificate(tls.native_handle()));
  if (certificate == nullptr || SSL_get_verify_result(tls.native_handle()) != X509_V_OK) {
    return std::nullopt;
  }
  const X509_NAME* const subject = X509_get_subject_name(certificate.get());
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  // Whose certificate has two names could be two users.
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return "";
  unsigned char* text = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  if (size < 0) return "";
  const std::string name(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  OPENSSL_free(text);
  return name;
}

}  // namespace gorgo::server
