#include "server_process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace gorgo::soak {
namespace {

[[noreturn]] void become(std::vector<std::string> arguments, const std::string& log, int out,
                         std::size_t address_space) {
  if (address_space > 0) {
    const rlimit limit{address_space, address_space};
    setrlimit(RLIMIT_AS, &limit);
  }
  const int errors = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(out, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  arguments.insert(arguments.begin(), GORGO_BINARY);
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(GORGO_BINARY, argv.data());
  _exit(127);
}

/// The port in "listening on 127.0.0.1:PORT"; 0: the line is another one.
std::uint16_t port_in(const std::string& line) {
  const auto colon = line.rfind(':');
  if (!line.starts_with("listening on ") || colon == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::stoul(line.substr(colon + 1)));
}

}  // namespace

ServerProcess::ServerProcess(std::vector<std::string> arguments, const std::string& log,
                             std::size_t address_space) {
  std::array<int, 2> out;
  if (pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  pid_ = fork();
  if (pid_ == 0) become(std::move(arguments), log, out[1], address_space);
  close(out[1]);
  FILE* const lines = fdopen(out[0], "r");
  std::array<char, 256> line{};
  if (std::fgets(line.data(), line.size(), lines) != nullptr) port_ = port_in(line.data());
  std::fclose(lines);
  if (port_ == 0) throw std::runtime_error("the server did not start, see " + log);
}

ServerProcess::~ServerProcess() {
  if (!is_running()) return;
  signal(SIGKILL);
  reap(0);
}

void ServerProcess::signal(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

void ServerProcess::reap(int options) {
  int status = 0;
  if (pid_ < 0 || waitpid(pid_, &status, options) != pid_) return;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  pid_ = -1;
}

bool ServerProcess::is_running() {
  reap(WNOHANG);
  return pid_ >= 0;
}

std::size_t ServerProcess::peak_mib() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib >> 10;
  }
  return 0;
}

int ServerProcess::stop() {
  if (is_running()) {
    signal(SIGTERM);
    reap(0);
  }
  return status_;
}

}  // namespace gorgo::soak
