// Only this unit sees spdlog, which is header-only here and costs seconds per inclusion.
#define FMT_HEADER_ONLY
#define SPDLOG_FMT_EXTERNAL
#include "server/log.hpp"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>
#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "server/log_output.hpp"

namespace gorgo::server {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The text as it is when it is one word, else quoted, so that a field never spans lines.
std::string readable(const std::string& text) {
  const bool word = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c > ' ' && c != '"' && c != 0x7f;
  });
  return word ? text : json_string(text);
}

std::string text_line(std::string_view message, Log::Fields fields) {
  std::string line(message);
  for (const LogField& f : fields) line += " " + std::string(f.key) + "=" + readable(f.value);
  return line;
}

std::string json_members(std::string_view message, Log::Fields fields) {
  std::string members = "\"message\":" + json_string(message);
  for (const LogField& f : fields) members += "," + json_string(f.key) + ":" + json_string(f.value);
  return members;
}

}  // namespace

class LogSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  std::uint64_t take_lost() {
    const std::lock_guard lock(mutex_);
    return output_.take_lost();
  }

 private:
  LogOutput output_{STDERR_FILENO};

  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    output_.write({line.data(), line.size()});
  }
  void flush_() override {}
};

Result<LogLevel> parse_log_level(std::string_view text) {
  if (text == "debug") return LogLevel::debug;
  if (text == "info") return LogLevel::info;
  if (text == "warning") return LogLevel::warning;
  if (text == "error") return LogLevel::error;
  if (text == "off") return LogLevel::off;
  return Error{"unknown log level '" + std::string(text) + "'",
               "one of debug, info, warning, error, off"};
}

Result<LogFormat> parse_log_format(std::string_view text) {
  if (text == "text") return LogFormat::text;
  if (text == "json") return LogFormat::json;
  return Error{"unknown log format '" + std::string(text) + "'", "one of text, json"};
}

std::string_view name_of(LogLevel level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warning", "error", "off"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view name_of(LogFormat format) { return format == LogFormat::json ? "json" : "text"; }

struct Log::Impl {
  LogFormat format;
  std::shared_ptr<LogSink> sink = std::make_shared<LogSink>();
  spdlog::logger logger{"gorgo", sink};

  void write(spdlog::level::level_enum level, std::string_view message, Fields fields) {
    if (!logger.should_log(level)) return;
    if (const std::uint64_t lost = sink->take_lost()) {
      put(spdlog::level::warn, "lines of the log were lost, as nobody read it", {{"lines", lost}});
    }
    put(level, message, fields);
  }

  void put(spdlog::level::level_enum level, std::string_view message, Fields fields) {
    const auto line =
        format == LogFormat::json ? json_members(message, fields) : text_line(message, fields);
    logger.log(level, spdlog::string_view_t(line));
  }
};

Log::Log(LogFormat format, LogLevel level) : impl_(new Impl{.format = format}) {
  impl_->logger.set_level(to_spdlog(level));
  impl_->logger.set_pattern(format == LogFormat::json
                                ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                            spdlog::pattern_time_type::utc);
}

Log::~Log() = default;

void Log::set_level(LogLevel level) { impl_->logger.set_level(to_spdlog(level)); }

void Log::debug(std::string_view message, Fields fields) {
  impl_->write(spdlog::level::debug, message, fields);
}
void Log::info(std::string_view message, Fields fields) {
  impl_->write(spdlog::level::info, message, fields);
}
void Log::warning(std::string_view message, Fields fields) {
  impl_->write(spdlog::level::warn, message, fields);
}
void Log::error(std::string_view message, Fields fields) {
  impl_->write(spdlog::level::err, message, fields);
}

}  // namespace gorgo::server
