#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <future>
#include <mutex>
#include <set>

#include "support.hpp"

// What changes rules and types, beside everything else.
namespace gorgo::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int kAllChecks = 1'000;

/// Has checks of texts wait until they may go on.
class CheckGate {
 public:
  ServerOptions options() {
    ServerOptions options;
    options.on_check = [this] { pass(); };
    return options;
  }
  /// Waits until so many checks have begun.
  void wait_for_checks(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= count; });
  }
  /// Lets so many more checks pass.
  void let_pass(int count) {
    {
      std::lock_guard lock(mutex_);
      allowed_ += count;
    }
    changed_.notify_all();
  }

 private:
  void pass() {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return allowed_ >= begun_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0;
  int allowed_ = 0;
};

protocol::Bytes deploy_frame(std::uint64_t id, const std::string& text, bool replace = false) {
  wire::DeployT deploy;
  deploy.name = "test.tesla";
  deploy.text = text;
  deploy.replace = replace;
  return protocol::encode(id, deploy);
}

protocol::Bytes list_frame(std::uint64_t id) { return protocol::encode(id, wire::ListRulesT()); }

std::string rule(int i) {
  return "rule r" + std::to_string(i) + ": define T" + std::to_string(i + 1) + "() from T" +
         std::to_string(i) + "();";
}

TEST(Changes, OthersAreServedWhileATextIsChecked) {
  CheckGate gate;
  RunningServer server(gate.options());
  RawConnection operator_(server->address());
  operator_.greet();
  operator_.send(deploy_frame(2, kFireRule));
  gate.wait_for_checks(1);

  Client other = server.connect();
  EXPECT_THAT(*other.rules(), SizeIs(0));
  subscribe(other, "Smoke");
  ASSERT_TRUE(other.publish(std::vector{smoke(1, "kitchen")}));
  EXPECT_EQ(next(other).event.type, "Smoke");

  gate.let_pass(1);
  EXPECT_THAT(operator_.expect<wire::Diagnostics>(2).list, SizeIs(0));
  EXPECT_THAT(*other.rules(), SizeIs(1));
}

class RuleFile {
 public:
  explicit RuleFile(const std::string& text)
      : path_(testing::TempDir() + "gorgo_changes_" + std::to_string(getpid()) + ".tesla") {
    write(text);
  }
  ~RuleFile() { std::remove(path_.c_str()); }
  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Changes, OthersAreServedWhileRuleFilesAreCheckedAgain) {
  CheckGate gate;
  const RuleFile file(rule(0) + rule(1));
  auto options = gate.options();
  options.rules = {file.path()};
  RunningServer server(options);
  server->reload();
  gate.wait_for_checks(1);
  Client other = server.connect();
  subscribe(other, "Smoke");
  ASSERT_TRUE(other.publish(std::vector{smoke(1, "kitchen")}));
  EXPECT_EQ(next(other).event.type, "Smoke");
  EXPECT_THAT(*other.rules(), SizeIs(0));

  gate.let_pass(kAllChecks);
  // This deployment is carried out behind the reload.
  deploy(other, rule(2));
  EXPECT_THAT(*other.rules(), SizeIs(3));
}

TEST(Changes, AStopWaitsForAReload) {
  ::testing::internal::CaptureStderr();
  CheckGate gate;
  const RuleFile file(rule(0) + rule(1));
  auto options = gate.options();
  options.rules = {file.path()};
  RunningServer server(options, LogLevel::info);
  RawConnection client(server->address());
  client.greet();
  server->reload();
  gate.wait_for_checks(1);
  server->stop();
  gate.let_pass(kAllChecks);
  EXPECT_EQ(client.expect<wire::Error>(0).code, wire::ErrorCode::Stopping);
  client.close();
  server.stop();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("rules read again files=1 removed=0 rules=2"));
}

TEST(Changes, RequestsOfASessionWaitForItsText) {
  CheckGate gate;
  RunningServer server(gate.options());
  RawConnection client(server->address());
  client.greet();
  client.send(deploy_frame(2, rule(0)));
  client.send(list_frame(3));
  gate.wait_for_checks(1);
  EXPECT_THAT(*server.connect().rules(), SizeIs(0));
  gate.let_pass(1);
  client.expect<wire::Diagnostics>(2);
  EXPECT_EQ(client.expect<wire::Rules>(3).total, 1u);
}

TEST(Changes, ChangesOfSeveralClientsAreCarriedOutInTheirOrder) {
  CheckGate gate;
  RunningServer server(gate.options());
  RawConnection first(server->address()), second(server->address());
  first.greet();
  second.greet();
  first.send(deploy_frame(2, "rule r: define A(n: int) from S([int]n = $n) where n = $n;"));
  gate.wait_for_checks(1);
  wire::DeclareT declare;
  declare.name = "S";
  second.send(2, declare);
  gate.let_pass(1);
  EXPECT_THAT(first.expect<wire::Diagnostics>(2).list, SizeIs(0));
  EXPECT_THAT(second.expect<wire::Error>(2).message, HasSubstr("known with other attributes"));
}

