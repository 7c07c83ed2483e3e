#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

/// The binary as a user meets it: its arguments, streams and exit codes.
namespace gorgo::tools {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// A running command, ended with the object.
class Background {
 public:
  Background(pid_t process, FILE* out) : process_(process), out_(out) {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    std::fclose(out_);
  }

  /// The next line of its standard output, without its end; waits for it.
  std::string line() {
    std::string line;
    for (int c = std::fgetc(out_); c != EOF && c != '\n'; c = std::fgetc(out_)) {
      line += static_cast<char>(c);
    }
    return line;
  }

 private:
  pid_t process_;
  FILE* out_;
};

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    enter(std::string("gorgo_") + testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  /// Makes the test's folder.
  void enter(const std::string& name) {
    folder_ = std::filesystem::path(testing::TempDir()) / name;
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& folder() const { return folder_; }

  /// Makes a folder in the test's folder.
  void make_folder(const std::string& name) const {
    std::filesystem::create_directories(folder_ / name);
  }

  /// Puts a file into the test's folder and returns its name.
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return name;
  }

  /// Runs the binary in the test's folder, with its standard output in a file.
  Outcome run(const std::string& arguments, const std::string& output = "out.txt") const {
    const std::string command = "cd '" + folder_.string() + "' && '" GORGO_BINARY "' " + arguments +
                                " > " + output + " 2> err.txt";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out.txt"), read("err.txt")};
  }

  /// Starts the binary in the test's folder.
  Background start(const std::string& arguments) const {
    int pipes[2] = {-1, -1};
    EXPECT_EQ(pipe(pipes), 0);
    const std::string command =
        "cd '" + folder_.string() + "' && exec '" GORGO_BINARY "' " + arguments;
    const pid_t process = fork();
    if (process == 0) {
      dup2(pipes[1], STDOUT_FILENO);
      close(pipes[0]);
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    close(pipes[1]);
    return {process, fdopen(pipes[0], "r")};
  }

  /// The content of a file of the test's folder.
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace gorgo::tools
