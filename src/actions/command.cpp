#include "actions/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "codec/text.hpp"

namespace gorgo::actions {
namespace {

using std::chrono::steady_clock;
using What = Outcome::What;

constexpr std::chrono::milliseconds kLook{20};  // at programs that run
constexpr std::size_t kMostSaid = 500;          // bytes that are kept of what a program says

Error failed(const char* what) {
  return {std::string("cannot ") + what + ": " + std::strerror(errno), ""};
}

/// The file that a program reads the event from. It has no name, so it goes with its last user.
Result<int> input_of(const Order& order) {
  const std::string lines = lines_of(order);
  const int file = memfd_create("event", MFD_CLOEXEC);
  if (file < 0) return failed("make room for an event");
  if (write(file, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size()) ||
      lseek(file, 0, SEEK_SET) != 0) {
    close(file);
    return failed("write an event");
  }
  return file;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    // A program sees an argument up to its first zero byte.
    std::erase(text, '\0');
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// Starts the program as the leader of a process group of its own. Returns 0 or an error number.
int spawn(pid_t& id, std::vector<std::string> arguments, std::vector<std::string> environment,
          int input, int errors) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
  // Nothing else of the server's: neither its ports nor the connections of its clients.
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const auto argv = pointers_to(arguments);
  const auto envp = pointers_to(environment);
  const int error = posix_spawn(&id, argv.front(), &files, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

std::string how_it_ended(int status) {
  if (WIFEXITED(status))
    return "the program ended with code " + std::to_string(WEXITSTATUS(status));
  return "the program was ended by signal " + std::to_string(WTERMSIG(status));
}

}  // namespace

Result<Command::Running> Command::start(const Order& order) const {
  std::vector<std::string> arguments;
  for (const std::string& argument : settings_.command) {
    arguments.push_back(arguments.empty() ? argument : filled(argument, order.rows.front()));
  }
  const auto input = input_of(order);
  if (!input) return input.error();
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    close(*input);
    return failed("make a pipe");
  }
  Running running;
  running.errors = pipe[0];
  const int error =
      spawn(running.id, std::move(arguments),
            {"PATH=/usr/local/bin:/usr/bin:/bin", "GORGO_KEY=" + order.key}, *input, pipe[1]);
  close(*input);
  close(pipe[1]);
  if (error == 0) {
    running.until = steady_clock::now() + std::chrono::milliseconds(settings_.timeout_ms);
    return running;
  }
  close(pipe[0]);
  return Error{"cannot start " + settings_.command.front() + ": " + std::strerror(error), ""};
}

bool Command::look(Running& running, Outcome& outcome) const {
  std::array<char, 4096> bytes{};
  for (ssize_t size = 1; size > 0;) {
    size = read(running.errors, bytes.data(), bytes.size());
    const std::size_t kept = size > 0 ? static_cast<std::size_t>(size) : 0;
    running.said.append(bytes.data(), std::min(kept, kMostSaid - running.said.size()));
  }
  const bool is_late = steady_clock::now() >= running.until || is_woken_;
  if (is_late) kill(-running.id, SIGKILL);
  siginfo_t ended = {};
  const auto id = static_cast<id_t>(running.id);
  // It stays a zombie at first, so that its number is no other group's when what it has left behind
  // is ended.
  waitid(P_PID, id, &ended, WEXITED | WNOWAIT | (is_late ? 0 : WNOHANG));
  if (ended.si_pid == 0) return false;
  kill(-running.id, SIGKILL);
  int status = 0;
  waitpid(running.id, &status, 0);
  close(running.errors);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    outcome = {};
    return true;
  }
  const std::string said = codec::is_valid_utf8(running.said) ? running.said : "";
  outcome = {What::failed,
             (is_late ? "the program took longer than timeout_ms" : how_it_ended(status)) +
                 (said.empty() ? "" : ": " + said)};
  return true;
}

std::vector<Outcome> Command::attempt(std::span<const Order* const> orders) {
  std::vector<Outcome> outcomes(orders.size(), {What::failed, "the server ends"});
  std::vector<Running> all;
  std::size_t next = 0;
  while (!all.empty() || (next < orders.size() && !is_woken_)) {
    while (next < orders.size() && !is_woken_ &&
           all.size() < static_cast<std::size_t>(settings_.in_flight)) {
      auto running = start(*orders[next]);
      if (running) {
        running->order = next;
        all.push_back(std::move(*running));
      } else {
        outcomes[next] = {What::failed, running.error().message};
      }
      ++next;
    }
    std::vector<pollfd> waited;
    for (const Running& one : all) waited.push_back({one.errors, POLLIN, 0});
    // The end of the pipe is mostly that of the program.
    if (!waited.empty()) poll(waited.data(), waited.size(), static_cast<int>(kLook.count()));
    std::erase_if(all, [&](Running& one) { return look(one, outcomes[one.order]); });
  }
  return outcomes;
}

}  // namespace gorgo::actions
