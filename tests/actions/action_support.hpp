#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "door_support.hpp"

namespace gorgo {

/// A web server that others wrote, which writes down what it is sent.
class Receiver {
 public:
  explicit Receiver(const Folder& folder) : folder_(folder) { start("0"); }
  ~Receiver() { stop(); }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  struct Post {
    std::string id;
    int status = 0;
    std::string verdict, body;
  };
  std::vector<Post> posts() const {
    std::vector<Post> all;
    for (const std::string& line : folder_.lines("received")) {
      std::istringstream words(line);
      Post post;
      words >> post.id >> post.status >> post.verdict;
      std::getline(words, post.body);
      all.push_back(post);
    }
    return all;
  }
  std::string url() const { return "http://127.0.0.1:" + port_ + "/hook"; }
  void answer(int status) const { folder_.write("status", std::to_string(status)); }
  void stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  /// At the port of before.
  void start_again() { start(port_); }

 private:
  const Folder& folder_;
  std::string port_;
  pid_t pid_ = -1;

  void start(const std::string& port) {
    fs::remove(folder_ / "port");
    pid_ = fork();
    if (pid_ == 0) {
      execl(GORGO_PYTHON, GORGO_PYTHON, GORGO_RECEIVER, (folder_ / "").c_str(), port.c_str(),
            nullptr);
      _exit(127);
    }
    const Patience patience("for the receiver");
    while (!fs::exists(folder_ / "port") && patience.lasts()) std::this_thread::yield();
    std::ifstream(folder_ / "port") >> port_;
  }
};

inline std::string webhook(const Receiver& receiver, const std::string& more = "") {
  return "[actions.ops]\nkind = \"webhook\"\nurl = \"" + receiver.url() + "\"\n" + more;
}

inline void deploy(Client& client, const std::string& text) {
  const auto deployed = client.deploy("rules.tesla", text);
  ASSERT_TRUE(deployed) << deployed.error().to_string();
  ASSERT_FALSE(deployed->failed()) << deployed->render();
}

/// Waits until the target says so.
template <class Done>
ActionTarget wait_for_target(Client& client, const std::string& name, Done done) {
  const Patience patience("for the target " + name);
  ActionTarget seen;
  while (patience.lasts()) {
    const auto targets = client.actions();
    if (!targets) {
      ADD_FAILURE() << targets.error().to_string();
      return seen;
    }
    for (const ActionTarget& target : *targets) {
      if (target.name != name) continue;
      seen = target;
      if (done(target)) return seen;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ADD_FAILURE() << name << " is " << seen.state << ", has done " << seen.done << " of which "
                << seen.waiting << " wait; " << seen.problem;
  return seen;
}

inline void publish(Client& client, std::int64_t v) {
  const std::vector<Event> events = {{"A", std::nullopt, {{"v", v}}}};
  ASSERT_TRUE(client.publish(events));
}

inline constexpr const char* kEchoOps =
    "define Echo(v: int) from A() where v = A.v execute webhook(\"ops\");";

}  // namespace gorgo
