#pragma once

#include <string>

#include "server/security/secrets.hpp"
#include "tls_support.hpp"

namespace gorgo::server {

/// A file of users, and what they log in with.
class UsersFile {
 public:
  /// `admin` may do everything and has the password "wonderland" and a token; the others are given
  /// as TOML.
  explicit UsersFile(const std::string& others = "") : token_(new_token()) {
    static const std::string password = *hash_password("wonderland");
    text_ = "[[user]]\nname = \"admin\"\npassword = \"" + password + "\"\ntokens = [\"" +
            hash_of_token(token_) +
            "\"]\npublish = [\"*\"]\nsubscribe = [\"*\"]\n"
            "rules = [\"see\", \"deploy\", \"remove\"]\nadmin = true\n";
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("gorgo_users_" + std::to_string(getpid()) + "_" + token_);
    std::filesystem::create_directories(folder_);
    write(others);
  }
  ~UsersFile() { std::filesystem::remove_all(folder_); }
  UsersFile(const UsersFile&) = delete;
  UsersFile& operator=(const UsersFile&) = delete;

  std::string path() const { return (folder_ / "users.toml").string(); }
  void write(const std::string& others) const { replace(text_ + others); }
  void replace(const std::string& text) const {
    std::ofstream(path()) << text;
    std::filesystem::permissions(
        path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  /// The token of the user `admin`.
  const std::string& token() const { return token_; }

  ServerOptions server(ServerOptions options = {}) const {
    options.listen = "127.0.0.1:0";
    options.security.users = path();
    return options;
  }

 private:
  std::string token_, text_;
  std::filesystem::path folder_;
};

/// A user of the file with this token and these further keys.
inline std::string user_with_token(const std::string& name, const std::string& token,
                                   const std::string& keys = "") {
  return "[[user]]\nname = \"" + name + "\"\ntokens = [\"" + hash_of_token(token) + "\"]\n" + keys +
         "\n";
}

inline ClientOptions by_token(const std::string& token, ClientOptions options = {}) {
  options.token = token;
  return options;
}
inline ClientOptions by_password(const std::string& user, const std::string& password) {
  ClientOptions options;
  options.user = user;
  options.password = password;
  return options;
}
inline std::string bearer(const std::string& token) {
  return "Authorization: Bearer " + token + "\r\n";
}

inline std::string error_of(const Result<Client>& client) {
  return client ? "connected" : client.error().message;
}

}  // namespace gorgo::server
