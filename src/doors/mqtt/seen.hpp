#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gorgo::doors::mqtt {

/// The messages that came with a packet id and that the broker may send again, until it is known to
/// have our acknowledgement. It reads what we send in its order, so it has all that stands before a
/// ping which it has answered.
///
/// A broker may use an id for a second message while it has no acknowledgement of the first:
/// Mosquitto 2.0 counts ids round without a look. Nobody knows then which of the two an
/// acknowledgement was for, so both stay for a while.
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
  /// A packet id, and a hash of topic and payload, because ids are used again.
  struct Key {
    std::uint16_t id = 0;
    std::uint64_t hash = 0;
  };
  Known find(const Key& key) const;
  void add(const Key& key);
  /// The broker has sent it again on this connection, and waits for its acknowledgement there.
  void came_again(const Key& key);
  /// Its event is safe. Says whether it may be acknowledged: what came on an earlier connection
  /// only is not, because a broker that was killed may have given its id to another message.
  bool committed(const Key& key);
  /// It is acknowledged, before the ping of this number, which is not answered yet.
  void acknowledged(const Key& key, std::uint64_t ping);
  /// The broker has answered so many pings of this connection.
  void answered(std::uint64_t pings, Time now);
  /// The broker begins to send again what it has no acknowledgement of. The pings count anew.
  void reconnected(Time now);
  void clear() { messages_.clear(); }

  std::size_t size() const;
  std::string save() const;

 private:
  enum class State : std::uint8_t {
    uncommitted,
    acknowledged,
    before,  ///< it is safe, and the broker does not know so from this connection
  };
  struct Message {
    std::uint64_t hash = 0;
    State state = State::uncommitted;
    bool is_here = true;  // it came on this connection
    std::uint64_t ping = 0;
  };
  using Messages = std::vector<Message>;

  const Message* find_message(const Key& key) const;
  Message* find_message(const Key& key);

  std::map<std::uint16_t, Messages> messages_;  // by id, those of one id as they came
  Time connected_ = {};
  std::uint64_t pings_ = 0;  // that were answered when messages were last looked through
  bool was_late_ = false;    // that was when messages of earlier connections go
};

}  // namespace gorgo::doors::mqtt
