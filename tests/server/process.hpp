#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

namespace gorgo {

/// A child process with its output readable line by line.
class Process {
 public:
  /// `address_space`: of the child, in bytes; 0: no limit.
  explicit Process(std::vector<std::string> arguments, std::size_t address_space = 0,
                   const std::string& program = GORGO_BINARY) {
    arguments.insert(arguments.begin(), program);
    int out[2], err[2];
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(err, O_CLOEXEC), 0);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      const rlimit limit{address_space, address_space};
      if (address_space > 0 && setrlimit(RLIMIT_AS, &limit) != 0) _exit(126);
      dup2(out[1], STDOUT_FILENO);
      dup2(err[1], STDERR_FILENO);
      // Connections of the test, which it may want to break.
      close_range(STDERR_FILENO + 1, ~0u, 0);
      execv(program.c_str(), argv.data());
      _exit(127);
    }
    close(out[1]);
    close(err[1]);
    out_ = fdopen(out[0], "r");
    err_ = fdopen(err[0], "r");
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      wait();
    }
    fclose(out_);
    fclose(err_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::string out_line() { return line(out_); }
  /// The first line on stderr that contains `text`; "" when it ends before.
  std::string err_line(const std::string& text = "") {
    for (std::string got = line(err_); !got.empty(); got = line(err_)) {
      if (got.find(text) != std::string::npos) return got;
    }
    return "";
  }
  /// Precondition: it was not waited for. (A pid of -1 would be that of every process.)
  void signal(int number) {
    ASSERT_GT(pid_, 0);
    kill(pid_, number);
  }
  /// The exit status; -1 when a signal ended it.
  int wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  FILE* out_ = nullptr;
  FILE* err_ = nullptr;

  static std::string line(FILE* file) {
    char buffer[4096];
    return fgets(buffer, sizeof buffer, file) == nullptr ? "" : buffer;
  }
};

inline std::string address_in(const std::string& line) {
  const std::string prefix = "listening on ";
  EXPECT_TRUE(line.starts_with(prefix)) << line;
  return line.size() < prefix.size() ? ""
                                     : line.substr(prefix.size(), line.size() - prefix.size() - 1);
}

}  // namespace gorgo
