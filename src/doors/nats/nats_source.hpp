#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "doors/door.hpp"
#include "doors/message_reader.hpp"
#include "doors/nats/connection.hpp"
#include "doors/nats/stream_reader.hpp"
#include "doors/settings.hpp"

namespace gorgo::doors::nats {

/// Messages of a subject of NATS. They come at most once: the server keeps none.
class SubjectSource : public Source {
 public:
  SubjectSource(const std::string& door, const Settings& settings, const Types& types);
  ~SubjectSource() override { close(); }

  Result<Arrived> poll(std::chrono::milliseconds patience) override;
  void committed(const Position&) override {}
  void wake() override { connection_.wake(); }
  std::string describe(const Position&) const override { return ""; }

 private:
  Connection connection_;
  MessageReader reader_;
  Owned<natsSubscription> subscription_;

  Result<void> open();
  void close();
};

/// Messages of a stream of JetStream, each once. The position is which stream it was and the
/// sequence of the last message.
class StreamSource : public Source {
 public:
  StreamSource(const std::string& door, const Settings& settings, const Types& types,
               const Position& position);
  ~StreamSource() override { connection_.close(); }

  Result<Arrived> poll(std::chrono::milliseconds patience) override;
  /// The position tells all, and the server keeps it.
  void committed(const Position&) override {}
  void wake() override { connection_.wake(); }
  std::string describe(const Position& position) const override;

 private:
  /// How far a stream was read.
  struct Read {
    std::int64_t created = 0;  // of the stream
    std::uint64_t sequence = 0;
  };

  const Settings settings_;
  Connection connection_;
  MessageReader reader_;
  StreamReader stream_;
  std::optional<Read> read_;

  static std::optional<Read> read_in(const Position& position);
  Result<void> open(Arrived& arrived);
  /// Says where reading goes on, and what has gone from the stream before it was read.
  void go_on_in(const StreamState& state, Arrived& arrived);
  Result<void> take(Arrived& arrived, std::chrono::milliseconds patience);
};

}  // namespace gorgo::doors::nats
