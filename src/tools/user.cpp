#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <string>

#include "server/security/secrets.hpp"
#include "tools/commands.hpp"
#include "tools/output.hpp"

namespace gorgo::tools {
namespace {

/// Keeps what is typed from being shown while it lives.
class Unseen {
 public:
  Unseen() : is_terminal_(tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!is_terminal_) return;
    std::fputs("password: ", stderr);
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
  }
  ~Unseen() {
    if (!is_terminal_) return;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    std::fputs("\n", stderr);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  termios before_{};
  const bool is_terminal_;
};

int print_hash() {
  std::string password;
  {
    const Unseen unseen;
    std::getline(std::cin, password);
  }
  if (password.ends_with('\r')) password.pop_back();
  const auto hash = server::hash_password(password);
  if (!hash) return fail(hash.error());
  std::puts(hash->c_str());
  return kSuccess;
}

int print_token() {
  const std::string token = server::new_token();
  std::printf("token: %s\nhash:  %s\n", token.c_str(), server::hash_of_token(token).c_str());
  return kSuccess;
}

}  // namespace

void add_user(CLI::App& app, int& exit_code) {
  auto* user =
      app.add_subcommand("user", "Make what stands in a server's file of users (docs/security.md)");
  user->require_subcommand(1);
  user->add_subcommand("hash", "Read a password, from the terminal or stdin, and print its hash")
      ->callback([&exit_code] { exit_code = print_hash(); });
  user->add_subcommand("token", "Print a new token for a client, and its hash for the server")
      ->callback([&exit_code] { exit_code = print_token(); });
}

}  // namespace gorgo::tools
