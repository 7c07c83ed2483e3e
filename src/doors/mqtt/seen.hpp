#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace gorgo::doors::mqtt {

/// The messages that came with a packet id and that the broker may send again, until it is known to
/// have our acknowledgement. It reads what we send in its order, so it has all that stands before a
/// ping which it has answered.
class Seen {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Seen() = default;
  /// As `save` gave it.
  explicit Seen(std::string_view saved);

  enum class Known : std::uint8_t {
    no,
    uncommitted,  ///< it will be acknowledged
    done,         ///< it was acknowledged, and the broker may not have that
  };
  /// `hash`: of topic and payload, because ids are used again.
  Known find(std::uint16_t id, std::uint64_t hash) const;
  void add(std::uint16_t id, std::uint64_t hash);
  /// It is acknowledged, before the ping of this number.
  void acknowledged(std::uint16_t id, std::uint64_t ping);
  /// The broker has answered so many pings of this connection.
  void answered(std::uint64_t pings, Time now);
  /// The broker begins to send again what it has no acknowledgement of. The pings count anew.
  void reconnected(Time now);
  void clear() { messages_.clear(); }

  std::size_t size() const { return messages_.size(); }
  std::string save() const;

 private:
  enum class State : std::uint8_t {
    uncommitted,
    acknowledged,
    before,  ///< it was acknowledged on an earlier connection
  };
  struct Message {
    std::uint64_t hash = 0;
    State state = State::uncommitted;
    std::uint64_t ping = 0;
  };

  std::map<std::uint16_t, Message> messages_;
  Time connected_ = {};
};

}  // namespace gorgo::doors::mqtt