TEST(Changes, PipelinedDeploymentsBuildOnEachOther) {
  RunningServer server;
  RawConnection client(server->address());
  client.greet();
  constexpr int kCount = 300;
  protocol::Bytes all;
  for (int i = 0; i < kCount; ++i) {
    const auto frame = deploy_frame(static_cast<std::uint64_t>(i) + 2, rule(i));
    all.insert(all.end(), frame.begin(), frame.end());
  }
  client.send(all);
  for (int i = 0; i < kCount; ++i) {
    const auto answer = client.expect<wire::Diagnostics>(static_cast<std::uint64_t>(i) + 2);
    for (const auto& diagnostic : answer.list) {
      EXPECT_EQ(diagnostic->severity, wire::Severity::Warning) << diagnostic->message;
    }
  }
  EXPECT_THAT(*server.connect().rules(), SizeIs(kCount));
}

TEST(Changes, AStopWaitsForTheTextsThatWereTaken) {
  CheckGate gate;
  RunningServer server(gate.options());
  RawConnection client(server->address());
  client.greet();
  client.send(deploy_frame(2, rule(0)));
  gate.wait_for_checks(1);
  server->stop();
  gate.let_pass(1);
  EXPECT_THAT(client.expect<wire::Diagnostics>(2).list, SizeIs(0));
  EXPECT_EQ(client.expect<wire::Error>(0).code, wire::ErrorCode::Stopping);
  client.close();
  server.stop();
}

/// Sends a publication with the frame in one go. When it is accepted the server has read both.
void send_and_wait_until_read(RawConnection& client, const protocol::Bytes& frame) {
  protocol::Bytes both = publish_frame(100, {smoke(1, "kitchen")});
  both.insert(both.end(), frame.begin(), frame.end());
  client.send(both);
  client.expect<wire::Ack>(100);
}

/// Connects to a server that has as many clients as it takes, when one of them has gone.
Client connect_when_one_has_gone(RunningServer& server) {
  while (true) {
    if (auto client = Client::connect(server->address())) return std::move(*client);
  }
}

TEST(Changes, AStopRefusesWhatHasNotBegun) {
  CheckGate gate;
  RunningServer server(gate.options());
  RawConnection first(server->address()), second(server->address());
  first.greet();
  second.greet();
  first.send(deploy_frame(2, rule(0)));
  gate.wait_for_checks(1);
  send_and_wait_until_read(second, deploy_frame(3, rule(1)));
  const std::string address = server->address();
  server->stop();
  wait_until([&] { return !Client::connect(address); });
  gate.let_pass(1);
  first.expect<wire::Diagnostics>(2);
  EXPECT_EQ(second.expect<wire::Error>(3).code, wire::ErrorCode::Stopping);
  EXPECT_EQ(second.expect<wire::Error>(0).code, wire::ErrorCode::Stopping);
  first.close();
  second.close();
  server.stop();
}

TEST(Changes, AClientThatHasGoneHasItsWaitingChangeDropped) {
  CheckGate gate;
  ServerOptions options = gate.options();
  options.limits.max_sessions = 2;
  options.limits.reserved_sessions = 0;
  RunningServer server(options);
  RawConnection first(server->address());
  first.greet();
  first.send(deploy_frame(2, rule(0)));
  gate.wait_for_checks(1);
  RawConnection second(server->address());
  second.greet();
  send_and_wait_until_read(second, deploy_frame(3, rule(1)));
  second.reset();
  Client other = connect_when_one_has_gone(server);
  gate.let_pass(1);
  first.expect<wire::Diagnostics>(2);
  EXPECT_THAT(*other.rules(), SizeIs(1));
  EXPECT_EQ(server->counters().dropped_requests, 1u);
}

TEST(Changes, AClientThatHasGoneHasItsCheckedTextDropped) {
  CheckGate gate;
  ServerOptions options = gate.options();
  options.limits.max_sessions = 1;
  options.limits.reserved_sessions = 0;
  RunningServer server(options);
  RawConnection client(server->address());
  client.greet();
  client.send(deploy_frame(2, rule(0)));
  gate.wait_for_checks(1);
  client.reset();
  Client other = connect_when_one_has_gone(server);
  gate.let_pass(1);
  wait_until([&] { return server->counters().dropped_requests == 1; });
  EXPECT_THAT(*other.rules(), SizeIs(0));
}

TEST(Changes, WhileADeploymentIsRemovedOthersAreServed) {
  constexpr std::uint64_t kRules = 2000;
  RunningServer server;
  Client client = server.connect(), other = server.connect();
  std::string text;
  for (std::uint64_t i = 0; i < kRules; ++i) {
    text += "rule r" + std::to_string(i) + ": define C(v: float) from A(v = " + std::to_string(i) +
            ") where v = A.v;\n";
  }
  ASSERT_TRUE(client.deploy("many", text));
  deploy(client, kFireRule);
  const auto rules = [&] {
    const auto statistics = *other.statistics();
    return std::ranges::find(statistics, "rules", &Statistic::name)->value;
  };
  ASSERT_EQ(rules(), kRules + 1);
  auto removed = std::async(std::launch::async, [&] { return client.remove_deployment("many"); });
  std::set<std::uint64_t> seen;
  while (removed.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    seen.insert(rules());
  }
  EXPECT_TRUE(removed.get());
  EXPECT_EQ(rules(), 1u);
  seen.erase(kRules + 1);
  seen.erase(1);
  EXPECT_THAT(seen, Not(IsEmpty())) << "all of them went while nobody else had a turn";
}

}  // namespace
}  // namespace gorgo::server
