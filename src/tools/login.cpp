#include "tools/login.hpp"

#include <CLI/CLI.hpp>

#include "base/file.hpp"
#include "tools/contexts.hpp"

namespace gorgo::tools {
namespace {

/// The first line of a file; "" for no file.
Result<std::string> secret_in(const std::string& path) {
  if (path.empty()) return {std::in_place, ""};
  auto text = read_file(path, std::size_t{64} << 10);
  if (!text) return text.error();
  const std::string line = text->substr(0, text->find_first_of("\r\n"));
  if (line.empty()) return Error{path + " has no secret in its first line", ""};
  return {std::in_place, line};
}

}  // namespace

void add_login(CLI::App& command, Login& login) {
  command.add_flag("--tls", login.tls.enabled, "Encrypt the connection, and know the server");
  command
      .add_option("--ca", login.tls.ca, "Authorities of servers; else those of the system (TLS)")
      ->option_text("FILE.pem");
  command.add_option("--cert", login.tls.certificate, "Certificate to show to the server (TLS)")
      ->option_text("FILE.pem");
  command.add_option("--key", login.tls.key, "Its private key")->option_text("FILE");
  command.add_option("--token-file", login.token_file, "File with a token that says who you are")
      ->option_text("FILE");
  auto* user = command.add_option("--user", login.user, "Who you are")->option_text("NAME");
  auto* password =
      command
          .add_option("--password-file", login.password_file, "File with the password of --user")
          ->option_text("FILE");
  user->needs(password);
  password->needs(user);
}

Result<ClientOptions> client_options(const std::string& name, const Login& login) {
  expect_known_server();
  const auto token = secret_in(login.token_file), password = secret_in(login.password_file);
  if (!token) return token.error();
  if (!password) return password.error();
  ClientOptions options{.name = "gorgo " + name};
  options.tls = login.tls;
  options.tls.enabled =
      login.tls.enabled || !login.tls.ca.empty() || !login.tls.certificate.empty();
  options.token = *token;
  options.user = login.user;
  options.password = *password;
  return options;
}

Result<Client> connect(const std::string& address, const std::string& name, const Login& login,
                       const Manner& manner) {
  auto options = client_options(name, login);
  if (!options) return options.error();
  options->heartbeats = manner.heartbeats;
  options->producer = manner.producer;
  options->reply_timeout = manner.reply_timeout;
  return Client::connect(address, *std::move(options));
}

}  // namespace gorgo::tools
