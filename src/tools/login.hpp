#pragma once

#include <cstdint>
#include <string>

#include "gorgo/client.hpp"

namespace CLI {
class App;
}

namespace gorgo::tools {

/// How a command protects its connection to a server, and who it says it is. Secrets come from
/// files, because everybody on the machine can read a command line.
struct Login {
  TlsClientOptions tls;
  std::string token_file, user, password_file;  ///< empty: none
};

/// Adds `--tls`, `--ca`, `--cert`, `--key`, `--token-file`, `--user` and `--password-file` to a
/// command. `login` must outlive it.
void add_login(CLI::App& command, Login& login);

/// What a connection as the command `name` needs. An error names the file that cannot be used.
/// Throws UnknownServer (contexts.hpp) where nobody can know which server is meant.
Result<ClientOptions> client_options(const std::string& name, const Login& login);

/// See ClientOptions.
struct Manner {
  bool heartbeats = false;
  std::uint64_t producer = 0;
  Duration reply_timeout = 0;
};

/// Connects as the command `name` of the command line.
Result<Client> connect(const std::string& address, const std::string& name, const Login& login,
                       const Manner& manner = {});

}  // namespace gorgo::tools
