#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "doors/door.hpp"
#include "doors/listening.hpp"
#include "doors/settings.hpp"
#include "doors/syslog/message.hpp"

namespace gorgo::doors::syslog {

/// Messages of syslog that come to a port. Nobody acknowledges them, so they come at most once.
/// Sockets are read within `poll` alone: while the engine has no room, the system keeps what comes
/// by TCP with its senders, and drops what comes by UDP.
class SyslogSource : public Source {
 public:
  /// `most_senders`: that are connected by TCP at a time. For one more, the one that has been
  /// silent for longest goes: it may have left without a word.
  explicit SyslogSource(const Settings& settings, std::size_t most_senders = 1000);
  ~SyslogSource() override;

  Result<Arrived> poll(std::chrono::milliseconds patience) override;
  void committed(const Position&) override {}
  void wake() override { loop_.wake(); }
  std::string describe(const Position&) const override { return ""; }

 private:
  using Tcp = boost::asio::ip::tcp;
  using Udp = boost::asio::ip::udp;
  /// One that sends by TCP.
  struct Sender {
    explicit Sender(Tcp::socket connected) : socket(std::move(connected)) {}
    Tcp::socket socket;
    std::string name;
    MessageCutter cutter;
    std::array<char, 16384> bytes{};
    std::chrono::steady_clock::time_point heard = std::chrono::steady_clock::now();
  };

  const Settings settings_;
  const std::size_t most_senders_;
  SocketLoop loop_;
  std::unique_ptr<Udp::socket> udp_;
  std::unique_ptr<TcpPort> tcp_;
  std::array<char, kMostMessage> datagram_{};
  Udp::endpoint from_;
  std::unordered_set<std::shared_ptr<Sender>> senders_;
  Arrived arrived_;  // what `poll` returns next

  bool is_open() const { return udp_ != nullptr || tcp_ != nullptr; }
  Result<void> open();
  void receive();
  void welcome(Tcp::socket socket);
  void make_room();
  void read(const std::shared_ptr<Sender>& sender);
  /// Takes the messages that are complete. False: the rest cannot be understood.
  bool take_messages(Sender& sender);
  void take(std::string_view message, const std::string& sender);
  void take_rest(const Sender& sender, bool in_order);
};

}  // namespace gorgo::doors::syslog
