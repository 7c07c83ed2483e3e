#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/attempts.hpp"
#include "doors/door.hpp"
#include "doors/listening.hpp"
#include "doors/message_reader.hpp"
#include "doors/mqtt/device_connection.hpp"
#include "doors/mqtt/device_packets.hpp"
#include "doors/mqtt/device_sessions.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::mqtt {

/// Messages of devices that connect to a port, as they would to a broker. A message is acknowledged
/// when its event is committed. Sockets are read within `poll` alone, so that devices wait while
/// the engine has no room.
class MqttListener : public Source {
 public:
  struct Secrets {
    std::string password;                            ///< of the user, if the settings have one
    std::unique_ptr<boost::asio::ssl::context> tls;  ///< null: in the clear
  };

  MqttListener(const Settings& settings, const Types& types, const Position& position,
               Secrets secrets);
  ~MqttListener() override;

  Result<Arrived> poll(std::chrono::milliseconds patience) override;
  void committed(const Position& position) override;
  void wake() override { loop_.wake(); }
  std::string describe(const Position& position) const override;

 private:
  using Tcp = boost::asio::ip::tcp;
  using Clock = std::chrono::steady_clock;

  /// A device that has connected.
  struct Device : std::enable_shared_from_this<Device> {
    std::shared_ptr<DeviceConnection> connection;
    std::optional<Greeting> greeting;  ///< nothing: it has not greeted yet
    DeviceSessions::Device id = 0;
    Clock::time_point heard = {};  ///< it, or its connection, was heard of last
    std::size_t bytes = 0;         ///< of its connection, as they are counted in `bytes_`
    bool left_some_out = false;    ///< messages of quality 2, of which too many were held

    Version version() const { return greeting ? greeting->version : Version::v5; }
  };
  using DevicePtr = std::shared_ptr<Device>;
  /// Packets for a device.
  struct Answer {
    DevicePtr device;
    std::string packets;
  };
  using Answers = std::vector<Answer>;

  const Settings settings_;
  const Secrets secrets_;
  MessageReader reader_;
  DeviceSessions sessions_;
  SocketLoop loop_;
  std::unique_ptr<TcpPort> port_;
  boost::asio::steady_timer next_look_{loop_.io()};
  std::unordered_set<DevicePtr> devices_;
  std::unordered_map<DeviceSessions::Device, DevicePtr> greeted_;
  std::size_t bytes_ = 0;             // that connections take
  Clock::time_point last_poll_ = {};  // it ended
  Clock::time_point since_ = {};      // sockets have been read without a pause
  Arrived arrived_;                   // what `poll` returns next
  Answers answers_;                   // what goes out when that is committed
  Attempts attempts_;
  /// Logins that were refused, and nobody was told of yet.
  struct Refused {
    std::size_t logins = 0;
    std::string peer, client_id;  ///< of the last one
  } refused_;
  Clock::time_point told_ = {};      // of refused logins
  std::deque<Answers> uncommitted_;  // by what `poll` brought, the oldest first

  Result<void> open();
  void welcome(Tcp::socket socket);
  void look();
  void tell_refused(Clock::time_point now);
  void take_packets(const DevicePtr& device);
  /// False: the device has done what it must not do, and has gone.
  bool take(const DevicePtr& device, const Frame& frame);
  bool greet(const DevicePtr& device, const Frame& frame);
  Reason judge(const DevicePtr& device, std::string& assigned);
  bool is_known(const Greeting& greeting) const;
  bool take_message(const DevicePtr& device, const Frame& frame);
  bool take_once(const DevicePtr& device, const Publish& message);
  bool take_request(const DevicePtr& device, const Frame& frame);
  bool take_parting(const DevicePtr& device, const Frame& frame);
  bool refuse(const DevicePtr& device, Reason reason);
  bool dismiss(const DevicePtr& device, Reason reason, const std::string& why,
               std::string_view payload = "");
  void remove(const DevicePtr& device, bool with_will, std::optional<std::uint32_t> expiry = {});
  std::string& answer(const DevicePtr& device);
  static void send(const Answers& answers);
};

}  // namespace gorgo::doors::mqtt
