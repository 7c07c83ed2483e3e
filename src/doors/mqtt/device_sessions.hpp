#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gorgo::doors::mqtt {

/// What a server of MQTT has to remember of devices beyond their connections: that they have a
/// session, and which messages of quality 2 it has taken and they have not released. So such a
/// message is taken once, however often it comes.
class DeviceSessions {
 public:
  using Time = std::chrono::steady_clock::time_point;

  DeviceSessions() = default;
  /// As `save` gave it. All devices are away, from `now` on.
  DeviceSessions(std::string_view saved, Time now);

  /// The hash of a client id.
  using Device = std::uint64_t;

  /// A device has come. `expiry`: the seconds that its session lasts behind the connection; ~0: for
  /// ever. Returns whether there was a session, which goes on unless the device wants a clean one;
  /// nothing: there is no room for one more that lasts, since all those devices are here.
  std::optional<bool> begin(Device device, bool clean, std::uint32_t expiry);
  /// A device has gone. `expiry`, if given, is the new one.
  void end(Device device, std::optional<std::uint32_t> expiry, Time now);
  enum class Hold : std::uint8_t {
    is_new,
    came_before,  ///< and was not released since
    too_many,     ///< so many are held already; it is not
  };
  /// A message of quality 2 has come. `most`: that may be held of the device.
  Hold hold(Device device, std::uint16_t packet_id, std::size_t most);
  /// How many messages are held of the device.
  std::size_t held(Device device) const;
  void release(Device device, std::uint16_t packet_id);
  /// Forgets the sessions whose time is over.
  void forget_expired(Time now);

  /// What is to survive: the sessions that last.
  const std::string& save();
  /// Whether what is to survive has changed since the last `save`.
  bool has_changed() const { return has_changed_; }
  std::size_t lasting() const { return lasting_; }

  /// Sessions that last, of devices that are here and of others: each takes 14 bytes of a journal
  /// with every batch of events.
  static constexpr std::size_t kMostLasting = 4096;

 private:
  struct Session {
    std::uint32_t expiry = 0;
    bool is_here = true;
    Time left = {};
    std::set<std::uint16_t> held;

    bool lasts() const { return expiry > 0; }
    bool is_over(Time now) const;
  };
  using Sessions = std::unordered_map<Device, Session>;

  Sessions sessions_;
  std::size_t lasting_ = 0;
  std::string saved_ = "1";
  bool has_changed_ = false;

  void forget(Sessions::iterator session);
  bool make_room();
};

}  // namespace gorgo::doors::mqtt
