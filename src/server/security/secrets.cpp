#include "server/security/secrets.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gorgo::server {
namespace {

constexpr std::string_view kTokenHash = "sha256:";
constexpr std::string_view kPasswordHash = "$argon2id$";

/// Does nothing after the first call. Without it, libsodium draws random numbers more slowly.
void begin() {
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot start");
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string new_token() {
  begin();
  std::array<unsigned char, 32> random{};
  randombytes_buf(random.data(), random.size());
  constexpr int kForm = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::array<char, sodium_base64_ENCODED_LEN(32, kForm)> text{};
  sodium_bin2base64(text.data(), text.size(), random.data(), random.size(), kForm);
  return std::string("gorgo_") + text.data();
}

std::string hash_of_token(std::string_view token) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> hash{};
  crypto_hash_sha256(hash.data(), bytes_of(token), token.size());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> hex{};
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  return std::string(kTokenHash) + hex.data();
}

bool is_token_hash(std::string_view text) {
  if (!text.starts_with(kTokenHash)) return false;
  text.remove_prefix(kTokenHash.size());
  return text.size() == 2 * crypto_hash_sha256_BYTES &&
         text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::uint64_t number_among_all(std::string_view user, std::uint64_t producer) {
  std::array<unsigned char, sizeof producer> number{};
  std::memcpy(number.data(), &producer, sizeof producer);
  crypto_generichash_state state;
  std::array<unsigned char, crypto_generichash_BYTES> hash{};
  crypto_generichash_init(&state, nullptr, 0, hash.size());
  crypto_generichash_update(&state, bytes_of(user), user.size());
  crypto_generichash_update(&state, number.data(), number.size());
  crypto_generichash_final(&state, hash.data(), hash.size());
  std::uint64_t known = 0;
  std::memcpy(&known, hash.data(), sizeof known);
  return std::max<std::uint64_t>(known, 1);
}

Result<std::string> hash_password(std::string_view password) {
  begin();
  if (password.empty()) return Error{"the password is empty", ""};
  if (password.size() > kLongestPassword) {
    return Error{"the password has more than " + std::to_string(kLongestPassword) + " bytes",
                 "take a shorter one, no login accepts it"};
  }
  std::array<char, crypto_pwhash_STRBYTES> hash{};
  const int done = crypto_pwhash_str_alg(
      hash.data(), password.data(), password.size(), crypto_pwhash_OPSLIMIT_INTERACTIVE,
      crypto_pwhash_MEMLIMIT_INTERACTIVE, crypto_pwhash_ALG_ARGON2ID13);
  if (done != 0) return Error{"there is not enough memory to hash a password", ""};
  return {std::in_place, hash.data()};
}

bool is_password_hash(std::string_view text) {
  if (!text.starts_with(kPasswordHash) || text.size() >= crypto_pwhash_STRBYTES) return false;
  // The check fails where the text is no hash, whatever the limits.
  return crypto_pwhash_str_needs_rehash(std::string(text).c_str(),
                                        crypto_pwhash_OPSLIMIT_INTERACTIVE,
                                        crypto_pwhash_MEMLIMIT_INTERACTIVE) >= 0;
}

bool has_bearable_cost(std::string_view hash) {
  // $argon2id$v=19$m=65536,t=2,p=1$, then salt and hash; m in KiB.
  unsigned long long version = 0, memory = 0, passes = 0;
  const int read = std::sscanf(std::string(hash).c_str(), "$argon2id$v=%llu$m=%llu,t=%llu,",
                               &version, &memory, &passes);
  return read == 3 && memory <= crypto_pwhash_MEMLIMIT_SENSITIVE / 1024 &&
         passes <= crypto_pwhash_OPSLIMIT_SENSITIVE;
}

Verdict check_password(const std::string& hash, std::string_view password) {
  begin();
  std::array<char, crypto_pwhash_STRBYTES> padded{};
  std::copy_n(hash.begin(), std::min(hash.size(), padded.size() - 1), padded.begin());
  errno = 0;
  if (crypto_pwhash_str_verify(padded.data(), password.data(), password.size()) == 0) {
    return Verdict::right;
  }
  return errno == EINVAL ? Verdict::wrong : Verdict::no_memory;
}

Result<std::string> decode_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes(text.size() / 4 * 3 + 3, '\0');
  std::size_t size = 0;
  const int done = sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(),
                                     text.data(), text.size(), nullptr, &size, nullptr,
                                     sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
  if (done != 0) return Error{"this is no Base64", ""};
  bytes.resize(size);
  return {std::in_place, std::move(bytes)};
}

}  // namespace gorgo::server
