#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"

namespace gorgo::server {

/// A token that nobody can guess: "gorgo_" and 256 random bits.
std::string new_token();
/// "sha256:" and 64 hexadecimal digits. A token holds 256 random bits, which no search finds, so a
/// fast hash is enough for it; one for passwords would only cost time.
std::string hash_of_token(std::string_view token);
bool is_token_hash(std::string_view text);

inline constexpr std::size_t kLongestPassword = 1024;  ///< bytes; a longer one is never right

/// A hash of argon2id with a salt of its own. Takes a tenth of a second and 64 MiB on purpose.
Result<std::string> hash_password(std::string_view password);
bool is_password_hash(std::string_view text);
/// Whether a check of this hash takes no more than libsodium's costliest level: 1 GiB, four times
/// over. Whoever asks for more would have each login take seconds. Precondition: it is a hash.
bool has_bearable_cost(std::string_view hash);

enum class Verdict { right, wrong, no_memory };
/// Takes as long as `hash_password`, whatever the outcome. Any thread.
Verdict check_password(const std::string& hash, std::string_view password);

/// The number by which the server knows a producer of the user, so that no other user's producer
/// has it, however numbers are chosen. Not 0.
std::uint64_t number_among_all(std::string_view user, std::uint64_t producer);

/// The bytes that a text in Base64 stands for (RFC 4648, with or without padding).
Result<std::string> decode_base64(std::string_view text);

}  // namespace gorgo::server
