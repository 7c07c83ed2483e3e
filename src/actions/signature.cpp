#include "actions/signature.hpp"

#include <sodium.h>

namespace gorgo::actions {
namespace {

void update(crypto_auth_hmacsha256_state& state, std::string_view bytes) {
  crypto_auth_hmacsha256_update(&state, reinterpret_cast<const unsigned char*>(bytes.data()),
                                bytes.size());
}

}  // namespace

Result<Signer> Signer::make(std::string_view secret) {
  constexpr std::string_view kPrefix = "whsec_", kBlanks = " \t\r\n";
  constexpr std::size_t kShortest = 16;
  const Error wrong{"this is no secret for webhooks",
                    "write whsec_ and 24 to 64 bytes in base64: "
                    "echo whsec_$(openssl rand -base64 32)"};
  const std::size_t begin = secret.find_first_not_of(kBlanks);
  if (begin == secret.npos) return wrong;
  secret = secret.substr(begin, secret.find_last_not_of(kBlanks) + 1 - begin);
  if (!secret.starts_with(kPrefix)) return wrong;
  secret.remove_prefix(kPrefix.size());
  Signer signer;
  signer.key_.resize(secret.size());
  std::size_t size = 0;
  const int decoded = sodium_base642bin(reinterpret_cast<unsigned char*>(signer.key_.data()),
                                        signer.key_.size(), secret.data(), secret.size(), nullptr,
                                        &size, nullptr, sodium_base64_VARIANT_ORIGINAL);
  if (decoded != 0 || size < kShortest) return wrong;
  signer.key_.resize(size);
  return signer;
}

std::string Signer::sign(std::string_view id, std::int64_t seconds, std::string_view body) const {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, reinterpret_cast<const unsigned char*>(key_.data()),
                              key_.size());
  update(state, id);
  update(state, "." + std::to_string(seconds) + ".");
  update(state, body);
  unsigned char digest[crypto_auth_hmacsha256_BYTES];
  crypto_auth_hmacsha256_final(&state, digest);
  char text[sodium_base64_ENCODED_LEN(sizeof digest, sodium_base64_VARIANT_ORIGINAL)];
  sodium_bin2base64(text, sizeof text, digest, sizeof digest, sodium_base64_VARIANT_ORIGINAL);
  return std::string("v1,") + text;
}

}  // namespace gorgo::actions
