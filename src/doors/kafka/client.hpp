#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "doors/settings.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::doors::kafka {

/// Gives back what the library has handed out.
struct Destroy {
  void operator()(rd_kafka_t* one) const { rd_kafka_destroy(one); }
  void operator()(rd_kafka_conf_t* one) const { rd_kafka_conf_destroy(one); }
  void operator()(rd_kafka_message_t* one) const { rd_kafka_message_destroy(one); }
  void operator()(rd_kafka_topic_t* one) const { rd_kafka_topic_destroy(one); }
  void operator()(const rd_kafka_metadata_t* one) const { rd_kafka_metadata_destroy(one); }
  void operator()(rd_kafka_topic_partition_list_t* one) const {
    rd_kafka_topic_partition_list_destroy(one);
  }
};
template <class T>
using Owned = std::unique_ptr<T, Destroy>;

/// Within which brokers answer.
inline constexpr std::chrono::milliseconds kAnswer{5000};
/// Calls of the library that wait cannot be woken, so they wait in steps.
inline constexpr std::chrono::milliseconds kStep{50};

/// What becomes known of a client on threads of the library.
class Trouble {
 public:
  /// Why there is no way to the brokers; empty: nothing is known of that.
  std::string take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(why_, {});
  }
  /// The first reason stays until it is taken: others follow from it.
  void note(std::string why) {
    const std::lock_guard lock(mutex_);
    if (why_.empty()) why_ = std::move(why);
  }

 private:
  std::mutex mutex_;  // guards what follows
  std::string why_;
};

/// A configuration that the library takes, with what all clients have.
class Config {
 public:
  Config() : config_(rd_kafka_conf_new()) {}

  /// The first property that is refused is what `check` tells.
  void set(const std::string& name, const std::string& value);
  Result<void> check() const;
  rd_kafka_conf_t* get() const { return config_.get(); }
  /// The client owns the configuration afterwards. `trouble` outlives it.
  Result<Owned<rd_kafka_t>> make(rd_kafka_type_t type, Trouble& trouble);

 private:
  Owned<rd_kafka_conf_t> config_;
  Result<void> problem_;
};

/// What the settings of a door say about the brokers. An error: a file cannot be read, or the
/// library knows no such property.
Result<void> configure(Config& config, const Settings& settings, const std::string& door);

}  // namespace gorgo::doors::kafka
