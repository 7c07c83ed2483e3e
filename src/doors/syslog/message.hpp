#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"

/// Syslog as RFC 5424 writes messages and RFC 6587 frames them in a stream.
namespace gorgo::doors::syslog {

/// The most bytes of a message.
inline constexpr std::size_t kMostMessage = std::size_t{64} << 10;

/// An event without a type with what the message says: `facility`, `severity`, `host`, `app`,
/// `process`, `message_id`, `message`, and structured data as `ID_PARAM`, with a number behind it
/// where that name is taken. What the message leaves out is absent. Its time is the event's
/// timestamp.
Result<Event> read_message(std::string_view text);

/// Cuts a stream of bytes into messages: each has its length before it, or a line end behind it.
class MessageCutter {
 public:
  void fill(std::string_view bytes) { bytes_ += bytes; }
  /// The next message, valid until the next call; nothing: it is not complete. An error: this is no
  /// syslog, and the rest cannot be understood.
  Result<std::optional<std::string_view>> next();
  /// What stands behind the last message: when the stream has ended, a line without its end, or
  /// what is no message.
  std::string_view rest() const;

 private:
  std::string bytes_;
  std::size_t begin_ = 0;

  Result<std::optional<std::string_view>> next_counted(std::string_view left);
};

}  // namespace gorgo::doors::syslog
