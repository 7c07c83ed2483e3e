#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>

#include "door_support.hpp"
#include "peer_support.hpp"

// What sends is `logger`, as every Debian has it.
namespace gorgo::syslog_door {
namespace {

using testing::HasSubstr;

class SyslogDoor : public testing::Test {
 protected:
  const Folder folder{"syslog"};
  const std::string port = std::to_string(free_port());

  std::string config(const std::string& transport) const {
    return "[doors.log]\nkind = \"syslog\"\nlisten = \"127.0.0.1:" + port + "\"\ntransport = \"" +
           transport + "\"\n";
  }
  int log(const std::vector<std::string>& options, const std::string& message) const {
    Command command{"logger", "-n", "127.0.0.1", "-P", port, "-p", "auth.warning", "-t", "door"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(message);
    return Peer(command).wait();
  }
  /// The messages of events that come.
  static std::string next_message(Client& client) {
    const auto delivery = client.next(60'000 * checker::kMillisecond);
    if (!delivery || !*delivery) return "nothing came";
    for (const Attribute& one : (*delivery)->event.attributes) {
      if (one.name == "message") return std::get<std::string>(one.value);
    }
    return "no message";
  }
};

TEST_F(SyslogDoor, DatagramsComeIn) {
  ServerWithDoors server(folder, config("udp"));
  auto client = server.client();
  ASSERT_TRUE(client.subscribe("Syslog(facility = 4, severity = 4, app = \"door\")"));
  wait_for_door(client, "log", [](const Door& door) { return door.state == "running"; });
  EXPECT_EQ(log({"-d", "--rfc5424"}, "one"), 0);
  EXPECT_EQ(next_message(client), "one");
  EXPECT_EQ(log({"-d", "--rfc3164"}, "of old"), 0);
  wait_for_door(client, "log", [](const Door& door) { return door.dead_letters == 1; });
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(SyslogDoor, StreamsComeInWithEitherFraming) {
  ServerWithDoors server(folder, config("tcp"));
  auto client = server.client();
  ASSERT_TRUE(client.subscribe("Syslog"));
  wait_for_door(client, "log", [](const Door& door) { return door.state == "running"; });
  EXPECT_EQ(log({"-T", "--rfc5424", "--octet-count"}, "counted"), 0);
  EXPECT_EQ(next_message(client), "counted");
  EXPECT_EQ(log({"-T", "--rfc5424"}, "a line"), 0);
  EXPECT_EQ(next_message(client), "a line");
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(SyslogDoor, WhatAConnectionEndsWithinIsADeadLetter) {
  ServerWithDoors server(folder, config("tcp"));
  auto client = server.client();
  wait_for_door(client, "log", [](const Door& door) { return door.state == "running"; });
  for (const char* const cut_off : {"50 <13>1 - - - - - - counted", "no message"}) {
    boost::asio::ip::tcp::iostream stream("127.0.0.1", port);
    stream << cut_off << std::flush;
  }
  wait_for_door(client, "log", [](const Door& door) { return door.dead_letters == 2; });
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(SyslogDoor, APortThatIsTakenIsAFailure) {
  const int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(other, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(other, 1), 0);
  socklen_t size = sizeof address;
  getsockname(other, reinterpret_cast<sockaddr*>(&address), &size);
  ServerWithDoors server(
      folder, "[doors.log]\nkind = \"syslog\"\ntransport = \"tcp\"\nlisten = \"127.0.0.1:" +
                  std::to_string(ntohs(address.sin_port)) + "\"\n");
  auto client = server.client();
  const auto door =
      wait_for_door(client, "log", [](const Door& seen) { return seen.state == "failing"; });
  EXPECT_THAT(door.problem, HasSubstr("cannot listen"));
  close(other);
  wait_for_door(client, "log", [](const Door& seen) { return seen.state == "running"; });
  EXPECT_EQ(server.stop(), 0);
}

}  // namespace
}  // namespace gorgo::syslog_door
