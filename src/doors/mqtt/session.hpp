#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "doors/mqtt/link.hpp"
#include "doors/mqtt/packets.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::mqtt {

/// Within which a broker answers.
inline constexpr std::chrono::seconds kAnswer{5};

/// A client's session with a broker: it is opened, kept alive, and gives packets. One thread calls,
/// but for `wake`.
class Session {
 public:
  struct Manner {
    std::string client_id;
    bool lasts = false;  ///< the broker keeps the session while nobody is connected
  };

  Session(const Settings& settings, Manner manner);

  bool is_open() const { return link_.is_open(); }
  /// Connects and is known to the broker. An error: there is no way to it, or it refuses.
  Result<Connected> open();
  void close() noexcept;

  /// The next packet that is no answer to a ping; nothing: none came within `patience`. What it
  /// refers to is valid until the next call. After an error the session is closed.
  Result<std::optional<Packet>> next(std::chrono::milliseconds patience);
  Result<void> send(std::string_view packets);
  /// Asks for a sign of life.
  Result<void> ping();
  Version version() const { return version_; }
  /// How many signs of life were asked for and have come, since it was opened.
  std::uint64_t pings() const { return pings_; }
  std::uint64_t pongs() const { return pongs_; }
  void wake() { link_.wake(); }

 private:
  using Clock = std::chrono::steady_clock;

  const Settings settings_;
  const Manner manner_;
  const Version version_;
  Link link_;
  Cutter cutter_;
  Clock::time_point heard_ = {}, sent_ = {};
  std::uint64_t pings_ = 0, pongs_ = 0;

  Result<Connected> greet();
  Result<void> keep_alive();
  Result<std::optional<Packet>> cut();
};

}  // namespace gorgo::doors::mqtt
