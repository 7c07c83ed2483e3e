#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <limits>
#include <optional>
#include <utility>

#include "base/file.hpp"
#include "server/options.hpp"

namespace gorgo::server {
namespace {

/// The largest number that both TOML and `T` can hold.
template <class T>
constexpr std::int64_t most_of() {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return std::cmp_less(std::numeric_limits<T>::max(), kMost)
             ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
             : kMost;
}

/// Reads the keys of one table; the first thing wrong is kept. Keys that nobody asked for are
/// unknown.
class Section {
 public:
  Section(const toml::table* table, std::string name) : table_(table), name_(std::move(name)) {}

  void text(std::string_view key, std::string& to) {
    if (const auto* node = take(key)) {
      if (const auto value = node->value_exact<std::string>()) {
        to = *value;
      } else {
        fail(*node, key, "expected a string");
      }
    }
  }

  void boolean(std::string_view key, bool& to) {
    const auto* node = take(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<bool>();
    if (!value) return fail(*node, key, "expected true or false");
    to = *value;
  }

  template <class T>
  void number(std::string_view key, T& to, std::int64_t least = 1,
              std::int64_t most = most_of<T>()) {
    const auto* node = take(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::int64_t>();
    if (value && std::cmp_greater_equal(*value, least) && std::cmp_less_equal(*value, most)) {
      to = static_cast<T>(*value);
      return;
    }
    const std::string range = std::to_string(least) + " to " + std::to_string(most);
    fail(*node, key,
         value ? std::to_string(*value) + " is out of range, expected " + range
               : "expected a number, " + range);
  }

  /// A time that somebody waits.
  void milliseconds(std::string_view key, std::chrono::milliseconds& to, std::int64_t least = 1) {
    constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24);
    std::int64_t count = to.count();
    number(key, count, least, kLongest.count());
    to = std::chrono::milliseconds(count);
  }

  /// A time that the file gives in milliseconds.
  void duration(std::string_view key, Duration& to, std::int64_t least) {
    constexpr Duration kUnit = 1'000'000;
    std::int64_t count = to / kUnit;
    number(key, count, least, most_of<Duration>() / kUnit);
    to = count * kUnit;
  }

  /// A value that `parse` understands.
  template <class T, class Parse>
  void choice(std::string_view key, T& to, Parse parse) {
    const auto* node = take(key);
    if (node == nullptr) return;
    const auto number = node->value_exact<std::int64_t>();
    const auto text = node->value_exact<std::string>();
    const Result<T> parsed = parse(number ? std::to_string(*number) : text.value_or(""));
    if (parsed) {
      to = *parsed;
    } else {
      fail(*node, key, parsed.error().to_string());
    }
  }

  void texts(std::string_view key, std::vector<std::string>& to) {
    const auto* node = take(key);
    if (node == nullptr) return;
    const auto* array = node->as_array();
    if (array == nullptr || (!array->empty() && !array->is_homogeneous<std::string>())) {
      return fail(*node, key, "expected a list of strings");
    }
    for (const auto& element : *array) to.push_back(**element.as_string());
  }

  /// A subtable; others read what is in it.
  const toml::table* table(std::string_view key) {
    const auto* node = take(key);
    if (node == nullptr) return nullptr;
    if (!node->is_table()) fail(*node, key, "expected a table");
    return node->as_table();
  }

  /// The error, if any. Call when every key was asked for.
  std::optional<Error> finish() {
    if (!error_ && table_ != nullptr) {
      for (const auto& [key, node] : *table_) {
        if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
        const auto closest = closest_name(key.str(), known_);
        fail(node, key.str(),
             "unknown key" +
                 (closest.empty() ? "" : ", did you mean '" + std::string(closest) + "'?"));
        break;
      }
    }
    return error_;
  }

 private:
  const toml::table* table_;
  std::string name_;
  std::vector<std::string> known_;
  std::optional<Error> error_;

  const toml::node* take(std::string_view key) {
    known_.emplace_back(key);
    return table_ == nullptr ? nullptr : table_->get(key);
  }

  void fail(const toml::node& node, std::string_view key, const std::string& what) {
    if (error_) return;
    const auto& at = node.source().begin;
    error_ = Error{std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + name_ +
                       std::string(key) + ": " + what,
                   ""};
  }
};

Result<SlowConsumer> parse_slow_consumer(std::string_view text) {
  if (text == "disconnect") return SlowConsumer::disconnect;
  if (text == "drop") return SlowConsumer::drop;
  return Error{"unknown policy '" + std::string(text) + "'", "one of disconnect, drop"};
}

/// A delivery is cut into frames of a quarter of a megabyte and one row more, and each must fit.
constexpr std::int64_t kLeastMaxFrame = 1 << 20;
constexpr std::int64_t kMostMaxFrame = 1 << 30;  // FlatBuffers end at 2 GiB
constexpr std::int64_t kMostRows = 1 << 24;
constexpr std::int64_t kMostSessions = 1'000'000;
constexpr std::int64_t kMostSubscriptions = 1 << 16;  // a delivery names them by 16 bits
constexpr std::int64_t kMostProducers = 100'000'000;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

std::optional<Error> read_limits(const toml::table* table, Limits& limits) {
  Section section(table, "limits.");
  section.number("max_frame", limits.max_frame, kLeastMaxFrame, kMostMaxFrame);
  section.number("max_rows", limits.max_rows, 1, kMostRows);
  section.number("max_sessions", limits.max_sessions, 1, kMostSessions);
  section.number("reserved_sessions", limits.reserved_sessions, 0, kMostSessions);
  section.number("max_subscriptions", limits.max_subscriptions, 1, kMostSubscriptions);
  section.number("subscription_bytes", limits.subscription_bytes, 1, kMostBytes);
  section.number("all_subscription_bytes", limits.all_subscription_bytes, 1, kMostBytes);
  section.number("max_producers", limits.max_producers, 1, kMostProducers);
  section.number("queue_bytes", limits.queue_bytes, kLeastMaxFrame, kMostBytes);
  section.milliseconds("queue_work_ms", limits.queue_work);
  section.number("outbound_bytes", limits.outbound_bytes, kLeastMaxFrame, kMostBytes);
  section.number("memory_bytes", limits.memory_bytes, kLeastMaxFrame, kMostBytes);
  section.number("batch_events", limits.batch_events, 1, kMostRows);
  section.number("batch_bytes", limits.batch_bytes, kLeastMaxFrame, kMostBytes);
  section.choice("slow_consumer", limits.slow_consumer, parse_slow_consumer);
  return section.finish();
}

std::optional<Error> read_engine(const toml::table* table, ProcessorOptions& processor) {
  Section section(table, "engine.");
  section.text("default", processor.engine);
  section.number("threads", processor.threads, 0, kMostThreads);
  section.number("max_depth", processor.max_depth);
  section.number("max_composites", processor.max_composites);
  section.number("max_held_bytes", processor.max_held_bytes);
  section.number("max_instants", processor.max_instants);
  Duration ahead = processor.max_ahead.value_or(0);
  section.duration("max_ahead_ms", ahead, 0);
  processor.max_ahead = ahead;
  section.duration("lateness_ms", processor.lateness, 0);
  section.duration("max_late_ms", processor.max_late, 0);
  section.duration("remember_ms", processor.remember, 0);
  return section.finish();
}

std::optional<Error> read_dispatch(const toml::table* table, ProcessorOptions& processor) {
  Section section(table, "dispatch.");
  section.duration("latency_target_ms", processor.latency_target, 0);
  section.duration("max_rule_time_ms", processor.max_rule_time, 0);
  return section.finish();
}

std::optional<Error> read_cuda(const toml::table* table,
                               std::optional<engine::CudaOptions>& options) {
  if (table == nullptr) return std::nullopt;
  options.emplace();
  Section section(table, "cuda.");
  for (const char* key : {"devices", "memory", "page_events", "least_pairs", "least_terminators",
                          "compile", "negations"}) {
    section.choice(key, *options, [&](std::string_view text) -> Result<engine::CudaOptions> {
      engine::CudaOptions changed = *options;
      if (auto set = engine::set_cuda_option(changed, key, text); !set) return set.error();
      return changed;
    });
  }
  return section.finish();
}

std::optional<Error> read_log(const toml::table* table, ServerOptions& options) {
  Section section(table, "log.");
  section.choice("format", options.log_format, parse_log_format);
  section.choice("level", options.log_level, parse_log_level);
  return section.finish();
}

std::optional<Error> read_http(const toml::table* table, HttpOptions& options) {
  Section section(table, "http.");
  section.text("listen", options.listen);
  return section.finish();
}

std::optional<Error> read_trex(const toml::table* table, TrexOptions& options) {
  Section section(table, "trex.");
  section.text("listen", options.listen);
  return section.finish();
}

std::optional<Error> read_security(const toml::table* table, SecurityOptions& options) {
  Section section(table, "security.");
  section.boolean("insecure", options.insecure);
  return section.finish();
}

std::optional<Error> read_root(const toml::table& root, ServerOptions& options) {
  Section section(&root, "");
  section.text("listen", options.listen);
  section.texts("rules", options.rules);
  section.text("reports", options.reports);
  section.milliseconds("greeting_timeout_ms", options.greeting_timeout);
  section.milliseconds("frame_timeout_ms", options.frame_timeout);
  section.milliseconds("idle_timeout_ms", options.idle_timeout, 0);
  section.milliseconds("drain_timeout_ms", options.drain_timeout);
  if (auto error = read_http(section.table("http"), options.http)) return error;
  if (auto error = read_trex(section.table("trex"), options.trex)) return error;
  if (auto error = read_security(section.table("security"), options.security)) return error;
  if (auto error = read_limits(section.table("limits"), options.limits)) return error;
  if (auto error = read_engine(section.table("engine"), options.processor)) return error;
  if (auto error = read_dispatch(section.table("dispatch"), options.processor)) return error;
  if (auto error = read_cuda(section.table("cuda"), options.cuda)) return error;
  if (auto error = read_log(section.table("log"), options)) return error;
  return section.finish();
}

}  // namespace

Result<void> check_times(const ProcessorOptions& options) {
  const Duration ahead = options.max_ahead.value_or(std::numeric_limits<Duration>::max());
  if (ahead == 0 || ahead < options.max_late) return {};
  const auto milliseconds = [](Duration d) { return std::to_string(d / 1'000'000) + " ms"; };
  return Error{"engine.max_ahead_ms (" + milliseconds(ahead) +
                   ") must be below engine.max_late_ms (" + milliseconds(options.max_late) + ")",
               "or one client whose clock is fast makes everybody else's events too late; lower "
               "max_ahead_ms or raise max_late_ms"};
}

Result<void> read_config(const std::string& path, ServerOptions& options) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto parsed = toml::parse(*text, path);
  if (!parsed) {
    const auto& at = parsed.error().source().begin;
    const std::string where =
        at.line == 0 ? "" : std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
    return Error{path + ":" + where + std::string(parsed.error().description()), ""};
  }
  if (const auto error = read_root(parsed.table(), options)) {
    return Error{path + ":" + error->message, error->hint};
  }
  return {};
}

}  // namespace gorgo::server
