#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/cuda/options.hpp"
#include "server/config/key.hpp"

namespace gorgo::server {

/// Makes keys, section by section. `at` gives an option as a reference, of options that may be
/// constant; `about` says for people what the key means. Used by one thread.
class KeyMaker {
 public:
  /// The numbers that a key takes, bounds included.
  struct Range {
    std::int64_t least = 1, most = std::numeric_limits<std::int64_t>::max();
  };

  void section(std::string name) { section_ = std::move(name); }

  template <class At>
  void text(std::string name, At at, std::string about) {
    plain<std::string>(std::move(name), at, std::move(about));
  }
  template <class At>
  void texts(std::string name, At at, std::string about) {
    plain<std::vector<std::string>>(std::move(name), at, std::move(about));
  }
  template <class At>
  void boolean(std::string name, At at, std::string about) {
    plain<bool>(std::move(name), at, std::move(about));
  }

  template <class At>
  void number(std::string name, At at, Range range, std::string about) {
    using T = std::remove_cvref_t<decltype(at(std::declval<ServerOptions&>()))>;
    if (std::cmp_less(std::numeric_limits<T>::max(), range.most)) {
      range.most = static_cast<std::int64_t>(std::numeric_limits<T>::max());
    }
    counted(
        std::move(name), range, std::move(about),
        [at](ServerOptions& options, std::int64_t count) { at(options) = static_cast<T>(count); },
        [at](const ServerOptions& options) { return static_cast<std::int64_t>(at(options)); });
  }

  /// A time that somebody waits, in milliseconds.
  template <class At>
  void wait(std::string name, At at, std::string about, std::int64_t least = 1) {
    counted(
        std::move(name), {least, kLongestWait}, std::move(about),
        [at](ServerOptions& options, std::int64_t count) {
          at(options) = std::chrono::milliseconds(count);
        },
        [at](const ServerOptions& options) -> std::int64_t { return at(options).count(); });
  }

  /// A `Duration`, which the configuration gives in milliseconds; 0 is allowed.
  template <class At>
  void duration(std::string name, At at, std::string about) {
    counted(
        std::move(name), {0, Range().most / kMillisecond}, std::move(about),
        [at](ServerOptions& options, std::int64_t count) { at(options) = count * kMillisecond; },
        [at](const ServerOptions& options) {
          return std::optional<Duration>(at(options)).value_or(0) / kMillisecond;
        });
  }

  /// One of some names.
  template <class At, class Parse, class Name>
  void choice(std::string name, At at, Parse parse, Name name_of, std::string about) {
    add({.name = std::move(name),
         .about = std::move(about),
         .form = std::string(),
         .set =
             [at, parse](ServerOptions& options, const ConfigValue& value) {
               const auto parsed = parse(std::get<std::string>(value));
               if (!parsed) return Result<void>(parsed.error());
               at(options) = *parsed;
               return Result<void>();
             },
         .get = [at, name_of](const ServerOptions& options) -> std::optional<ConfigValue> {
           return std::string(name_of(at(options)));
         }});
  }

  /// A table that `parse` makes an option of, and `table_of` the other way round.
  template <class At, class Parse, class TableOf>
  void table(std::string name, At at, Parse parse, TableOf table_of, std::string about) {
    using Table = std::map<std::string, std::string>;
    add({.name = std::move(name),
         .about = std::move(about),
         .form = Table(),
         .set =
             [at, parse](ServerOptions& options, const ConfigValue& value) {
               const auto parsed = parse(std::get<Table>(value));
               if (!parsed) return Result<void>(parsed.error());
               at(options) = *parsed;
               return Result<void>();
             },
         .get = [at, table_of](const ServerOptions& options) -> std::optional<ConfigValue> {
           return table_of(at(options));
         }});
  }

  /// An option of CUDA. While none is set, those of the environment hold.
  void cuda(const std::string& name, std::string about) {
    add({.name = name,
         .about = std::move(about),
         .form = std::string(),
         .takes_numbers = true,
         .set =
             [name](ServerOptions& options, const ConfigValue& value) {
               engine::CudaOptions changed = options.cuda.value_or(engine::CudaOptions());
               auto done = engine::set_cuda_option(changed, name, std::get<std::string>(value));
               if (done) options.cuda = changed;
               return done;
             },
         .get = [name](const ServerOptions& options) -> std::optional<ConfigValue> {
           if (!options.cuda) return std::nullopt;
           return engine::cuda_option_text(*options.cuda, name);
         }});
  }

  /// A running server takes over the key that was made last.
  void live() { keys_.back().is_live = true; }

  std::vector<ConfigKey> take() { return std::move(keys_); }

 private:
  static constexpr std::int64_t kMillisecond = 1'000'000;            // nanoseconds
  static constexpr std::int64_t kLongestWait = 24 * 60 * 60 * 1000;  // milliseconds

  std::string section_;
  std::vector<ConfigKey> keys_;

  static Result<void> check(std::int64_t value, const Range& range) {
    if (value >= range.least && value <= range.most) return {};
    return Error{std::to_string(value) + " is out of range, expected " +
                     std::to_string(range.least) + " to " + std::to_string(range.most),
                 ""};
  }

  void add(ConfigKey key) {
    key.section = section_;
    keys_.push_back(std::move(key));
  }

  template <class T, class At>
  void plain(std::string name, At at, std::string about) {
    add({.name = std::move(name),
         .about = std::move(about),
         .form = T(),
         .set =
             [at](ServerOptions& options, const ConfigValue& value) {
               at(options) = std::get<T>(value);
               return Result<void>();
             },
         .get = [at](const ServerOptions& options) -> std::optional<ConfigValue> {
           return at(options);
         }});
  }

  template <class Set, class Get>
  void counted(std::string name, Range range, std::string about, Set set, Get get) {
    const std::string expected =
        "a number, " + std::to_string(range.least) + " to " + std::to_string(range.most);
    add({.name = std::move(name),
         .about = std::move(about),
         .form = std::int64_t{0},
         .expected = expected,
         .set =
             [range, set](ServerOptions& options, const ConfigValue& value) {
               const std::int64_t count = std::get<std::int64_t>(value);
               auto checked = check(count, range);
               if (checked) set(options, count);
               return checked;
             },
         .get = [get](const ServerOptions& options) -> std::optional<ConfigValue> {
           return get(options);
         }});
  }
};

}  // namespace gorgo::server
