#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gorgo/diagnostics.hpp"

namespace gorgo::server {

enum class LogLevel : std::uint8_t { debug, info, warning, error, off };
enum class LogFormat : std::uint8_t { text, json };

Result<LogLevel> parse_log_level(std::string_view text);
Result<LogFormat> parse_log_format(std::string_view text);
std::string_view name_of(LogLevel level);
std::string_view name_of(LogFormat format);

/// What a message is about: `{"rule", name}`.
struct LogField {
  std::string_view key;
  std::string value;

  LogField(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  template <class T>
  requires std::is_integral_v<T> LogField(std::string_view k, T v)
      : key(k), value(std::to_string(v)) {}
};

/// The server's log, on stderr, which waits for nobody who reads it. Text:
/// `2026-01-31T12:00:00.000Z info listening address=...`; JSON: one object per line with time,
/// level, message and the fields, all strings. Thread-safe.
class Log {
 public:
  using Fields = std::initializer_list<LogField>;

  Log(LogFormat format, LogLevel level);
  ~Log();

  void set_level(LogLevel level);

  void debug(std::string_view message, Fields fields = {});
  void info(std::string_view message, Fields fields = {});
  void warning(std::string_view message, Fields fields = {});
  void error(std::string_view message, Fields fields = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gorgo::server
